"""The first view of the page Edit heads: edits of the open head, collected, and their effect on the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from analysis.class_scores import ClassChange
from analysis.comparison import NextTokenChange
from analysis.head_map import HeadMap
from analysis.head_names import group_size
from analysis.joined import first_query
from analysis.sentences import joined
from analysis.stories import seen_in
from model_runner import Capture, RunnerError, edit_text
from model_runner.edit_list import of_attention, toggled
from model_runner.edit_words import edit_name
from model_runner.edits import Blocked, Edit, Masked, MeanHead, OfAttention, ScaledHead, SharpenedHead, SwappedHeads
from model_runner.errors import NoLogits
from pages.edit_heads import edit_controls
from pages.edit_heads.edit_texts import Texts, show_texts
from pages.edit_heads.of_attention import attention_of, check_every_cell, counted, named, own
from pages.edit_heads.state import state
from ui.shared.class_scores import show_class_change
from ui.shared.head_views import DrawnHead
from ui.shared.help_card import show_reading
from ui.shared.what_if import ROUNDING, Clicked, drift_of, output_finding, show_change, show_map, show_maps
from ui.shell.components import mount, name_figure, show_heading
from ui.shell.page import PageContext, edited, translated
from ui.state import edit_list, session
from ui.state.kept_click import ButtonLook, button
from ui.state.session_value import SessionValue
from ui.wording.i18n import _
from ui.wording.sentences import number, sentence
from viz.components.layer_head_map import layer_head_map
from viz.markdown import plain

AS_IS = SessionValue[tuple[str, str] | None](
    "edit_unchanged", lambda: None
)  # models and texts for which the preview was dismissed
MOST_MOVED = 4  # heads named beside the map
FEW = 2  # heads that a title names

Output = tuple[NextTokenChange | None, ClassChange | None]


@dataclass(frozen=True, eq=False)
class EditView:
    """What is drawn; ``changed`` and what follows are None if the edits cannot be applied."""

    edits: tuple[Edit, ...]
    after: Capture | None = None
    changed: tuple[DrawnHead, DrawnHead] | None = None  # the open head before and after
    change: NextTokenChange | None = None
    classes: ClassChange | None = None  # of a classifier, instead of the next token
    drift: np.ndarray | None = None  # [layers, heads], NaN for layers without weights
    texts: Texts | None = None


def show_edit(opened: PageContext) -> EditView:
    """Show the controls, the list, the open head before and after, and the effects. Raises RunnerError."""
    _explain()
    held = edit_list.held()
    edit_controls.ask(opened, held)
    edits = held or _preview(opened)
    listed = _show_list(opened, held, edits)
    left, right = st.columns([0.76, 0.24], gap="medium")
    clicked = _toggle(opened) if state().change == "block" else None
    try:
        check_every_cell(opened, edits)
        after = edited(opened, edits)
    except RunnerError as error:
        if session.edits_on_all_pages():
            with listed:
                edit_list.show_everywhere()  # lets the reader switch it off; no other page can show these edits
        with left:
            _show_before(opened, sentence(error), clicked)
        return EditView(edits)
    if held:
        with listed:
            edit_list.show_everywhere()
    drift = drift_of(opened.capture, after)
    first = bool(edits) and state().change != "block" and not drift[opened.layer, opened.head] > ROUNDING
    shown: list[Output] = []

    def show_output() -> None:
        shown.append(_show_output(opened, after))

    with left:
        said = output_finding(opened, after, _cause(edits))
        preview = first and not held  # no head was chosen yet, and an empty difference would say nothing
        shown_on = _moved_most(opened, drift) if preview else opened
        between = show_output if first else None
        changed = show_maps(
            shown_on, after, clicked=clicked, said=said, between=between, once=preview and shown_on is opened
        )
        if words := joined(_what_shows(opened, after, edits), _in_its_place(opened, shown_on)):
            st.html(f"<p class='atlas-caption'>{escape(words)}</p>")
    with right:
        if not first:
            show_output()
        if edits:
            _show_moved(opened, drift)
    change, classes = shown[0]
    with left:
        texts = show_texts(opened, edits) if classes is None else None
    return EditView(edits, after, changed, change, classes, drift, texts)


def _cause(edits: tuple[Edit, ...]) -> str:
    """The start of a sentence that names the ablated heads; empty if there are more than two, or other edits."""
    gone = [edit for edit in edits if isinstance(edit, ScaledHead) and edit.factor == 0]
    if not gone or len(gone) < len(edits) or len(gone) > FEW:
        return ""
    names = [f"L{edit.layer}H{edit.head}" for edit in gone]
    words = _("Without {head}") if len(names) == 1 else _("Without {head} and {other}")
    return words.format(head=names[0], other=names[-1])


def _moved_most(opened: PageContext, drift: np.ndarray) -> PageContext:
    """The head whose attention moved most, or the open one if none moved."""
    if not np.nanmax(drift, initial=0.0) > ROUNDING:
        return opened
    layer, head = divmod(int(np.nanargmax(drift)), drift.shape[1])
    return replace(opened, layer=layer, head=head)


def _in_its_place(opened: PageContext, shown_on: PageContext) -> str:
    """Say which head the maps show, if it is not the open one."""
    if shown_on is opened:
        return ""
    words = _("The maps are of {other}, whose attention moves most.")
    return words.format(other=f"L{shown_on.layer}H{shown_on.head}")


def _show_output(opened: PageContext, after: Capture) -> Output:
    """Show the next token before and after, or a classifier's classes; a sentence if the model has neither."""
    classes = show_class_change(opened, after)
    try:
        return (show_change(opened, after) if classes is None else None), classes
    except NoLogits as error:
        st.html(f"<p class='atlas-caption'>{escape(sentence(error))}</p>")
        return None, classes


