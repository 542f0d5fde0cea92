"""The state of the page Zoo: its view, the variant, what it is compared with, their parameters, and the film."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import ClassVar, Literal

import streamlit as st

from analysis.zoo import LARGEST
from attention.flash_blocks import Order
from attention.zoo.table import BY_NAME, VARIANTS
from attention.zoo.variant import Parameter, Variant, VariantNotPossible
from ui.state.controls import choose, slider
from ui.state.page_state import current, refuse, setting
from ui.wording.i18n import _
from viz.markdown import plain

N_ = str  # marks a text for Babel without translating it here

DIFFERENCE = "difference"  # compares a variant with softmax instead of another variant
FIRST = "linear"  # the variant that the page opens with
LONGEST = 10**6  # upper bound of a variant's parameters

SRAM = ("1", "2", "3", "4", "6", "8", "12", "16", "24", "32", "48", "64", "96", "128", "192")  # KB
A100 = 192  # KB of SRAM per streaming multiprocessor (Dao et al. 2022, arXiv:2205.14135, section 2.1)

View = Literal["maps", "linear", "model", "hybrid", "weights", "flash", "cost"]
Where = Literal["head", "layer", "all"]
Field = Literal["values", "long"]
LABELS = {f"{variant.name}.{one.name}": one.label for variant in VARIANTS for one in variant.parameters}


@dataclass(frozen=True)
class ZooState:
    """Parameters are keyed by ``variant.parameter``: ``values`` of the variants on the head, ``long`` of those in long
    texts.

    ``where`` says in which heads the variant replaces softmax. ``softmax`` are the layers that keep softmax, None: one
    of eight; ``kept`` says whether it is whole or within blocks. ``neighbours`` is the weight of the neighbours in
    SANA's convolution, in percent. ``factors`` multiply the singular values of the weight ``matrix`` (its name in the
    layer; empty: the first), in percent, keyed by place from 1. ``read`` is the token up to which a memory or state has
    read the text. ``linear`` shows both orders of linear attention, or Lightning's blocks.

    For FlashAttention's film: ``order`` names the outer loop; the tiles fit in ``sram`` KB or are the reader's own
    ``rows`` and ``columns``; ``frame`` is open.
    """

    SCOPE: ClassVar[str] = "zoo"

    view: View = setting("maps", N_("view"))
    variant: str = setting(FIRST, N_("variant"), options=lambda: BY_NAME)
    where: Where = setting("head", N_("place"))
    neighbours: int = setting(0, N_("neighbours in the feed-forward part"), min=0, max=100)
    softmax: tuple[int, ...] | None = setting(None, N_("layers"), min=0, max=LONGEST)
    kept: Literal["whole", "blocks"] = setting("whole", N_("softmax that is kept"))
    beside: str = setting(DIFFERENCE, N_("beside it"), options=lambda: (DIFFERENCE, *BY_NAME))
    values: Mapping[str, int] | None = setting(
        None, N_("numbers"), min=-LONGEST, max=LONGEST, items=lambda name: LABELS.get(name, name)
    )
    long: Mapping[str, int] | None = setting(
        None, N_("numbers"), min=-LONGEST, max=LONGEST, items=lambda name: LABELS.get(name, name)
    )

    matrix: str = setting("", N_("matrix"), max_length=200)
    factors: Mapping[str, int] | None = setting(None, N_("factors"), min=0, max=300, items=lambda name: f"z{name}")

    start: int = setting(0, N_("first token drawn"), min=0, max=LONGEST)
    read: int = setting(LONGEST, N_("read up to token"), min=0, max=LONGEST)
    linear: Literal["orders", "blocks"] = setting("orders", N_("linear attention"))
    how: Literal["formula", "measured"] = setting("formula", N_("cost"))
    order: Order = setting("keys", N_("order of the loops"))
    blocks: Literal["sram", "own"] = setting("sram", N_("tiles"))
    sram: str = setting("2", N_("SRAM"), options=lambda: SRAM)
    rows: int = setting(4, N_("queries in a tile"), min=1, max=LARGEST)
    columns: int = setting(4, N_("keys in a tile"), min=1, max=LARGEST)
    frame: int = setting(2, N_("place in the film"), min=0, max=LONGEST)

    @property
    def first(self) -> Variant:
        return BY_NAME[self.variant]

    @property
    def second(self) -> Variant | None:
        """The other variant; None if the difference is shown."""
        return BY_NAME.get(self.beside)


def state() -> ZooState:
    """The page's current state."""
    return current(ZooState)


def first_drawn(n_tokens: int) -> int:
    """The first token drawn of a text of this length; 0 for a short text."""
    return min(state().start, max(0, n_tokens - LARGEST))


def values_of(variant: Variant, n_tokens: int, field: Field = "values") -> dict[str, int]:
    """Every parameter's value for a text of this length; one out of bounds is reported and replaced."""
    held: Mapping[str, int] = getattr(state(), field) or {}
    found: dict[str, int] = {}
    for one in variant.parameters:
        item = f"{variant.name}.{one.name}"
        try:
            wanted = {one.name: held[item]} if item in held else {}
            found[one.name] = variant.filled(wanted, n_tokens)[one.name]
        except VariantNotPossible as problem:
            words = _(problem.message).format(**{**problem.values, "what": _(one.label)})
            refuse(ZooState, field, words, item=item)
            found[one.name] = one.usual(n_tokens)
    return found


def show_sliders(
    variant: Variant, shown: Sequence[Parameter], values: dict[str, int], n_tokens: int, field: Field = "values"
) -> None:
    """Show a slider for each of these parameters that has a range, or its choices as words."""
    for one in shown:
        span, item = (one.least, one.most_of(n_tokens)), f"{variant.name}.{one.name}"
        words = plain(f"{_(one.label)} · {_(one.counts)}")
        if one.choices:
            named = {one.least + i: _(choice) for i, choice in enumerate(one.choices)}
            st.html(f"<p class='atlas-caption'>{escape(f'{_(one.label)} · {_(one.counts)}')}</p>")
            choose(ZooState, field, values[one.name], named, label=words, item=item)
        elif span[0] < span[1]:
            slider(ZooState, field, values[one.name], span, words, step=one.step, item=item, per=one.per)
