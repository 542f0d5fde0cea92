"""Export of the architecture: tables, files and Python code."""

from __future__ import annotations

import numpy as np
import pandas as pd

from pages.block.architecture import ArchitectureView
from ui.shared.export_bundle import ExportBundle, component_page
from ui.wording.i18n import _
from viz.components.model_stages import model_stages
from viz.stages_svg import stages_svg


def architecture_view(found: ArchitectureView) -> ExportBundle:
    """The rows as drawn, and every module with its parameters."""
    made, names = found.made, [_name(found, place) for place in range(len(found.stages))]
    lengths = [np.nan if one.vector is None else float(np.linalg.norm(one.vector)) for one in found.stages]
    counts = [float(one.n_parameters) for one in found.stages]
    data = {_("parameters"): counts, _("share"): [n / made.n_parameters for n in counts], _("norm ‖x‖"): lengths}
    vectors = {str(place): one.vector for place, one in enumerate(found.stages) if one.vector is not None}
    return ExportBundle(
        name="architecture",
        title=_("architecture"),
        what="modules of the model with their parameters, and one token's vector after each stage or added by a part",
        tables=lambda: {_("architecture"): pd.DataFrame(data, index=names)} | _said(found),
        page=component_page(model_stages.SOURCE, found.payload),
        picture=lambda title, words: stages_svg(
            [(row.depth, row.title, row.module, row.shapes, row.size, row.share) for row in found.rows],
            title=title,
            caption=words,
        ),
        arrays={f"vector_{place}": vector for place, vector in vectors.items()},
        code=code_of(found),
    )


def _said(found: ArchitectureView) -> dict[str, pd.DataFrame]:
    if found.says is None:
        return {}
    return {_("next token"): pd.DataFrame({_("probability"): [found.says.probability]}, index=[found.next_word])}


def _name(found: ArchitectureView, place: int) -> str:
    row = found.rows[place]
    return f"{place} {row.title} {row.module}".strip()


def code_of(found: ArchitectureView) -> str:
    """Code for the modules, the vectors drawn and the prediction."""
    index = next((one.index for one in found.stages if one.open), 0)
    own = f'capture = capture.attention("{found.stack}")\n' if found.stack else ""
    says = (
        SAYS.format(whose='capture.attention("decoder")' if found.stack else "capture", position=found.says.position)
        if found.says is not None
        else ""
    )
    return CODE + own + VECTORS.format(block=index, position=found.position) + says


VECTORS = """
from attention_atlas.analysis.architecture import stages
from attention_atlas.model_runner.block_questions import StreamAdditions

added = runner.submit(StreamAdditions(capture.request, {position})).result()
vectors = [stage.vector for stage in stages(made, {block}, capture, added, {position})]  # None: of no vector
"""
SAYS = """
probabilities = {whose}.logits({position}).double().softmax(0)
token, likeliest = runner.token_text(int(probabilities.argmax())), probabilities.max()
"""
CODE = """
from attention_atlas.model_runner.block_questions import WhatItIsMadeOf

made = runner.submit(WhatItIsMadeOf()).result()
for part in (*made.before, *(part for block in made.blocks for part in block.parts), *made.between, *made.after):
    print(part.name, part.kind, part.role, part.n_parameters, [weight.shape for weight in part.weights])
"""