def _explain() -> None:
    show_reading(
        [
            _("A head reads with its weights and passes something on; each change touches one of the two."),
            _("Left: the head as it is; right: after the changes. The model’s prediction is beside the "
              "maps, or above them where no weight moves."),
            _("What one head passes on is read by all heads above it: the small map shows which of them now look "
              "elsewhere."),
        ],
        formula="head = softmax(q · kᵀ / (√d_head · temperature) + mask) · v\npassed on = factor · head\n"
        "moved = ½ Σ |weight after − weight before|, mean over queries; what a row lacks of 1 counts as a place",
        source="Michel et al. 2019, arXiv:1905.10650; Wang et al. 2022, arXiv:2211.00593",
        attempt=_("Take the induction example, open its induction head (Heads, ranked by induction), and ablate it."),
    )  # fmt: skip  # one sentence a line


def _show_list(opened: PageContext, held: tuple[Edit, ...], edits: tuple[Edit, ...]) -> DeltaGenerator:
    """Show a button that removes each edit, one that removes all, and the container of the toggle for all pages.

    If nothing is ``held`` but there are ``edits``, they are a preview.
    """
    listed = st.container(key="edit_list", horizontal=True, vertical_alignment="center", gap="small")
    with listed:
        if edits and not held:
            _show_preview(opened, edits)
        elif not held:
            words = _("Nothing is changed yet, so both sides are the same.")
            st.html(f"<p class='atlas-caption'>{words}</p>", width="content")
            if state().change != "block":  # its cells have to be chosen first
                _offer_first(opened)
        for edit in dict.fromkeys(held):
            key, words = f"edit_drop {edit_text.written((edit,))}", plain(edit_name(edit, _))
            look: ButtonLook = {"help": _("Undo it"), "icon": ":material/undo:", "icon_position": "right"}
            button(words, key=key, on_click=_drop, args=(edit,), **look)
        if len(held) > 1:
            button(_("clear"), key="edit_clear", type="tertiary", on_click=_keep, args=((),))
    return listed


def _preview(opened: PageContext) -> tuple[Edit, ...]:
    """The edits that the page opens with until others are requested; not in the URL and not on other pages."""
    return () if state().change == "block" or _about() == AS_IS.get() else _first(opened)


def _first(opened: PageContext) -> tuple[Edit, ...]:
    """Ablate the heads that the text’s story measured, or the open one."""
    heads = _measured(opened) or ((opened.layer, opened.head),)
    return tuple(named(opened, ScaledHead(layer, head, 0.0)) for layer, head in heads)


