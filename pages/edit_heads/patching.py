"""The third view of the page Edit heads: activation patching from one text's run into another's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from weakref import ref

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from analysis.head_names import group_size
from analysis.joined import apart, decoder_side, first_query
from analysis.mask_effect import looks_ahead
from analysis.patching import DECIMALS, PatchMap, contrasting, likely_tokens, shares
from jobs.patching import Kind, PatchSetting, Rows, rows_of
from model_runner import Capture
from model_runner.errors import NoSuchPlace
from pages.edit_heads.of_attention import say_after_what
from pages.edit_heads.second_text import show_other
from pages.edit_heads.state import EditHeadsState, Way, state
from pages.edit_heads.tokens import show_tokens, token_of
from ui.shared.finding import show_finding, token_name
from ui.shared.help_card import show_reading
from ui.shell.components import mount, show_heading, show_html
from ui.shell.page import PageContext, translated
from ui.shell.progressive import progressive, show_progress
from ui.state import session
from ui.state.controls import choose, pick
from ui.state.page_state import change, refuse
from ui.wording.i18n import _
from ui.wording.sentences import number, sentence
from viz.components.layer_head_map import layer_head_map
from viz.distribution import TEXTS, next_token_changes
from viz.markdown import plain

N_ = str  # marks a text for Babel without translating it here

MAP_HEIGHT = 400  # px
TOKENS = ("first", "second")  # fields of the two tokens
SHOWN = 5  # tokens in the list
MAP_TEXTS = layer_head_map.TEXTS | {
    "columns": N_("positions"),
    "cell": N_("{row} · {column} ({column_index}) · change {value}, {share} of the way"),
    "missing": N_("{row} · {column} ({column_index}) · not computed"),
}


@dataclass(frozen=True, eq=False)
class Patches:
    """What is drawn: the map as far as it is computed."""

    setting: PatchSetting
    found: PatchMap


def show_patches(opened: PageContext) -> Patches | None:
    """Show the second text, the controls, and the map with its progress; None, with a sentence, if not possible.

    Raises RunnerError.
    """
    _explain()
    if looks_ahead(opened.capture) and not opened.capture.attentions:
        words = _("This model sees the whole text at once: there is no next token whose logits a patch could change.")
        st.info(plain(words))
        return None
    decoder_side(opened.capture).logits(-1)  # raises NoLogits before the reader is asked for anything
    finding = st.container()  # above the texts that it is about
    row = st.container(key="patch_text_row", horizontal=True, vertical_alignment="center", gap="small")
    other = show_other(opened, row)
    if other is None:
        return None
    setting = _ask(opened, other, row)
    say_after_what(opened, follows_query=False)
    if (held := state().row) is not None and held >= setting.plain.n_layers:
        problem = NoSuchPlace(what=N_("layer"), value=held, count=setting.plain.n_layers)
        refuse(EditHeadsState, "row", sentence(problem))
    key = ref(opened.runner), setting.key
    rows: Rows = session.jobs().get(setting.name, key, lambda name: rows_of(opened.runner, setting, name))
    found = setting.map_of(rows.items)
    if len(rows.items) == len(setting.rows) and (said := _finding(setting, found)) is not None:
        with finding:
            show_finding(said, of_several=True)
    progressive(rows, lambda: _show(opened, Patches(setting, setting.map_of(rows.items)), rows))
    return Patches(setting, setting.map_of(rows.items))


def _ask(opened: PageContext, other: Capture, row: DeltaGenerator) -> PatchSetting:
    """Show the direction in this row, and the map's other controls in a row of their own."""
    way, kind = state().way, state().patched
    with row:
        ways: dict[Way, str] = {"into": _("second text → this text"), "from": _("this text → second text")}
        pick(EditHeadsState, "way", way, ways, width=215)
    usual = contrasting(opened.capture, other)
    tokens = _tokens(opened, usual)
    with st.container(key="patch_controls", horizontal=True, vertical_alignment="center", gap="small"):
        kinds: dict[Kind, str] = {
            "residual": _("residual stream"),
            "attention": _("attention output"),
            "ffn": _("FFN output"),
            "heads": _("heads of L{layer}").format(layer=opened.layer),
        }
        choose(EditHeadsState, "patched", kind, kinds)
        offered = {token: opened.runner.token_text(token) for token in likely_tokens(opened.capture, other)}
        words = ((_("First token"), _("logit of")), (_("Second token"), _("minus logit of")))
        for name, (label, beside), token, likeliest in zip(TOKENS, words, tokens, usual, strict=True):
            show_tokens(opened, name, label, beside, token, offered, likeliest, width=130)
    own = apart(opened.capture)
    plain_run, donor = (other, own) if way == "from" else (own, other)
    return PatchSetting(plain_run, donor, tokens, kind, opened.layer, way == "from")


