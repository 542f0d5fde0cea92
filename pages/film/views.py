"""The parts of the page Generation film: the frames for the picture, its events, and the tree below it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from analysis.film import (
    TokenChoice,
    attention_rows,
    bin_of,
    cache_columns,
    largest,
    rows_of_strip,
    strips,
)
from analysis.head_names import group_size
from analysis.joined import first_query
from analysis.token_tree import branches_of, id_of, ids_of, token_tree
from jobs.generation_tree import GenerationTree
from jobs.waiting import await_job
from model_runner import Capture
from model_runner.edits import Int8Cache, KeepLast, SharedKeys
from model_runner.questions import Beams
from pages.film.cache import cache_growth
from pages.film.opening import remember
from pages.film.state import FilmState, state
from pages.film.typed import show_refusal, show_typing
from ui.shared import cached
from ui.shell.components import leave_for, mount
from ui.shell.page import PageContext, check_again, show_errors, translated
from ui.state import session
from ui.state.kept_click import button
from ui.state.page_state import keep
from ui.wording.i18n import _
from viz.components.film import film as picture
from viz.components.token_tree import token_tree as tree_picture
from viz.share_text import LEAST

N_ = str  # marks a text for Babel without translating it here

HEADS = Path(__file__).parents[1] / "heads" / "page.py"
WIDTHS = (2, 3, 4, 5)


@st.fragment
def show_film(opened: PageContext, film: GenerationTree, badge: DeltaGenerator, *, every_head: bool) -> None:
    """Show the picture, the tree and the actions; reruns by itself whenever the picture asks for more frames."""
    if film.to_heads:  # not in the button's callback: the picture's event with its frame may be handled after it
        _open_in_heads(film)
    if film.leaving:  # a click concerned the whole page
        film.leaving = False
        st.rerun()
    status = st.empty()

    def say() -> None:
        status.caption(_("Generating …"))

    show_errors(lambda: film.restore(say) if film.idle else film.pull(film.wanted, say))
    film.wanted, film.idle = 0, False
    status.empty()
    if not film.playing:  # the URL has the frame at which it stops: one step of Back
        remember(film)
    show_errors(lambda: _show_picture(opened, film, badge, every_head=every_head))
    _show_actions(film)
    _show_tree(film)


def _show_picture(opened: PageContext, film: GenerationTree, badge: DeltaGenerator, *, every_head: bool) -> None:
    check_again(replace(opened, capture=film.capture(lambda: None)), badge)
    # if columns become wider, everything is drawn again
    base = film.base if _bin(film, film.base - 1) == _bin(film) else 0
    data = film_payload(opened, film, every_head=every_head, base=base, alive=True, texts=film_labels(film))
    on = {
        "more": lambda asked: _heard(film, asked),
        "force": lambda asked: film.force(asked["frame"], asked["token"]) if asked["film"] == film.name else None,
        "head": lambda place: _look(film, place),
        "rest": lambda told: _rest(film, told),
    }
    mount(picture.SOURCE, data, key="film", on=on, adds=base > 0)


def _heard(film: GenerationTree, asked: Mapping[str, Any]) -> None:
    """The picture has some frames and asks for more; it has none of another branch."""
    film.answered, film.playing = asked["ask"], asked.get("playing", False)
    film.base = asked["have"] if asked["film"] == film.name else 0
    film.wanted, film.idle = asked["wanted"], not asked["wanted"]
    if asked["film"] == film.name:
        film.at = asked.get("at", film.at)


def _rest(film: GenerationTree, told: Mapping[str, Any]) -> None:
    """The reader stopped at a frame; the picture has all frames."""
    if told["film"] == film.name:
        film.base, film.at, film.playing = told["have"], told["at"], False


def _look(film: GenerationTree, place: list[int]) -> None:
    session.move(layer=place[0], head=place[1])
    film.leaving = True


# -- the frames -------------------------------------------------------------------------------------------------------


def film_labels(film: GenerationTree) -> dict[str, str]:
    """The picture's texts. With edits that stand for a smaller cache, they say that the real cache is not reduced."""
    words = translated(picture.TEXTS)
    if film.room < film.limit:
        info = film.runner.info
        words["limit"] = _(info.little_room).format(number=film.room, limit=info.room)
    if any(isinstance(edit, KeepLast | Int8Cache | SharedKeys) for edit in film.prompt.request.edits):
        words["cache"] = _("KV cache, kept whole under the edits: {count} tokens, {bytes}")
    return words


