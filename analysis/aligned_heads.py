"""Two heads, each of its own model and text, as maps over common pieces of the texts, and their difference.

Tokens are merged into pieces like words: the weight on a piece is the sum over its tokens, and a query piece has the
mean over its tokens, so that row sums are preserved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from analysis.alignment import Piece, Side, aligned
from analysis.chosen_keys import leaves_out, left_out_cells
from analysis.pooling import pool
from model_runner.capture import Capture
from model_runner.tokens import Token, visible


@dataclass(frozen=True, eq=False)
class PieceMap:
    """``values`` is NaN where masked; row and column i are piece number ``places[i]`` of all pieces, in order.

    ``left_out`` are the masked cells whose keys an indexer did not select; None if there are none.
    """

    values: Float[np.ndarray, "pieces pieces"]
    labels: tuple[str, ...]
    places: tuple[int, ...]
    left_out: Bool[np.ndarray, "pieces pieces"] | None = None

    def at(self, place: int | None) -> int | None:
        """The row of a piece; None if the map does not have it."""
        return None if place is None or place not in self.places else self.places.index(place)


@dataclass(frozen=True, eq=False)
class AlignedHeads:
    """``difference`` has the rows and columns of ``first``: its values minus those of ``second`` on the same pieces.

    It is NaN where one of the two is masked, and on pieces that the second side lacks. ``elsewhere`` is the mean total
    variation distance of the rows over shared pieces, in 0..1: half the sum of |weight − weight|, where a piece that
    one side lacks counts separately. NaN if there is none.
    """

    pieces: tuple[Piece, ...]
    first: PieceMap
    second: PieceMap
    difference: PieceMap
    elsewhere: float

    @property
    def maps(self) -> tuple[PieceMap, PieceMap, PieceMap]:
        return self.first, self.second, self.difference

    @property
    def merged(self) -> bool:
        """True if some piece consists of several tokens."""
        return any(len(run) > 1 for piece in self.pieces for run in (piece.a, piece.b) if run is not None)

    @property
    def n_unshared(self) -> tuple[int, int]:
        """Number of tokens of each side without a counterpart."""
        return sum(piece.b is None for piece in self.pieces), sum(piece.a is None for piece in self.pieces)

    def place_of(self, token: int | None, side: int = 0) -> int | None:
        """The piece that contains a side's token."""
        runs = enumerate(piece.of(side) for piece in self.pieces)
        return None if token is None else next((i for i, run in runs if run is not None and token in run), None)


Head = tuple[int, int | None]  # a layer and a head of it; None: the mean of all its heads


def sides_of(first: Capture, second: Capture) -> tuple[Side, Side]:
    """The texts and their tokens, for :mod:`analysis.alignment`."""
    return Side(first.text, first.tokens), Side(second.text, second.tokens)


def aligned_heads(
    first: Capture,
    head: Head,
    second: Capture,
    other: Head,
    pieces: tuple[Piece, ...] | None = None,
) -> AlignedHeads:
    """``head`` and ``other`` are a layer and a head, or None for the mean of its heads. Raises NoWeights, NoSuchPlace.

    O(tokens²) time and memory per head of the layer.
    """
    pieces = aligned(*sides_of(first, second)) if pieces is None else pieces
    one = _piece_map(first, head, pieces, 0)
    two = _piece_map(second, other, pieces, 1)
    shared = [i for i, piece in enumerate(pieces) if piece.shared]
    rows, others = ([side.places.index(i) for i in shared] for side in (one, two))
    both = one.values[np.ix_(rows, rows)], two.values[np.ix_(others, others)]
    values = np.full(one.values.shape, np.nan, np.float32)
    values[np.ix_(rows, rows)] = both[0] - both[1]
    common = [np.nan_to_num(side.astype(np.float64)) for side in both]
    own = [np.nansum(np.delete(side.values[at], at, axis=1), axis=1) for side, at in zip((one, two), (rows, others))]
    moved = (np.abs(common[0] - common[1]).sum(axis=1) + own[0] + own[1]) / 2
    elsewhere = float(moved.mean()) if shared else float("nan")
    return AlignedHeads(
        pieces, one, two, replace(one, values=values, left_out=_neither(one, two, rows, others)), elsewhere
    )


def _neither(
    one: PieceMap, two: PieceMap, rows: list[int], others: list[int]
) -> Bool[np.ndarray, "pieces pieces"] | None:
    """Cells of the difference that are undefined because an indexer left the key out, on one side or both."""
    if one.left_out is None and two.left_out is None:
        return None
    found = np.zeros(one.values.shape, np.bool_)
    for side, at in ((one, rows), (two, others)):
        if side.left_out is not None:
            found[np.ix_(rows, rows)] |= side.left_out[np.ix_(at, at)]
    return found


def on_pieces(weights: Float[Tensor, "queries keys"], runs: Sequence[range]) -> Float[Tensor, "pieces pieces"]:
    """The sum over the keys of each run and the mean over its queries; runs are contiguous from the first token on."""
    bins = [slice(run.start, run.stop) for run in runs]
    return pool(pool(weights, 1, bins, "sum"), 0, bins, "mean")


def label_of(tokens: Sequence[Token], text: str, run: range) -> str:
    """A single token's label; for several the text that they cover or, if that is empty, their labels."""
    if len(run) == 1:
        return tokens[run[0]].text
    written = text[tokens[run[0]].start : tokens[run[-1]].end]
    return visible(written) if written else "".join(tokens[i].text for i in run)


def _piece_map(capture: Capture, head: Head, pieces: tuple[Piece, ...], side: int) -> PieceMap:
    own = [(i, run) for i, run in enumerate(piece.of(side) for piece in pieces) if run is not None]
    runs = [run for _, run in own]
    weights, keep = _mean(capture, head[0]) if head[1] is None else _one(capture, head[0], head[1])
    bins = [slice(run.start, run.stop) for run in runs]
    seen = pool(pool(keep.to(torch.uint8), 1, bins, "max"), 0, bins, "max").bool()
    values = on_pieces(weights, runs).float().masked_fill(~seen, torch.nan)
    labels = tuple(label_of(capture.tokens, capture.text, run) for run in runs)
    return PieceMap(values.numpy(), labels, tuple(i for i, _ in own), _left_out(capture, head, bins, ~seen))


def _left_out(
    capture: Capture, head: Head, bins: list[slice], masked: Bool[Tensor, "pieces pieces"]
) -> Bool[np.ndarray, "pieces pieces"] | None:
    if not leaves_out(capture, head[0]):
        return None
    every = slice(0, len(capture.tokens))
    cells = left_out_cells(capture, head[0], head[1], every, every).cpu().to(torch.uint8)
    return (masked & pool(pool(cells, 1, bins, "max"), 0, bins, "max").bool()).numpy()


def _one(capture: Capture, layer: int, head: int) -> tuple[Float[Tensor, "queries keys"], Bool[Tensor, "queries keys"]]:
    """A head's weights and its mask."""
    record, every = capture.record(layer), slice(0, len(capture.tokens))
    keep = record.mask.tile(every, every, record.q.device, head=head)
    return capture.weights(layer, head, shares=True).double().cpu(), keep.cpu()


def _mean(capture: Capture, layer: int) -> tuple[Float[Tensor, "queries keys"], Bool[Tensor, "queries keys"]]:
    """The mean over all heads of a layer, and the union of their masks."""
    weights, keep = zip(*(_one(capture, layer, head) for head in range(len(capture.q(layer)))))
    return torch.stack(weights).mean(dim=0), torch.stack(keep).any(dim=0)
