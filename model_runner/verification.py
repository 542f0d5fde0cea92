"""Checks whether the record of a layer reproduces what the model's own attention returned in the same forward.

There are two tests. Each number must be as close as rounding allows. And if the model's dtype is coarser than float32,
the differences together must not lean in the direction in which a wrong v, k, bias, soft-cap or sink would push them.
Rounding errors are as often positive as negative, so that their sum is small even if each may be large, unless rows are
alike: then each of them has the same rounding error.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from attention import softmax
from attention.unrolled import Unrolled
from attention.zoo.head import Head
from model_runner.checked_rows import rows_together
from model_runner.head_difference import HeadDifference
from model_runner.one_thread import one_thread
from model_runner.record import SHORT, LayerRecord
from model_runner.substitution import Substituted

EAGER_ROUNDINGS = 6  # of a score by eager functions: q·k, scale, soft-cap (3), minus the row's maximum
OF_A_NUMBER = 7.0  # standard deviations that no rounding error exceeds, even among 10^11
OF_A_SUM = 5.0  # the same for a sum over a head or a layer, of which there are hundreds
ALIKE = 16  # units of the dtype by which two rows may differ and still be rounded alike
OTHER_ORDER = 1e-6  # relative to Σ|w||v|: float64 sums in another order, including the one in an inverse
LEAST = 1e-3  # relative to a head's mean variance: no number is credited with less
UNIFORM = 1 / 3  # variance of a rounding error, relative to its square maximum
ROUNDINGS_OF_A_STATE = 32  # in a recurrence's output besides its decays: gates, products, sums in another order
CELLS_ON_GPU = 1 << 25  # cells of the rows compared at once: a GPU is idle between smaller blocks


@dataclass(frozen=True)
class Check:
    """Recomputed weights × v against the model's own attention output, in ``rows`` of the layer's ``of`` rows.

    ``max_abs_error`` is the largest difference, ``tolerance`` what rounding allows there. ``ok`` says that every number
    is within its own tolerance, and that the numbers do not lean in one direction together. If they do, ``tolerance``
    is the part of the difference that rounding allows for all of them. ``substituted`` heads no longer have the model's
    softmax: their map × v is compared with the substitute's output.
    """

    max_abs_error: float
    tolerance: float
    ok: bool  # False for NaN
    rows: int
    of: int
    substituted: int = 0
    unrolled: bool = False  # for a layer without softmax: every matrix of its recurrence × its inputs


def verify(record: LayerRecord, lse: Float[Tensor, "heads queries"] | None, rows: int) -> Check:
    """Recompute a layer's output, ``rows`` queries at a time; O(heads × rows × keys) memory, on a GPU 128 MB of scores.

    ``lse`` are the denominators if they are known already.
    """
    if record.unrolled is not None:
        return _of_unrolled(record, record.unrolled, rows)
    n_heads, n_tokens, n_keys = *record.q.shape[:2], record.k.shape[1]
    on_gpu = record.q.device.type != "cpu"
    together = rows_together(n_tokens, rows, CELLS_ON_GPU // (n_heads * n_keys) if on_gpu else 0)
    compared = [_compare(record, lse, blocks) for blocks in together]
    with one_thread(record.q.shape[1] <= SHORT):
        for edit, some, heads in record.replaced():
            compared += [_of_map(record.output[:, head], edit, one) for head, one in zip(some, heads, strict=True)]
    if record.difference is not None:
        compared.append(_of_difference(record, record.difference))
    ok = all(one.ok for one in compared)
    error, tolerance = max((one.largest for one in compared), key=lambda found: (math.isnan(found[0]), found[0]))
    explained = _explained([one.rows for one in compared if one.rows is not None]) if ok else 1.0
    if explained < 1:
        ok, tolerance = False, error * explained
    n_rows = sum(block.stop - block.start for blocks in together for block in blocks)
    return Check(error, tolerance, ok, n_rows, n_tokens, len(record.substituted))


def _of_unrolled(record: LayerRecord, own: Unrolled, rows: int) -> Check:
    """Every matrix of a layer without softmax × its inputs, against what the recurrence returned.

    The recurrence multiplies its decays one by one and rounds each; here, logarithms are summed and exponentiated. The
    tolerance is relative to the sum of absolute values.
    """
    n_tokens = own.n_tokens
    steps = torch.finfo(torch.float32).eps * (ROUNDINGS_OF_A_STATE + n_tokens)
    narrow = torch.finfo(record.output.dtype).eps
    narrow = 2 * narrow if narrow > torch.finfo(torch.float32).eps else 0.0
    blocks = [block for some in rows_together(n_tokens, rows, 0) for block in some]
    error, tolerance, ok = 0.0, 0.0, True
    for block in blocks:
        found, sizes = own.outputs(block, record.v.float())
        apart = (found - record.output[block].transpose(0, 1).float()).abs()
        allowed = (steps + narrow) * sizes + torch.finfo(torch.float32).tiny
        ok = ok and bool((apart <= allowed).all())
        place = int(apart.argmax())  # the position of a NaN if there is one
        largest, there = float(apart.flatten()[place]), float(allowed.flatten()[place])
        if math.isnan(largest) or largest >= error:
            error, tolerance = largest, there
    return Check(error, tolerance, ok, sum(block.stop - block.start for block in blocks), n_tokens, unrolled=True)


@dataclass(frozen=True, eq=False)
class _Rows:
    """How far the differences of a block's rows go in each direction, and what rounding explains; directions come
    first.
    """

    total: Float[Tensor, "ways heads block"]  # sum of the differences in the direction
    variance: Float[Tensor, "ways heads block"]  # its variance by roundings of cells and numbers
    whole: Float[Tensor, "ways heads block"]  # variance by roundings of the row's own factor
    sure: Float[Tensor, "ways heads block"]  # what float32 may add, all of one sign
    found: Float[Tensor, "heads block d_value"]
    lse: Float[Tensor, "heads block"]
    own: float


@dataclass(frozen=True, eq=False)
class _Compared:
    ok: bool
    largest: tuple[float, float]  # the difference, and its tolerance there
    rows: _Rows | None  # None for float32, whose rounding errors are not summed


def _explained(blocks: Sequence[_Rows]) -> float:
    """The share of the sum over all rows that rounding explains, for the direction and the head or layer where it is
    least.
    """
    if not blocks:
        return 1.0
    total, variance, whole, sure = (
        torch.cat([getattr(block, name) for block in blocks], dim=2) for name in ("total", "variance", "whole", "sure")
    )
    found, lse = (torch.cat([getattr(block, name) for block in blocks], dim=1) for name in ("found", "lse"))
    near = ALIKE * blocks[0].own
    together = torch.stack(
        [
            _together(variance[:, head].sqrt(), _alike(found[head], near))
            + _together(whole[:, head].sqrt(), _alike(lse[head][:, None], near))
            for head in range(total.shape[1])
        ],
        dim=1,
    )  # (ways, heads)
    total, sure = total.sum(2), sure.sum(2)
    leaning = torch.cat([total, total.sum(1, keepdim=True)], dim=1).abs()
    deviation = torch.cat([together, together.sum(1, keepdim=True)], dim=1).sqrt()
    allowed = OF_A_SUM * deviation + torch.cat([sure, sure.sum(1, keepdim=True)], dim=1)
    return float(torch.where(leaning > allowed, allowed / leaning, 1.0).min())


def _alike(rows: Float[Tensor, "rows d"], near: float) -> Float[Tensor, "rows rows"]:
    """1 where two rows differ so little that they may be rounded alike, 0 elsewhere."""
    sizes = (rows**2).sum(dim=1)
    apart = sizes[:, None] + sizes - 2 * rows @ rows.T
    return (apart <= near**2 * torch.minimum(sizes[:, None], sizes)).float().fill_diagonal_(1.0)


def _together(deviations: Float[Tensor, "ways rows"], alike: Float[Tensor, "rows rows"]) -> Float[Tensor, "ways"]:
    """The variance of the sum, in which rows that are alike deviate together."""
    return ((deviations @ alike) * deviations).sum(dim=1)


def _joined(blocks: Sequence[Tensor]) -> Tensor:
    """Concatenate blocks of rows, with heads first."""
    return torch.cat(list(blocks), dim=1) if len(blocks) > 1 else blocks[0]


def _joined_if_there(blocks: Sequence[Tensor | None]) -> Tensor | None:
    """The same for a tensor that a layer has in every block or in none."""
    there = [block for block in blocks if block is not None]
    return _joined(there) if there else None


def _compare(record: LayerRecord, lse: Float[Tensor, "heads queries"] | None, blocks: list[slice]) -> _Compared:
    """The difference of every number of the output, and how much of it rounding alone can explain.

    A score off by δ moves its weight w by at most w·(δ + Σwδ), so an output number by at most Σw·δ·|v| + Σwδ · Σw|v|. δ
    itself is a few float32 units of |q||k|·scale for the two dot products; if the model's eager function ran in a
    coarser dtype, also one of its units of the score's size for every rounding. The model's dtype rounds weights and
    output once each, and weights × v is summed in float32 on both sides. This is the upper bound; as far as rounding
    errors are independent, seven standard deviations of their sum are less.
    """
    dtypes = (record.q.dtype, record.v.dtype, record.output.dtype)  # GPT-J's q are float32 beside bfloat16 values
    own = max(torch.finfo(dtype).eps for dtype in dtypes) / 2
    exact = torch.finfo(torch.float32).eps
    tiles = [(slice(0, record.q.shape[0]), block, slice(0, record.k.shape[1])) for block in blocks]
    scores = _joined([record.scores(*tile) for tile in tiles])
    known = None if lse is None else _joined([lse[:, block] for block in blocks])
    sinks = _joined_if_there([record.sinks_at(*tile[:2]) for tile in tiles])
    lse = softmax.log_sum_exp(scores, sinks) if known is None or record.substituted else known
    weights = softmax.weights(scores, lse)
    output = _joined([record.output[block].transpose(0, 1) for block in blocks]).float()  # (heads, block, d_value)
    found = softmax.attend(weights, record.v)
    if substituted := list(record.substituted):  # these are compared by their maps
        output = output.clone()
        output[substituted] = found[substituted].to(output)
    error = found - output

    longest_k = record.k.float().norm(dim=-1).amax(dim=1).repeat_interleave(record.group)
    q = _joined([record.q[:, block] for block in blocks]).float()
    dots = q.norm(dim=-1) * longest_k[:, None] * record.scale  # (heads, block)
    if record.bias is not None:
        dots = dots + record.largest_bias()[:, None]
    mass = softmax.attend(weights, record.v.abs())  # Σw|v|
    sure = 8 * exact * (2 * dots[..., None] + 1) * mass
    allowed = sure + 2 * own * mass + own * output.abs()
    rows: _Rows | None = None
    scores = scores.masked_fill_(scores.isneginf(), 0.0)
    parts = _joined_if_there([record.squared_parts(*tile) for tile in tiles]) if record.eager else None
    if record.eager:
        size = scores.abs() + torch.where(lse.isfinite(), lse, 0.0).abs()[..., None]  # the row's maximum is at most lse
        size = size if parts is None else size + parts.sqrt()
        delta = EAGER_ROUNDINGS * own * size * weights
        allowed = allowed + softmax.attend(delta, record.v.abs()) + delta.sum(dim=-1, keepdim=True) * mass
    if own > exact:
        bias = _joined_if_there([record.biases(*tile) for tile in tiles])
        roundings = _Roundings(record, own, scores, weights, lse, found, bias, parts, sinks)
        numbers = roundings.of_numbers()
        allowed = torch.minimum(allowed, OF_A_NUMBER * numbers.sqrt() + sure)
        rows = roundings.rows(error, sure, numbers)
    error = error.abs()
    place = int(error.argmax())  # the position of a NaN if there is one
    largest = (float(error.flatten()[place]), float(allowed.flatten()[place]))
    return _Compared(bool((error <= allowed).all()), largest, rows)


def _of_map(output: Float[Tensor, "tokens d_value"], edit: Substituted, one: Head) -> _Compared:
    """The map of a head whose softmax is substituted, times v, against its output in the order of the paper.

    Both are float64, so that they differ by the rounding to the model's dtype, and by sums in another order.
    """
    own, output = torch.finfo(output.dtype).eps, output.double().cpu()
    found = edit.map(one)
    error = ((edit.by_map(one) if edit.row.halves or edit.row.values is not None else found @ one.v) - output).abs()
    mass = found.abs() @ one.v.abs()
    allowed = own * output.abs() + OTHER_ORDER * mass + torch.finfo(torch.float32).tiny
    place = int(error.argmax())
    largest = (float(error.flatten()[place]), float(allowed.flatten()[place]))
    return _Compared(bool((error <= allowed).all()), largest, None)


def _of_difference(record: LayerRecord, difference: HeadDifference) -> _Compared:
    """The model's output against the heads' outputs subtracted and normed, for every row."""
    found, allowed = difference.join(record.head_output_edited), difference.rounding(record.head_output_edited)
    error = (found - difference.joined.float()).abs()
    place = int(error.argmax())
    return _Compared(
        bool((error <= allowed).all()), (float(error.flatten()[place]), float(allowed.flatten()[place])), None
    )


@dataclass(frozen=True, eq=False)
class _Roundings:
    """The rounding errors of one block in the model's dtype: each independent, uniform up to its maximum."""

    record: LayerRecord
    own: float
    scores: Float[Tensor, "heads block keys"]  # 0 where masked
    weights: Float[Tensor, "heads block keys"]
    lse: Float[Tensor, "heads block"]
    found: Float[Tensor, "heads block d_value"]
    bias: Float[Tensor, "heads block keys"] | None
    parts: Float[Tensor, "heads block keys"] | None  # squares of what is rounded before it becomes part of a score
    sinks: Float[Tensor, "heads block"] | None

    def of_numbers(self) -> Float[Tensor, "heads block d_value"]:
        """Variance of every number of the output. A score off by δ moves it by w · δ · (v − output)."""
        v, squares = self.record.v.float(), self.weights**2
        moved = squares * self._of_scores()
        spread = softmax.attend(moved, v**2) - 2 * self.found * softmax.attend(moved, v)
        spread = spread + self.found**2 * moved.sum(dim=-1, keepdim=True)
        rest = softmax.attend(squares, v**2) + self.found**2 * (1 + self._of_rows()[..., None])
        return spread.clamp(min=0.0) + UNIFORM * self.own**2 * rest

    def rows(self, error: Tensor, sure: Tensor, numbers: Tensor) -> _Rows:
        """The differences in every direction, one number per row: one rounding moves a whole row of numbers together.

        Sinks move little of a row, which a few large numbers hide. So their direction is projected once more, with
        numbers weighted more the less they are rounded.
        """
        ways = list(self.ways())
        if self.sinks is not None:
            usual = numbers.mean(dim=(1, 2), keepdim=True)
            counts = usual / (numbers + LEAST * usual).clamp(min=torch.finfo(torch.float32).tiny)
            ways.append(ways[-1] * counts)
        totals = torch.stack([(way * error).sum(dim=-1) for way in ways])
        sures = torch.stack([(way.abs() * sure).sum(dim=-1) for way in ways])
        variances, wholes = zip(*(self._along(way) for way in ways), strict=True)
        return _Rows(totals, torch.stack(variances), torch.stack(wholes), sures, self.found, self.lse, self.own)

    def _along(self, way: Float[Tensor, "heads block d_value"]) -> tuple[Tensor, Tensor]:
        values = softmax.scores(way, self.record.v, scale=1.0)
        own = (way * self.found).sum(dim=-1)
        moved = self._of_scores() * (values - own[..., None]) ** 2 + UNIFORM * self.own**2 * values**2
        numbers = UNIFORM * self.own**2 * ((way * self.found) ** 2).sum(dim=-1)
        return (self.weights**2 * moved).sum(dim=-1) + numbers, UNIFORM * self.own**2 * self._of_rows() * own**2

    def ways(self) -> Iterator[Float[Tensor, "heads block d_value"]]:
        """How the output moves if v, k, the bias, the soft-cap or the sinks change in proportion."""
        record, slope = self.record, torch.ones((), device=self.found.device)
        yield self.found
        raw = self.scores
        if self.bias is not None:
            raw = raw - self.bias
            yield self._moved(self.bias)
        if record.softcap is not None:
            capped = (self.scores / record.softcap).clamp(-1 + 1e-6, 1 - 1e-6)
            raw, slope = capped.atanh() * record.softcap, 1 - capped**2
            yield self._moved(self.scores - raw * slope)
        yield self._moved(raw * slope)
        if self.sinks is not None:
            yield self._shares()[..., None] * self.found

    def _moved(self, change: Float[Tensor, "heads block keys"]) -> Float[Tensor, "heads block d_value"]:
        moved = self.weights * change
        return softmax.attend(moved, self.record.v) - self.found * moved.sum(dim=-1, keepdim=True)

    def _of_scores(self) -> Tensor:
        """Variance of a score: the eager function rounds it several times, at last minus the row's maximum."""
        if not self.record.eager:
            return torch.zeros((), device=self.found.device)
        times = EAGER_ROUNDINGS - 1 if self.record.softcap is not None else 2
        size = times * self.scores**2 + (self.scores - torch.where(self.lse.isfinite(), self.lse, 0.0)[..., None]) ** 2
        if self.parts is not None:  # positions are in these alone: the cells of a repeated word may be equal
            size = (size + self.parts) * repeats(self.scores)
        return UNIFORM * self.own**2 * size

    def _of_rows(self) -> Float[Tensor, "heads block"]:
        """For a whole row, in squared units of the dtype: Granite multiplies it by the share that sinks leave."""
        if self.sinks is None:
            return torch.zeros_like(self.lse)
        shares, sinks = self._shares(), self.sinks.float()
        tokens = self.lse + torch.log1p(-shares.clamp(max=1 - 1e-6))
        return 1 + shares**2 * (tokens**2 + (tokens - sinks) ** 2)

    def _shares(self) -> Float[Tensor, "heads block"]:
        """The share of each row that the sinks take."""
        return torch.zeros_like(self.lse) if self.sinks is None else torch.exp(self.sinks.float() - self.lse)


NEAR = 1e-5  # relative to a score: the same sum elsewhere in a product differs by less


def repeats(scores: Float[Tensor, "heads queries keys"]) -> Float[Tensor, "heads queries keys"]:
    """How many cells of each one's row, including itself, have the same score up to float32's rounding."""
    ordered, order = scores.sort(dim=-1)
    begins = torch.ones_like(ordered, dtype=torch.bool)
    begins[..., 1:] = ordered.diff(dim=-1) > NEAR * (1 + ordered[..., 1:].abs())
    run = begins.long().cumsum(dim=-1) - 1
    counts = torch.zeros_like(ordered).scatter_add(-1, run, torch.ones_like(ordered))
    return torch.empty_like(ordered).scatter(-1, order, counts.gather(-1, run))
