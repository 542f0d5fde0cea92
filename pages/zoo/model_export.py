"""Export of the page Zoo's views of the running model: tables, files and Python code."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from analysis.hybrid import attending
from jobs.zoo_recall import CHARACTERS, DEPTHS
from model_runner.python_lines import runner_line
from pages.zoo.hybrid import Hybrid, recall_chart
from pages.zoo.in_model import InModel
from pages.zoo.state import state
from ui.shared.export_bundle import ExportBundle
from ui.shared.what_if import change_view
from ui.shell.page import PageContext
from ui.wording.i18n import _, language
from viz.chart_svg import charts_svg
from viz.curves import standalone


def model_view(opened: PageContext, found: InModel) -> ExportBundle:
    """The open head's map with the variant in the model; the map before it and the difference as further files."""
    view = change_view(found.drawn)
    return replace(view, what=f"{view.what}; {state().variant} for softmax, substituted in the model, untrained")


def hybrid_view(found: Hybrid) -> ExportBundle:
    """The recall curve so far, and the stack chosen by hand."""
    chart, variant = recall_chart(found.curve, found.own), state().variant
    points = [*found.curve, *found.own]
    table = pd.DataFrame(
        {
            _("tokens right"): [point.share for point in points],
            _("their mean probability"): [point.probability for point in points],
        },
        index=pd.Index([f"{point.kept:.3f}" for point in points], name=chart.x_title),
    )
    return ExportBundle(
        name=f"zoo-hybrid-{variant}",
        title=chart.heading,
        what=(
            f"recall of a code in {CHARACTERS} characters, mean of {len(DEPTHS)} depths, against the share of layers "
            f"that keep softmax{_inside(found.block)}, {variant} in the others, substituted, untrained"
        ),
        tables=lambda: {chart.heading: table},
        page=lambda title, words, lang: standalone([chart], title=title, caption=words, lang=lang),
        picture=lambda title, words: charts_svg([chart], title=title, caption=words),
        arrays={
            "kept": np.array([point.kept for point in points]),
            "share": np.array([point.share for point in points]),
            "probability": np.array([point.probability for point in points]),
        },
        code=_code(found),
        starts_with_capture=False,
    )


def _inside(block: int) -> str:
    return f" inside blocks of {block} tokens" if block else ""


def _code(found: Hybrid) -> str:
    request = found.after.request
    own = [edit for edit in found.edits if edit.variant == state().variant]
    values = dict(own[0].values) if own else {}
    block = f", {found.block}" if found.block else ""
    return "\n".join(
        [
            "from attention_atlas.analysis.hybrid import code, counts, softmax_layers, stack",
            "from attention_atlas.analysis.long_text import chapter",
            "from attention_atlas.analysis.needle import Trial, hidden, recalled",
            "from attention_atlas import CaptureRequest, load_runner",
            "",
            runner_line(request),
            f"layers, needle = {attending(found.after)!r}, code({language()!r})",
            "answer = runner.ids_of(needle.answer)",
            "for count in counts(len(layers)):",
            f"    edits = stack({state().variant!r}, {values}, layers, softmax_layers(layers, count){block})",
            f"    for depth in {DEPTHS}:",
            f"        text = hidden(chapter({language()!r}).half, Trial(needle, depth, {CHARACTERS}))",
            "        request = CaptureRequest(text=text, continuation=tuple(answer[:-1]), edits=edits)",
            "        found = recalled(runner.capture(request), answer)",
            "        print(count, depth, found.share, found.probability)",
        ]
    )
