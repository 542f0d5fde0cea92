"""The table of attention patterns: rules that keep some of the cells, each with its paper and its parameters.

A pattern says which keys it keeps on both sides of a query; causality comes from :class:`attention.masks.Causal` (or
the model's own rule), which is composed with it. An encoder uses both sides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from attention import masks
from attention.kept_keys import around_blocks, around_sinks, last, local_dilated_global, with_random
from attention.masks import Rule

N_ = str  # marks a text for translation where it is shown


@dataclass(frozen=True)
class MaskParameter:
    """An integer parameter; ``counts`` says what it counts, off-by-ones included, and ``around`` what in an encoder.

    ``most`` None: as many as the text has tokens.
    """

    name: str
    label: str
    counts: str
    default: int
    least: int = 1
    most: int | None = None
    part: int = 2  # for a text too short for the default to mask anything, start with this fraction of its tokens
    around: str = ""  # if it differs

    def most_of(self, n_tokens: int) -> int:
        """The largest value that makes a difference for a text of this length."""
        return max(n_tokens, self.least) if self.most is None else self.most

    def usual(self, n_tokens: int) -> int:
        """The initial value for a text of this length."""
        if self.most is not None:
            return self.default
        return min(self.default, max(self.least, 1, n_tokens // self.part))


@dataclass(frozen=True)
class Pattern:
    """One row: ``make`` takes the parameters by name and returns the rule, which covers keys on both sides.

    ``seen`` takes the queries' positions and the parameters and gives each one's number of keys in a causal model, by
    formula; for random keys, the expected number. ``bidirectional_count`` also takes the number of tokens and gives the
    number in a bidirectional model; None if the pattern is symmetric. ``ahead`` takes the parameters and gives the
    number of tokens at the start that attend to later ones even in a causal model; None if there are none. ``around``
    are the ``counts`` in a bidirectional model, if they differ.
    """

    name: str
    label: str
    counts: str
    source: str
    parameters: tuple[MaskParameter, ...]
    make: Callable[..., Rule]
    seen: Callable[..., Tensor]
    ahead: Callable[..., int] | None = None
    bidirectional_count: Callable[..., Tensor] | None = None
    around: str = ""

    def rule(self, values: Mapping[str, int]) -> Rule:
        """The rule with these values; missing parameters have their defaults."""
        return self.make(**self._filled(values))

    def kept_cells(self, n_tokens: int, values: Mapping[str, int], *, causal: bool = True) -> float:
        """Number of cells kept for a text of this length, by formula; on both sides unless ``causal``. O(tokens)."""
        q_idx, filled = torch.arange(n_tokens, dtype=torch.float64), self._filled(values)
        if not causal and self.bidirectional_count is not None:
            return float(self.bidirectional_count(q_idx, n_tokens, **filled).sum())
        back = float(self.seen(q_idx, **filled).clamp(max=n_tokens).sum())
        return back if causal else 2 * back - n_tokens  # a query's own cell has no counterpart

    def n_ahead(self, values: Mapping[str, int]) -> int:
        """Number of tokens at the start that earlier tokens may attend to."""
        return 0 if self.ahead is None else self.ahead(**self._filled(values))

    def _filled(self, values: Mapping[str, int]) -> dict[str, int]:
        return {item.name: values.get(item.name, item.default) for item in self.parameters}


def full_cells(n_tokens: int, *, causal: bool = True) -> int:
    """Cells of full attention, causal or bidirectional."""
    return n_tokens * (n_tokens + 1) // 2 if causal else n_tokens**2


def reach(keep: Bool[Tensor, "queries keys"], most: int | None = None) -> Int[Tensor, "queries keys"]:
    """The number of layers after which a query's vector can depend on a key's token; 0 for never.

    A layer passes on what its keys have gathered, and the residual stream keeps the token itself. With ``most``, also 0
    if it takes more layers than that.
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
    """``window`` keys per side, starting with the query, each ``gap`` positions from the previous one."""

    def rule(batch: Tensor, head: Tensor, q_idx: Tensor, k_idx: Tensor) -> Tensor:
        apart = (q_idx - k_idx).abs()
        return (apart % gap == 0) & (apart < window * gap)

    return rule


