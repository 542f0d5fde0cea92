"""The edits that a session has collected: in the address, changed one by one, and shown as a list to be mended."""

from __future__ import annotations

import re
from collections.abc import Sequence

import streamlit as st

from model_runner import RunnerError
from model_runner.edits import Blocked, Edit, Masked, MeanHead, Places, ScaledHead, SharpenedHead, SwappedHeads
from ui import edit_address, session
from ui.edit_words import name_of
from ui.i18n import _
from ui.inputs import holding
from ui.wording import plain, sentence

MOST = 40  # edits; each is a button, and all of them are in the address

Cell = tuple[int, int]


# -- in the address ---------------------------------------------------------------------------------------------------


def held() -> tuple[Edit, ...]:
    """The list of the address. A part that is no edit is said and dropped; the others stay."""
    text = session.written(session.EDITS) or ""
    try:
        return edit_address.read(text)
    except RunnerError as error:
        first = error
    found: list[Edit] = []
    for part in text.split(";")[:MOST]:
        try:
            found += edit_address.read(part)
        except RunnerError:
            continue
    keep(found)
    session.write_address()
    st.info(plain(sentence(first)))
    return tuple(found)


def now() -> tuple[Edit, ...]:
    """The list at the moment a click is answered: quick clicks change it before a page that shows it is drawn."""
    return edit_address.read(session.written(session.EDITS) or "")


def keep(edits: Sequence[Edit]) -> None:
    """Remember the list."""
    session.choose(session.EDITS, edit_address.written(edits), "")


# -- changed ----------------------------------------------------------------------------------------------------------


def with_edit(edits: Sequence[Edit], new: Edit) -> tuple[Edit, ...]:
    """The list with one more; another value for the same thing takes the place of the one before.

    Cells hidden in the same places are one edit. Whether the others contradict the new one is for the model to say.
    """
    found = list(edits)
    for place, old in enumerate(found):
        if _thing(old) == _thing(new):
            if isinstance(old, Blocked) and isinstance(new, Blocked):
                new = Blocked(tuple(dict.fromkeys((*old.cells, *new.cells))), new.layers, new.heads)
            found[place] = new
            return tuple(found)
    return (*found, new)


def toggled(edits: Sequence[Edit], cells: tuple[Cell, ...], layers: Places, heads: Places) -> tuple[Edit, ...]:
    """The cells hidden in these places, or given back where one of them was."""
    for place, old in enumerate(edits):
        if not isinstance(old, Blocked) or (old.layers, old.heads) != (layers, heads):
            continue
        if not set(cells).isdisjoint(old.cells):
            left = tuple(one for one in old.cells if one not in cells)
            rest = (Blocked(left, layers, heads),) if left else ()
            return (*edits[:place], *rest, *edits[place + 1 :])
    return with_edit(edits, Blocked(cells, layers, heads))


def same_thing(edits: Sequence[Edit], new: Edit) -> Edit | None:
    """The edit of the list that the new one would take the place of."""
    return next((old for old in edits if _thing(old) == _thing(new)), None)


def _thing(edit: Edit) -> object:
    """What an edit sets, whatever it sets it to."""
    match edit:
        case ScaledHead(layer, head) | MeanHead(layer, head) | SharpenedHead(layer, head):
            return type(edit), layer, head
        case SwappedHeads(layer, first, second):
            return type(edit), layer, frozenset((first, second))
        case Blocked(_, layers, heads) | Masked(_, _, layers, heads):
            return type(edit), layers, heads
        case _:
            return type(edit)


# -- on the screen ----------------------------------------------------------------------------------------------------


def show_list(edits: tuple[Edit, ...]) -> None:
    """A button for each edit that takes it back, one for all, and whether every page is to have them."""
    with st.container(key="edit_list", horizontal=True, vertical_alignment="center", gap="small"):
        if not edits:
            words = _("Nothing is changed yet, so both sides are the same.")
            st.html(f"<p class='atlas-caption'>{words}</p>")
            return
        for edit in dict.fromkeys(edits):
            key = f"edit_drop {edit_address.written((edit,))}"
            st.button(plain(f"{name_of(edit)} ×"), key=key, help=_("Take it back"), on_click=_drop, args=(edit,))
        if len(edits) > 1:
            st.button(_("clear"), key="edit_clear", type="tertiary", on_click=keep, args=((),))
        _show_everywhere()


def _drop(edit: Edit) -> None:
    keep([other for other in now() if other != edit])


def _show_everywhere() -> None:
    on = bool(session.carried())
    key = holding("edit_everywhere", on)
    st.toggle(
        _("use on every page"),
        on,
        key=key,
        on_change=lambda: session.carry(bool(st.session_state[key])),
    )


# -- cells ------------------------------------------------------------------------------------------------------------

PAIR = re.compile(r"\(?\s*(\d{1,6})\s*[,.:→]\s*(\d{1,6})\s*\)?")


def cells_in(text: str) -> tuple[Cell, ...] | None:
    """Pairs of query and key as typed: "7, 2; 7, 0"; None for anything else."""
    pairs = [tuple(map(int, pair)) for pair in PAIR.findall(text)]
    left = PAIR.sub("", text)
    return None if left.strip(" ;,\t\n") else tuple((query, key) for query, key in pairs)
