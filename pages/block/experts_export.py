"""Export of the experts: tables, files and Python code."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.expert_load import loads, parameters, weight_grid
from pages.block.experts import ExpertsView, row_name
from ui.shared.export_bundle import ExportBundle, component_page
from ui.wording.i18n import _
from viz.components.layer_head_map import layer_head_map
from viz.word_map_svg import word_map_svg


def experts_view(found: ExpertsView) -> ExportBundle:
    """Routing weights of the open layer, loads of all layers, and total and active parameters."""
    layer, load = found.layer, loads(found.routing)
    weights = weight_grid(layer)
    experts = [f"E{expert}" for expert in range(layer.n_experts)]
    columns = [f"{position} {token}" for position, token in enumerate(found.tokens)]
    rows = parameters(found.routing, found.place)
    counts = {_("held"): [float(one.held) for one in rows], _("used for a token"): [float(one.used) for one in rows]}
    whose = "the model's own router" if found.source == "own" else "a tiny Mixtral of random numbers, not trained"
    words = [["" if np.isnan(one) else f"{one:.2f}" for one in row] for row in weights]
    return ExportBundle(
        name=f"experts-{'' if found.source == 'own' else 'random-'}L{layer.layer}",
        title=_("experts of L{layer}").format(layer=layer.layer),
        what=f"weights of the experts of layer {layer.layer} at each token, empty where a token does not go: {whose}",
        tables=lambda: {
            _("weight of each expert at each token"): pd.DataFrame(weights, experts, columns),
            _("share of the picks by layer and expert"): pd.DataFrame(
                load, [f"L{one.layer}" for one in found.routing.layers], [f"E{n}" for n in range(load.shape[1])]
            ),
            _("parameters"): pd.DataFrame(counts, [row_name(one, layer) for one in rows]),
        },
        page=component_page(layer_head_map.SOURCE, found.payload),
        picture=lambda title, said: word_map_svg(
            np.nan_to_num(weights), words, row_labels=experts, col_labels=list(found.tokens), low=0.0,
            high=max(1.0, float(np.nanmax(weights))), title=title, caption=said,
        ),
        arrays={"picks": layer.picks.numpy(), "picked_weights": layer.weights.numpy()},
        code=CODE[found.source].format(place=found.place),
    )  # fmt: skip  # the map's many settings in two lines


LINES = """
layer = routing.layers[{place}]
picks, weights = layer.picks, layer.weights  # [tokens, used]: whom each token goes to, and the factor of its output
"""
CODE = {
    "own": """
from attention_atlas.model_runner.expert_questions import ExpertRouting

routing = runner.submit(ExpertRouting(capture.request)).result()
""" + LINES.lstrip(),
    "random": """
from attention_atlas.model_runner.expert_questions import RandomRouting

ids = tuple(token.id for token in capture.tokens)
routing = runner.submit(RandomRouting(ids, max(runner.info.n_vocab, *ids) + 1)).result()
""" + LINES.lstrip(),
}  # fmt: skip  # the lines as they are read
