"""Export of the logit lens: tables, files and Python code."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from analysis.logit_lens import LensMap
from pages.block.lens import SHADES, LensView, row_labels
from ui.shared.export_bundle import ExportBundle, component_page
from ui.wording.i18n import _
from viz.components.layer_head_map import layer_head_map
from viz.word_map_svg import word_map_svg


def lens_view(found: LensView) -> ExportBundle:
    """The map as coloured, and all predictions of the lens."""
    lens = found.found
    names = row_labels(lens)
    columns = [f"{place} {token}" for place, token in enumerate(lens.tokens, found.first)]
    heading, values = _(SHADES[found.shade]), found.values
    numbers = {
        _("probability"): lens.probabilities[..., 0], _("entropy"): lens.entropy, _("KL"): lens.kl,
        _("probability of the model’s own token"): lens.final, _("place of the model’s own token"): lens.rank + 1.0,
    }  # fmt: skip
    return ExportBundle(
        name=f"logit-lens-{found.shade}",
        title=_("Logit lens"),
        what="final norm and output layer applied to the residual stream before every layer; not trained (logit lens)",
        tables=lambda: {
            _("What the lens says at each token"): pd.DataFrame(
                {name: one.ravel() for name, one in numbers.items()}, said_at(lens, names, columns)
            ),
            heading: pd.DataFrame(values, names, columns),
        },
        page=component_page(layer_head_map.SOURCE, found.payload),
        picture=lambda title, words: word_map_svg(
            values, lens.words, row_labels=names, col_labels=lens.tokens, low=0.0,
            high=1.0 if found.shade == "probability" else float(values.max(initial=0.0)), title=title, caption=words,
        ),
        arrays={
            "ids": lens.ids, "probabilities": lens.probabilities, "entropy": lens.entropy, "kl": lens.kl,
            "final": lens.final, "rank": lens.rank, "first": lens.first, "words": np.array(lens.words, dtype=np.str_),
        },
        code=CODE,
    )  # fmt: skip  # the map's many settings in two lines


def said_at(lens: LensMap, names: Sequence[str], columns: Sequence[str]) -> list[str]:
    """A description of every cell in row-major order, such as: after L2 · 5 ·squirrel → ·because."""
    return [
        f"{name} · {column} → {word}"
        for name, words in zip(names, lens.words, strict=True)
        for column, word in zip(columns, words, strict=True)
    ]


CODE = """
from attention_atlas.analysis.logit_lens import lens_map
from attention_atlas.model_runner.block_questions import LogitLens

lens = lens_map(capture, runner.submit(LogitLens(capture.request)).result(), runner.token_text)
words, probabilities, entropy, kl = lens.words, lens.probabilities[..., 0], lens.entropy, lens.kl
first = lens.first  # the row in which the model's own token is on top for the first time
"""
