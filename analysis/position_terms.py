"""The position term of five schemes in the same form: as a matrix and against distance, each from its formula.

Sizes are the model's own where it has them: the width of its residual stream, its heads, this layer's frequencies.
Learned parameters that this model lacks are taken from small models that come with the app, as far as they have them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from analysis.positions import Turned
from attention import position_biases as biases
from attention import rotary
from model_runner.capture import Capture
from model_runner.record import LayerRecord
from model_runner.relative_bias import RelativeBias
from model_runner.trained_positions import T5_REACH, trained_positions

N_POSITIONS = 64  # of each picture
BASE = 10000.0  # of the frequencies if the layer has none of its own (Su et al. 2021)


@dataclass(frozen=True, eq=False)
class PositionTerm:
    """Rows of ``matrix`` are queries; NaN where a causal scheme is masked. ``curves`` has one line, or one per head.

    For a scheme with heads the matrix is that of head 0. ``size`` is the size used: dimensions (sinusoidal), vectors of
    the table (learned), buckets or, for the model's own biases, tokens (T5), heads (ALiBi), pairs (RoPE). ``own`` says
    whether learned parameters and frequencies are the loaded model's.
    """

    matrix: Float[np.ndarray, "positions positions"]
    curves: Float[np.ndarray, "lines distances"]
    size: int
    own: bool = True


def position_terms(
    capture: Capture, layer: int, layout: Turned | None, table: Float[Tensor, "positions d_model"] | None
) -> dict[str, PositionTerm]:
    """The term of each scheme of POSITIONS by name.

    ``layout`` is this layer's rotation, without which RoPE has the frequencies of its paper; ``table`` has the model's
    learned positions, None if it has none.
    """
    trained = trained_positions()
    grid, distances = biases.distance_grid(N_POSITIONS), torch.arange(N_POSITIONS)
    n_heads, d_head = capture.q(layer).shape[0], capture.q(layer).shape[-1] // 2 * 2
    width = capture.hidden.shape[-1] // 2 * 2
    theta = rotary.frequencies(BASE, d_head) if layout is None else torch.from_numpy(layout.theta)
    slopes, later = biases.alibi_slopes(n_heads), grid < 0
    learned = biases.learned_term((trained.learned if table is None else table)[:N_POSITIONS])
    return {
        "sinusoidal": _term(biases.sinusoidal_term(grid, width), biases.sinusoidal_term(distances, width)[None], width),
        "learned": _term(
            learned, biases.mean_by_distance(learned)[None], len(trained.learned if table is None else table),
            own=table is not None,
        ),
        "t5": _relative(capture.record(layer)),
        "alibi": _term(
            biases.alibi(grid, slopes[:1])[0].masked_fill(later, torch.nan), biases.alibi(distances, slopes), n_heads
        ),
        "rotary": _term(
            biases.rotary_term(grid, theta), biases.rotary_term(distances, theta)[None], len(theta),
            own=layout is not None,
        ),
    }  # fmt: skip  # one scheme a paragraph


def _relative(record: LayerRecord) -> PositionTerm:
    """The layer's own biases within the text, else the embedded translator's, if none depend only on distance."""
    if isinstance(record.bias, RelativeBias):
        near = slice(0, min(N_POSITIONS, record.q.shape[1]))
        tile = record.bias.tile(slice(0, len(record.q)), near, near).cpu()
        seen = record.mask.tile(near, near, record.q.device).cpu()
        curves = record.bias.values[:, -record.bias.first - torch.arange(near.stop)]
        return _term(tile[0].masked_fill(~seen, torch.nan), curves.cpu(), near.stop)
    table, near = trained_positions().t5_bias, min(N_POSITIONS, T5_REACH)
    grid = biases.distance_grid(near)
    matrix = biases.t5_bias(grid, table, bidirectional=False)[0].masked_fill(grid < 0, torch.nan)
    return _term(matrix, biases.t5_bias(torch.arange(near), table, bidirectional=False), len(table), own=False)


def _term(matrix: Tensor, curves: Tensor, size: int, *, own: bool = True) -> PositionTerm:
    return PositionTerm(matrix.double().numpy(), curves.double().numpy(), size, own)