def _tokens(opened: PageContext, usual: tuple[int, int]) -> tuple[int, int]:
    """The two tokens' ids; if they are equal, say so and replace the second."""
    first, second = (token_of(opened, name, likeliest) for name, likeliest in zip(TOKENS, usual, strict=True))
    if first == second:
        second = usual[1] if first != usual[1] else usual[0]
        words = _("Both tokens are “{token}”, whose difference is always 0: “{second}” stands in for the second.")
        named = {"token": opened.runner.token_text(first), "second": opened.runner.token_text(second)}
        st.info(plain(words.format(**named)))
    return first, second


def _show(opened: PageContext, patches: Patches, rows: Rows) -> None:
    """Show what is computed so far."""
    setting, found = patches.setting, patches.found
    left, right = st.columns([0.66, 0.34], gap="medium")
    with left:
        if len(rows.items) < len(setting.rows):
            words = _("{done} of {total} rows, a run for each position")
            show_progress(rows, len(setting.rows), words, key="patch")
        mount(layer_head_map.SOURCE, payload_of(opened, patches), key="patch_map", on={"head": _open(opened, setting)})
        st.html(f"<p class='atlas-caption'>{_map_words(opened, setting)}</p>")
    with right:
        with st.container(key="patch_cell"):
            _show_cell(opened, setting, found)
        _show_next(opened, setting)


def _finding(setting: PatchSetting, found: PatchMap) -> str | None:
    """Which token carries the answer and from which layer on another does, or else the largest change; HTML.

    None if both runs predict the same or nothing changes.
    """
    sizes = np.abs(np.nan_to_num(found.shown))
    if found.way is None or not sizes.any():
        return None
    carriers = sizes.argmax(axis=1)
    turns = np.flatnonzero(np.diff(carriers))
    if setting.kind == "residual" and len(turns) == 1 and sizes.any(axis=1).all():
        turn = int(turns[0])
        named = [token_name(setting.plain, int(carriers[row])) for row in (turn, turn + 1)]
        said = _("{first} carries the answer up to {last}, {second} from {next} on")
        labels = [escape(setting.row_labels[row]) for row in (turn, turn + 1)]
        return said.format(first=named[0], second=named[1], last=labels[0], next=labels[1])
    row, position = (int(place) for place in np.unravel_index(int(sizes.argmax()), sizes.shape))
    name = f"L{setting.layer}H{row}" if setting.kind == "heads" else setting.row_labels[row]
    said = _("{row} at {token} moves the answer furthest: {share} of the way")
    share = _share(float(found.normalised[row, position]))
    return said.format(row=escape(name), token=token_name(setting.plain, position), share=escape(share))


# -- the map ----------------------------------------------------------------------------------------------------------


def payload_of(opened: PageContext, patches: Patches) -> bytes:
    """The map's payload."""
    setting, found = patches.setting, patches.found
    no_weights = _("no softmax attention in this layer")
    return layer_head_map.LayerHeadMapPicture(
        found.shown,
        title=_("change of the logit difference"),
        scale="signed",
        low=-found.extent,
        high=found.extent,
        number="plain",
        open=_selected(opened, setting),
        texts=translated(MAP_TEXTS) | {"rows": _("heads") if setting.kind == "heads" else _("layers")},
        row_labels=setting.row_labels,
        column_labels=[token.text for token in setting.plain.tokens],
        first_column=first_query(opened.capture),
        notes={row: no_weights for row in range(setting.n_rows) if row not in setting.rows},
        whole=found.way,
        max_height=MAP_HEIGHT,
        shows="patch_cell",
        group=group_size(opened.capture, opened.layer) if setting.kind == "heads" else 1,
        group_axis="rows",
    ).packed()


def _selected(opened: PageContext, setting: PatchSetting) -> tuple[int, int]:
    """The open layer or head, at the pinned position or the last one."""
    row = opened.head if setting.kind == "heads" else opened.layer
    if setting.kind == "residual" and (held := state().row) is not None:
        row = held
    last, first = len(setting.plain.tokens) - 1, first_query(opened.capture)
    return row, last if opened.query is None else min(max(opened.query - first, 0), last)