def _measured(opened: PageContext) -> tuple[tuple[int, int], ...]:
    """The heads whose ablation the text's story describes; none if it only says where a head attends."""
    seen = seen_in(opened.capture)
    return () if seen is None or seen.evidence is None or seen.evidence.told == "where" else seen.evidence.heads


def _show_preview(opened: PageContext, edits: tuple[Edit, ...]) -> None:
    words = _("Preview: {edits}. Nothing is changed until you apply it.")
    if _measured(opened):
        words = _("Preview: {edits}, which this text’s story is about. Nothing is changed until you apply it.")
    names = ", ".join(edit_name(edit, _) for edit in edits)
    st.html(f"<p class='atlas-caption'>{escape(words.format(edits=names))}</p>", width="content")
    button(_("Apply"), key="edit_story", type="primary", on_click=_keep, args=(edits,))
    button(_("Show it unchanged"), key="edit_as_is", type="tertiary", on_click=_keep, args=((),))


def _offer_first(opened: PageContext) -> None:
    """Show a button that applies the first edits again, so that there is something to see."""
    edits = _first(opened)
    words = _("Apply: {edits}").format(edits=", ".join(edit_name(edit, _) for edit in edits))
    button(words, key="edit_story", type="primary", on_click=_keep, args=(edits,))


def _about() -> tuple[str, str]:
    return session.model(), session.text()


def _drop(edit: Edit) -> None:
    _keep(tuple(other for other in edit_list.now() if other != edit))


def _keep(edits: tuple[Edit, ...]) -> None:
    """Store the edits. Without any, the toggle for all pages is reset too."""
    edit_list.keep(edits)
    if not edits:
        session.apply_to_all_pages(False)
        AS_IS.set(_about())


def _show_before(opened: PageContext, problem: str, clicked: Clicked | None) -> None:
    """Show only the unedited head, with the error instead of the edited one."""
    one, other = st.columns(2)
    with one:
        show_map(opened, _("before"), "map_before", clicked=clicked)
    with other:
        st.warning(plain(problem))


def _toggle(opened: PageContext) -> Clicked:
    """A click on the left map hides the cell, or all cells of one pixel, or unhides them."""

    def clicked(view: HeadMap, cell: list[int | None] | None) -> None:
        if cell is None or None in cell:
            return
        queries, keys = view.tokens_at(*(int(place) for place in cell if place is not None))
        layers, heads = edit_controls.block_places(opened)
        if cells := edit_controls.seen(opened, queries, keys, layers):
            edits = edit_list.now()
            changed = toggled(own(opened, edits), counted(opened, cells), layers, heads)
            edit_list.keep(of_attention(edits, attention_of(opened), changed))

    return clicked


def _what_shows(opened: PageContext, after: Capture, edits: Sequence[Edit]) -> str:
    """Explain how the edits affect the open head's map."""
    name = f"L{opened.layer}H{opened.head}"
    if not edits:
        return ""
    still = not drift_of(opened.capture, after)[opened.layer, opened.head] > 0
    silent = _left_with_nothing(opened, after, edits)
    parts: list[str] = []
    if still and not any(_may_reach(edit, opened) for edit in edits):
        words = _("No change reaches {head}: a head depends only on the layers below it.")
        if attention_of(opened) == "encoder" and not own(opened, edits):
            words = _("No change reaches {head}: the encoder does not depend on the decoder.")
        parts.append(words.format(head=name))
    elif still and _passes_the_same_on(opened, after):
        words = _("These changes do nothing here: {head} looks as before, and what it passes on is the same.")
        parts.append(words.format(head=name))
    elif still:
        parts.append(_("What {head} passes on is changed, not where it looks.").format(head=name))
    if silent:
        rows = ", ".join(f"{opened.capture.tokens[query].text} ({query})" for query in silent)
        parts.append(_("These see nothing now and pass nothing on: {rows}.").format(rows=rows))
    return joined(*parts)


