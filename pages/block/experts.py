"""Mixture of experts: which experts each token is routed to, with what weights, the load balance, and active
parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape

import numpy as np
import streamlit as st

from analysis.expert_load import Held, imbalance, loads, parameters, weight_grid
from analysis.number_text import significant
from analysis.sentences import joined
from model_runner.errors import OneStackOnly
from model_runner.expert_questions import ExpertRouting, RandomRouting, Routed, Routing
from pages.block.state import BlockState, Source, state
from ui.shared.finding import bare, show_finding
from ui.shell.components import mount, show_heading, show_html
from ui.shell.page import PageContext, asked, translated
from ui.state import session
from ui.state.controls import choose, pick
from ui.state.kept_click import button
from ui.state.page_state import change, refuse
from ui.wording.i18n import _
from ui.wording.sentences import listed, number, sentence
from viz.components.layer_head_map import layer_head_map
from viz.markdown import plain

N_ = str  # marks a text for Babel without translating it here

PICK_TEXTS = layer_head_map.TEXTS | {
    "rows": N_("experts"),
    "columns": N_("tokens"),
    "cell": N_("{row} · {column} ({column_index}): weight {value}"),
    "missing": N_("{row} · {column} ({column_index}): not picked"),
}
LOAD_TEXTS = layer_head_map.TEXTS | {
    "columns": N_("experts"),
    "cell": N_("{row}, {column}: {value} of the picks"),
    "missing": N_("{row} has no {column}"),
}
MAP_HEIGHT, LOAD_HEIGHT = 330, 250  # px


@dataclass(frozen=True, eq=False)
class ExpertsView:
    """What is drawn: the routing, the open layer's index in it, and the model's name."""

    routing: Routing
    place: int
    source: Source
    tokens: tuple[str, ...]
    payload: bytes

    @property
    def layer(self) -> Routed:
        return self.routing.layers[self.place]


def show_experts(opened: PageContext) -> ExpertsView | None:
    """Show two maps and the parameter counts; None, with a sentence, if there is nothing to show.

    Raises RunnerError.
    """
    source = state().experts
    controls = st.container(key="block_controls", horizontal=True, vertical_alignment="center", gap="small")
    with controls:
        words: dict[Source, str] = {"own": _("this model"), "random": _("tiny, random")}
        choose(BlockState, "experts", source, words)
    found = _routing(opened, source)
    if not found.layers:
        _offer_mixture(opened)
        return None
    place = _place(found)
    with controls:
        layers = {one.layer: f"L{one.layer}" for one in found.layers}
        pick(BlockState, "expert_layer", found.layers[place].layer, layers, width=100)
        st.html(f"<p class='atlas-caption'>{escape(_said(found, place, source))}</p>", width="stretch")
    tokens = tuple(token.text for token in opened.capture.tokens)
    position = len(tokens) - 1 if opened.query is None else opened.query
    show_finding(*_finding(found.layers[place], tokens[position], position), of_several=True)
    payload = picks_payload(found.layers[place], tokens, position)
    left, right = st.columns([0.6, 0.4], gap="medium")
    with left:
        show_heading(escape(_("Which expert works on which token")))
        mount(layer_head_map.SOURCE, payload, key="expert_picks", on={"head": _open_token})
        show_html(held_table(parameters(found, place), found.layers[place]), key="held_experts")
    with right:
        show_heading(escape(_("How the work is shared out")))
        load = loads(found)
        mount(layer_head_map.SOURCE, load_payload(found, load, place), key="expert_load", on={"head": _open_of(found)})
        st.html(f"<p class='atlas-caption'>{escape(_balance(found.layers[place], load[place]))}</p>")
    return ExpertsView(found, place, source, tokens, payload)


def _finding(layer: Routed, token: str, position: int) -> tuple[str, str]:
    """One token's experts by decreasing weight; HTML."""
    order = layer.weights[position].argsort(descending=True).tolist()
    named = [f"E{int(layer.picks[position, one])}" for one in order]
    weights = " · ".join(
        f"{name} {float(layer.weights[position, one]):.2f}" for name, one in zip(named, order, strict=True)
    )
    said = _("“{token}” goes to {experts}")
    beside = _("weights in L{layer}: {weights}").format(layer=layer.layer, weights=weights)
    return said.format(token=f"<bdi>{escape(bare(token))}</bdi>", experts=listed(named)), escape(beside)


def _routing(opened: PageContext, source: Source) -> Routing:
    """The routing of the model or of the random one; empty for encoder-decoder models, which are not supported."""
    if source == "random":
        ids = tuple(token.id for token in opened.capture.tokens)
        return asked(opened, RandomRouting(ids, max(opened.runner.info.n_vocab, *ids) + 1))
    if opened.runner.info.attentions:
        return Routing((), 0)
    return asked(opened, ExpertRouting(opened.capture.request))


