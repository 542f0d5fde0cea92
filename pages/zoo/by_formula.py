"""The variants' cost for this model on long texts, by formula: the work for a whole text, and per generated token."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from attention.zoo import memory
from attention.zoo.table import BY_NAME
from attention.zoo.variant import Parameter, Variant
from model_runner.record import LayerRecord
from ui.shell.page import PageContext
from ui.wording.i18n import _

LENGTHS = tuple(1000 * 2**power for power in range(11))  # a thousand tokens to a million
NAMED = (LENGTHS[0], LENGTHS[5], LENGTHS[10])
HYBRID = 7  # Lightning layers per softmax layer, as in MiniMax-01 (arXiv:2501.08313)
TILE = 256  # tokens of a Lightning tile there

SOFTMAX = replace(BY_NAME["flash"], parameters=(), memory=memory.MAP)  # with its map stored

Numbered = tuple[Variant, dict[str, int]]
Count = Callable[
    [Variant, int, dict[str, Any]], float | None
]  # of one layer: variant, number of tokens, the variant's parameters


@dataclass(frozen=True)
class ModelShape:
    """What the formulas need to know about a model; ``n_bytes`` per number."""

    n_layers: int
    n_heads: int
    n_kv_heads: int
    d_head: int
    d_value: int
    n_bytes: int
    causal: bool


@dataclass(frozen=True)
class CostCurve:
    """One line over ``LENGTHS``, for all heads of all layers; None: undefined."""

    name: str
    values: tuple[float, ...] | None


@dataclass(frozen=True)
class Costs:
    """What is drawn. ``work``: multiply-adds of a whole text.

    For causal models reading token by token: ``kept``, the cached bytes after that many tokens, and ``step``, the
    multiply-adds of the next one.
    """

    shape: ModelShape
    work: tuple[CostCurve, ...]
    memory: tuple[CostCurve, ...]
    kept: tuple[CostCurve, ...]
    step: tuple[CostCurve, ...]
    variants: tuple[Numbered, ...]


def shape_of(opened: PageContext) -> ModelShape:
    """The open layer's shape, and the number of attention layers."""
    record = opened.capture.record(opened.layer)
    n_layers = sum(one is not None for one in opened.capture.records)
    (n_heads, _n, d_head), (n_kv, _m, d_value) = record.q.shape, record.v.shape
    return ModelShape(
        n_layers, n_heads, n_kv, d_head, d_value, record.k.element_size(), looks_back(record, opened.head)
    )


def looks_back(record: LayerRecord, head: int) -> bool:
    """Return True if the head is causal."""
    return not record.mask.sees_ahead(record.k.shape[1], head=head)


def costs_of(shape: ModelShape, variants: tuple[Numbered, ...]) -> Costs:
    """Softmax, the variants with their parameters, and the hybrid."""
    d, d_v = shape.d_head, shape.d_value
    every, stored = shape.n_layers * shape.n_heads, shape.n_layers * shape.n_bytes

    def work(variant: Variant, n: int, numbers: dict[str, int]) -> float:
        return every * variant.multiply_adds(n, d, **numbers)

    def at_once(variant: Variant, n: int, numbers: dict[str, int]) -> float:
        return shape.n_heads * shape.n_bytes * variant.memory.of(n, d, d_v, **numbers)

    def kept(variant: Variant, n: int, numbers: dict[str, int]) -> float | None:
        if (form := variant.recurrent) is None:
            return None
        return stored * (shape.n_heads if form.by_query else shape.n_kv_heads) * form.state.of(n, d, d_v, **numbers)

    def step(variant: Variant, n: int, numbers: dict[str, int]) -> float | None:
        form = variant.recurrent
        return None if form is None else every * form.step.of(n, d, d_v, **numbers)

    by_token = (_curves(variants, kept, hybrid), _curves(variants, step, hybrid)) if shape.causal else ((), ())
    return Costs(shape, _curves(variants, work, hybrid), _curves(variants, at_once, largest), *by_token, variants)


def _curves(
    variants: tuple[Numbered, ...], count: Count, mixed: Callable[[int, Count], float]
) -> tuple[CostCurve, ...]:
    found = []
    for name, variant, values in [("softmax", SOFTMAX, {}), *((_(one.label), one, held) for one, held in variants)]:
        numbers = variant.numbers(values, LENGTHS[0])
        counts = (count(variant, length, numbers) for length in LENGTHS)
        found.append(CostCurve(name, tuple(one for one in counts if one is not None) or None))
    words = _("hybrid: {count} Lightning to 1 softmax").format(count=HYBRID)
    return (*found, CostCurve(words, tuple(mixed(length, count) for length in LENGTHS)))


def counted(variant: Variant) -> list[Parameter]:
    """The parameters on which work, memory or cache size depend."""
    length = LENGTHS[0]

    def counts(one: Parameter, value: int) -> list[int]:
        numbers = variant.numbers({one.name: value}, length)
        kept = [] if variant.recurrent is None else [variant.recurrent.state]
        formulas = (one.of(length, 64, 64, **numbers) for one in (variant.memory, *kept))
        return [variant.multiply_adds(length, 64, **numbers), *formulas]

    return [one for one in variant.parameters if counts(one, one.least) != counts(one, one.most_of(length))]


def hybrid(n_tokens: int, count: Count) -> float:
    """The mean over eight layers, seven of them with Lightning attention."""
    fast, slow = _layers(n_tokens, count)
    return (HYBRID * fast + slow) / (HYBRID + 1)


def largest(n_tokens: int, count: Count) -> float:
    """The layer with the largest memory, since layers are computed one after another."""
    return max(_layers(n_tokens, count))


def _layers(n_tokens: int, count: Count) -> tuple[float, float]:
    """For a Lightning layer, and for a softmax layer."""
    # the half-life does not affect the work
    fast = count(BY_NAME["lightning"], n_tokens, {"half_life": 1, "tile": TILE})
    return fast or 0.0, count(SOFTMAX, n_tokens, {}) or 0.0


def short_count(value: float) -> str:
    """Three digits with a suffix, as on the chart's axis: 131M, 4.1G, 2.05P."""
    for power, suffix in ((15, "P"), (12, "T"), (9, "G"), (6, "M"), (3, "k")):
        if value >= 0.9995 * 10**power:
            return f"{value / 10**power:.3g}{suffix}"
    return f"{value:.3g}"
