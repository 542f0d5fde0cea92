"""Edits of a forward: values in the request, applied in the one registered attention function, for every family.

An edit says what it changes, never how a family does it; two requests that differ only in their edits are the "before"
and "after" of a what-if on the real model. ``layers`` and ``heads`` None mean all of them. To add one: a frozen
dataclass here and its name in ``Edit``, a case in :mod:`model_runner.layer_edit`; see docs/adding.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args

from attention.patterns import BY_NAME
from model_runner.errors import N_, EditInvalid, EditNotPossible, NoSuchAttention, NoSuchPlace, Reason
from model_runner.matrix_edit import ScaledSingulars
from model_runner.rotation_edit import RotationEdit
from model_runner.substitution import Substituted, check_growing_head

ATTENTIONS = ("encoder", "decoder", "cross")  # of an encoder-decoder
Places = tuple[int, ...] | None
"""Layers or heads, zero-based; None: all."""


@dataclass(frozen=True)
class KeepLast:
    """A cache that keeps the last ``window`` tokens, the query itself included, and the first ``sinks`` for good.

    Every query attends to what such a cache would still hold; positions are unchanged (StreamingLLM, Xiao et al. 2023,
    arXiv:2309.17453, renumbers them within the cache). Raises EditInvalid for a window below 1 or negative sinks.
    """

    window: int
    sinks: int = 0

    def __post_init__(self) -> None:
        _at_least(N_("window"), self.window, 1)
        _at_least(N_("number of sinks"), self.sinks, 0)


@dataclass(frozen=True)
class Int8Cache:
    """Every key and value is rounded to int8: one scale per token and key/value head, the maximum to 127."""


@dataclass(frozen=True)
class Documents:
    """Several documents in one text: no query attends to another document's keys; each starts at one of ``starts``."""

    starts: tuple[int, ...]


@dataclass(frozen=True)
class Masked:
    """A pattern of :mod:`attention.patterns` combined with the layers' own masks, with these parameters.

    Raises EditInvalid for a value below the minimum, EditNotPossible for a pattern that is not in the table.
    """

    pattern: str
    values: tuple[tuple[str, int], ...] = ()
    layers: Places = None
    heads: Places = None

    def __post_init__(self) -> None:
        if self.pattern not in BY_NAME:
            raise EditNotPossible(reason=N_("there is no pattern of that name"))
        given = dict(self.values)
        for name in given.keys() - {parameter.name for parameter in BY_NAME[self.pattern].parameters}:
            raise EditNotPossible(reason=Reason(N_("the pattern has no number named {name}"), {"name": name}))
        for parameter in BY_NAME[self.pattern].parameters:
            _at_least(parameter.label, given.get(parameter.name, parameter.default), parameter.least)


@dataclass(frozen=True)
class Blocked:
    """Single cells ``(query, key)`` that are masked. A query with all cells masked has zero output."""

    cells: tuple[tuple[int, int], ...]
    layers: Places = None
    heads: Places = None

    def __post_init__(self) -> None:
        if not self.cells:
            raise EditNotPossible(reason=N_("no cell is chosen"))
        if any(place < 0 for cell in self.cells for place in cell):
            raise EditNotPossible(reason=N_("a cell is a query and a key, both counted from 0"))


@dataclass(frozen=True)
class ChosenKeys:
    """Every query uses the ``top_k`` keys with the highest indexer scores; None: all visible keys.

    For models with an indexer (DeepSeek-V3.2, arXiv:2512.02556), like another ``index_topk`` in their configuration.
    """

    top_k: int | None

    def __post_init__(self) -> None:
        if self.top_k is not None:
            _at_least(N_("number of chosen keys"), self.top_k, 1)


@dataclass(frozen=True)
class SharedKeys:
    """Keys and values of adjacent heads are averaged until ``kv_heads`` different ones are left.

    Mean pooling as in the conversion to grouped-query attention (Ainslie et al. 2023, arXiv:2305.13245), without the
    paper's training afterwards. One head is multi-query attention.
    """

    kv_heads: int

    def __post_init__(self) -> None:
        _at_least(N_("number of key/value heads"), self.kv_heads, 1)