def _open(opened: PageContext, setting: PatchSetting) -> Callable[[list[int] | None], None]:
    """A click pins the position on every page, and opens the row's layer or head if it can be opened."""

    def answer(cell: list[int] | None) -> None:
        if cell is None:
            return
        row, position = int(cell[0]), int(cell[1])
        openable = setting.kind == "heads" or setting.plain.has_weights(row)
        change(EditHeadsState, row=None if openable else row)
        session.move(query=position + first_query(opened.capture), key=None)
        if setting.kind == "heads":
            session.move(layer=setting.layer, head=row)
        elif openable:
            session.move(layer=row)

    return answer


def _map_words(opened: PageContext, setting: PatchSetting) -> str:
    what = {
        "residual": _("the residual stream entering a layer, at one position"),
        "attention": _("what all heads of a layer pass on, at one position"),
        "ffn": _("what the FFN of a layer adds, at one position"),
        "heads": _("what one head of L{layer} passes on, at one position").format(layer=setting.layer),
    }[setting.kind]
    words = _("Each cell: {what}, is replaced by the other run's. Indigo: towards {first}; orange: towards {second}.")
    first, second = (f"<bdi>{escape(opened.runner.token_text(token))}</bdi>" for token in setting.tokens)
    return escape(words).format(what=escape(what), first=first, second=second)


# -- beside it --------------------------------------------------------------------------------------------------------


def _show_cell(opened: PageContext, setting: PatchSetting, found: PatchMap) -> None:
    """Show the selected cell's numbers."""
    row, position = _selected(opened, setting)
    theirs, own = (f"<bdi>{escape(run.tokens[position].text)}</bdi>" for run in (setting.other, setting.plain))
    name = f"L{setting.layer}H{row}" if setting.kind == "heads" else setting.row_labels[row]
    aside = _("position {position}: {theirs} into {own}").format(
        position=first_query(opened.capture) + position, theirs=theirs, own=own
    )
    show_heading(name, aside)
    change = float(found.changes[row, position])
    names = (_("second text"), _("this text")) if setting.reversed else (_("this text"), _("second text"))
    lines = [
        (names[0], _signed(found.plain), number(0.0, "share")),
        (_("patched"), _signed(found.patched(row, position)), _share(float(found.normalised[row, position]))),
        (names[1], _signed(found.other), number(1.0, "share")),
        (_("change"), _signed(change), ""),
    ]
    first, second = (f"<bdi>{escape(opened.runner.token_text(token))}</bdi>" for token in setting.tokens)
    heads = (_("logit of {first} − logit of {second}").format(first=first, second=second), _("of the way"))
    body = "".join(f"<tr><th>{escape(a)}</th><td>{b}</td><td>{c}</td></tr>" for a, b, c in lines)
    head = "".join(f"<th>{part}</th>" for part in heads)
    table = f"<table class='atlas-costs'><thead><tr><td></td>{head}</tr></thead><tbody>{body}</tbody></table>"
    show_html(table, key="patch_numbers")


def _signed(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:+.3f}".replace("-", "−")


def _share(value: float) -> str:
    if np.isnan(value):
        return "–"
    return number(round(value, DECIMALS), "share")  # smaller values are rounding errors


def _show_next(opened: PageContext, setting: PatchSetting) -> None:
    """Show the likeliest next tokens after each text."""
    first, second = (setting.other, setting.plain) if setting.reversed else (setting.plain, setting.other)
    tokens = likely_tokens(first, second, SHOWN)[: SHOWN + 1]
    show_html(
        next_token_changes(
            [opened.runner.token_text(token) for token in tokens],
            list(shares(first, tokens)),
            list(shares(second, tokens)),
            heading=_("Next token"),
            texts=translated(TEXTS) | {"before": _("this text"), "after": _("second text")},
        ),
        key="patch_next",
    )


def _explain() -> None:
    show_reading(
        [
            _("Two texts run; then one vector of the first run is replaced by the second's at the same place, and all "
              "that follows is computed again: what changes was carried by that vector."),
            _("Put into this text, a vector that changes a lot was needed for its answer; put from this "
              "text into the second, it is enough to produce that answer. Neither says what is written "
              "in it."),
            _("A small change does not say that a place is unimportant: another may hold the same, or stand in for it; "
              "and the answer depends on the second text and on the two tokens."),
        ],
        formula="D = logit(first) − logit(second)\nchange = D(patched) − D(plain)\n"
        "of the way = change / (D(other) − D(plain))",
        source="Meng et al. 2022, arXiv:2202.05262; Wang et al. 2022, arXiv:2211.00593; "
        "Heimersheim & Nanda 2024, arXiv:2404.15255",
        attempt=_("Follow the differing word through the layers: where does it leave its own column for the last one?"),
    )  # fmt: skip  # sentences as paragraphs
