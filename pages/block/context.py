"""One word in two texts: its vector layer by layer, their similarity, and their position between two other words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import escape

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from analysis.examples import is_example
from analysis.two_contexts import PAIRS, ContextPair, WordPaths, last_place, place_of, telling_words, word_paths
from model_runner import Capture
from model_runner.errors import EmptyText, RunnerError
from pages.block.state import LONGEST, LONGEST_TEXT, SUGGESTED, BlockState, state
from pages.block.which_text import one_text
from ui.shared.export_bundle import ExportBundle
from ui.shared.finding import bare, show_finding
from ui.shared.second_capture import suggested_capture, typed_capture
from ui.shell.components import show_heading, show_html
from ui.shell.page import PageContext
from ui.shell.progressive import show_chart
from ui.state import session
from ui.state.inputs import in_fragment, on_change, set_value, widget_key
from ui.state.kept_click import button
from ui.state.page_state import address_of, change
from ui.wording.i18n import _, language
from ui.wording.sentences import sentence
from viz.chart import Line, Lines
from viz.chart_svg import charts_svg
from viz.curves import standalone
from viz.markdown import plain
from viz.text_pair import text_pair_css
from viz.token_text import escaped

N_ = str  # marks a text for Babel without translating it here


@dataclass(frozen=True, eq=False)
class ContextView:
    """What is drawn: the token in both texts, the paths, and the words that span the plane.

    ``opened`` is the page's, or has the pair's first text; ``name`` names the first text.
    """

    opened: PageContext
    name: str
    paths: WordPaths
    token: str
    position: int
    other: Capture
    place: int
    words: tuple[str, str] | None
    read: tuple[str, str] | None  # as the model tokenized them
    charts: tuple[Lines, ...]


def show_context(opened: PageContext) -> ContextView | None:
    """Show both texts and two charts; None, with a sentence, if no second text contains the token."""
    if in_fragment() and session.text() != opened.capture.request.text:
        st.rerun()  # an example was chosen and its text is not captured yet
    opened, pair = _opening(one_text(opened))
    name = _("this text") if pair is None else _("first text")
    position = last_place(opened.capture.tokens) if opened.query is None else opened.query
    if opened.capture.request.sound is not None:
        st.info(plain(_("This model hears a sound, not a second text.")))
        return None
    controls = st.container(key="block_controls", horizontal=True, vertical_alignment="center", gap="small")
    other = _second(opened, controls, pair)
    if other is None:
        return None
    token = opened.capture.tokens[position]
    place = place_of(other.tokens, token.id, position)
    if place is None:
        words = _("“{token}” is not in the second text. Choose a token of this text that it has, or type another text.")
        st.info(plain(words.format(token=bare(token.text))))
        if state().second != SUGGESTED:
            button(_("suggest a text"), key="context_suggest", on_click=_suggest)
        return None
    words, captures = _spanning(opened, other, controls, pair)
    paths = word_paths(opened.capture, other, (position, place), captures)
    show_html(both_texts(opened.capture, other, (position, place), name), key="two_contexts")
    if pair is not None:
        said = _("Two sentences to begin with. Click a token above, or type a text, to compare a word of your own.")
        st.html(f"<p class='atlas-caption'>{escape(said)}</p>")
    show_finding(*_finding(paths, bare(token.text)), of_several=True)
    charts = (alike_chart(paths), *([] if words is None else [plane_chart(paths, words, name)]))
    for column, chart, key in zip(st.columns(len(charts), gap="medium"), charts, ("alike", "plane"), strict=False):
        with column:
            show_heading(escape(chart.heading))
            show_chart(chart, key=f"context_{key}", alt=chart.heading, still=True)
    read = None if captures is None else (captures[0].request.text, captures[1].request.text)
    return ContextView(opened, name, paths, token.text, position, other, place, words, read, charts)


# -- comparison -------------------------------------------------------------------------------------------------------


def _opening(opened: PageContext) -> tuple[PageContext, ContextPair | None]:
    """Return the page with the default pair's first text and the pair; unchanged, with None, if the reader chose a
    text.

    The pair is the first in the reader's language, whose word differs most. It replaces an example's text only.
    """
    held, capture = state(), opened.capture
    chosen = held.second != SUGGESTED or held.across or held.up or session.selection().query != -1
    other = capture.request.attention is not None or capture.request.sound is not None
    if chosen or other or not is_example(session.text()):
        return opened, None
    pair = PAIRS[language()][0]
    try:
        first = typed_capture(opened, "context_first", pair.first)
        second = None if first is None else typed_capture(replace(opened, capture=first), "context", pair.second)
    except RunnerError:
        return opened, None
    if first is None or second is None:
        return opened, None
    token = first.tokens[last_place(first.tokens)].id
    if place_of(second.tokens, token, 0) is None:
        return opened, None  # this model tokenizes the word in two ways
    return replace(opened, capture=first, query=None, key=None), pair


def _second(opened: PageContext, controls: DeltaGenerator, pair: ContextPair | None) -> Capture | None:
    """Return the second text's capture, typed, suggested or the pair's; None, with a sentence, without one."""
    held = state().second if pair is None else pair.second
    suggested = suggested_capture(opened, "context") if held == SUGGESTED else None
    shown = held if held != SUGGESTED else "" if suggested is None else suggested.request.text
    with controls:
        _show_examples()
        _show_box("second", shown, _("Second text"), _("A second text with the same word"), LONGEST_TEXT, None, pair)
    try:
        found = suggested if held == SUGGESTED else typed_capture(opened, "context", held)
    except EmptyText:
        found = None
    except RunnerError as error:
        st.warning(plain(sentence(error)))
        return None
    if found is None:
        st.info(plain(_("Type a second text that has the chosen token too.")))
    return found


def _spanning(
    opened: PageContext, other: Capture, controls: DeltaGenerator, pair: ContextPair | None
) -> tuple[tuple[str, str] | None, tuple[Capture, Capture] | None]:
    """Return the two words and their captures, each captured alone; None without words, or without a text."""
    if opened.capture.request.attention in ("decoder", "cross"):
        return None, None  # a single word is read by the encoder only
    held = state()
    usual = pair.words if pair is not None else telling_words(opened.capture.tokens, other.tokens) or ("", "")
    words = held.across.strip() or usual[0], held.up.strip() or usual[1]
    with controls:
        _show_box("across", words[0], _("Word across"), _("word across"), LONGEST, 150, pair)
        _show_box("up", words[1], _("Word upwards"), _("word upwards"), LONGEST, 150, pair)
    if not all(words):
        st.info(plain(_("Type two words: both paths are drawn between them.")))
        return None, None
    try:
        first, second = (_read(opened, word, name) for word, name in zip(words, ("across", "up"), strict=True))
    except RunnerError as error:
        st.warning(plain(sentence(error)))
        return None, None
    return words, (first, second)


def _read(opened: PageContext, word: str, name: str) -> Capture:
    """Capture a single word, with a leading space if the text uses spaces. Raises RunnerError."""
    text = word if opened.runner.ids_of(word)[-1:] == opened.runner.ids_of(f" {word}")[-1:] else f" {word}"
    found = typed_capture(opened, f"context_{name}", text)
    if found is None:
        raise EmptyText()
    return found


def _show_examples() -> None:
    for place, pair in enumerate(PAIRS[language()]):
        button(pair.topic, key=f"context_pair_{place}", type="tertiary", on_click=_open, args=(pair,))


def _open(pair: ContextPair) -> None:
    set_value("text_box", pair.first)  # overrides text that was typed but not submitted
    session.set_text(pair.first)
    change(BlockState, second=pair.second, across=pair.words[0], up=pair.words[1])


def _suggest() -> None:
    change(BlockState, second=SUGGESTED, across="", up="")


def _show_box(
    name: str, value: str, label: str, placeholder: str, longest: int, width: int | None, pair: ContextPair | None
) -> None:
    """Show a text box for a field of the page's state; with the default ``pair``, typing keeps the pair."""
    key = widget_key(address_of(BlockState, name), value)

    def typed(words: str) -> None:
        if pair is not None:
            _open(pair)
        change(BlockState, **{name: words})

    st.text_input(
        label,
        value,
        key=key,
        max_chars=longest,
        placeholder=placeholder,
        label_visibility="collapsed",
        width=width or "stretch",
        on_change=on_change(key, typed),
    )


