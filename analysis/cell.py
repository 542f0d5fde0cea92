"""Every step from q and k to a head's effect on the next-token logits, for one cell.

One head, one query, one key. Each step's numbers follow from the previous step, in float64, from the vectors that the
model's own attention received.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from analysis.head_names import group_size
from analysis.joined import n_looked_at
from analysis.score_formula import root_of
from model_runner.capture import Capture
from model_runner.errors import RunnerError

DRAWN_KEYS = 48  # keys of a longer text that are drawn: those with the largest weights, and the selected one
PUSHED = 5  # tokens named at each end


@dataclass(frozen=True, eq=False)
class SoftmaxRow:
    """The query's softmax row over all keys, and the vectors of the keys that are drawn.

    ``scores`` are −inf where masked, ``weights`` 0. ``sink`` is a learned sink's weight; including it the weights sum
    to 1. ``contributions`` are the norms ‖weight · v‖.
    """

    scores: Float[np.ndarray, "keys"]
    keep: Bool[np.ndarray, "keys"]
    weights: Float[np.ndarray, "keys"]
    contributions: Float[np.ndarray, "keys"]
    dots: Float[np.ndarray, "keys"]
    biases: Float[np.ndarray, "keys"] | None  # added to the scores; None if the model adds none
    lse: float
    sink: float | None
    drawn: Int[np.ndarray, "drawn"]  # positions, ascending
    k: Float[np.ndarray, "drawn d_head"]
    v: Float[np.ndarray, "drawn d_value"]

    @property
    def rest(self) -> float:
        """The weight of the keys that are not drawn."""
        return float(np.delete(self.weights, self.drawn).sum())

    @property
    def top(self) -> list[int]:
        """Visible keys by decreasing contribution; equal ones by position."""
        order = np.argsort(-self.contributions, kind="stable")
        return [int(key) for key in order if self.keep[key]]


@dataclass(frozen=True)
class Push:
    """What the head adds to the logits at the query's position: the extremes, and the predicted token."""

    promoted: tuple[tuple[int, float], ...]  # (token id, logits added), decreasing; none that are exactly 0
    suppressed: tuple[tuple[int, float], ...]  # (token id, logits added), increasing
    mean: float  # over the vocabulary; the softmax is invariant to it
    predicted: tuple[int, float, float]  # likeliest token: its id, logits added, its total logit


@dataclass(frozen=True, eq=False)
class Cell:
    """One cell of a head's map. ``group`` are the query heads that share this key/value head."""

    layer: int
    head: int
    kv_head: int
    group: tuple[int, ...]
    query: int
    key: int
    rotated: bool
    q: Float[np.ndarray, "d_head"]
    k: Float[np.ndarray, "d_head"]
    product: Float[np.ndarray, "d_head"]
    dot: float
    scale: float
    root: int | None  # the d for which scale is 1/√d; None if the model scales otherwise
    scaled: float
    softcap: float | None
    capped: float
    bias: float | None  # added to the score
    visible: bool
    window: int | None
    score: float  # −inf where masked
    weight: float
    row: SoftmaxRow
    v: Float[np.ndarray, "d_value"]
    mixed: Float[np.ndarray, "d_value"]  # Σ weight · v, recomputed
    output: Float[np.ndarray, "d_value"]  # the output of the model's own attention
    difference: float  # the largest between the two
    passed_on: Float[np.ndarray, "d_value"]  # the input of W_O: the output, unless edits changed it
    push: Push | RunnerError  # of what was passed on, or the reason why there is none

    @property
    def changed(self) -> bool:
        """True if the request's edits change what is passed on here."""
        return not np.array_equal(self.passed_on, self.output)


def cell(capture: Capture, layer: int, head: int, query: int, key: int) -> Cell:
    """Positions and heads count from 0. O(keys × d_head). Raises NoWeights, NoSuchPlace."""
    record = capture.record(layer)
    kv_head = head // record.group
    q, read = _float64(record.q[head, query]), slice(0, n_looked_at(capture))
    keys, values = _float64(record.k[kv_head, read]), _float64(record.v[kv_head, read])
    row = _row(capture, layer, head, query, key)
    product = q * keys[key]
    dot = float(product.sum())
    scaled = dot * record.scale
    capped = scaled if record.softcap is None else record.softcap * math.tanh(scaled / record.softcap)
    bias, visible = None if row.biases is None else float(row.biases[key]), bool(row.keep[key])
    mixed, output = row.weights @ values, _float64(record.output[query, head])
    return Cell(
        layer=layer,
        head=head,
        kv_head=kv_head,
        group=_sharing(capture, layer, head),
        query=query,
        key=key,
        rotated=record.rotation is not None,
        q=q,
        k=keys[key],
        product=product,
        dot=dot,
        scale=record.scale,
        root=root_of(record.scale),
        scaled=scaled,
        softcap=record.softcap,
        capped=capped,
        bias=bias,
        visible=visible,
        window=record.window,
        score=capped + (bias or 0.0) if visible else -math.inf,
        weight=float(row.weights[key]),
        row=row,
        v=values[key],
        mixed=mixed,
        output=output,
        difference=float(np.abs(mixed - output).max()),
        passed_on=_float64(record.head_output_edited[query, head]),
        push=_push(capture, layer, head, query),
    )


