"""Export of the feed-forward view: tables, files and Python code."""

from __future__ import annotations

import numpy as np
import pandas as pd

from pages.block.ffn import FfnView, length_name
from ui.shared.export_bundle import ExportBundle
from ui.wording.i18n import _
from viz.chart_svg import charts_svg
from viz.curves import standalone


def ffn_view(found: FfnView) -> ExportBundle:
    """The strongest units, and the share of active ones by layer."""
    units = found.units
    top = units.top.tolist()
    names = [f"{unit} {' '.join(words)}".strip() for unit, words in zip(top, found.promoted, strict=True)]
    strongest = {
        _("its value"): units.values[units.top].double().numpy(),
        length_name(units): units.lengths.double().numpy(),
    }
    active = units.active.double().numpy()
    layers = [f"L{layer}" for layer in range(len(active))]
    return ExportBundle(
        name=f"ffn-L{found.layer}",
        title=_("feed-forward part of {layer}").format(layer=f"L{found.layer}"),
        what=f"units of the feed-forward part of layer {found.layer} at token {found.number}; active: what the "
        "activation reads is above 0",
        tables=lambda: {
            _("FFN unit"): pd.DataFrame(strongest, index=names),
            _("Active units by layer"): pd.DataFrame({_("share of units"): active[:, found.position]}, index=layers),
        },
        page=lambda title, words, lang: standalone(found.charts, title=title, caption=words, lang=lang),
        picture=lambda title, words: charts_svg(found.charts, title=title, caption=words),
        arrays={
            "before": units.before.numpy(), "values": units.values.numpy(), "active": active, "top": np.array(top),
            "promoted": units.promoted.numpy(), "logits": units.logits.numpy(),
        },
        code=CODE.format(layer=found.layer, position=found.position),
    )  # fmt: skip  # arrays in two lines


CODE = """
from attention_atlas.model_runner.block_questions import FeedForwardUnits

units = runner.submit(FeedForwardUnits(capture.request, {layer}, {position})).result()
share = (units.before > 0).float().mean()
for unit, tokens in zip(units.top.tolist(), units.promoted.tolist()):
    print(unit, float(units.values[unit]), [runner.token_text(token) for token in tokens])
"""