# -- drawing ----------------------------------------------------------------------------------------------------------


def both_texts(first: Capture, second: Capture, places: tuple[int, int], name: str) -> str:
    """Both texts, one below the other, with the word marked; HTML."""
    rows = ""
    for called, capture, place in zip((name, _("second text")), (first, second), places, strict=True):
        tokens = [one.text for one in capture.tokens]
        marked = "".join(
            f"<mark>{escaped(text)}</mark>" if at == place else escaped(text) for at, text in enumerate(tokens)
        )
        rows += f"<tr><th>{escape(called)}</th><td style='text-align:left'><bdi>{marked}</bdi></td></tr>"
    sheet = f"<style>{text_pair_css()}</style>"
    return f"{sheet}<div class='atlas-wide'><table class='atlas-costs atlas-ranks'><tbody>{rows}</tbody></table></div>"


def _finding(paths: WordPaths, token: str) -> tuple[str, str]:
    """The cosine similarity of the word's vectors in the two texts, first and last; HTML."""
    said = _("“{token}” in two texts: cosine {cosine} after the last layer")
    words = _("{first} before the first; lowest, {lowest}, after {layer}")
    row = int(np.nanargmin(paths.alike))
    layer = _("the embedding") if row == 0 else f"L{row - 1}"
    return (
        said.format(token=f"<bdi>{escape(token)}</bdi>", cosine=_two(paths.alike[-1])),
        escape(words.format(first=_two(paths.alike[0]), lowest=_two(paths.alike[row]), layer=layer)),
    )