def film_payload(
    opened: PageContext, film: GenerationTree, *, every_head: bool, base: int, alive: bool, texts: Mapping[str, str]
) -> bytes:
    """The payload with the open branch's frames from ``base`` on, for the open head. Does not use the session."""
    capture = film.capture(lambda: None)
    take, layer, head = film.take, opened.layer, opened.head
    base = min(base, len(take.choices) - 1)
    bin = _bin(film)
    heads = rows_of_strip(capture, layer) if every_head else ()
    since = film.n_prompt - 1 + base if base else 0  # the first position whose column the picture does not have
    growth = cache_growth(film)
    columns = cache_columns(capture, layer, head, first=since, bin=bin)
    candidates = {one.id for chosen in [*take.choices[base:], *filter(None, [film.ahead])] for one in chosen.candidates}
    return picture.FilmPicture(
        film=film.name,
        start=base,
        frames=frames_of(opened, film, base=base, heads=heads, bin=bin),
        prompt=picture.Prompt(
            labels=[token.text for token in film.prompt.tokens],
            units=[(unit.label, unit.start, unit.special) for unit in cached.chips(film.prompt)],
        ),
        prefill=take.prefill,
        cache=picture.Cache(
            k=columns.k,
            v=columns.v,
            first=columns.first,
            pooled=columns.pooled,
            growth=None if growth is None else picture.GrowingBytes(**asdict(growth)),
            before=first_query(film.prompt),
        ),
        view=picture.FilmView(
            head=(layer, head), heads=heads, n_heads=_n_heads(capture), bin=bin, group=group_size(capture, layer)
        ),
        n_vocab=len(film.prompt.logits(-1)),
        limit=film.room,
        stop=film.stop,
        ahead=ahead_of(film),
        at=film.at,
        goal=film.take.goal,
        pending=alive and film.pending is not None,
        answered=film.answered,
        alive=alive,
        labels={token: film.runner.token_text(token) for token in sorted(candidates)},
        texts=texts,
    ).packed()


def frames_of(
    opened: PageContext, film: GenerationTree, *, base: int, heads: Sequence[tuple[int, int | None]], bin: int
) -> list[picture.Frame]:
    """The open branch's frames from ``base`` on, with the rows of the open head and of these heads."""
    capture, first = film.capture(lambda: None), film.n_prompt - 1 + base
    rows = [largest(row, bin) for row in attention_rows(capture, opened.layer, opened.head, first=first)]
    strip = strips(capture, heads, first=first, bin=bin) if heads else [None] * len(rows)
    keys = [found if bin > 1 else None for _row, found in rows]
    return [
        _frame(capture, first + i, chosen, row=rows[i][0], keys=keys[i], strip=strip[i])
        for i, chosen in enumerate(film.take.choices[base:])
    ]


def _frame(capture: Capture, position: int, chosen: TokenChoice, **drawn: Any) -> picture.Frame:
    token = capture.tokens[position]
    finals = {one.id: max(one.final, LEAST) if one.kept else 0.0 for one in chosen.candidates}
    others = chosen.n_kept > sum(one.kept for one in chosen.candidates)
    return picture.Frame(
        token=chosen.token,
        label=token.text,
        special=token.special,
        position=position,
        how=chosen.how,
        probability=chosen.probability,
        rank=chosen.rank,
        final=None if chosen.token is None else finals[chosen.token],
        final_rank=chosen.final_rank,
        changed=chosen.changed,
        entropy=chosen.entropy,
        final_entropy=chosen.final_entropy,
        uniform=chosen.uniform,
        seconds=chosen.seconds,
        n_kept=chosen.n_kept,
        kept_mass=chosen.kept_mass,
        tokens=[one.id for one in chosen.candidates],
        probabilities=[one.probability for one in chosen.candidates],
        finals=list(finals.values()),
        kept=[one.kept for one in chosen.candidates],
        final_rest=max(chosen.final_rest, LEAST) if others else 0.0,
        **drawn,
    )


