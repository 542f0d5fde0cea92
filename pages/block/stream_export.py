"""Export of the residual stream: tables, files and Python code."""

from __future__ import annotations

import numpy as np
import pandas as pd

from pages.block.stream import PARTS, StreamView, labels_of
from ui.shared.export_bundle import ExportBundle
from ui.wording.i18n import _
from viz.chart_svg import charts_svg
from viz.curves import standalone


def stream_view(found: StreamView) -> ExportBundle:
    """Norms by layer, and every addition to the chosen token."""
    lengths, added = found.lengths, found.found
    layers = [f"L{layer}" for layer in range(len(lengths.streams) - 1)]
    parts = {_(PARTS[kind]): values for kind, values in lengths.added.items()}
    vectors = added.vectors.double().numpy()
    return ExportBundle(
        name=f"residual-stream-{found.number}",
        title=_("residual stream"),
        what=f"norms of the residual stream and of what each part adds; vectors of the token at {found.number}",
        tables=lambda: {
            _("What each part adds"): pd.DataFrame({_("residual stream"): lengths.streams[1:]} | parts, index=layers),
            _("norm ‖x‖"): pd.DataFrame({_("norm ‖x‖"): np.linalg.norm(vectors, axis=1)}, index=labels_of(added)),
        },
        page=lambda title, words, lang: standalone(found.charts, title=title, caption=words, lang=lang),
        picture=lambda title, words: charts_svg(found.charts, title=title, caption=words),
        arrays={"vectors": vectors, "lengths": added.lengths.numpy(), "streams": added.streams.numpy()},
        code=CODE.format(position=found.position),
    )


CODE = """
import torch

from attention_atlas.model_runner.block_questions import StreamAdditions

added = runner.submit(StreamAdditions(capture.request, {position})).result()
for step, vector in zip(added.steps, added.vectors):
    print(step.layer, step.part, step.module, float(vector.norm()))
# the sum of all is what leaves the last layer
torch.testing.assert_close(added.vectors.sum(0), capture.residual(-1)[{position}].float(), rtol=1e-3, atol=1e-3)
"""