@dataclass(frozen=True)
class ScaledHead:
    """A head's output times ``factor``; 0 ablates it."""

    layer: int
    head: int
    factor: float = 0.0

    def __post_init__(self) -> None:
        if not math.isfinite(self.factor):
            raise EditNotPossible(reason=N_("a head can only be multiplied by a finite number"))


@dataclass(frozen=True)
class MeanHead:
    """A head's output is replaced by its mean over the text at every position."""

    layer: int
    head: int


@dataclass(frozen=True)
class SharpenedHead:
    """The softmax of one head at another temperature: below 1 sharper, above 1 flatter."""

    layer: int
    head: int
    temperature: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.temperature) and self.temperature > 0):
            raise EditNotPossible(reason=N_("a temperature is a positive number"))


@dataclass(frozen=True)
class SwappedHeads:
    """Two heads of a layer are swapped before the output projection."""

    layer: int
    first: int
    second: int


HeadEdit = ScaledHead | MeanHead | SharpenedHead | SwappedHeads
OneEdit = (
    KeepLast | Int8Cache | Documents | Masked | Blocked | ChosenKeys | SharedKeys | HeadEdit | Substituted
    | ScaledSingulars | RotationEdit
)  # fmt: skip  # two lines


@dataclass(frozen=True)
class OfAttention:
    """An edit of one of an encoder-decoder's three attentions: "encoder", "decoder" or "cross".

    Positions count in the texts of that attention: in cross-attention, queries in the target and keys in the source.
    """

    attention: str
    edit: OneEdit

    def __post_init__(self) -> None:
        if self.attention not in ATTENTIONS:
            raise NoSuchAttention(wanted=self.attention, names=", ".join(ATTENTIONS))
        if isinstance(self.edit, OfAttention):
            raise EditNotPossible(reason=N_("an edit applies to one kind of attention"))
        if isinstance(self.edit, Substituted):
            raise EditNotPossible(reason=N_("softmax is not substituted in an encoder–decoder"))
        if isinstance(self.edit, ChosenKeys):
            raise EditNotPossible(reason=N_("an encoder–decoder chooses no keys"))
        if isinstance(self.edit, ScaledSingulars):
            raise EditNotPossible(reason=N_("the matrices of an encoder–decoder are not changed"))


Edit = OneEdit | OfAttention
KINDS: dict[str, type[Any]] = {kind.__name__: kind for kind in get_args(Edit)}  # names that URLs and bytes may use


def edits_of(edits: Sequence[Edit], attention: str | None) -> tuple[OneEdit, ...]:
    """The edits of this attention of an encoder-decoder; None: those of a model with one stack of layers."""
    if attention is None:
        return tuple(edit for edit in edits if not isinstance(edit, OfAttention))
    return tuple(edit.edit for edit in edits if isinstance(edit, OfAttention) and edit.attention == attention)


def check_cells(edits: Sequence[Edit], n_queries: int, n_keys: int | None = None) -> None:
    """Raises NoSuchPlace for a masked cell outside texts of these lengths, which would have no effect.

    ``n_keys`` None: self-attention.
    """
    counts = (n_queries, n_queries if n_keys is None else n_keys)
    for edit in edits:
        for cell in edit.cells if isinstance(edit, Blocked) else ():
            for place, count in zip(cell, counts, strict=True):
                if place >= count:
                    raise NoSuchPlace(what=N_("position"), value=place, count=count)


def check_growing(edits: Sequence[Edit]) -> None:
    """Raises EditNotPossible for an edit that needs the whole text at once; an encoder's source does not grow."""
    for edit in edits:
        if isinstance(edit, OfAttention):
            check_growing((edit.edit,) if edit.attention != "encoder" else ())
        if isinstance(edit, MeanHead):
            raise EditNotPossible(reason=N_("a text that grows has no mean yet"))
        if isinstance(edit, Substituted):
            check_growing_head(edit)
        if isinstance(edit, Masked) and BY_NAME[edit.pattern].ahead:
            reason = N_("under this pattern tokens see later ones, which a text that grows does not have yet")
            raise EditNotPossible(reason=reason)


def _at_least(what: str, value: int, least: int) -> None:
    if value < least:
        raise EditInvalid(what=what, value=value, least=least)
