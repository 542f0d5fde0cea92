"""A head's own numbers step by step: a few tokens and dimensions, and the sum of what is not shown.

Everything is in float64 from the vectors that the model's own attention received, so that every sum shown is exact.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from analysis.joined import Joined, first_query, n_looked_at
from analysis.score_formula import root_of
from analysis.sinks import n_elsewhere
from analysis.step_window import StepWindow, largest, rotation_of, units_of, window
from model_runner.capture import Capture
from model_runner.errors import RunnerError

ORDER = ("x", "q", "k", "v", "rq", "rk", "scores", "scale", "mask", "softmax", "mix", "concat", "out")
HEADS = 8  # in a layer with more, those that add most at the query's token


@dataclass(frozen=True, eq=False)
class MatrixPart:
    """Part of a matrix: the indices of the rows and columns shown, and the whole's ``shape``.

    ``rows`` and ``columns`` are positions of tokens, dimensions or heads, as ``kinds`` says. −∞ where masked.
    """

    name: str
    values: Float[np.ndarray, "rows columns"]
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    kinds: tuple[str, str]
    shape: tuple[int, int]
    side: str = ""
    share: bool = False


@dataclass(frozen=True, eq=False)
class ChainStep:
    """How ``result`` is computed from ``left`` and ``right``, names of matrices; ``kind`` as in viz's payload.

    ``rest`` is what is not shown: part of a sum, or a softmax's Σ e^(score − top); ``more`` counts it by row.
    """

    id: str
    kind: str
    result: str
    left: str | None = None
    right: str | None = None
    rest: Float[np.ndarray, "rows columns"] | None = None
    more: tuple[int, ...] = ()
    numbers: Mapping[str, object] = field(default_factory=dict[str, object])


@dataclass(frozen=True, eq=False)
class StepChain:
    """``refused`` says why the last step is missing, if it is."""

    window: StepWindow
    matrices: dict[str, MatrixPart]
    steps: tuple[ChainStep, ...]
    refused: RunnerError | None


def step_chain(capture: Capture, layer: int, head: int, query: int) -> StepChain:
    """Every step of the head for the query and its keys with the largest weights. O(TOKENS × keys × d_head).

    Raises NoWeights, NoSuchPlace, NoSoftmax.
    """
    capture.check_softmax(layer, head)
    made = _Chain(capture, layer, head, query)
    made.vectors()
    made.scores()
    made.weights()
    made.mixed()
    refused = made.written()
    steps = sorted(made.steps, key=lambda step: ORDER.index(step.id))
    return StepChain(made.window, made.matrices, tuple(steps), refused)


class _Chain:
    """The chain under construction."""

    def __init__(self, capture: Capture, layer: int, head: int, query: int) -> None:
        self.capture, self.layer, self.head, self.query = capture, layer, head, query
        self.record = capture.record(layer)
        self.kv_head = head // self.record.group
        self.window = window(capture, layer, head, query)
        self.n_keys, self.n_queries = n_looked_at(capture), len(capture.tokens) - first_query(capture)
        self.rows, self.keys = list(self.window.queries), list(self.window.keys)
        self.q = float64(self.record.q[head, self.rows])
        self.k = float64(self.record.k[self.kv_head, : self.n_keys])
        self.v = float64(self.record.v[self.kv_head, : self.n_keys])
        self.layout = rotation_of(capture, layer)
        units = units_of(self.q.shape[1], self.layout)
        self.dims = largest(np.einsum("id,jd->d", np.abs(self.q), np.abs(self.k[self.keys])), units)
        self.matrices: dict[str, MatrixPart] = {}
        self.steps: list[ChainStep] = []

    def add(self, step: ChainStep, shown: MatrixPart) -> None:
        self.matrices[step.result] = shown
        self.steps.append(step)

    def vectors(self) -> None:
        """X, then q, k and v, before and after the rotation."""
        if not isinstance(self.capture, Joined):
            stream = float64(self.capture.residual(self.layer))[self.rows]
            dims = largest(np.abs(stream).sum(0), units_of(stream.shape[1], None))
            shape = (self.n_queries, stream.shape[1])
            shown = MatrixPart("X", stream[:, dims], self.window.queries, tuple(dims), ("token", "dimension"), shape)
            self.add(ChainStep("x", "model", "X"), shown)
        before = self._before() if self.layout is not None else {}
        for letter, values, kept in (("Q", self.q, self.rows), ("K", self.k[self.keys], self.keys)):
            side = "query" if letter == "Q" else "key"
            id = letter.lower()
            dims = tuple(self.dims)
            shape = (self.n_keys if letter == "K" else self.n_queries, values.shape[1])
            rows = tuple(kept)
            if letter in before:
                unturned, cos, sin, partner, source = before[letter]
                shown = MatrixPart(letter, unturned, rows, source, ("token", "dimension"), shape, side)
                self.add(ChainStep(id, "model", letter), shown)
                turn = {"partner": partner, "cos": cos, "sin": sin}
                after = MatrixPart(f"{letter}′", values[:, self.dims], rows, dims, ("token", "dimension"), shape, side)
                self.add(ChainStep(f"r{id}", "rotate", f"{letter}R", left=letter, numbers=turn), after)
            else:
                shown = MatrixPart(letter, values[:, self.dims], rows, dims, ("token", "dimension"), shape, side)
                self.add(ChainStep(id, "model", letter), shown)

    def _before(self) -> dict[str, tuple[np.ndarray, np.ndarray, np.ndarray, list[int], tuple[int, ...]]]:
        """For q and k: the numbers before the rotation in its order, cos, signed sin, and each column's partner."""
        layout = self.layout
        if layout is None:
            return {}
        angles = layout.angles().numpy()
        place, partner, source = {dim: i for i, dim in enumerate(self.dims)}, [-1] * len(self.dims), list(self.dims)
        pair_of = {int(dim): (n, side) for n, pair in enumerate(layout.pairs.tolist()) for side, dim in enumerate(pair)}
        found = {}
        for letter, kept in (("Q", self.rows), ("K", self.keys)):
            cos, sin = np.ones((len(kept), len(self.dims))), np.zeros((len(kept), len(self.dims)))
            for column, dim in enumerate(self.dims):
                if dim in pair_of:
                    pair, side = pair_of[dim]
                    partner[column] = place[int(layout.pairs[pair, 1 - side])]
                    source[column] = int(layout.source[pair, side])
                    cos[:, column] = layout.factor * np.cos(angles[kept, pair])
                    sin[:, column] = layout.factor * np.sin(angles[kept, pair]) * (1 if side else -1)
            unrotated = self.capture.q_unrotated if letter == "Q" else self.capture.k_unrotated
            vectors = float64(unrotated(self.layer)[self.head if letter == "Q" else self.kv_head, kept])
            found[letter] = vectors[:, source], cos, sin, list(partner), tuple(source)
        return found

    def scores(self) -> None:
        """q·k, scaled and masked, for every key, although only a few are shown."""
        record, dims, keys = self.record, self.dims, self.keys
        dots = self.q @ self.k.T
        rest = dots[:, keys] - self.q[:, dims] @ self.k[keys][:, dims].T
        more = (self.q.shape[1] - len(dims),) * len(self.rows)
        names = [f"{letter}R" if f"{letter}R" in self.matrices else letter for letter in "QK"]
        product = {"turned": True, "of": "dimensions"}
        self.add(
            ChainStep("scores", "product", "S", *names, rest=rest, more=more, numbers=product),
            self._cells("Q Kᵀ", dots[:, keys]),
        )
        scaled = dots * record.scale
        capped = scaled if record.softcap is None else record.softcap * np.tanh(scaled / record.softcap)
        biases, keep = self._biases(), self._keep()
        biased = capped if biases is None else capped + biases
        scale = {"factor": record.scale, "root": root_of(record.scale), "softcap": record.softcap}
        scale |= {"bias": None if biases is None else biases[:, keys]}
        self.add(ChainStep("scale", "scale", "C", "S", numbers=scale), self._cells("S", biased[:, keys]))
        self.masked = np.where(keep, biased, -math.inf)
        causal = {"causal": not keep.all()}
        self.add(ChainStep("mask", "mask", "M", "C", numbers=causal), self._cells("S + mask", self.masked[:, keys]))

    def weights(self) -> None:
        """The softmax over all visible keys; the keys that are not shown are summed."""
        one = slice(self.head, self.head + 1)
        every = [self.record.sinks_at(one, slice(row, row + 1)) for row in self.rows]
        sink = None if self.record.sinks is None else np.array([float(row) for row in every if row is not None])
        top = np.maximum(self.masked.max(1), -math.inf if sink is None else sink)
        top = np.where(np.isneginf(top), 0.0, top)  # for a query without keys
        powers = np.exp(self.masked - top[:, None])
        extra = np.zeros(len(top)) if sink is None else np.exp(sink - top)
        total = powers.sum(1) + extra
        self.shares = powers / np.where(total > 0, total, 1.0)[:, None]
        others = np.delete(np.arange(self.n_keys), self.keys)
        rest = powers[:, others].sum(1) + extra
        seen = np.isfinite(self.masked[:, others]).sum(1)
        self.more_keys = tuple(int(n) for n in seen)
        beside = [n_elsewhere(self.capture, self.layer, row) or int(sink is not None) for row in self.rows]
        more = tuple(int(n) for n in seen + beside)
        numbers: dict[str, object] = {"top": top.tolist(), "of": "keys"}
        weights = self._cells("A", self.shares[:, self.keys], share=True)
        self.add(ChainStep("softmax", "softmax", "A", "M", rest=rest[:, None], more=more, numbers=numbers), weights)

    def mixed(self) -> None:
        """V, and its weighted sums."""
        output = self.shares @ self.v
        dims = largest(np.abs(output).sum(0), units_of(self.v.shape[1], None))
        across = tuple(dims)
        kinds = ("token", "dimension")
        v = MatrixPart("V", self.v[self.keys][:, dims], self.window.keys, across, kinds, self.v.shape, "value")
        self.add(ChainStep("v", "model", "V"), v)
        rest = output[:, dims] - self.shares[:, self.keys] @ self.v[self.keys][:, dims]
        shape = (self.n_queries, self.v.shape[1])
        mixed = MatrixPart("O", output[:, dims], self.window.queries, across, kinds, shape, "value")
        numbers: dict[str, object] = {"of": "keys"}
        self.add(ChainStep("mix", "product", "O", "A", "V", rest=rest, more=self.more_keys, numbers=numbers), mixed)

    def written(self) -> RunnerError | None:
        """The concatenated heads at the query's token, and W_O's output for each; the error if it is unavailable."""
        passed = float64(self.record.head_output_edited[self.query])
        try:
            written = float64(self.capture.head_writes(self.layer, self.query))
        except RunnerError as error:
            written, refused = None, error
        else:
            refused = None
        sizes = np.linalg.norm(passed if written is None else written, axis=1)
        heads = largest(
            np.where(np.arange(len(sizes)) == self.head, math.inf, sizes), [(i,) for i in range(len(sizes))], HEADS
        )
        dims = largest(np.abs(passed[self.head]), units_of(passed.shape[1], None))
        concat = MatrixPart(
            "concat", passed[heads][:, dims], tuple(heads), tuple(dims), ("head", "dimension"), passed.shape
        )
        self.add(ChainStep("concat", "model", "Z"), concat)
        if written is None:
            return refused
        added = written.sum(0)
        dims = largest(np.abs(added), units_of(len(added), None))
        kinds = ("head", "dimension")
        self.matrices["H"] = MatrixPart(
            "heads · W_O", written[heads][:, dims], tuple(heads), tuple(dims), kinds, written.shape
        )
        total = MatrixPart("Y", added[None, dims], (self.query,), tuple(dims), ("token", "dimension"), (1, len(added)))
        rest = added[None, dims] - written[heads][:, dims].sum(0)
        numbers: dict[str, object] = {"of": "heads"}
        more = (len(written) - len(heads),)
        self.add(ChainStep("out", "sum", "Y", "H", rest=rest, more=more, numbers=numbers), total)
        return None

    def _cells(self, name: str, values: np.ndarray, *, share: bool = False) -> MatrixPart:
        shape = (self.n_queries, self.n_keys)
        return MatrixPart(name, values, self.window.queries, self.window.keys, ("token", "token"), shape, share=share)

    def _keep(self) -> np.ndarray:
        read, device = slice(0, self.n_keys), self.record.q.device
        tiles = [self.record.mask.tile(slice(i, i + 1), read, device, head=self.head) for i in self.rows]
        return torch.cat([tile.expand(1, self.n_keys) for tile in tiles]).cpu().numpy()

    def _biases(self) -> np.ndarray | None:
        head, read = slice(self.head, self.head + 1), slice(0, self.n_keys)
        found = [self.record.biases(head, slice(i, i + 1), read) for i in self.rows]
        known = [float64(one[0]) for one in found if one is not None]
        return np.concatenate(known) if known else None


def float64(x: Tensor) -> Float[np.ndarray, "..."]:
    """The numbers on the CPU in float64."""
    return x.detach().to("cpu", torch.float64).numpy()
