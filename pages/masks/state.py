"""The state of the page Masks: the view, the pattern and its parameters, cells hidden by hand, and where it applies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import streamlit as st

from analysis.head_names import head_name
from analysis.mask_effect import left_with_nothing
from attention.patterns import BY_NAME, PATTERNS, MaskParameter
from model_runner import Capture
from model_runner.edits import Blocked, Edit, Masked, Places
from pages.masks.pick_several import pick_several
from ui.shell.page import PageContext
from ui.state.controls import slider
from ui.state.page_state import change, current, refuse, setting, tell
from ui.wording.i18n import _
from viz.markdown import plain

N_ = str  # marks a text for Babel without translating it here

DUAL = "dual_chunk"
FIRST = "window"  # the pattern that the page opens with
MOST_HIDDEN = 300  # cells, which must fit in a URL
LONGEST = 10**6  # tokens; upper bound of a pattern's parameters

View = Literal["gallery", "model", "sweep"]
Where = Literal["all", "second", "chosen"]


@dataclass(frozen=True)
class MaskChoice:
    """A picture of the gallery: a pattern of the table, or the index map, which is not a mask."""

    name: str
    label: str
    counts: str
    source: str
    parameters: tuple[MaskParameter, ...]
    around: str = ""  # what it counts in a bidirectional model, if that differs


CHOICES = (
    *(MaskChoice(one.name, one.label, one.counts, one.source, one.parameters, one.around) for one in PATTERNS),
    MaskChoice(
        DUAL, N_("dual chunk"), N_("every key, but as if it were no farther away than in training"),
        "An et al. 2024, arXiv:2402.17463",
        (
            MaskParameter("chunk", N_("chunk size"), N_("positions"), 8),
            MaskParameter("local", N_("true distances across a border"), N_("positions beyond the chunk"), 4, part=4),
        ),
    ),
)  # fmt: skip  # the last one as a paragraph
BY_CHOICE = {choice.name: choice for choice in CHOICES}
LABELS = {parameter.name: parameter.label for choice in CHOICES for parameter in choice.parameters}


@dataclass(frozen=True)
class MasksState:
    """``values`` are parameters of patterns by name, shared by all that have it; ``layers`` None is the open one."""

    SCOPE: ClassVar[str] = "masks"

    view: View = setting("gallery", N_("view"))
    pattern: str = setting(FIRST, N_("pattern"), options=lambda: BY_CHOICE)
    values: Mapping[str, int] | None = setting(
        None, N_("pattern"), min=-LONGEST, max=LONGEST, items=lambda name: LABELS.get(name, name)
    )
    reach: int = setting(1, N_("layers"), min=1, max=LONGEST)
    hidden: tuple[tuple[int, int], ...] = setting((), N_("cells hidden by hand"), min=0, max=LONGEST)
    where: Where = setting("all", N_("layers"))
    layers: tuple[int, ...] | None = setting(None, N_("layers"), min=0, max=LONGEST)
    heads: tuple[int, ...] = setting((), N_("heads"), min=0, max=LONGEST)

    @property
    def choice(self) -> MaskChoice:
        """The pattern in view."""
        return BY_CHOICE[self.pattern]


def state() -> MasksState:
    """The page's current state."""
    return current(MasksState)


def names(*, masks_only: bool = False) -> list[str]:
    """The patterns to choose from, the default first; ``masks_only``: those that can be applied to a model."""
    rest = [choice.name for choice in CHOICES if choice.name != FIRST and not (masks_only and choice.name == DUAL)]
    return [FIRST, *rest]


def mask_chosen() -> MaskChoice:
    """The pattern to apply to the model; the index map is not a mask, which is reported."""
    choice = state().choice
    if choice.name == DUAL:
        words = _("The {pattern} cannot be laid over the model as a mask; {instead} is shown instead.")
        refuse(MasksState, "pattern", words.format(pattern=_(choice.label), instead=_(BY_CHOICE[FIRST].label)))
        return BY_CHOICE[FIRST]
    return choice


def choose_pattern(name: str) -> None:
    """Select another pattern."""
    if name in BY_CHOICE:
        change(MasksState, pattern=name)


# -- parameters -------------------------------------------------------------------------------------------------------


def values_of(choice: MaskChoice, n_tokens: int) -> dict[str, int]:
    """Every parameter, limited to its slider's range; one that is too small is reported and replaced."""
    held = state().values or {}
    found: dict[str, int] = {}
    for parameter in choice.parameters:
        value = held.get(parameter.name, parameter.usual(n_tokens))
        if value < parameter.least:
            words = _("The {what} is {value}; it must be at least {least}.")
            words = words.format(what=_(parameter.label), value=value, least=parameter.least)
            refuse(MasksState, "values", words, item=parameter.name)
            value = parameter.usual(n_tokens)
        found[parameter.name] = min(value, parameter.most_of(n_tokens))
    return found


