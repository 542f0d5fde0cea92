"""The parts of the page Inside a cell: coordinates, controls, token strip and the seven steps."""

from __future__ import annotations

from html import escape
from typing import Literal

import numpy as np
import streamlit as st

from analysis.cell import Cell, Push
from analysis.joined import first_query, n_looked_at, side_of
from analysis.mask_effect import looks_ahead
from analysis.next_token import next_tokens
from analysis.score_formula import score_formula
from model_runner.capture import COMPRESSED, TOKENS
from model_runner.relative_key_bias import RelativeKeyBias
from model_runner.repeated_keys import RepeatedKeys
from model_runner.token_bias import KeyBias, ProfileBias
from pages.cell.state import CellState
from ui.shared import cached
from ui.shared.finding import key_name, query_name
from ui.shell.components import mount
from ui.shell.page import PageContext, rows_of, translated
from ui.state import session
from ui.state.inputs import on_change, widget_key
from ui.state.kept_click import button
from ui.state.page_state import change
from ui.wording.i18n import _
from ui.wording.sentences import number, sentence, with_unit
from viz.components.cell_steps import cell_steps
from viz.components.token_strip import token_strip
from viz.share_text import exact_digits
from viz.token_text import lone_spaces


def show_coordinates(opened: PageContext, query: int, key: int) -> None:
    """Controls for query and key; only tokens of the right text are offered."""
    capture = opened.capture
    first, n_tokens, n_keys = first_query(capture), len(capture.tokens), n_looked_at(capture)
    _coordinate(_("Query (looking)"), "query", query, range(first, n_tokens))
    _coordinate(_("Key (looked at)"), "key", key, range(n_keys))
    button(
        _("the key looked at most"),
        key="cell_strongest",
        type="tertiary",
        disabled=session.selection().key is None,
        on_click=lambda: session.move(key=None),
    )


def _coordinate(label: str, name: Literal["query", "key"], value: int, options: range) -> None:
    """One coordinate of the selection, typed or stepped."""
    key = widget_key(f"place_{name}", value)
    st.number_input(
        label,
        options[0],
        options[-1],
        value,
        step=1,
        key=key,
        on_change=on_change(key, lambda place: session.move_one(name, place)),
        width=130,
    )


def show_row_strip(opened: PageContext, found: Cell, *, sets: Literal["query", "key"]) -> None:
    """The text tinted by the query's weights; a click sets the query or the key."""
    units = cached.chips(opened.capture)
    rest = len(opened.capture.tokens) - len(found.row.weights)  # tokens of another text, which are not keys
    row, keep = (np.pad(values, (0, rest)) for values in (found.row.weights, found.row.keep))
    weights = np.array([row[unit.tokens].sum() for unit in units])
    seen = np.array([keep[unit.tokens].any() for unit in units])
    texts = translated(token_strip.TEXTS)
    token = opened.capture.tokens[found.query].text
    shade = {"shade": texts["row"].format(token=token, layer=opened.layer, head=opened.head)}
    payload = token_strip.TokenStripPicture(
        labels=[lone_spaces(unit.label) for unit in units],
        positions=[unit.start for unit in units],
        counts=[unit.stop - unit.start for unit in units],
        parts=[unit.parts for unit in units],
        special=[unit.special for unit in units],
        metric=np.where(seen, weights, np.nan).astype(np.float32),
        values=[number(weight, "share") if visible else _("masked") for weight, visible in zip(weights, seen)],
        selected=found.query,
        looked_at=found.key,
        sets=sets,
        texts=texts | shade | rows_of(opened.capture),
        written=first_query(opened.capture),
    ).packed()

    def choose(token: int | None) -> None:
        session.move(**side_of(opened.capture, token, sets))

    mount(token_strip.SOURCE, payload, key="token_strip", on={"token": choose})


def _n_keys(opened: PageContext) -> int:
    """The layer's number of keys: compressed ones if it has its own, excluding those that only other layers use."""
    capture, total = opened.capture, n_looked_at(opened.capture)
    if capture.request.attention != COMPRESSED:
        return total
    rule, last = capture.record(opened.layer).mask.before_choice, len(capture.tokens) - 1
    return int(rule.tile(slice(last, last + 1), slice(0, total), capture.hidden.device).sum())


def finding(opened: PageContext, found: Cell) -> tuple[str, str]:
    """The key's share of the query's attention; HTML."""
    tokens = {"query": query_name(opened.capture, found.query), "key": key_name(opened.capture, found.key)}
    if not found.row.keep[found.key]:
        said = _("{query} cannot look at {key}").format(**tokens)
    else:
        share = with_unit("share").format(
            number=exact_digits(float(found.row.weights[found.key]))
        )  # in the same words as the steps
        said = _("{key} gets {value} of the attention of {query}").format(value=escape(share), **tokens)
    return said, f"L{found.layer}H{found.head} · " + escape(_("the seven steps to this number"))