def _may_reach(edit: Edit, opened: PageContext) -> bool:
    """Return True if the edit is of the open head, or of anything in an earlier layer."""
    attention = attention_of(opened)
    match edit:
        case OfAttention(other, inner) if other == attention:
            return _may_reach(inner, opened)
        case OfAttention(other, inner):
            if attention == "encoder" or other == "encoder":
                return attention != "encoder"
            # cross-attention follows self-attention in a layer
            return _lowest(inner) < opened.layer + (other == "decoder")
        case ScaledHead(layer) | MeanHead(layer) | SharpenedHead(layer) | SwappedHeads(layer):
            return layer < opened.layer or _is_own(edit, opened)
        case Blocked(_, layers, heads) | Masked(_, _, layers, heads):
            places = range(opened.capture.n_layers) if layers is None else layers
            own = opened.layer in places and (heads is None or opened.head in heads)
            return own or any(layer < opened.layer for layer in places)
        case _:
            return True


def _lowest(edit: Edit) -> int:
    """The first layer that the edit affects."""
    match edit:
        case ScaledHead(layer) | MeanHead(layer) | SharpenedHead(layer) | SwappedHeads(layer):
            return layer
        case Blocked(_, layers) | Masked(_, _, layers):
            return min(layers or (0,))
        case _:
            return 0


def _passes_the_same_on(opened: PageContext, after: Capture) -> bool:
    """Return True if the open head's output is identical at every token, to the last bit."""
    before, now = (
        capture.record(opened.layer).head_output_edited[:, opened.head] for capture in (opened.capture, after)
    )
    return before.equal(now)


def _is_own(edit: Edit, opened: PageContext) -> bool:
    """Return True if the edit changes the open head's output or its temperature."""
    match edit:
        case ScaledHead(layer, head) | MeanHead(layer, head) | SharpenedHead(layer, head):
            return (layer, head) == (opened.layer, opened.head)
        case SwappedHeads(layer, first, second):
            return layer == opened.layer and opened.head in (first, second)
        case _:
            return False


def _left_with_nothing(opened: PageContext, after: Capture, edits: Sequence[Edit]) -> list[int]:
    """Queries of the open head with all cells hidden."""
    record, n_tokens = after.record(opened.layer), len(after.tokens)
    blocked = [edit.cells for edit in own(opened, edits) if isinstance(edit, Blocked)]
    queries = {query + first_query(opened.capture) for cells in blocked for query, _key in cells}
    whole = slice(0, n_tokens)
    return [
        query
        for query in sorted(queries)
        if not record.mask.tile(slice(query, query + 1), whole, record.q.device, head=opened.head).any()
    ]


def _show_moved(opened: PageContext, drift: np.ndarray) -> None:
    """Show how far each head's attention moved and name those that moved most; a click opens a head."""
    defined = np.where(np.isnan(drift), -1.0, drift)
    order = [divmod(int(place), drift.shape[1]) for place in np.argsort(-defined, axis=None, kind="stable")]
    most = [place for place in order[:MOST_MOVED] if defined[place] > ROUNDING]
    heading, aside = _("Attention elsewhere"), _("click to open a head")
    show_heading(escape(heading), escape(aside))
    name_figure(escape(heading))  # followers cannot click
    largest = max(float(defined.max()), 0.01)
    payload = layer_head_map.LayerHeadMapPicture(
        drift,
        title=heading,
        scale="sequential",
        low=0.0,
        high=largest,
        number="percent",
        open=(opened.layer, opened.head),
        texts=translated(layer_head_map.TEXTS),
        max_height=210,
        shows="map_before",
        group=group_size(opened.capture, opened.layer),
    ).packed()
    mount(layer_head_map.SOURCE, payload, key="edit_moved", on={"head": _open})
    if most:
        with st.container(key="edit_most", horizontal=True, vertical_alignment="center", gap="small"):
            for layer, head in most:
                share = number(float(drift[layer, head]), "share")
                label = plain(f"L{layer}H{head} {share}")
                button(label, key=f"edit_to_{layer}_{head}", type="tertiary", on_click=_open, args=([layer, head],))


def _open(place: list[int] | None) -> None:
    if place is not None:
        session.move(layer=int(place[0]), head=int(place[1]))
