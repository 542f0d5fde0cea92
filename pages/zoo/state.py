"""What the page Zoo holds: its view, the variant in the middle, what stands beside it, and the numbers of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from attention.zoo.table import BY_NAME, VARIANTS
from attention.zoo.variant import NotHere, Parameter, Variant
from ui.controls import slider
from ui.i18n import _
from ui.state import current, refuse, setting
from ui.wording import plain

N_ = str  # marks a text for Babel without translating it here

DIFFERENCE = "difference"  # what stands beside a variant that no other is compared with
FIRST = "linear"  # the variant that the page opens with
LONGEST = 10**6  # no number of a variant is larger

View = Literal["maps", "cost"]
Field = Literal["values", "long"]
LABELS = {f"{variant.name}.{one.name}": one.label for variant in VARIANTS for one in variant.parameters}


@dataclass(frozen=True)
class ZooState:
    """Numbers are by ``variant.parameter``: ``values`` of the variants on the head, ``long`` of those in long texts."""

    SCOPE: ClassVar[str] = "zoo"

    view: View = setting("maps", N_("view"))
    variant: str = setting(FIRST, N_("variant"), options=lambda: BY_NAME)
    beside: str = setting(DIFFERENCE, N_("beside it"), options=lambda: (DIFFERENCE, *BY_NAME))
    values: Mapping[str, int] | None = setting(
        None, N_("numbers"), least=-LONGEST, most=LONGEST, items=lambda name: LABELS.get(name, name)
    )
    long: Mapping[str, int] | None = setting(
        None, N_("numbers"), least=-LONGEST, most=LONGEST, items=lambda name: LABELS.get(name, name)
    )

    @property
    def first(self) -> Variant:
        return BY_NAME[self.variant]

    @property
    def second(self) -> Variant | None:
        """The other variant; None where the difference is shown."""
        return BY_NAME.get(self.beside)


def state() -> ZooState:
    """What the page holds now."""
    return current(ZooState)


def values_of(variant: Variant, n_tokens: int, field: Field = "values") -> dict[str, int]:
    """Every parameter's number in a text of so many tokens; one out of bounds is said and replaced."""
    held: Mapping[str, int] = getattr(state(), field) or {}
    found: dict[str, int] = {}
    for one in variant.parameters:
        item = f"{variant.name}.{one.name}"
        try:
            wanted = {one.name: held[item]} if item in held else {}
            found[one.name] = variant.filled(wanted, n_tokens)[one.name]
        except NotHere as problem:
            words = _(problem.message).format(**{**problem.values, "what": _(one.label)})
            refuse(ZooState, field, words, item=item)
            found[one.name] = one.usual(n_tokens)
    return found


def show_sliders(
    variant: Variant, shown: Sequence[Parameter], values: dict[str, int], n_tokens: int, field: Field = "values"
) -> None:
    """A slider for each of these parameters that has a choice."""
    for one in shown:
        span = one.least, one.most_of(n_tokens)
        if span[0] < span[1]:
            words = plain(f"{_(one.label)} · {_(one.counts)}")
            slider(ZooState, field, values[one.name], span, words, item=f"{variant.name}.{one.name}")
