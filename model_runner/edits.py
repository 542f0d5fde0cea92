"""Edits of a forward: values in the request, applied in the one registered attention function, on every family.

An edit says what it changes, never how a family does it; two requests that differ only in their edits are the "before"
and the "after" of a what-if on the real model. ``layers`` and ``heads`` None mean all of them. Adding one: a frozen
dataclass here and its name in ``Edit``, an arm in :mod:`model_runner.layer_edit`; see docs/adding.md.
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

ATTENTIONS = ("encoder", "decoder", "cross")  # of an encoder–decoder
Places = tuple[int, ...] | None
"""Layers or heads, zero-based; None: all."""


@dataclass(frozen=True)
class KeepLast:
    """A cache that keeps the last ``window`` tokens, the query itself included, and the first ``sinks`` for good.

    Every query sees what such a cache would still hold; positions stay as they were (StreamingLLM, Xiao et al. 2023,
    arXiv:2309.17453, numbers them anew within the cache). Raises EditInvalid for a window below 1 or negative sinks.
    """

    window: int
    sinks: int = 0

    def __post_init__(self) -> None:
        _at_least(N_("window"), self.window, 1)
        _at_least(N_("number of sinks"), self.sinks, 0)


@dataclass(frozen=True)
class Int8Cache:
    """Every key and value is read back from int8: one scale per token and key/value head, the largest number to 127."""


@dataclass(frozen=True)
class Documents:
    """A text of several documents in one row: no query sees a key of another one; each begins at one of ``starts``."""

    starts: tuple[int, ...]


@dataclass(frozen=True)
class Masked:
    """A pattern of :mod:`attention.patterns` laid over the layers' own masks, with these values of its parameters.

    Raises EditInvalid for a value below the least, EditNotPossible for a pattern that is not in the table.
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
    """Single cells ``(query, key)`` that are hidden. A query whose every cell is hidden passes nothing on."""

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
    """Every query reads the ``top_k`` keys that its layer's indexer scores highest; None: all that it may see.

    Of models whose queries read a few keys each (DeepSeek-V3.2, arXiv:2512.02556), as another ``index_topk`` in their
    configuration has it.
    """

    top_k: int | None

    def __post_init__(self) -> None:
        if self.top_k is not None:
            _at_least(N_("number of chosen keys"), self.top_k, 1)


@dataclass(frozen=True)
class SharedKeys:
    """Keys and values of neighbouring heads replaced by their mean until ``kv_heads`` different ones are left.

    Mean pooling as in the conversion to grouped-query attention (Ainslie et al. 2023, arXiv:2305.13245), without the
    training that follows it there. One is multi-query attention.
    """

    kv_heads: int

    def __post_init__(self) -> None:
        _at_least(N_("number of key/value heads"), self.kv_heads, 1)


@dataclass(frozen=True)
class ScaledHead:
    """What a head passes on, times ``factor``; 0 ablates it."""

    layer: int
    head: int
    factor: float = 0.0

    def __post_init__(self) -> None:
        if not math.isfinite(self.factor):
            raise EditNotPossible(reason=N_("a head can only be multiplied by a finite number"))


@dataclass(frozen=True)
class MeanHead:
    """What a head passes on is at every position the mean over the text: its content without its place."""

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
    """Two heads of a layer change places before the output projection."""

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
    """An edit of one of an encoder–decoder's three attentions: "encoder", "decoder" or "cross".

    Positions in it count in the texts of that attention: across, queries in what is written and keys in what is read.
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
KINDS: dict[str, type[Any]] = {kind.__name__: kind for kind in get_args(Edit)}  # what addresses and bytes may name


def edits_of(edits: Sequence[Edit], attention: str | None) -> tuple[OneEdit, ...]:
    """Those of this attention of an encoder–decoder; None: those of a model with one stack of layers."""
    if attention is None:
        return tuple(edit for edit in edits if not isinstance(edit, OfAttention))
    return tuple(edit.edit for edit in edits if isinstance(edit, OfAttention) and edit.attention == attention)


def check_cells(edits: Sequence[Edit], n_queries: int, n_keys: int | None = None) -> None:
    """Raises NoSuchPlace for a hidden cell beyond texts of so many tokens: it would change nothing.

    ``n_keys`` None: the tokens look at one another.
    """
    counts = (n_queries, n_queries if n_keys is None else n_keys)
    for edit in edits:
        for cell in edit.cells if isinstance(edit, Blocked) else ():
            for place, count in zip(cell, counts, strict=True):
                if place >= count:
                    raise NoSuchPlace(what=N_("position"), value=place, count=count)


def check_growing(edits: Sequence[Edit]) -> None:
    """Raises EditNotPossible for an edit that needs the whole text at once; what an encoder reads does not grow."""
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