def show_sliders(choice: MaskChoice, values: dict[str, int], n_tokens: int, *, beside: bool, causal: bool) -> None:
    """Show a slider per parameter, labelled by what it counts; ``beside``: side by side."""
    shown = [one for one in choice.parameters if one.most_of(n_tokens) > one.least]
    places = [st.container()] * len(shown)
    if beside and shown:
        places = st.columns(max(2, len(shown)), vertical_alignment="bottom")
    for place, parameter in zip(places, shown, strict=False):
        counts = parameter.counts if causal else parameter.around or parameter.counts
        words = plain(f"{_(parameter.label)} · {_(counts)}")
        span = parameter.least, parameter.most_of(n_tokens)
        with place:
            slider(MasksState, "values", values[parameter.name], span, words, item=parameter.name)


# -- cells hidden by hand ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Painted:
    """``cells`` are inside the text; ``given`` are queries that keep themselves, having nothing else left."""

    cells: tuple[tuple[int, int], ...] = ()
    given: tuple[int, ...] = ()

    @property
    def hidden(self) -> tuple[tuple[int, int], ...]:
        """The cells that are hidden in effect."""
        return tuple(cell for cell in self.cells if not (cell[0] == cell[1] and cell[0] in self.given))


def painted(capture: Capture, choice: MaskChoice, values: dict[str, int]) -> Painted:
    """The cells in the URL; those that are invalid or outside the text are reported and left out."""
    n_tokens = len(capture.tokens)
    cells, problem = _cells(n_tokens)
    if problem:
        hide(cells)
        st.info(plain(problem))
    if not cells or choice.name == DUAL:
        return Painted(tuple(cells))
    given = left_with_nothing(capture, BY_NAME[choice.name], values, cells)
    if given:
        rows = ", ".join(f"{capture.tokens[query].text} ({query})" for query in given)
        st.info(plain(_("These would see nothing at all, so each keeps itself: {rows}.").format(rows=rows)))
    return Painted(tuple(cells), given)


def _cells(n_tokens: int) -> tuple[list[tuple[int, int]], str]:
    cells = state().hidden
    inside = sorted({cell for cell in cells if max(cell) < n_tokens})
    if len(inside) > MOST_HIDDEN:
        return inside[:MOST_HIDDEN], _("Only the first {count} cells were hidden (maximum reached).").format(
            count=MOST_HIDDEN
        )
    beyond = len(set(cells)) - len(inside)
    if beyond:
        return inside, _("Cells hidden by hand beyond the text were dropped: {count}; it has {tokens} tokens.").format(
            count=beyond, tokens=n_tokens
        )
    return inside, ""


def hide(cells: Sequence[Sequence[int]]) -> None:
    """Store the cells hidden by hand."""
    change(MasksState, hidden=tuple((int(query), int(key)) for query, key in cells))


# -- where it applies -------------------------------------------------------------------------------------------------


def edits_of(
    choice: MaskChoice, values: dict[str, int], hidden: tuple[tuple[int, int], ...], layers: Places, heads: Places
) -> tuple[Edit, ...]:
    """The pattern and the hidden cells as edits of the model; empty without layers."""
    if layers == ():
        return ()
    masked = Masked(choice.name, tuple(values.items()), layers, heads)
    return (masked, Blocked(hidden, layers, heads)) if hidden else (masked,)


def show_places(opened: PageContext, where: Where) -> tuple[Places, Places]:
    """Select layers and heads; None means all. Those that the model lacks are reported and left out."""
    capture, held = opened.capture, state()
    with_weights = [layer for layer in range(capture.n_layers) if capture.has_weights(layer)]
    layers: Places = None
    chosen = (opened.layer,) if held.layers is None else _there("layers", held.layers, with_weights)
    if where == "second":
        layers = tuple(with_weights[1::2]) or tuple(with_weights)
    elif where == "chosen":
        words = {layer: f"L{layer}" for layer in with_weights}
        pick_several(MasksState, "layers", chosen, words, none=_("no layer"))
        layers = chosen
    here = len(capture.q(opened.layer))  # other layers may have more heads
    words = {
        head: head_name(capture, opened.layer, head) if head < here else f"H{head}" for head in range(capture.n_heads)
    }
    heads = _there("heads", held.heads, list(words))
    pick_several(MasksState, "heads", heads, words, none=_("all heads"))
    return layers, heads or None


def _there(name: str, wanted: tuple[int, ...], possible: Sequence[int]) -> tuple[int, ...]:
    found = tuple(sorted({one for one in wanted if one in possible}))
    if missing := [one for one in wanted if one not in possible]:
        template = _(
            "Layers that have no softmax attention, or that this model does not have, were left out: {numbers}."
        )
        if name == "heads":
            template = _("Heads that this model does not have were left out: {numbers}.")
        change(MasksState, **{name: found})
        tell(MasksState, template.format(numbers=", ".join(map(str, missing))))
    return found
