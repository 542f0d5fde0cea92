"""What the page Masks holds in its address: the pattern, its numbers, cells hidden by hand, and where it is laid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from analysis.mask_effect import left_with_nothing
from attention.patterns import BY_NAME, PATTERNS, Parameter
from model_runner import Capture
from model_runner.edits import Blocked, Edit, Masked, Places
from ui import session
from ui.head_names import head_name
from ui.i18n import _
from ui.inputs import holding
from ui.page import Opened
from ui.wording import plain

N_ = str  # marks a text for Babel without translating it here

DUAL = "dual_chunk"
FIRST = "window"  # the pattern that the page opens with
MOST_HIDDEN = 300  # cells: what an address holds
ENDS = {"count": 16, "seed": 99}  # of sliders that do not count tokens
QUARTER = ("sinks", "shared", "local")  # parameters that begin at a quarter of a short text, the others at half of it


@dataclass(frozen=True)
class Choice:
    """One picture of the gallery: a pattern of the table, or the index map, which is not a mask."""

    name: str
    label: str
    counts: str
    source: str
    parameters: tuple[Parameter, ...]


CHOICES = (
    *(Choice(one.name, one.label, one.counts, one.source, one.parameters) for one in PATTERNS),
    Choice(
        DUAL, N_("dual chunk"), N_("every key, but as if it were no farther away than in training"),
        "An et al. 2024, arXiv:2402.17463",
        (
            Parameter("chunk", N_("chunk size"), N_("positions"), 8),
            Parameter("local", N_("true distances across a border"), N_("positions beyond the chunk"), 4),
        ),
    ),
)  # fmt: skip  # the last one as a paragraph
BY_CHOICE = {choice.name: choice for choice in CHOICES}


def chosen(*, masks_only: bool = False) -> Choice:
    """The pattern in view; ``masks_only`` leaves out what cannot be laid over a model."""
    return BY_CHOICE[session.choice("mask", names(masks_only=masks_only))]


def names(*, masks_only: bool = False) -> list[str]:
    """The patterns to choose from, the one the page opens with first."""
    rest = [choice.name for choice in CHOICES if choice.name != FIRST and not (masks_only and choice.name == DUAL)]
    return [FIRST, *rest]


def choose_pattern(name: str) -> None:
    """Look at another pattern."""
    session.choose("mask", name, FIRST)


# -- numbers ----------------------------------------------------------------------------------------------------------


def default_of(parameter: Parameter, n_tokens: int) -> int:
    """What a parameter begins at: smaller on a short text, where the table's own number would hide nothing."""
    if parameter.name in ENDS:
        return parameter.default
    return min(parameter.default, max(parameter.least, 1, n_tokens // (4 if parameter.name in QUARTER else 2)))


def end_of(parameter: Parameter, n_tokens: int) -> int:
    """Where its slider ends."""
    return ENDS.get(parameter.name, max(n_tokens, parameter.least))


def value_of(parameter: Parameter, n_tokens: int) -> int:
    """What the address says, as far as the slider goes; what is no such number is said and replaced."""
    given, default = session.written(f"mask_{parameter.name}"), default_of(parameter, n_tokens)
    if given is None:
        return default
    if not given.lstrip("-").isdecimal():
        problem = _("“{value}” is not a number for {what}.").format(value=given, what=_(parameter.label))
    elif int(given) < parameter.least:
        problem = _("The {what} is {value}; it must be at least {least}.").format(
            what=_(parameter.label), value=int(given), least=parameter.least
        )
    else:
        return min(int(given), end_of(parameter, n_tokens))
    session.choose(f"mask_{parameter.name}", "", "")
    st.info(plain(problem))
    return default


def values_of(choice: Choice, n_tokens: int) -> dict[str, int]:
    """Every parameter's number; one that several patterns have is the same in all of them."""
    return {parameter.name: value_of(parameter, n_tokens) for parameter in choice.parameters}


def show_sliders(choice: Choice, values: dict[str, int], n_tokens: int, *, beside: bool) -> None:
    """A slider for each parameter, named by what it counts; ``beside`` one another or below."""
    shown = [one for one in choice.parameters if end_of(one, n_tokens) > one.least]
    places = [st.container()] * len(shown)
    if beside and shown:
        places = st.columns(max(2, len(shown)), vertical_alignment="bottom")
    for place, parameter in zip(places, shown, strict=False):
        with place:
            _slider(parameter, values[parameter.name], n_tokens)


def _slider(parameter: Parameter, value: int, n_tokens: int) -> None:
    key = holding(f"mask_{parameter.name}", value)
    st.slider(
        plain(f"{_(parameter.label)} · {_(parameter.counts)}"),
        parameter.least,
        end_of(parameter, n_tokens),
        value,
        key=key,
        on_change=lambda: session.choose(key, str(st.session_state[key]), str(default_of(parameter, n_tokens))),
    )


# -- cells hidden by hand ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Painted:
    """``cells`` are inside the text, ``given`` the queries that keep themselves because they would see nothing."""

    cells: tuple[tuple[int, int], ...] = ()
    given: tuple[int, ...] = ()

    @property
    def hidden(self) -> tuple[tuple[int, int], ...]:
        """What is hidden in the end."""
        return tuple(cell for cell in self.cells if not (cell[0] == cell[1] and cell[0] in self.given))


def painted(capture: Capture, choice: Choice, values: dict[str, int]) -> Painted:
    """The cells of the address; those that are none, or beyond the text, are said and left out."""
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
    given = session.written("mask_hidden")
    if not given:
        return [], ""
    parts = [part.split(".") for part in given.split("-")]
    if not all(len(part) == 2 and all(one.isdecimal() and len(one) < 7 for one in part) for part in parts):
        return [], _("The cells hidden by hand cannot be read from the address: “{value}”.").format(value=given[:40])
    cells = [(int(query), int(key)) for query, key in parts]
    inside = sorted({cell for cell in cells if max(cell) < n_tokens})
    if len(inside) > MOST_HIDDEN:
        return inside[:MOST_HIDDEN], _("At most {count} cells can be hidden by hand; the first of them are.").format(
            count=MOST_HIDDEN
        )
    beyond = len(set(cells)) - len(inside)
    if beyond:
        return inside, _("Cells hidden by hand beyond the text were dropped: {count}; it has {tokens} tokens.").format(
            count=beyond, tokens=n_tokens
        )
    return inside, ""


def hide(cells: Sequence[Sequence[int]]) -> None:
    """Remember the cells hidden by hand."""
    session.choose("mask_hidden", "-".join(f"{int(query)}.{int(key)}" for query, key in cells), "")


# -- where it is laid -------------------------------------------------------------------------------------------------


def edits_of(
    choice: Choice, values: dict[str, int], hidden: tuple[tuple[int, int], ...], layers: Places, heads: Places
) -> tuple[Edit, ...]:
    """The pattern and the hidden cells as a change of the model; nothing for no layer."""
    if layers == ():
        return ()
    masked = Masked(choice.name, tuple(values.items()), layers, heads)
    return (masked, Blocked(hidden, layers, heads)) if hidden else (masked,)


def show_places(opened: Opened, where: str) -> tuple[Places, Places]:
    """The layers and heads it is laid over; None is all of them."""
    capture = opened.capture
    with_weights = [layer for layer in range(capture.n_layers) if capture.has_weights(layer)]
    layers: Places = None
    if where == "second":
        layers = tuple(with_weights[1::2]) or tuple(with_weights)
    elif where == "chosen":
        names = {layer: f"L{layer}" for layer in with_weights}
        layers = _several(_("Layers"), "mask_layers", names, (opened.layer,), _("no layer"))
    here = len(capture.q(opened.layer))  # another layer may have more heads
    names = {
        head: head_name(capture, opened.layer, head) if head < here else f"H{head}" for head in range(capture.n_heads)
    }
    heads = _several(_("Heads"), "mask_heads", names, (), _("all heads"))
    return layers, heads or None


def _several(label: str, name: str, options: dict[int, str], default: tuple[int, ...], none: str) -> tuple[int, ...]:
    """Some of these (number → name); in the address 1.3.5, and a dash for none where that is not the default."""
    given = session.written(name)
    chosen = default
    if given is not None:
        chosen = tuple(int(one) for one in given.split(".") if one.isdecimal() and int(one) in options)

    def remember() -> None:
        told = ".".join(str(one) for one in sorted(st.session_state[name])) or "-"
        session.choose(name, told, ".".join(map(str, default)) or "-")

    st.multiselect(
        label,
        list(options),
        list(chosen),
        key=holding(name, list(chosen)),
        format_func=options.__getitem__,
        placeholder=none,
        on_change=remember,
        label_visibility="collapsed",
        width=210,
    )
    return tuple(sorted(chosen))
