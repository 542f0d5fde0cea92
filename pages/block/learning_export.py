"""Export of the learning view: tables, files and Python code."""

from __future__ import annotations

import numpy as np
import pandas as pd

from pages.block.learning import LearningView
from pages.block.state import RATES
from ui.shared.export_bundle import ExportBundle
from ui.wording.i18n import _
from viz.chart_svg import charts_svg
from viz.curves import standalone


def learning_view(found: LearningView) -> ExportBundle:
    """Cross-entropy of every token, and gradient norms."""
    learned, rate = found.learned, RATES[found.rate]
    read, wanted, _said = found.words
    names = [
        f"{place} {one} → {other}" for place, (one, other) in enumerate(zip(read, wanted, strict=True), found.first)
    ]
    losses = {
        _("before"): learned.before.double().numpy(),
        _("after the step"): learned.after[found.rate].double().numpy(),
    }
    heads = learned.heads.double().numpy()
    layers = [f"L{layer}" for layer in range(len(heads))]
    return ExportBundle(
        name="learning",
        title=_("learning"),
        what=f"cross-entropy in nats of each token given those before it, before and after one step of gradient "
        f"descent with rate {rate} on a copy of the model",
        tables=lambda: {
            _("cross-entropy at each position, in nats"): pd.DataFrame(losses, index=names),
            _("Norm of the gradient by layer"): pd.DataFrame(
                {_("norm of the gradient"): learned.layers.double().numpy()}, index=layers
            ),
            _("Norm of the gradient by head (of its part of W_O)"): pd.DataFrame(
                heads, layers, [f"H{head}" for head in range(heads.shape[1])]
            ),
        },
        page=lambda title, words, lang: standalone(found.charts, title=title, caption=words, lang=lang),
        picture=lambda title, words: charts_svg(found.charts, title=title, caption=words),
        arrays={
            "before": learned.before.numpy(), "after": learned.after.numpy(), "layers": learned.layers.numpy(),
            "heads": learned.heads.numpy(), "rates": np.array(learned.rates),
        },
        code=CODE.format(rate=rate, whose='capture.attention("decoder")' if found.two_texts else "capture"),
    )  # fmt: skip  # arrays in two lines


CODE = """
from attention_atlas.model_runner.block_questions import TrainingStep

losses = {whose}.surprisals()  # nats, of each token but the first
learned = runner.submit(TrainingStep(capture.request, ({rate},))).result()
before, after = learned.before.mean(), learned.after[0].mean()
"""
