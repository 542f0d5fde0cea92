"""One row of the table: what a variant replaces softmax attention by, its cost, and its source."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention.zoo.formula import Formula
from attention.zoo.head import Head, stacked
from attention.zoo.recurrent import Recurrent

N_ = str  # marks a text for translation where it is shown

Replaces = Literal["kernel", "mask", "memory", "weights", "nothing"]
Mask = Literal["any", "causal", "none"]

ONE_HEAD = N_("{variant} subtracts the weights of a second head; this layer has only one.")
NOT_TURNED = N_("{variant} turns queries and keys to other distances; this layer has no rotation (RoPE).")
NO_LAYER = N_(
    "{variant} needs the keys as they are before positions turn them, and this layer’s cannot be turned back."
)
BOTH_WAYS = N_("{variant} reads a text from left to right; this layer is bidirectional, so the variant does not apply.")
OTHER_TEXT = N_("{variant} is for self-attention; this head attends to another text, so the variant does not apply.")
FUTURE = N_(
    "{variant} mixes keys before they are compared and cannot hide any; tokens also see what "
    "this layer hides from them."
)
VECTORS = N_("{variant} uses only queries and keys; what this model adds to its scores, or caps them by, is left out.")
PAST = N_("{variant} keeps one state of all that came before; it ignores that this layer hides more than the future.")


class VariantNotPossible(ValueError):
    """A variant or a parameter value that does not apply to this head; ``message`` is a template for ``values``."""

    def __init__(self, message: str, **values: object) -> None:
        super().__init__(message.format(**values))
        self.message, self.values = message, values


@dataclass(frozen=True)
class Parameter:
    """An integer parameter; ``counts`` says what it counts. The variant receives it divided by ``per``, as displayed.

    ``choices`` are words for the numbers from ``least`` on, if these are not amounts. ``default`` or ``most`` None: as
    many as the text has tokens. Values are multiples of ``step``. ``letter`` is its symbol in the variant's work
    formula.
    """

    name: str
    label: str
    counts: str
    default: int | None
    least: int = 1
    most: int | None = None
    per: int = 1
    step: int = 1
    letter: str = ""
    choices: tuple[str, ...] = ()

    def written(self, value: int) -> str:
        """The displayed value with its decimals: 2.5 for 250 hundredths."""
        return f"{value / self.per:g}"

    def most_of(self, n_tokens: int) -> int:
        """The largest value for a text of this length."""
        return max(n_tokens, self.least) if self.most is None else self.most

    def usual(self, n_tokens: int) -> int:
        """The initial value for a text of this length."""
        wanted = n_tokens if self.default is None else self.default
        return max(self.least, min(wanted, self.most_of(n_tokens)))


@dataclass(frozen=True)
class Flow:
    """How data flow through the parts of a variant: parallel lanes of successive parts."""

    lanes: tuple[tuple[str, ...], ...]
    join: str  # what merges the lanes; empty for a single lane


@dataclass(frozen=True)
class Variant:
    """``weights`` and ``output`` take a :class:`Head` and the parameters by name, and describe the same computation.

    ``weights`` is the map that the variant makes or implies: the values' factors, O(tokens²). ``output`` is computed in
    the order that the paper proposes; None: the weights times the values. ``multiply_adds`` takes tokens, d_head and
    the parameters and counts the matrix products of one head's forward, not halved by a causal mask. ``memory`` is the
    head's peak memory besides q, k and v; ``whole_map``: this implementation makes a tokens × tokens map, which the
    paper's does not. ``published`` says whether the rule is the paper's, or what is simplified and why, for
    docs/zoo.md.

    ``mask`` is what it can obey: any rule, only a causal one, or none. ``signed``: weights may be negative, or of any
    magnitude. ``on_scores``: it uses the model's own scores and everything added to them, not queries and keys.
    ``by_token`` computes a further number per token, described by ``by_token_as``. ``whole``: a row depends on the
    text's length or on later tokens. ``halves`` is the parameter that selects which half of the values the map is for,
    if each has its own; ``values`` are what the map multiplies, if not the head's own values. ``loops``: its output
    loops over the tokens, for any number of stacked heads. ``fitted``: to the whole text, before any row is computed.
    ``flow``: for a variant with several parts. ``recurrent``: for one that can read a causal text token by token.
    ``persistent`` gives the weights on tokens that are not part of the text. ``parts`` takes tokens and the parameters
    and gives a mask for each of ``part_names``. ``one_text``: its queries and keys must be of one text.
    """

    name: str
    label: str
    replaces: Replaces
    mask: Mask
    parameters: tuple[Parameter, ...]
    weights: Callable[..., Float[Tensor, "tokens tokens"]]
    output: Callable[..., Float[Tensor, "tokens d_value"]] | None
    multiply_adds: Callable[..., int]
    work: str
    memory: Formula
    does: str
    gives_up: str
    buys: str
    source: str
    identity: str
    published: str
    signed: bool = False
    on_scores: bool = False
    needs_beside: bool = False
    needs_turns: bool = False
    needs_layer: bool = False
    by_token: Callable[..., Float[Tensor, "tokens"]] | None = None
    by_token_as: str = ""
    whole: bool = False
    one_text: bool = False
    halves: str = ""
    values: Callable[..., Float[Tensor, "tokens d_value"]] | None = None
    loops: bool = False
    fitted: bool = False
    flow: Flow | None = None
    recurrent: Recurrent | None = None
    whole_map: bool = False
    parts: Callable[..., tuple[Bool[Tensor, "tokens tokens"], ...]] | None = None
    part_names: tuple[str, ...] = ()
    persistent: Callable[..., Float[Tensor, "tokens persistent"]] | None = None

    def filled(self, values: Mapping[str, int], n_tokens: int) -> dict[str, int]:
        """All parameters' values, with defaults for missing ones. Raises VariantNotPossible."""
        found: dict[str, int] = {}
        for one in self.parameters:
            value = values.get(one.name, one.usual(n_tokens))
            if value < one.least:
                message = N_("The {what} is {value}; it must be at least {least}.")
                raise VariantNotPossible(
                    message, what=one.label, value=one.written(value), least=one.written(one.least)
                )
            if value > one.most_of(n_tokens):
                message = N_("The {what} is {value}; it may be at most {most}.")
                most = one.written(one.most_of(n_tokens))
                raise VariantNotPossible(message, what=one.label, value=one.written(value), most=most)
            if value % one.step:
                message = N_("The {what} is {value}; it must be a multiple of {step}.")
                raise VariantNotPossible(message, what=one.label, value=value, step=one.step)
            found[one.name] = value
        return found

    def numbers(self, values: Mapping[str, int], n_tokens: int) -> dict[str, Any]:
        """The values as the variant receives them, divided by ``per``. Raises VariantNotPossible."""
        found = self.filled(values, n_tokens)
        return {one.name: found[one.name] / one.per if one.per > 1 else found[one.name] for one in self.parameters}

    def refusal(self, head: Head) -> str:
        """Why it does not apply to this head, a template of {variant}; empty if it does."""
        if self.needs_beside and head.beside is None:
            return ONE_HEAD
        if self.needs_layer and head.layer is None:
            return NO_LAYER
        if self.needs_turns and head.layer is not None and head.layer.turn_at is None:
            return NOT_TURNED
        if self.mask == "causal" and head.looks_ahead:
            return BOTH_WAYS
        return OTHER_TEXT if (self.mask == "causal" or self.one_text) and head.elsewhere else ""

    def left_out(self, head: Head) -> list[str]:
        """What it ignores of this head's mask and scores, templates of {variant}; empty if nothing."""
        found = [FUTURE] if self.mask == "none" and not head.sees_all else []
        found += [PAST] if self.mask == "causal" and not head.sees_past else []
        return found if self.on_scores or head.plain else [*found, VECTORS]

    def on(self, head: Head, values: Mapping[str, int]) -> tuple[Tensor, Tensor]:
        """Its weights [tokens, tokens] and the head's output with them [tokens, d_value]. Raises VariantNotPossible."""
        return self.map(head, values), self.mixed(head, values)

    def map(self, head: Head, values: Mapping[str, int]) -> Float[Tensor, "tokens tokens"]:
        """Its weights only. Raises VariantNotPossible."""
        return self.weights(head, **self._here(head, values))

    def mixed(self, head: Head, values: Mapping[str, int]) -> Float[Tensor, "*heads tokens d_value"]:
        """The head's output only, in the order that the paper proposes. Raises VariantNotPossible."""
        numbers = self._here(head, values)
        return self.weights(head, **numbers) @ head.v if self.output is None else self.output(head, **numbers)

    def mixed_of(self, heads: Sequence[Head], values: Mapping[str, int]) -> list[Float[Tensor, "tokens d_value"]]:
        """Like :meth:`mixed`, for several heads of a layer; a loop over the tokens runs once for all.

        Raises VariantNotPossible.
        """
        if not self.loops or any(one.sink is not None for one in heads):
            return [self.mixed(one, values) for one in heads]
        return list(self.mixed(stacked(heads), values))

    def by_map(self, head: Head, values: Mapping[str, int]) -> Float[Tensor, "tokens d_value"]:
        """The values under its map, or each half of them under its own. Raises VariantNotPossible."""
        if self.values is not None:
            return self.map(head, values) @ self.values(head, **self._here(head, values))
        if not self.halves:
            return self.map(head, values) @ head.v
        maps = [self.map(head, {**values, self.halves: half}) for half in (0, 1)]
        parts = head.v.tensor_split([-(-head.v.shape[1] // 2)], dim=1)
        return torch.cat([one @ part for one, part in zip(maps, parts, strict=True)], dim=1)

    def _here(self, head: Head, values: Mapping[str, int]) -> dict[str, Any]:
        if refusal := self.refusal(head):
            raise VariantNotPossible(refusal, variant=self.label)
        return self.numbers(values, head.n_tokens)
