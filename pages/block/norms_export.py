"""Export of the norms: tables, files and Python code."""

from __future__ import annotations

import numpy as np
import pandas as pd

from pages.block.norms import RANDOM, NormsView
from ui.shared.export_bundle import ExportBundle
from ui.wording.i18n import _
from viz.chart_svg import charts_svg
from viz.curves import standalone


def norms_view(found: NormsView) -> ExportBundle:
    """One token's vector before and after each norm, sizes of all tokens, and growth by layer."""
    own = found.found
    sizes = {name or _("before"): values for name, values in own.sizes.items()}
    growth = {_(RANDOM[kind]) if kind else _("this model"): values for kind, values in found.growth.items()}
    count = len(next(iter(own.sizes.values())))
    return ExportBundle(
        name=f"norms-L{found.layer}",
        title=_("norms"),
        what=f"residual stream entering layer {found.layer} through norms without gain and bias; growth of random "
        "nets of as many layers beside this model's",
        tables=lambda: {
            _("Size of every token"): pd.DataFrame(sizes, index=[str(found.first + place) for place in range(count)]),
            _("How the stream grows"): pd.DataFrame(growth, index=[str(row) for row in range(len(found.growth[""]))]),
        },
        page=lambda title, words, lang: standalone(found.charts, title=title, caption=words, lang=lang),
        picture=lambda title, words: charts_svg(found.charts, title=title, caption=words),
        arrays={"before": own.before} | {name: np.asarray(values) for name, values in own.after.items()},
        code=CODE.format(layer=found.layer, position=found.position),
    )


CODE = """
from attention_atlas.analysis.norms import normed, random_growth

norms = normed(capture, {layer}, {position})
before, after = norms.before, norms.after  # after: "LayerNorm", "RMSNorm", "BatchNorm"
lengths = [float(x.float().norm(dim=-1).mean()) for x in capture.residuals]
growth = {{"": [one / lengths[0] for one in lengths]}} | random_growth(capture.n_layers)  # "": this model
"""
