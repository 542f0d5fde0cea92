"""The next edit of the open head: its kind and amount, and the button that adds it to the list."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Callable

import streamlit as st

from analysis.head_names import head_name
from model_runner.edit_list import Cell, same_thing, with_edit
from model_runner.edits import (
    Blocked,
    ChosenKeys,
    Edit,
    MeanHead,
    OfAttention,
    OneEdit,
    Places,
    ScaledHead,
    SharpenedHead,
    SwappedHeads,
    check_cells,
)
from model_runner.errors import EditNotPossible, NoSuchPlace, Reason, UserFacingError
from pages.edit_heads.of_attention import counted, named
from pages.edit_heads.state import MOST_TYPED, Change, EditHeadsState, Where, state
from ui.shell.page import PageContext
from ui.state import edit_list
from ui.state.controls import choose, number, pick
from ui.state.inputs import on_change, widget_key
from ui.state.kept_click import button
from ui.state.page_state import address_of, change, refuse, setting_of
from ui.state.session_value import SessionValue
from ui.wording.i18n import _
from ui.wording.sentences import sentence
from viz.markdown import plain

N_ = str  # marks a text for Babel without translating it here

MEANINGS: dict[Change, str] = {
    "zero": N_("What it passes on becomes zero."),
    "mean": N_("What it passes on becomes, at every token, its mean over the text."),
    "scale": N_("What it passes on is multiplied; its weights stay."),
    "sharpen": N_("Its scores are divided by it: below 1 sharper, above 1 flatter."),
    "block": N_("Click cells of the left map, or type them; a second click restores a cell."),
    "swap": N_("Two heads of the layer swap what they pass on."),
    "choose": N_("In all layers each query reads this many of the keys that its indexer scores highest; 0: every key."),
}
PAIRS_EXPECTED = N_("“{text}” is not a list of pairs of query and key, such as 7, 2; 7, 3")
LIST_FULL = N_("the list holds {count} changes already")
PROBLEM = SessionValue[UserFacingError | None]("edit_problem", lambda: None)  # why the button failed
NEVER_SEEN = N_("token {query} does not see token {key} anyway")


def ask(opened: PageContext, edits: tuple[Edit, ...]) -> None:
    """Show the controls in a row; the button adds the edit before the page runs again. Errors are shown below."""
    with st.container(key="edit_controls", horizontal=True, vertical_alignment="center", gap="small"):
        kinds: dict[Change, str] = {
            "zero": _("ablate"),
            "mean": _("set to its mean"),
            "scale": _("scale"),
            "sharpen": _("sharpen"),
            "block": _("hide cells"),
            "swap": _("swap"),
        }
        if any(opened.capture.has_indexer(layer) for layer in range(opened.capture.n_layers)):
            kinds["choose"] = _("chosen keys")
        kind = state().change if state().change in kinds else "zero"
        choose(EditHeadsState, "change", kind, kinds)
        make = _amount(opened, edits, kind)
        name = f"L{opened.layer}H{opened.head}"
        labels = {"block": _("hide"), "choose": _("change what queries read")}
        label = labels.get(kind) or _("change {head}").format(head=name)
        if make is not None:
            button(label, key="edit_add", type="primary", on_click=_add, args=(lambda: named(opened, make()),))
        st.html(f"<p class='atlas-caption'>{_(MEANINGS[kind])}</p>", width="stretch")
    said = st.empty()  # always there, so that nothing below is remounted
    problem = PROBLEM.take()
    if problem is not None:
        said.warning(plain(sentence(problem)))


def _add(make: Callable[[], Edit]) -> None:
    edits = edit_list.now()
    try:
        new = make()
        if same_thing(edits, new) is None and len(edits) >= edit_list.MOST:
            raise EditNotPossible(reason=Reason(LIST_FULL, {"count": len(edits)}))
    except UserFacingError as error:
        PROBLEM.set(error)  # shown by the next run
        return
    edit_list.keep(with_edit(edits, new))


def block_places(opened: PageContext) -> tuple[Places, Places]:
    """The layers and heads in which cells are hidden: the open head, all heads of its layer, or all layers."""
    where = state().where
    return (
        None if where == "all" else (opened.layer,),
        (opened.head,) if where == "head" else None,
    )


def _amount(opened: PageContext, edits: tuple[Edit, ...], kind: Change) -> Callable[[], OneEdit] | None:
    """Ask for the kind's parameters and return a function that makes the edit; None if there is nothing to do."""
    layer, head = opened.layer, opened.head
    if kind == "zero":
        return lambda: ScaledHead(layer, head, 0.0)
    if kind == "mean":
        return lambda: MeanHead(layer, head)
    if kind == "choose":
        most = len(opened.capture.tokens)
        top_k = min(state().top_k, most)
        number(EditHeadsState, "top_k", top_k, (0, most), _("chosen keys"), width=150)
        return lambda: ChosenKeys(top_k or None)
    if kind == "swap":
        other = _ask_other(opened)
        if other is None:
            return None
        return lambda: SwappedHeads(layer, head, other)
    if kind == "block":
        wheres: dict[Where, str] = {"head": _("in this head"), "layer": _("in its layer"), "all": _("in all layers")}
        pick(EditHeadsState, "where", state().where, wheres, width=150)
        cells = state().cells
        key = widget_key(address_of(EditHeadsState, "cells"), cells)
        st.text_input(
            _("Cells"),
            cells,
            key=key,
            max_chars=MOST_TYPED,
            placeholder=_("query, key; …"),
            label_visibility="collapsed",
            width=140,
            on_change=on_change(key, lambda typed: change(EditHeadsState, cells=typed)),
        )
        return lambda: _blocked(opened, st.session_state.get(key, cells))
    make = ScaledHead if kind == "scale" else SharpenedHead
    name, words = ("factor", _("factor")) if kind == "scale" else ("temperature", _("temperature"))
    value = _slider(name, words, edits, lambda amount: named(opened, make(layer, head, amount)))
    return lambda: make(layer, head, value)


