"""The next change of the open head: what is done, how much of it, and the button that adds it to the list."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import streamlit as st

from model_runner import RunnerError
from model_runner.edits import Blocked, Edit, MeanHead, Places, ScaledHead, SharpenedHead, SwappedHeads
from model_runner.errors import EditNotPossible, NoSuchPlace, Reason
from ui import edit_list, session
from ui.head_names import head_name
from ui.i18n import _
from ui.inputs import choose, holding, pick
from ui.page import Opened
from ui.wording import plain, sentence

N_ = str  # marks a text for Babel without translating it here

KINDS = {
    "zero": N_("ablate"),
    "mean": N_("set to its mean"),
    "scale": N_("scale"),
    "sharpen": N_("sharpen"),
    "block": N_("hide cells"),
    "swap": N_("swap"),
}
MEANINGS = {
    "zero": N_("What it passes on becomes zero."),
    "mean": N_("What it passes on becomes, at every token, its mean over the text."),
    "scale": N_("What it passes on is multiplied; its weights stay."),
    "sharpen": N_("Its scores are divided by it: below 1 sharper, above 1 flatter."),
    "block": N_("Click cells of the left map, or type them; a second click gives a cell back."),
    "swap": N_("Two heads of the layer change places in what they pass on."),
}
# name of the slider → label, least, largest, what it begins at; each step is a tenth
SLIDERS = {
    "scale": (N_("factor"), -1.0, 3.0, 2.0),
    "sharpen": (N_("temperature"), 0.1, 4.0, 0.5),
}
PAIRS_EXPECTED = N_("“{text}” is not a list of pairs of query and key, such as 7, 2; 7, 3")
LIST_FULL = N_("the list holds {count} changes already")
PROBLEM = "edit_problem"  # what the button could not do
NEVER_SEEN = N_("token {query} does not see token {key} anyway")


def ask(opened: Opened, edits: tuple[Edit, ...]) -> None:
    """The controls in a row; the button adds to the list before the page runs again. What cannot be is said below."""
    with st.container(key="edit_controls", horizontal=True, vertical_alignment="center", gap="small"):
        kind = choose(_("Change"), "edit", {name: _(words) for name, words in KINDS.items()})
        make = _amount(opened, edits, kind)
        name = f"L{opened.layer}H{opened.head}"
        label = _("change {head}").format(head=name) if kind != "block" else _("hide")
        if make is not None:
            st.button(label, key="edit_add", type="primary", on_click=_add, args=(make,))
        st.html(f"<p class='atlas-caption'>{_(MEANINGS[kind])}</p>", width="stretch")
    said = st.empty()  # always there, so that what stands below is not mounted anew
    problem: RunnerError | None = session.slots().pop(PROBLEM, None)
    if problem is not None:
        said.warning(plain(sentence(problem)))


def _add(make: Callable[[], Edit]) -> None:
    edits = edit_list.now()
    try:
        new = make()
        if edit_list.same_thing(edits, new) is None and len(edits) >= edit_list.MOST:
            raise EditNotPossible(reason=Reason(LIST_FULL, {"count": len(edits)}))
    except RunnerError as error:
        session.slots()[PROBLEM] = error  # the run that follows says it
        return
    edit_list.keep(edit_list.with_edit(edits, new))


def chosen_kind() -> str:
    """What the next change is."""
    return session.choice("edit", KINDS)


def block_places(opened: Opened) -> tuple[Places, Places]:
    """The layers and heads in which cells are hidden: the open head, all heads of its layer, or all layers."""
    where = session.choice("edit_where", ("head", "layer", "all"))
    return (
        None if where == "all" else (opened.layer,),
        (opened.head,) if where == "head" else None,
    )


def _amount(opened: Opened, edits: tuple[Edit, ...], kind: str) -> Callable[[], Edit] | None:
    """What the kind needs to know, and the edit it makes; None where there is nothing to do."""
    layer, head = opened.layer, opened.head
    if kind == "zero":
        return lambda: ScaledHead(layer, head, 0.0)
    if kind == "mean":
        return lambda: MeanHead(layer, head)
    if kind == "swap":
        heads = [one for one in range(len(opened.capture.q(layer))) if one != head]
        others = {str(one): f"⇄ L{layer}{head_name(opened.capture, layer, one)}" for one in heads}
        if not others:
            words = _("This layer has one head only.")
            st.html(f"<p class='atlas-caption'>{words}</p>", width="content")
            return None
        other = int(pick(_("With"), "edit_other", others, width=160))
        return lambda: SwappedHeads(layer, head, other)
    if kind == "block":
        wheres = {"head": _("in this head"), "layer": _("in its layer"), "all": _("in all layers")}
        pick(_("Where"), "edit_where", wheres, width=150)
        typed = st.text_input(
            _("Cells"), key="edit_cells", placeholder=_("query, key; …"), label_visibility="collapsed", width=140
        )
        return lambda: _blocked(opened, st.session_state.get("edit_cells", typed))
    value = _slider(kind, edits, lambda amount: _at(kind, layer, head, amount))
    return lambda: _at(kind, layer, head, value)


def _at(kind: str, layer: int, head: int, amount: float) -> Edit:
    return ScaledHead(layer, head, amount) if kind == "scale" else SharpenedHead(layer, head, amount)


def _blocked(opened: Opened, typed: str) -> Blocked:
    cells = edit_list.cells_in(typed)
    if cells is None:
        raise EditNotPossible(reason=Reason(PAIRS_EXPECTED, {"text": typed[:40]}))
    layers, heads = block_places(opened)
    found = Blocked(cells, layers, heads)
    check_cells((found,), len(opened.capture.tokens))
    for query, key in cells:
        if not seen(opened, range(query, query + 1), range(key, key + 1), layers):
            raise EditNotPossible(reason=Reason(NEVER_SEEN, {"query": query, "key": key}))
    return found


def check_cells(edits: tuple[Edit, ...], n_tokens: int) -> None:
    """Raises NoSuchPlace for a hidden cell beyond the text."""
    for edit in edits:
        for place in (place for cell in edit.cells for place in cell) if isinstance(edit, Blocked) else ():
            if not 0 <= place < n_tokens:
                raise NoSuchPlace(what=N_("position"), value=place, count=n_tokens)


def seen(opened: Opened, queries: range, keys: range, layers: Places) -> tuple[edit_list.Cell, ...]:
    """The cells of these queries and keys that the unchanged model lets one of these layers see."""
    capture = opened.capture
    records = [capture.records[layer] for layer in (range(capture.n_layers) if layers is None else layers)]
    places = slice(queries.start, queries.stop), slice(keys.start, keys.stop)
    masks = [record.mask.tile(*places, record.q.device).cpu() for record in records if record is not None]
    return tuple(
        (queries[row], keys[column])
        for row, column in itertools.product(range(len(queries)), range(len(keys)))
        if any(bool(mask[row, column]) for mask in masks)
    )


def _slider(kind: str, edits: tuple[Edit, ...], at: Callable[[float], Edit]) -> float:
    """Its value: that of the list where the head is changed so already, and then a move changes the list at once."""
    label, least, most, usual = SLIDERS[kind]
    name = f"edit_{kind}"
    listed = edit_list.same_thing(edits, at(usual))
    value = _listed_value(listed) if listed is not None else _written_value(name, _(label), least, most, usual)
    inside = least <= value <= most
    # Streamlit (1.67) loses the value of a key whose range is another.
    key = holding(name if inside else f"{name} {value!r}", value)

    def remember() -> None:
        chosen = round(float(st.session_state[key]), 6)
        session.choose(name, f"{min(max(chosen, least), most):g}", f"{usual:g}")
        if listed is not None:
            edit_list.keep(edit_list.with_edit(edit_list.now(), at(chosen)))

    st.slider(_(label), min(least, value), max(most, value), value, step=0.1, key=key, on_change=remember, width=190)
    return value


def _listed_value(edit: Edit) -> float:
    return edit.factor if isinstance(edit, ScaledHead) else getattr(edit, "temperature")  # noqa: B009


def _written_value(name: str, label: str, least: float, most: float, usual: float) -> float:
    written = session.written(name)
    if written is None:
        return usual
    try:
        value = float(written)
    except ValueError:
        value = float("nan")
    if least <= value <= most:
        return round(value, 1)
    session.choose(name, "", "")
    st.info(plain(_("“{value}” is not a number for {what}.").format(value=written, what=label)))
    return usual