def _two(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


def alike_chart(paths: WordPaths) -> Lines:
    """Cosine similarity of the two vectors by layer, compared with other tokens."""
    rows = list(range(len(paths.alike)))
    series = [Line(_("the word in both texts"), rows, paths.alike.tolist(), points=True)]
    if np.isfinite(paths.others).any():
        words = _("the word and the other tokens beside it")
        series.append(Line(words, rows, paths.others.tolist(), dash="dash", quiet=True))
    return Lines(
        series=series, x_title=_("layers gone through"), y_title=_("cosine"), height=330,
        heading=_("How alike the word is in both texts"),
    )  # fmt: skip


def plane_chart(paths: WordPaths, words: tuple[str, str], name: str) -> Lines:
    """Both paths, one point per layer; x is the cosine with one word, y with the other."""
    assert paths.first is not None
    assert paths.second is not None
    series = [
        Line(name, *paths.first.T.tolist(), points=True),
        Line(_("second text"), *paths.second.T.tolist(), points=True, dash="dash"),
        Line(
            _("after the last layer"),
            [float(paths.first[-1, 0]), float(paths.second[-1, 0])],
            [float(paths.first[-1, 1]), float(paths.second[-1, 1])],
            points=True,
            joined=False,
            quiet=True,
        ),
    ]
    across, up = (_("cosine with “{word}”").format(word=word) for word in words)
    return Lines(
        series=series, x_title=across, y_title=up, height=330,
        heading=_("Its path between “{across}” and “{up}”").format(across=words[0], up=words[1]),
    )  # fmt: skip


# -- export -----------------------------------------------------------------------------------------------------------


def context_view(found: ContextView) -> ExportBundle:
    """All cosines by layer."""
    paths = found.paths
    names = [_("embedding"), *(f"L{layer}" for layer in range(len(paths.alike) - 1))]
    columns = {_("the word in both texts"): paths.alike, _("the word and the other tokens beside it"): paths.others}
    if found.words is not None and paths.first is not None and paths.second is not None:
        for place, word in enumerate(found.words):
            columns[f"{found.name} · {word}"] = paths.first[:, place]
            columns[f"{_('second text')} · {word}"] = paths.second[:, place]
    arrays = {"alike": paths.alike, "others": paths.others, "first": paths.first, "second": paths.second}
    words = "None" if found.read is None else "(read({!r}), read({!r}))".format(*found.read)
    return ExportBundle(
        opened=found.opened,
        name=f"word-in-context-{found.position}",
        title=_("word in context"),
        what=f"cosines of the residual stream of {found.token} here and in “{found.other.request.text[:200]}”, of two "
        "words' last tokens, each read alone, and of the other tokens here as a mean",
        tables=lambda: {_("cosine"): pd.DataFrame(columns, index=names)},
        page=lambda title, said, lang: standalone(found.charts, title=title, caption=said, lang=lang),
        picture=lambda title, said: charts_svg(found.charts, title=title, caption=said),
        arrays={name: one for name, one in arrays.items() if one is not None},
        code=CODE.format(text=found.other.request.text, places=(found.position, found.place), words=words),
    )


CODE = """
from dataclasses import replace

from attention_atlas.analysis.joined import apart, same_tokens
from attention_atlas.analysis.two_contexts import word_paths

capture = apart(capture)


def read(text):
    return runner.capture(replace(same_tokens(capture, capture.request.edits), text=text))


paths = word_paths(capture, read({text!r}), {places}, {words})
print(paths.alike)  # cosine of both vectors before the first layer and after each
"""
