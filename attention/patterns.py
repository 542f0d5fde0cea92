"""The table of attention patterns: rules that keep some of the causal cells, each with its paper and its parameters.

A pattern says which keys it keeps; that a query cannot see what comes after it is :func:`attention.masks.causal`'s word
(or the model's own rule), and is composed with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from attention import masks
from attention.masks import Rule

N_ = str  # marks a text for translation where it is shown


@dataclass(frozen=True)
class Parameter:
    """A whole number of a pattern; ``counts`` says what, off-by-ones included."""

    name: str
    label: str
    counts: str
    default: int
    least: int = 1


@dataclass(frozen=True)
class Pattern:
    """One row: ``make`` takes the parameters by name and gives the rule.

    ``seen`` takes the queries' positions and the parameters and gives how many keys each of them sees, by formula;
    where keys are random, how many it is expected to see. ``ahead``: it also keeps keys that come after the query.
    """

    name: str
    label: str
    counts: str
    source: str
    parameters: tuple[Parameter, ...]
    make: Callable[..., Rule]
    seen: Callable[..., Tensor]
    ahead: bool = False

    def rule(self, values: Mapping[str, int]) -> Rule:
        """The rule with these values; a parameter that is not named has its default."""
        return self.make(**self._filled(values))

    def kept_cells(self, n_tokens: int, values: Mapping[str, int]) -> float:
        """How many cells of a text of so many tokens are kept, by formula. O(tokens)."""
        q_idx = torch.arange(n_tokens, dtype=torch.float64)
        return float(self.seen(q_idx, **self._filled(values)).clamp(max=n_tokens).sum())

    def _filled(self, values: Mapping[str, int]) -> dict[str, int]:
        return {item.name: values.get(item.name, item.default) for item in self.parameters}


def causal_cells(n_tokens: int) -> int:
    """Cells of full causal attention."""
    return n_tokens * (n_tokens + 1) // 2


def reach(keep: Bool[Tensor, "queries keys"], most: int | None = None) -> Int[Tensor, "queries keys"]:
    """After how many layers of this pattern a query's vector can depend on a key's token; 0 where never.

    A layer passes on what its keys had gathered before, and the residual stream keeps the token itself. With ``most``,
    0 also where it takes more layers than that.
    """
    n_tokens = len(keep)
    step = (keep | torch.eye(n_tokens, dtype=torch.bool)).float()
    seen = step > 0
    layers = seen.to(torch.int64)
    for layer in range(2, (n_tokens if most is None else most) + 1):
        further = (step @ seen.float()) > 0
        if torch.equal(further, seen):
            break
        layers = torch.where(further & ~seen, layer, layers)
        seen = further
    return layers


def dilated(window: int, gap: int) -> Rule:
    """``window`` keys, the query the first of them, each ``gap`` positions before the last."""

    def rule(batch: Tensor, head: Tensor, q_idx: Tensor, k_idx: Tensor) -> Tensor:
        back = q_idx - k_idx
        return (back % gap == 0) & (back < window * gap)

    return rule


def strided(stride: int) -> Rule:
    """The last ``stride`` keys (the query included), and every key a multiple of ``stride`` positions back."""

    def rule(batch: Tensor, head: Tensor, q_idx: Tensor, k_idx: Tensor) -> Tensor:
        back = q_idx - k_idx
        return (back < stride) | (back % stride == 0)

    return rule


def fixed(stride: int, summary: int) -> Rule:
    """The keys of the query's own block of ``stride`` positions, and the last ``summary`` ones of every block."""

    def rule(batch: Tensor, head: Tensor, q_idx: Tensor, k_idx: Tensor) -> Tensor:
        return (q_idx // stride == k_idx // stride) | (k_idx % stride >= stride - summary)

    return rule


def global_tokens(count: int) -> Rule:
    """The first ``count`` tokens are seen by every query, and see every key."""
    return lambda batch, head, q_idx, k_idx: (k_idx < count) | (q_idx < count)


def random_keys(count: int, seed: int) -> Rule:
    """``count`` draws of a key for each query among itself and what came before; equal draws count once."""

    def rule(batch: Tensor, head: Tensor, q_idx: Tensor, k_idx: Tensor) -> Tensor:
        kept = (q_idx < 0) & (k_idx < 0)  # nowhere: positions are not negative
        for draw in range(count):
            kept = kept | (k_idx == _mixed(q_idx * 65_537 + draw * 97 + seed * 1_000_003) % (q_idx + 1).clamp(min=1))
        return kept

    return rule


def prefix(length: int) -> Rule:
    """The first ``length`` tokens see each other in both directions; what follows is causal."""
    return lambda batch, head, q_idx, k_idx: (k_idx <= q_idx) | (k_idx < length)


def chunked(size: int) -> Rule:
    """Only keys of the query's own chunk of ``size`` positions."""
    return lambda batch, head, q_idx, k_idx: q_idx // size == k_idx // size


def _every(batch: Tensor, head: Tensor, q_idx: Tensor, k_idx: Tensor) -> Tensor:
    return masks.full(batch, head, q_idx, k_idx)


def _mixed(x: Tensor) -> Tensor:
    """A non-negative integer that looks random and is the same on every machine (Steele et al. 2014's mixer)."""
    x = x.to(torch.int64)
    x = (x ^ ((x >> 30) & 0x3FFFFFFFF)) * -4658895280553007687  # 0xBF58476D1CE4E5B9 as a signed number
    x = (x ^ ((x >> 27) & 0x1FFFFFFFFF)) * -7723592293110705685  # 0x94D049BB133111EB
    return (x ^ ((x >> 31) & 0x1FFFFFFFF)) & 0x7FFFFFFFFFFFFFFF


def _last(q_idx: Tensor, window: int) -> Tensor:
    return (q_idx + 1).clamp(max=window)


def _with_random(q_idx: Tensor, sure: Tensor, count: int) -> Tensor:
    """Expected number of keys: those kept for sure, and the others hit by at least one of the draws."""
    n_keys = q_idx + 1
    return sure + (n_keys - sure) * (1 - (1 - 1 / n_keys) ** count)


_WINDOW = Parameter("window", N_("window"), N_("keys, the query itself included"), 8)
_STRIDE = Parameter("stride", N_("stride"), N_("positions"), 4)
_GLOBALS = Parameter("shared", N_("global tokens"), N_("tokens at the start"), 2, least=0)
_RANDOM = Parameter("count", N_("random keys"), N_("draws for each query"), 2, least=0)
_SEED = Parameter("seed", N_("seed"), N_("any whole number"), 0, least=0)

PATTERNS = (
    Pattern(
        "full", N_("full"), N_("every key the model itself allows"), "Vaswani et al. 2017, arXiv:1706.03762", (),
        make=lambda: _every,
        seen=lambda q: q + 1,
    ),
    Pattern(
        "window", N_("sliding window"), N_("the last keys"), "Beltagy et al. 2020, arXiv:2004.05150", (_WINDOW,),
        make=masks.recent,
        seen=_last,
    ),
    Pattern(
        "dilated", N_("dilated window"), N_("a window with gaps"), "Beltagy et al. 2020, arXiv:2004.05150",
        (_WINDOW, Parameter("gap", N_("gap"), N_("positions from key to key; 1 is a plain window"), 2)),
        make=dilated,
        seen=lambda q, window, gap: (q // gap + 1).clamp(max=window),
    ),
    Pattern(
        "strided", N_("strided"), N_("the last keys, and every stride-th before"),
        "Child et al. 2019, arXiv:1904.10509", (_STRIDE,),
        make=strided,
        seen=lambda q, stride: _last(q, stride) + q // stride,
    ),
    Pattern(
        "fixed", N_("fixed"), N_("the own block, and the last keys of each block"),
        "Child et al. 2019, arXiv:1904.10509",
        (_STRIDE, Parameter("summary", N_("summary keys"), N_("last keys of each block"), 1)),
        make=fixed,
        seen=lambda q, stride, summary: q % stride + 1 + (q // stride) * min(summary, stride),
    ),
    Pattern(
        "global", N_("local and global"), N_("a window, and the first tokens for all"),
        "Beltagy et al. 2020, arXiv:2004.05150", (_WINDOW, _GLOBALS),
        make=lambda window, shared: masks.either(masks.recent(window), global_tokens(shared)),
        seen=lambda q, window, shared: _last(q, window + shared),
    ),
    Pattern(
        "bigbird", N_("BigBird"), N_("window, global tokens and random keys"),
        "Zaheer et al. 2020, arXiv:2007.14062", (_WINDOW, _GLOBALS, _RANDOM, _SEED),
        make=lambda window, shared, count, seed: masks.either(
            masks.either(masks.recent(window), global_tokens(shared)), random_keys(count, seed)
        ),
        seen=lambda q, window, shared, count, seed: _with_random(q, _last(q, window + shared), count),
    ),
    Pattern(
        "random", N_("random"), N_("the query itself and random keys"), "Zaheer et al. 2020, arXiv:2007.14062",
        (_RANDOM, _SEED),
        make=lambda count, seed: masks.either(masks.recent(1), random_keys(count, seed)),
        seen=lambda q, count, seed: _with_random(q, _last(q, 1), count),
    ),
    Pattern(
        "sinks", N_("sinks and window"), N_("the first tokens and the last keys"),
        "Xiao et al. 2023, arXiv:2309.17453",
        (_WINDOW, Parameter("sinks", N_("sinks"), N_("tokens at the start"), 4, least=0)),
        make=lambda window, sinks: masks.recent(window, sinks=sinks),
        seen=lambda q, window, sinks: _last(q, window + sinks),
    ),
    Pattern(
        "prefix", N_("prefix"), N_("the prefix sees itself whole, the rest is causal"),
        "Raffel et al. 2020, arXiv:1910.10683",
        (Parameter("length", N_("prefix length"), N_("tokens at the start"), 4, least=0),),
        make=prefix,
        seen=lambda q, length: (q + 1).clamp(min=length),
        ahead=True,
    ),
    Pattern(
        "documents", N_("two documents"), N_("keys of the own document"), "Krell et al. 2021, arXiv:2107.02027",
        (Parameter("start", N_("second document"), N_("position of its first token"), 8),),
        make=lambda start: masks.same_document((start,)),
        seen=lambda q, start: torch.where(q < start, q + 1, q + 1 - start),
    ),
    Pattern(
        "chunked", N_("chunked"), N_("keys of the own chunk"), "Meta 2025, Llama 4 (attention_chunk_size)",
        (Parameter("size", N_("chunk size"), N_("positions"), 8),),
        make=chunked,
        seen=lambda q, size: q % size + 1,
    ),
)  # fmt: skip  # one pattern a paragraph
BY_NAME = {pattern.name: pattern for pattern in PATTERNS}