def _sharing(capture: Capture, layer: int, head: int) -> tuple[int, ...]:
    size = group_size(capture, layer)
    return tuple(range(head // size * size, (head // size + 1) * size))


def strongest_key(capture: Capture, layer: int, head: int, query: int) -> int:
    """The key with this query's largest weight."""
    return int(capture.weights(layer, head, queries=slice(query, query + 1))[0].argmax())


def _row(capture: Capture, layer: int, head: int, query: int, key: int) -> SoftmaxRow:
    record, one_query, one_head = capture.record(layer), slice(query, query + 1), slice(head, head + 1)
    every_key = slice(0, n_looked_at(capture))
    q, kv_head = record.q[head, query], head // record.group
    keys, values = record.k[kv_head, every_key], record.v[kv_head, every_key]
    scores = _float64(capture.scores(layer, head, queries=one_query, keys=every_key)[0])
    sinks = record.sinks_at(one_head, one_query)
    weights, lse = _softmax(scores, None if sinks is None else float(sinks))
    keep = record.mask.tile(one_query, every_key, record.q.device, head=head)[0].cpu().numpy()
    drawn = _drawn(weights, keep, key)
    return SoftmaxRow(
        scores=scores,
        keep=keep,
        weights=weights,
        contributions=weights * np.linalg.norm(_float64(values), axis=1),
        dots=_float64(keys) @ _float64(q),
        biases=None if (biases := record.biases(one_head, one_query, every_key)) is None else _float64(biases[0, 0]),
        lse=lse,
        sink=None if sinks is None else math.exp(float(sinks) - lse),
        drawn=drawn,
        k=_float64(keys)[drawn],
        v=_float64(values)[drawn],
    )


def _softmax(scores: Float[np.ndarray, "keys"], sink: float | None) -> tuple[Float[np.ndarray, "keys"], float]:
    """The weights and the log of their denominator, in float64, so that the remainder can be summed too."""
    row = scores if sink is None else np.append(scores, sink)
    largest = row.max()
    if np.isneginf(largest):
        return np.zeros_like(scores), -math.inf
    lse = float(largest + np.log(np.exp(row - largest).sum()))
    return np.exp(scores - lse), lse


def _drawn(weights: Float[np.ndarray, "keys"], keep: Bool[np.ndarray, "keys"], key: int) -> Int[np.ndarray, "drawn"]:
    """All keys of a short text; for a longer one the visible ones with the largest weights, and the selected one."""
    if len(weights) <= DRAWN_KEYS:
        return np.arange(len(weights))
    order = np.argsort(np.where(keep, -weights, np.inf), kind="stable")
    order = order[: max(1, int(keep.sum()))]  # a masked key is drawn only if it is selected
    others = order[order != key][: DRAWN_KEYS - 1]
    return np.sort(np.append(others, key))


def _push(capture: Capture, layer: int, head: int, position: int) -> Push | RunnerError:
    try:
        logits = capture.logits(position)  # a classifier has no logits, although its heads affect its classes
        push = capture.direct_logits(layer, head, position)
    except RunnerError as error:
        return error
    predicted = int(logits.argmax())
    return Push(
        promoted=_named(push, largest=True),
        suppressed=_named(push, largest=False),
        mean=float(push.double().mean()),
        predicted=(predicted, float(push[predicted]), float(logits[predicted])),
    )


def _named(push: Float[Tensor, "vocab"], *, largest: bool) -> tuple[tuple[int, float], ...]:
    top = push.topk(min(PUSHED, len(push)), largest=largest)
    named = zip(top.indices.tolist(), top.values.tolist(), strict=True)
    return tuple((token, value) for token, value in named if value != 0)  # an ablated head adds nothing to any token


def _float64(x: Tensor) -> Float[np.ndarray, "..."]:
    return x.detach().to("cpu", torch.float64).numpy()