def _bin(film: GenerationTree, n_tokens: int | None = None) -> int:
    """How many tokens share a column after this many were generated; None: after all so far."""
    return bin_of(film.n_prompt + (len(film.take.tokens) if n_tokens is None else max(0, n_tokens)))


def ahead_of(film: GenerationTree) -> picture.Frame | None:
    """Candidates after the newest token, as a frame without a token; None if the text ended."""
    nothing = np.zeros(0, np.float32)
    chosen = film.ahead
    return None if chosen is None else _frame(film.prompt, 0, chosen, row=nothing, strip=None)


def _n_heads(capture: Capture) -> int:
    return sum(record.q.shape[0] for record in capture.records if record is not None)


# -- actions ----------------------------------------------------------------------------------------------------------


def _show_actions(film: GenerationTree) -> None:
    with st.container(key="film_actions", horizontal=True, vertical_alignment="center", gap="small"):
        show_typing(film)
        button(
            _("Open in Heads"),
            key="film_open",
            help=_("The text as far as the frame in view, with every head’s full map."),
            on_click=lambda: setattr(film, "to_heads", True),
        )
        known = WIDTHS.index(int(state().beams)) if state().beams != "0" else 0
        st.selectbox(_("Beams"), WIDTHS, known, key="film_width", label_visibility="collapsed", width=76)
        button(_("Beam search"), key="film_beams", on_click=lambda: _search(film), disabled=film.room == 0)
    show_refusal(film)


def _open_in_heads(film: GenerationTree) -> None:
    session.continue_with(film.take.ids[: film.at])  # the tokens after it are generated, but nobody has seen them
    leave_for(HEADS)
    film.to_heads, film.leaving = False, True


def _search(film: GenerationTree) -> None:
    film.searching = int(st.session_state["film_width"])
    keep(FilmState, beams=str(film.searching))


def _show_tree(film: GenerationTree) -> None:
    if film.searching:
        width, film.searching = film.searching, 0
        show_errors(lambda: _add_beams(film, width))
    branches = film.branches()
    if not branches:
        return
    opened, prompt = film.take.branch(), film.prompt.tokens[-1].text
    tree = token_tree(branches, film.runner.token_text, path=opened.ids, chosen=opened.chosen, prompt=prompt)
    words = translated(tree_picture.TEXTS)
    data = tree_picture.TokenTreePicture(
        nodes=tree.nodes,
        n_branches=tree.n_branches,
        opened=tree.opened,
        frame=id_of(opened.ids[: film.at]),
        texts=words,
        shows="film",
    ).packed()
    mount(tree_picture.SOURCE, data, key="film_tree", on={"node": lambda node: _follow(film, ids_of(node))})


def _follow(film: GenerationTree, ids: tuple[int, ...]) -> None:
    """Open another branch; the controls above the picture then show its settings."""
    left = film.take.sampling
    film.follow(ids)
    if film.take.sampling != left:
        remember(film)
        film.leaving = True


def _add_beams(film: GenerationTree, width: int) -> None:
    request = film.prompt.request.going_on(max_new_tokens=film.room, continuation=(), attention=None)
    status = st.empty()
    words = _("Searching with {width} beams …").format(width=width)
    found = await_job(film.runner.submit(Beams(request, width)), lambda: status.caption(words))
    film.beams, film.width = branches_of(found, name=_("beam {rank}")), width
    status.empty()