def _offer_mixture(opened: PageContext) -> None:
    """Say why this model has no experts to show, and offer a mixture that has."""
    info = opened.runner.info
    if info.attentions:
        st.info(plain(sentence(OneStackOnly(name=info.name))))
    else:
        show_finding(escape(_("Every token goes through all of this model: no layer has experts")))
    words = _("A small mixture of experts with random weights reads the same text.")
    with st.container(key="expert_offer", horizontal=True, vertical_alignment="center", gap="small"):
        st.html(f"<p class='atlas-caption'>{escape(words)}</p>", width="content")
        button(
            _("Show its experts"),
            key="show_mixture",
            on_click=change,
            args=(BlockState,),
            kwargs={"experts": "random"},
            type="primary",
        )


def _place(found: Routing) -> int:
    """The open layer's index among those with experts; an invalid layer is reported and dropped."""
    layers = [one.layer for one in found.layers]
    held = state().expert_layer
    if held is None or held in layers:
        return 0 if held is None else layers.index(held)
    words = _("Layer {layer} has no experts; L{first} is shown.")
    refuse(BlockState, "expert_layer", words.format(layer=held, first=layers[0]))
    return 0


def _said(found: Routing, place: int, source: Source) -> str:
    layer = found.layers[place]
    used, count = layer.picks.shape[1], layer.n_experts
    words = (
        _("Each token goes to {used} of {count} experts; what they read is multiplied by these weights, and their "
          "outputs are added.")
        if layer.on_input
        else _("Each token goes to {used} of {count} experts; their outputs are added, times these weights.")
    )  # fmt: skip  # a sentence a paragraph
    said = words.format(used=used, count=count)
    if source == "own":
        return said
    return joined(
        _("A tiny Mixtral with random weights: nothing in it is learned; the numbers are its router’s own."), said
    )


def _balance(layer: Routed, load: np.ndarray) -> str:
    """The load balance, such as: E3 has most, 2.0 times the even share of 12.5 %."""
    words = _("L{layer}: E{expert} has most, {times} times the even share of {even}; {idle} get none of this text.")
    return words.format(
        layer=layer.layer, expert=int(np.nanargmax(load)), times=f"{imbalance(load):.1f}",
        even=_("{number} %").format(number=significant(100 / layer.n_experts, 3)), idle=int((load == 0).sum()),
    )  # fmt: skip  # its values in two lines


def picks_payload(layer: Routed, tokens: tuple[str, ...], position: int) -> bytes:
    """Experts as rows, tokens as columns, values are routing weights; the chosen token's best expert is open."""
    values = weight_grid(layer)
    best = int(layer.picks[position, int(layer.weights[position].argmax())])
    return layer_head_map.LayerHeadMapPicture(
        values,
        title=_("weight of each expert at each token"),
        scale="sequential",
        low=0.0,
        high=max(1.0, float(np.nanmax(values))),
        number="plain",
        open=(best, position),
        texts=translated(PICK_TEXTS),
        row_labels=[f"E{expert}" for expert in range(layer.n_experts)],
        column_labels=list(tokens),
        max_height=MAP_HEIGHT,
    ).packed()


def load_payload(found: Routing, load: np.ndarray, place: int) -> bytes:
    """Layers as rows, experts as columns, values are shares of the routed tokens."""
    return layer_head_map.LayerHeadMapPicture(
        load,
        title=_("share of the picks by layer and expert"),
        scale="sequential",
        low=0.0,
        high=float(np.nanmax(load)),
        number="percent",
        open=(place, int(np.nanargmax(load[place]))),
        texts=translated(LOAD_TEXTS),
        row_labels=[f"L{layer.layer}" for layer in found.layers],
        column_labels=[f"E{expert}" for expert in range(load.shape[1])],
        max_height=LOAD_HEIGHT,
    ).packed()


def _open_token(cell: list[int] | None) -> None:
    if cell is not None:
        session.move(query=int(cell[1]), key=None)


def _open_of(found: Routing) -> Callable[[list[int] | None], None]:
    def answer(cell: list[int] | None) -> None:
        if cell is not None:
            change(BlockState, expert_layer=found.layers[int(cell[0])].layer)

    return answer


def row_name(held: Held, layer: Routed) -> str:
    """A row's name, such as: 8 experts of 24,576 · gate: MixtralTopKRouter."""
    names = {"model": _("the whole model"), "ffn": _("L{layer}, all of its FFN").format(layer=layer.layer)}
    if held.count:
        words = _("{count} experts of {size}")
        return words.format(count=held.count, size=f"{layer.n_parameters:,}")
    kinds = {one.name: one.kind for one in layer.beside}
    return f"{held.name} · {kinds[held.name]}" if held.name in kinds else names[held.name]


def held_table(rows: tuple[Held, ...], layer: Routed) -> str:
    """Total and active parameters. A dense layer of equal size would use them all."""
    heads = [_("held; a dense layer would use all"), _("used for a token"), _("share")]
    head = "".join(f"<th>{escape(one)}</th>" for one in heads)
    body = "".join(
        f"<tr><th style='text-align:left'>{escape(row_name(one, layer))}</th><td>{one.held:,}</td><td>{one.used:,}</td>"
        f"<td>{escape(number(one.used / one.held, 'share'))}</td></tr>"
        for one in rows
    )
    table = f"<table class='atlas-costs'><thead><tr><td></td>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f"<div class='atlas-wide'>{table}</div>"
