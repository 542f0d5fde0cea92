"""An edit that replaces softmax by a variant of the zoo, in heads of the running model.

Nothing is trained: queries, keys and values are those that the model makes for softmax.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from jaxtyping import Float
from torch import Tensor

from attention.zoo.head import Head
from attention.zoo.table import BY_NAME, FORMER
from attention.zoo.variant import Variant, VariantNotPossible
from model_runner.errors import N_, EditInvalid, EditNotPossible, Reason, RunnerError

H = TypeVar("H")
T = TypeVar("T")

LONGEST = 1024  # the most tokens of a text with substituted heads, whose maps are computed whole


class VariantNotHere(RunnerError):
    message = N_("{reason}")
    hint = N_("The head stays as it is.")


class TextTooLongForMaps(RunnerError):
    message = N_("The text is {tokens} tokens long; heads can be substituted in texts of up to {limit}.")
    hint = N_("Shorten the text, or give the heads their softmax back.")


class NoSoftmax(RunnerError):
    message = N_("L{layer}H{head} has no softmax scores here: {variant} replaces its softmax.")
    hint = N_("Heads shows its map. A head that keeps its softmax has scores; where none does, undo the change.")


class NoScores(NoSoftmax):
    """Raised for a layer that never had softmax."""

    message = N_("L{layer} has no softmax scores: its tokens are mixed by a recurrence, {rule}.")
    hint = N_("Heads shows its matrix, written out.")


@dataclass(frozen=True)
class Substituted:
    """Replaces softmax in these heads by a variant of :mod:`attention.zoo.table` with these parameters.

    ``layers`` and ``heads`` None mean all that have softmax. A parameter that is not given has its default. If a
    variant cannot apply a layer's mask, the head attends to all tokens, or to all up to the query, depending on the
    variant. Raises EditInvalid for a value below the minimum, EditNotPossible for a variant or parameter that is not in
    the table.
    """

    variant: str
    values: tuple[tuple[str, int], ...] = ()
    layers: tuple[int, ...] | None = None
    heads: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "variant", FORMER.get(self.variant, self.variant))
        if self.variant not in BY_NAME:
            raise EditNotPossible(reason=N_("there is no variant of that name"))
        given = dict(self.values)
        for name in given.keys() - {one.name for one in self.row.parameters}:
            raise EditNotPossible(reason=Reason(N_("the variant has no number named {name}"), {"name": name}))
        for one in self.row.parameters:
            if given.get(one.name, one.least) < one.least:
                raise EditInvalid(what=one.label, value=given[one.name], least=one.least)

    @property
    def row(self) -> Variant:
        """The variant's row of the table."""
        return BY_NAME[self.variant]

    @property
    def unbound(self) -> bool:
        """Whether it cannot apply a layer's mask, and has a mask of its own or none."""
        return self.row.mask != "any"

    def here(self, layer: int) -> bool:
        """Whether it applies to heads of this layer."""
        return self.layers is None or layer in self.layers

    def of(self, head: int) -> bool:
        """Whether it applies to this head of its layers."""
        return self.heads is None or head in self.heads

    @property
    def numbers(self) -> dict[str, int]:
        """Every parameter that does not depend on the length of the text."""
        usual = {one.name: one.default for one in self.row.parameters if one.default is not None}
        return usual | dict(self.values)

    @property
    def label(self) -> Reason:
        """Its name, translated when it is shown."""
        return Reason(self.row.label, {})

    def map(self, head: Head) -> Float[Tensor, "tokens tokens"]:
        """What the values are multiplied by. Raises VariantNotHere."""
        return self._told(self.row.map, head)

    def outputs(self, heads: Sequence[Head]) -> list[Float[Tensor, "tokens d_value"]]:
        """The outputs of these heads of a layer, computed in the order that the paper proposes.

        Raises VariantNotHere.
        """
        return self._told(self.row.mixed_of, heads)

    def by_map(self, head: Head) -> Float[Tensor, "tokens d_value"]:
        """The values under the map, which differ only by rounding. Raises VariantNotHere."""
        return self._told(self.row.by_map, head)

    def _told(self, ask: Callable[[H, dict[str, int]], T], heads: H) -> T:
        try:
            return ask(heads, self.numbers)
        except VariantNotPossible as problem:
            values = problem.values | {"variant": self.label}
            raise VariantNotHere(reason=Reason(problem.message, values)) from problem


def check_growing_head(edit: Substituted) -> None:
    """Raises EditNotPossible if a row is not known before the text has ended."""
    if edit.row.whole:
        reason = N_("{variant} depends on the whole text, which is not complete while it grows")
        raise EditNotPossible(reason=Reason(reason, {"variant": edit.label}))
    for one in edit.row.parameters:
        if one.name not in edit.numbers:
            reason = N_("the {what} of {variant} is the length of the text, which is not fixed while it grows")
            raise EditNotPossible(reason=Reason(reason, {"what": one.label, "variant": edit.label}))
