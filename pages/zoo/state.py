"""What the page Zoo holds: its view, the variant in the middle, what stands beside it, their numbers, and the film."""

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

DIFFERENCE = "difference"  # what stands beside a variant that no other is compared with
FIRST = "linear"  # the variant that the page opens with
LONGEST = 10**6  # no number of a variant is larger

SRAM = ("1", "2", "3", "4", "6", "8", "12", "16", "24", "32", "48", "64", "96", "128", "192")  # KB
A100 = 192  # KB of SRAM that each of its processors has (Dao et al. 2022, arXiv:2205.14135, section 2.1)

View = Literal["maps", "linear", "model", "hybrid", "weights", "flash", "cost"]
Where = Literal["head", "layer", "all"]
Field = Literal["values", "long"]
LABELS = {f"{variant.name}.{one.name}": one.label for variant in VARIANTS for one in variant.parameters}


@dataclass(frozen=True)
class ZooState:
    """Numbers are by ``variant.parameter``: ``values`` of the variants on the head, ``long`` of those in long texts.

    ``where`` the variant stands in the model; ``softmax`` are the layers that keep theirs, None: one of eight; they
    have it ``kept`` as it is, or inside blocks. ``neighbours`` have so many hundredths of SANA's convolution.
    Of a weight ``matrix``, by its name in the layer ("": the first), the singular values are multiplied by ``factors``,
    in hundredths, by place from 1 on. A memory or a state has ``read`` the text up to this token; ``linear`` attention
    is shown in both orders, or in Lightning's blocks. Of
    FlashAttention's film: which loop is the ``order``'s outer one, the tiles
    of an ``sram`` in KB or of the reader's own ``rows`` and ``columns``, and the ``frame`` that is open.
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
        """The other variant; None where the difference is shown."""
        return BY_NAME.get(self.beside)


def state() -> ZooState:
    """What the page holds now."""
    return current(ZooState)


def first_drawn(n_tokens: int) -> int:
    """The first token drawn of a text of so many; of a short one the first there is."""
    return min(state().start, max(0, n_tokens - LARGEST))


def values_of(variant: Variant, n_tokens: int, field: Field = "values") -> dict[str, int]:
    """Every parameter's number in a text of so many tokens; one out of bounds is said and replaced."""
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
    """A slider for each of these parameters that has a choice; where numbers stand for words, the words."""
    for one in shown:
        span, item = (one.least, one.most_of(n_tokens)), f"{variant.name}.{one.name}"
        words = plain(f"{_(one.label)} · {_(one.counts)}")
        if one.choices:
            named = {one.least + i: _(choice) for i, choice in enumerate(one.choices)}
            st.html(f"<p class='atlas-caption'>{escape(f'{_(one.label)} · {_(one.counts)}')}</p>")
            choose(ZooState, field, values[one.name], named, label=words, item=item)
        elif span[0] < span[1]:
            slider(ZooState, field, values[one.name], span, words, step=one.step, item=item, per=one.per)
