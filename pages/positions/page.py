"""Positions: the rotation of real queries and keys, its effect on their scores, and other encodings."""

from html import escape

import streamlit as st

from analysis.changed_vectors import changed_words
from analysis.distance_curves import Contents
from analysis.number_text import error_size
from analysis.positions import turned
from model_runner.errors import NotRecoverable
from pages.positions.added import show_order_controls, show_shuffled, show_terms
from pages.positions.finding import show_score
from pages.positions.others import show_others
from pages.positions.places import show_row_strip
from pages.positions.reading import explain
from pages.positions.rotation import show_rotation, show_shift
from pages.positions.scores import show_split, show_sweep
from pages.positions.sinusoid import show_table, show_turn
from pages.positions.state import PositionsState, Sine, View, state
from pages.positions.what_if import show_what_if
from ui.shared.export_bundle import ExportBundle, show_export_menu
from ui.shell.model_strip import StripView
from ui.shell.page import open_page, settle, show_badge, show_errors
from ui.state.controls import choose, pick
from ui.state.url_values import options_of
from ui.wording.i18n import _
from ui.wording.sentences import sentence
from viz.markdown import plain

held = state()
opened, query, key = settle(open_page(two_texts=True, strip=StripView(edits=held.view == "what_if")))
show_badge(opened)
strip = st.container()
try:
    layout, problem = turned(opened.capture, opened.layer), ""
except NotRecoverable as error:  # includes NoRotation: then the alternative is shown
    without = opened.capture.record(opened.layer).unrolled is not None  # no scores either: reported below
    layout, problem = None, "" if without else sentence(error)
view = held.view if layout is not None or held.view == "sinusoid" else "others"

with st.container(key="position_controls", horizontal=True, vertical_alignment="center", gap="small"):
    views: dict[View, str] = {
        "rotation": _("rotation"),
        "difference": _("only the difference"),
        "frequencies": _("by frequency"),
        "distance": _("against distance"),
        "what_if": _("what if"),
        "others": _("the others"),
        "sinusoid": _("sinusoidal"),
    }
    without_rotation: tuple[View, ...] = ("others", "sinusoid")
    choose(
        PositionsState, "view", view,
        {name: words for name, words in views.items() if layout is not None or name in without_rotation},
    )  # fmt: skip  # what is chosen in a line
    if view == "sinusoid":
        sines: dict[Sine, str] = {
            "table": _("table"),
            "turn": _("one step further"),
            "terms": _("four terms"),
            "shuffled": _("another order"),
        }
        choose(PositionsState, "sine", held.sine, sines)
        if held.sine in ("table", "turn"):
            sizes = {size: _("{count} dimensions").format(count=size) for size in options_of(PositionsState, "size")}
            pick(PositionsState, "size", held.size, sizes, width=170)
        elif held.sine == "shuffled":
            show_order_controls()
    two_tokens = view in ("difference", "frequencies")
    if two_tokens:
        choose(PositionsState, "sets", held.sets, {"query": _("click sets query"), "key": _("click sets key")})
    if view == "distance":
        kinds: dict[Contents, str] = {"text": _("whole text"), "query": _("this query"), "cell": _("this cell")}
        choose(PositionsState, "contents", held.contents, kinds)
        reaches = {count: _("up to {count}").format(count=f"{int(count):,}") for count in ("64", "256", "2048")}
        choose(PositionsState, "reach", held.reach, reaches)

with strip:
    alone = view == "rotation" or (view == "sinusoid" and held.sine != "terms")
    show_row_strip(opened, query, None if alone else key, sets=held.sets if two_tokens else "query")

if problem:
    st.info(plain(problem))
if words := changed_words(opened.capture, opened.layer, opened.head, _):
    st.html(f"<p class='atlas-caption'>{escape(words)}</p>")


def show_sinusoid() -> ExportBundle:
    """Show the chosen view of sinusoidal positions. Raises RunnerError for a head whose matrices are not found."""
    if held.sine == "turn":
        return show_turn(opened, query)
    if held.sine == "terms":
        return show_terms(opened, query, key)
    return show_shuffled(opened, query) if held.sine == "shuffled" else show_table(opened, layout, query)


def draw() -> None:
    """Draw the open view with its tables and files. Raises RunnerError for a head without scores."""
    opened.capture.check_attention(opened.layer)
    if view == "sinusoid":
        show_export_menu(opened, show_sinusoid())
        return
    if layout is None or view == "others":
        show_export_menu(opened, show_others(opened, layout))
        return
    if view == "difference":
        show_score(opened, query, key)
    if view == "rotation":
        show_export_menu(opened, show_rotation(opened, layout, query))
    elif view == "difference":
        show_export_menu(opened, show_shift(opened, layout, query, key))
    elif view == "frequencies":
        show_export_menu(opened, show_split(opened, layout, query, key))
    elif view == "distance":
        show_export_menu(opened, show_sweep(opened, query, key, contents=held.contents, reach=int(held.reach)))
    else:
        show_what_if(opened)


if layout is not None and not layout.ok and view != "sinusoid":
    words = _(
        "The rotation of layer {layer} is not drawn: vectors turned here differ from the captured ones by {error}, "
        "more than rounding can explain ({tolerance})."
    )
    values = {"error": error_size(layout.difference), "tolerance": error_size(layout.tolerance)}
    st.error(plain(words.format(layer=opened.layer, **values)))
else:
    show_errors(draw)

explain(view, layout, held.sine)