def _ask_other(opened: PageContext) -> int | None:
    """The head of the layer to swap the open one with; None if it is the only one."""
    count, layer = len(opened.capture.q(opened.layer)), opened.layer
    heads = [one for one in range(count) if one != opened.head]
    if not heads:
        words = _("This layer has one head only.")
        st.html(f"<p class='atlas-caption'>{words}</p>", width="content")
        return None
    held = state().other
    if held is not None and held >= count:
        refuse(EditHeadsState, "other", sentence(NoSuchPlace(what=N_("head"), value=held, count=count)))
    other = held if held in heads else heads[0]
    names = {one: f"⇄ L{layer}{head_name(opened.capture, layer, one)}" for one in heads}
    pick(EditHeadsState, "other", other, names, width=160)
    return other


def _blocked(opened: PageContext, typed: str) -> Blocked:
    cells = cells_in(typed)
    if cells is None:
        raise EditNotPossible(reason=Reason(PAIRS_EXPECTED, {"text": typed[:40]}))
    layers, heads = block_places(opened)
    drawn = Blocked(cells, layers, heads)
    check_cells((drawn,), len(opened.capture.tokens))
    for query, key in cells:
        if not seen(opened, range(query, query + 1), range(key, key + 1), layers):
            raise EditNotPossible(reason=Reason(NEVER_SEEN, {"query": query, "key": key}))
    return Blocked(counted(opened, cells), layers, heads)


def seen(opened: PageContext, queries: range, keys: range, layers: Places) -> tuple[Cell, ...]:
    """The cells of these queries and keys that are not masked in at least one of these layers of the unedited model."""
    capture = opened.capture
    records = [capture.records[layer] for layer in (range(capture.n_layers) if layers is None else layers)]
    places = slice(queries.start, queries.stop), slice(keys.start, keys.stop)
    masks = [record.mask.tile(*places, record.q.device).cpu() for record in records if record is not None]
    return tuple(
        (queries[row], keys[column])
        for row, column in itertools.product(range(len(queries)), range(len(keys)))
        if any(bool(mask[row, column]) for mask in masks)
    )


def _slider(name: str, words: str, edits: tuple[Edit, ...], at: Callable[[float], Edit]) -> float:
    """A slider's value: the list's if the head has this edit already; moving it then changes the list at once."""
    bounds = setting_of(EditHeadsState, name)
    listed = same_thing(edits, at(1.0))
    held = listed.edit if isinstance(listed, OfAttention) else listed
    value: float = getattr(state() if held is None else held, name)
    inside = bounds.min <= value <= bounds.max
    # Streamlit (1.67) drops the value of a key whose range changes.
    key = widget_key(address_of(EditHeadsState, name) + ("" if inside else f" {value!r}"), value)

    def remember(moved: float) -> None:
        chosen = round(moved, 6)
        change(EditHeadsState, **{name: min(max(chosen, bounds.min), bounds.max)})
        if listed is not None:
            edit_list.keep(with_edit(edit_list.now(), at(chosen)))

    span = min(bounds.min, value), max(bounds.max, value)
    st.slider(words, *span, value, step=0.1, key=key, on_change=on_change(key, remember), width=190)
    return value


# -- cells ------------------------------------------------------------------------------------------------------------

PAIR = re.compile(r"\(?\s*(\d{1,6})\s*[,.:→]\s*(\d{1,6})\s*\)?")


def cells_in(text: str) -> tuple[Cell, ...] | None:
    """Parse pairs of query and key: "7, 2; 7, 0", also in full-width characters; None if invalid."""
    text = unicodedata.normalize("NFKC", text)
    pairs = [tuple(map(int, pair)) for pair in PAIR.findall(text)]
    left = PAIR.sub("", text)
    return None if left.strip(" ;,\t\n") else tuple((query, key) for query, key in pairs)