def strided(stride: int) -> Rule:
    """The nearest ``stride`` keys per side (the query included), and every key at a multiple of ``stride``."""

    def rule(batch: Tensor, head: Tensor, q_idx: Tensor, k_idx: Tensor) -> Tensor:
        apart = (q_idx - k_idx).abs()
        return (apart < stride) | (apart % stride == 0)

    return rule


def fixed(stride: int, summary: int) -> Rule:
    """The keys of the query's own block of ``stride`` positions, and the last ``summary`` keys of every block."""

    def rule(batch: Tensor, head: Tensor, q_idx: Tensor, k_idx: Tensor) -> Tensor:
        return (q_idx // stride == k_idx // stride) | (k_idx % stride >= stride - summary)

    return rule


def global_tokens(count: int) -> Rule:
    """The first ``count`` tokens attend to every key, and every query attends to them."""
    return lambda batch, head, q_idx, k_idx: (k_idx < count) | (q_idx < count)


def random_keys(count: int, seed: int) -> Rule:
    """``count`` draws for each token among itself and earlier ones; equal draws count once.

    A drawn token also attends to the token that drew it, unless the model is causal.
    """

    def rule(batch: Tensor, head: Tensor, q_idx: Tensor, k_idx: Tensor) -> Tensor:
        kept = (q_idx < 0) & (k_idx < 0)  # all False, since positions are not negative
        later, earlier = torch.maximum(q_idx, k_idx), torch.minimum(q_idx, k_idx)
        for draw in range(count):
            kept = kept | (earlier == _mixed(later * 65_537 + draw * 97 + seed * 1_000_003) % (later + 1).clamp(min=1))
        return kept

    return rule


def prefix(length: int) -> Rule:
    """The first ``length`` tokens attend bidirectionally; the rest is causal."""
    return lambda batch, head, q_idx, k_idx: (k_idx <= q_idx) | (k_idx < length)


def window_and_sinks(window: int, sinks: int) -> Rule:
    """The nearest ``window`` keys per side (the query included), and the first ``sinks`` of the text."""
    near = masks.Band(window - 1)
    return lambda batch, head, q_idx, k_idx: near(batch, head, q_idx, k_idx) | (k_idx < sinks)


def _mixed(x: Tensor) -> Tensor:
    """A pseudo-random non-negative integer, the same on every machine (Steele et al. 2014's mixer)."""
    x = x.to(torch.int64)
    x = (x ^ ((x >> 30) & 0x3FFFFFFFF)) * -4658895280553007687  # 0xBF58476D1CE4E5B9 as a signed number
    x = (x ^ ((x >> 27) & 0x1FFFFFFFFF)) * -7723592293110705685  # 0x94D049BB133111EB
    return (x ^ ((x >> 31) & 0x1FFFFFFFF)) & 0x7FFFFFFFFFFFFFFF


_WINDOW = MaskParameter(
    "window",
    N_("window"),
    N_("keys, the query itself included"),
    8,
    around=N_("keys to either side, the query itself included"),
)
_NARROW = replace(_WINDOW, part=4)  # besides farther keys, so that a short text shows both
_STRIDE = MaskParameter("stride", N_("stride"), N_("positions"), 4)
_GAP = MaskParameter("gap", N_("gap"), N_("positions from key to key; 1 is a plain window"), 2)
_GLOBALS = MaskParameter("shared", N_("global tokens"), N_("tokens at the start"), 2, least=0, part=4)
_RANDOM = MaskParameter(
    "count",
    N_("random keys"),
    N_("draws for each query"),
    2,
    least=0,
    most=16,
    around=N_("draws for each token among those before it; both then see each other"),
)
_SEED = MaskParameter("seed", N_("seed"), N_("any whole number"), 0, least=0, most=99)

PATTERNS = (
    Pattern(
        "full", N_("full"), N_("every key the model itself allows"), "Vaswani et al. 2017, arXiv:1706.03762", (),
        make=masks.Full,
        seen=lambda q: q + 1,
    ),
    Pattern(
        "window", N_("sliding window"), N_("the last keys"), "Beltagy et al. 2020, arXiv:2004.05150", (_WINDOW,),
        make=lambda window: masks.Band(window - 1),
        seen=last,
        around=N_("the nearest keys, before and after"),
    ),
    Pattern(
        "dilated", N_("dilated window"), N_("a window with gaps"), "Beltagy et al. 2020, arXiv:2004.05150",
        (_WINDOW, _GAP),
        make=dilated,
        seen=lambda q, window, gap: (q // gap + 1).clamp(max=window),
    ),
    Pattern(
        "strided", N_("strided"), N_("the last keys, and every stride-th before"),
        "Child et al. 2019, arXiv:1904.10509", (_STRIDE,),
        make=strided,
        seen=lambda q, stride: last(q, stride) + q // stride,
        around=N_("the nearest keys, and every stride-th beyond"),
    ),
    Pattern(
        "fixed", N_("fixed"), N_("the own block, and the last keys of each block"),
        "Child et al. 2019, arXiv:1904.10509",
        (_STRIDE, MaskParameter("summary", N_("summary keys"), N_("last keys of each block"), 1)),
        make=fixed,
        seen=lambda q, stride, summary: q % stride + 1 + (q // stride) * min(summary, stride),
        bidirectional_count=around_blocks,
    ),
    Pattern(
        "global", N_("local and global"), N_("a window, and the first tokens for all"),
        "Beltagy et al. 2020, arXiv:2004.05150", (_WINDOW, _GLOBALS),
        make=lambda window, shared: masks.Or(masks.Band(window - 1), global_tokens(shared)),
        seen=lambda q, window, shared: last(q, window + shared),
    ),
    Pattern(
        "longformer", "Longformer", N_("a window, a window with gaps, and the first tokens for all"),
        "Beltagy et al. 2020, arXiv:2004.05150", (_NARROW, replace(_GAP, default=3), _GLOBALS),
        make=lambda window, gap, shared: masks.Or(
            masks.Or(masks.Band(window - 1), dilated(window, gap)), global_tokens(shared)
        ),
        seen=local_dilated_global,
    ),
    Pattern(
        "bigbird", N_("BigBird"), N_("window, global tokens and random keys"),
        "Zaheer et al. 2020, arXiv:2007.14062", (_WINDOW, _GLOBALS, _RANDOM, _SEED),
        make=lambda window, shared, count, seed: masks.Or(
            masks.Or(masks.Band(window - 1), global_tokens(shared)), random_keys(count, seed)
        ),
        seen=lambda q, window, shared, count, seed: with_random(q, last(q, window + shared), count),
    ),
    Pattern(
        "random", N_("random"), N_("the query itself and random keys"), "Zaheer et al. 2020, arXiv:2007.14062",
        (_RANDOM, _SEED),
        make=lambda count, seed: masks.Or(masks.Band(0), random_keys(count, seed)),
        seen=lambda q, count, seed: with_random(q, last(q, 1), count),
    ),
    Pattern(
        "sinks", N_("sinks and window"), N_("the first tokens and the last keys"),
        "Xiao et al. 2023, arXiv:2309.17453",
        (_WINDOW, MaskParameter("sinks", N_("sinks"), N_("tokens at the start"), 4, least=0, part=4)),
        make=window_and_sinks,
        seen=lambda q, window, sinks: last(q, window + sinks),
        bidirectional_count=around_sinks,
        around=N_("the first tokens and the nearest keys"),
    ),
    Pattern(
        "prefix", N_("prefix"), N_("the prefix sees all of itself, the rest is causal"),
        "Raffel et al. 2020, arXiv:1910.10683",
        (MaskParameter("length", N_("prefix length"), N_("tokens at the start"), 4, least=0),),
        make=prefix,
        seen=lambda q, length: (q + 1).clamp(min=length),
        bidirectional_count=lambda q, n_tokens, length: (q + 1).clamp(min=min(length, n_tokens)),
        ahead=lambda length: length,
    ),
    Pattern(
        "documents", N_("two documents"), N_("keys of the own document"), "Krell et al. 2021, arXiv:2107.02027",
        (MaskParameter("start", N_("second document"), N_("position of its first token"), 8),),
        make=lambda start: masks.SameDocument((start,)),
        seen=lambda q, start: torch.where(q < start, q + 1, q + 1 - start),
    ),
    Pattern(
        "chunked", N_("chunked"), N_("keys of the own chunk"), "Meta 2025, Llama 4 (attention_chunk_size)",
        (MaskParameter("size", N_("chunk size"), N_("positions"), 8),),
        make=masks.SameChunk,
        seen=lambda q, size: q % size + 1,
    ),
)  # fmt: skip  # one pattern a paragraph
BY_NAME = {pattern.name: pattern for pattern in PATTERNS}