def steps_payload(opened: PageContext, found: Cell, step: int) -> bytes:
    """The payload of a cell's seven steps with one of them open, or none (0)."""
    tokens, row = opened.capture.tokens, found.row
    return cell_steps.CellStepsPicture(
        head=f"L{found.layer}H{found.head}",
        shared=[f"L{found.layer}H{head}" for head in found.group],
        query=(tokens[found.query].text, found.query),
        key=found.key,
        keys=cell_steps.Keys(
            positions=row.drawn.tolist(),
            labels=[tokens[position].text for position in row.drawn],
            k=row.k,
            v=row.v,
            dots=row.dots[row.drawn],
            scores=row.scores[row.drawn],
            weights=row.weights[row.drawn],
            biases=None if row.biases is None else row.biases[row.drawn],
        ),
        total=_n_keys(opened),
        n_visible=int(row.keep.sum()),
        window=found.window,
        rotated=found.rotated,
        scale=found.scale,
        root=found.root,
        softcap=found.softcap,
        lse=row.lse,
        sink=row.sink,
        q=found.q,
        rest=row.rest,
        mixed=found.mixed,
        difference=found.difference,
        passed_on=found.passed_on if found.changed else None,
        step=step,
        push=_logit_push(opened, found.push) if isinstance(found.push, Push) else sentence(found.push),
        next=_following(opened, found),
        texts=_texts(opened, found),
    ).packed()


def _texts(opened: PageContext, found: Cell) -> dict[str, str]:
    """The texts that apply to this layer's bias and to what this model predicts."""
    texts = translated(cell_steps.TEXTS)
    match opened.capture.record(found.layer).bias:
        case RelativeKeyBias():
            texts["f_bias"] = texts["f_bias_of_both"]
        case RepeatedKeys():
            texts["f_bias"] = texts["f_bias_of_counts"]
        case KeyBias():
            texts["f_bias"] = texts["f_bias_of_key"]
        case ProfileBias():
            texts["f_bias"] = texts["f_bias_of_query"]
        case _:
            pass
    # its values are those of both halves and of all heads
    if opened.capture.record(found.layer).difference is not None:
        texts["shared"] = texts["shared_keys"]
    if opened.capture.request.attention == COMPRESSED:
        texts["seen"] = texts["seen_keys"]
    if (rest_in := opened.capture.record(found.layer).rest_in) is not None:
        of_texts = rest_in not in (COMPRESSED, TOKENS)
        rest, formula = ("rest_elsewhere", "f_elsewhere") if of_texts else ("rest_of_keys", "f_of_keys")
        texts |= {"sink": texts[rest], "sink_long": texts[f"{rest}_long"], "f_sink": texts[formula]}
        if rest_in == "decoder":  # this map is over the source's keys
            texts["f_rotated"] = texts["f_query_rotated"]
        elif rest_in == TOKENS:
            texts["f_rotated"] = texts["f_block_rotated"]
    if looks_ahead(opened.capture):
        texts["push"], texts["next"] = texts["push_here"], texts["next_here"]
    return texts


def _logit_push(opened: PageContext, push: Push) -> cell_steps.LogitPush:
    text = opened.runner.token_text
    return cell_steps.LogitPush(
        promoted=[(text(token), value) for token, value in push.promoted],
        suppressed=[(text(token), value) for token, value in push.suppressed],
        mean=push.mean,
        predicted=(text(push.predicted[0]), *push.predicted[1:]),
    )


def _following(opened: PageContext, found: Cell) -> list[tuple[str, float]]:
    """The likeliest tokens at the query's position; empty for a model that predicts no tokens."""
    if not isinstance(found.push, Push):
        return []
    likeliest = next_tokens(opened.capture, found.query)
    return [(opened.runner.token_text(token), share) for token, share in zip(likeliest.ids, likeliest.probabilities)]


def formula(found: Cell) -> str:
    """The steps as formulas; what is projected is the output, or what edits pass on instead."""
    pushed = "passed on" if found.changed else "output"
    score = score_formula(found)
    return f"weight = exp({score} − lse)\noutput = Σ weight · v\npush = W_U · norm(W_O · {pushed})"


def show_steps(payload: bytes) -> None:
    """Mount the steps; events set the key (None: the one with the most weight), the query and the open step."""
    on = {
        "key": lambda key: session.move(key=key),
        "query": lambda query: session.move(query=query),
        "step": lambda step: change(CellState, step=int(step)),
    }
    mount(cell_steps.SOURCE, payload, key="cell_steps", on=on)
