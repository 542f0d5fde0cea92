"""The second view of the page Edit heads: which heads matter for a token, by three measures that may disagree."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape

import numpy as np
import streamlit as st

from analysis.class_scores import class_scores
from analysis.color_scale import change_extent
from analysis.head_effects import HeadEffects, LayerEffects, head_effects, rank_correlation, ranking
from analysis.head_names import group_size
from analysis.joined import decoder_side
from analysis.mask_effect import looks_ahead
from analysis.next_token import next_tokens
from analysis.predictions import of_next_token
from jobs.head_search import Search, layers_of
from jobs.incremental_task import IncrementalTask
from model_runner.errors import NoLogits
from pages.edit_heads.of_attention import say_after_what
from pages.edit_heads.state import EditHeadsState, state
from pages.edit_heads.tokens import class_of, show_tokens, token_of
from ui.shared.finding import bare, show_finding
from ui.shared.help_card import show_reading
from ui.shell.components import mount, show_heading, show_html
from ui.shell.page import PageContext, translated
from ui.shell.progressive import progressive, show_progress
from ui.state import session
from ui.state.controls import choose
from ui.state.page_state import refuse
from ui.wording.i18n import _
from ui.wording.sentences import number, sentence
from viz.components.layer_head_map import layer_head_map
from viz.distribution import percent
from viz.markdown import plain

N_ = str  # marks a text for Babel without translating it here

MAP_HEIGHT = 268  # px
RANKED = 10  # heads in the list
OFFERED = 12  # tokens offered as targets


@dataclass(frozen=True)
class EffectMeasure:
    """One of the three measures: the field of HeadEffects and its texts."""

    name: str
    label: str
    meaning: str
    cell: str
    signed: bool
    class_meaning: str  # for a classifier's class
    score_meaning: str = ""  # for a class whose score is a number; empty: as for other classes
    score_cell: str = ""
    pair_meaning: str = ""  # for two compared tokens; empty: as for one


ANSWERS = (
    EffectMeasure(
        "lost", N_("ablated"),
        N_("how much less likely the token is when the head passes on nothing: the fall of log p, in nats"),
        N_("{row}{column} · {value} nats of log p"), True,
        N_("how much less likely the class is when the head passes on nothing: the fall of log p, in nats"),
        N_("what the score loses when the head passes on nothing"),
        N_("{row}{column} · {value} of the score"),
        N_("how much the lead of {token}’s logit over {other}’s shrinks when the head passes on "
           "nothing"),
    ),
    EffectMeasure(
        "pushed", N_("direct attribution"),
        N_("what it adds to the token's logit by itself, above what it adds to the mean logit"),
        N_("{row}{column} · {value} logits"), True,
        N_("what it adds to the score of the class by itself, above what it adds to the mean score"),
        N_("what it adds to the score by itself"),
        pair_meaning=N_("what it adds to the logit of {token} by itself, less what it adds to that of {other}"),
    ),
    EffectMeasure(
        "written", N_("attention × values"), N_("the length of what it adds to the stream at the last token"),
        N_("{row}{column} · length {value}"), False,
        N_("the length of what it adds to the stream at the token by which the classes are scored"),
    ),
)  # fmt: skip  # one answer a paragraph


@dataclass(frozen=True, eq=False)
class Effects:
    """What is drawn: the three maps as far as they are computed."""

    target: int
    found: HeadEffects
    done: bool
    against: int | None = None  # the token whose logit is subtracted

    def values(self, name: str) -> np.ndarray:
        """The map of one measure."""
        return {"lost": self.found.lost, "pushed": self.found.pushed, "written": self.found.written}[name]


def show_effects(opened: PageContext) -> Effects | None:
    """Show the target, three maps and the ranked heads; None, with a sentence, if not possible. Raises RunnerError."""
    _explain()
    classifies = bool(opened.runner.info.classes)
    if looks_ahead(opened.capture) and not opened.capture.attentions and not classifies:
        words = _("This model sees the whole text at once and predicts no next token for which a head could matter.")
        st.info(plain(words))
        return None
    if not classifies:
        decoder_side(opened.capture).logits(-1)  # raises NoLogits before the reader is asked for anything
    with st.container(key="effect_controls", horizontal=True, vertical_alignment="center", gap="small"):
        target = _ask_class(opened) if classifies else _ask_target(opened)
        against = None if classifies else _ask_against(opened, target)
        words = _(
            "Indigo: the head is for this token; orange: against it. Click a cell to open its head on every page."
        )
        if classifies:
            words = _(
                "Indigo: the head is for this class; orange: against it. Click a cell to open its head on every page."
            )
        st.html(f"<p class='atlas-caption'>{escape(words)}</p>", width="stretch")
    if classifies:
        words = _("The class scores are of the whole text.")
        st.html(f"<p class='atlas-caption'>{escape(words)}</p>")
    else:
        say_after_what(opened, follows_query=True)
    search: Search = session.jobs().get("effects", session.model(), Search)
    layers = search.aim(opened.runner, opened.capture, target, against)
    progressive(layers, lambda: _show(opened, _effects(opened, target, layers, against), layers))
    return _effects(opened, target, layers, against)


def _ask_target(opened: PageContext) -> int:
    """Select the target among the likeliest tokens; any other can be typed."""
    likely = next_tokens(decoder_side(opened.capture), count=OFFERED)
    target = token_of(opened, "token", likely.ids[0])
    offered = {
        token: f"{opened.runner.token_text(token)}  {number(share, 'share')}"
        for token, share in zip(likely.ids, likely.probabilities, strict=True)
    }
    show_tokens(opened, "token", _("Target token"), _("for the token"), target, offered, likely.ids[0], width=170)
    return target


def _ask_against(opened: PageContext, target: int) -> int | None:
    """Select the token whose logit is subtracted, by default the likeliest other one; None: log p of the target."""
    kinds = {"alone": _("log p"), "difference": _("logit difference")}
    choose(EditHeadsState, "compared", state().compared, kinds)
    if state().compared == "alone":
        return None
    likely = next_tokens(decoder_side(opened.capture), count=OFFERED + 1)
    others = [token for token in likely.ids if token != target]
    against = token_of(opened, "against", others[0])
    if against == target:
        refuse(EditHeadsState, "against", _("A token has no difference from itself: choose another one."))
        against = others[0]
    offered = {token: opened.runner.token_text(token) for token in others}
    show_tokens(opened, "against", _("The other token"), _("against"), against, offered, others[0], width=150)
    return against


def _ask_class(opened: PageContext) -> int:
    """Select a class, listed by decreasing score."""
    found = class_scores(opened.capture, opened.runner.info)
    if found is None:
        raise NoLogits(name=opened.runner.info.name)
    target = class_of(opened, "token", found.ids[0], len(found.ids))
    shown = [f"{value:+.3g}" if found.scale == "number" else number(value, "share") for value in found.values]
    offered = {i: f"{name}  {value}" for i, name, value in zip(found.ids, found.names, shown, strict=True)}
    show_tokens(
        opened, "token", _("Target class"), _("for the class"), target, offered, found.ids[0], width=220, typed=False
    )
    return target


def target_name(opened: PageContext, target: int) -> str:
    """The target token, or for a classifier the class, as displayed."""
    classes = opened.runner.info.classes
    return classes[target] if classes else opened.runner.token_text(target)


def meaning_of(opened: PageContext, answer: EffectMeasure, target: int = 0, against: int | None = None) -> str:
    """What a measure's numbers mean for this model."""
    info = opened.runner.info
    if against is not None and answer.pair_meaning:
        names = {"token": opened.runner.token_text(target), "other": opened.runner.token_text(against)}
        return _(answer.pair_meaning).format(**names)
    if not info.classes:
        return _(answer.meaning)
    number_alone = info.class_scale == "number" and answer.score_meaning
    return _(answer.score_meaning) if number_alone else _(answer.class_meaning)


def _effects(opened: PageContext, target: int, layers: IncrementalTask[LayerEffects], against: int | None) -> Effects:
    """The effects for the layers that are done."""
    capture = opened.capture
    found = head_effects(layers.items, capture.n_layers, capture.n_heads)
    return Effects(target, found, len(layers.items) == len(layers_of(capture)), against)


def _explain() -> None:
    show_reading(
        [
            _("Ablation: the model runs once without each head. What the token's log-probability loses "
              "is the head’s worth, with all that later layers made of it. Here the head passes on zero; "
              "under “edit” it can be set to its mean over this text instead."),
            _("On a text that the model is sure of, log p hardly moves. The logit difference against another token "
              "still does: against the wrong name, say."),
            _("Below the maps of heads, one cell a layer: what is lost when its FFN adds nothing, at every token at "
              "once. An FFN is often worth more than any head of its layer."),
            _("Direct attribution follows only the straight way, from the head's output through the "
              "final norm to the logits; what later heads read from it is left out. The norm's gain is "
              "in it and the mean over the vocabulary is subtracted, so it differs from plain direct "
              "logit attribution, W_U W_O Σⱼ wⱼ vⱼ."),
            _("Attention × values only says how much a head writes, not whether it helps. Attention "
              "alone is not an explanation: other weights can give the same answer (Jain & Wallace "
              "2019), and whether weights explain depends on the question (Wiegreffe & Pinter 2019). So "
              "ablate."),
        ],
        formula="ablated:            log p(token) − log p(token | head := 0)\n"
        "logit difference:   the same of logit(token) − logit(other)\n"
        "direct attribution: logits(W_O Σⱼ wⱼ vⱼ)[token] − mean over the vocabulary\n"
        "attention × values: ‖W_O Σⱼ wⱼ vⱼ‖ at the last token",
        source="Michel et al. 2019, arXiv:1905.10650; Elhage et al. 2021, transformer-circuits.pub; Kobayashi et al. "
        "2020, arXiv:2004.10102; Jain & Wallace 2019, arXiv:1902.10186; Wiegreffe & Pinter 2019, arXiv:1908.04626",
        attempt=_("Take the induction example: find a head that writes a lot and yet costs nothing when "
                  "ablated."),
    )  # fmt: skip  # one sentence a paragraph


def _show(opened: PageContext, effects: Effects, layers: IncrementalTask[LayerEffects]) -> None:
    """Show what is computed so far."""
    if (said := _finding(opened, effects)) is not None:
        show_finding(*said, of_several=True)
    for answer, column in zip(ANSWERS, st.columns(3, gap="medium"), strict=True):
        with column:
            show_heading(escape(_(answer.label)), escape(meaning_of(opened, answer, effects.target, effects.against)))
            payload = payload_of(opened, answer, effects)
            mount(layer_head_map.SOURCE, payload, key=f"effect_{answer.name}", on={"head": _open})
    with st.columns([0.6, 0.4])[0]:
        show_heading(escape(_("FFN ablated")))
        mount(layer_head_map.SOURCE, ffn_payload(opened, effects), key="effect_ffn", on={"head": _open_layer})
    with st.container(key="effect_lists"):
        left, right = st.columns(2, gap="large")
    with left:
        _show_ranking(opened, effects, layers)
    with right:
        _show_problems(layers)
        with st.container(key="effect_open"):
            _show_open(opened, effects)
        _show_agreement(effects)


def _finding(opened: PageContext, effects: Effects) -> tuple[str, str] | None:
    """The head with the largest ablation effect, and the FFN; HTML.

    None before all are computed, or if none matters.
    """
    order = ranking(effects.found.lost, 1)
    if not effects.done or not order:
        return None
    layer, head = order[0]
    lost = float(effects.found.lost[layer, head])
    if not lost:
        return None
    named = {"head": f"L{layer}H{head}", "token": f"<bdi>{escape(bare(target_name(opened, effects.target)))}</bdi>"}
    own = None if effects.against is not None else _probability(opened, effects.target)
    if own is not None:
        kept, left = percent(own, _("{number} %")), _left(own, lost)
        if kept == left:
            said = _("No head matters much: without {head}, “{token}” still has {left}")
        elif lost > 0:
            said = _("{head} matters most: without it, “{token}” falls from {kept} to {left}")
        else:
            said = _("{head} matters most: without it, “{token}” rises from {kept} to {left}")
        said = said.format(**named, kept=escape(kept), left=escape(left))
    else:
        said = _("{head} matters most for “{token}”: ablating it costs {value}")
        said = said.format(**named, value=_amount(opened, effects, lost))
    ffn = effects.found.ffn
    if np.isnan(ffn).all():
        return said, ""
    at = int(np.nanargmax(np.abs(ffn)))
    beside = _("among the FFNs, L{layer} matters most: {value}").format(
        layer=at, value=_amount(opened, effects, float(ffn[at]))
    )
    return said, escape(beside)


def _amount(opened: PageContext, effects: Effects, value: float) -> str:
    """An ablation's effect with its unit."""
    if effects.against is not None:
        words = _("{value} of the logit difference")
    elif opened.runner.info.class_scale == "number" and opened.runner.info.classes:
        words = _("{value} of the score")
    else:
        words = _("{value} nats of log p")
    return words.format(value=signed(value))


# -- the maps ---------------------------------------------------------------------------------------------------------


def payload_of(opened: PageContext, answer: EffectMeasure, effects: Effects) -> bytes:
    """The payload of one measure's map."""
    values = effects.values(answer.name)
    high = change_extent(values)
    no_weights = _("no softmax attention in this layer")
    cell = answer.score_cell if opened.runner.info.class_scale == "number" and answer.score_cell else answer.cell
    if effects.against is not None and answer.signed:
        cell = N_("{row}{column} · {value} logits")
    own = {"cell": _(cell), "undefined": _("not computed")}
    return layer_head_map.LayerHeadMapPicture(
        values,
        title=_(answer.label),
        scale="signed" if answer.signed else "sequential",
        low=-high if answer.signed else 0.0,
        high=high,
        number="plain",
        open=(opened.layer, opened.head),
        texts=translated(layer_head_map.TEXTS) | own,
        notes={layer: no_weights for layer in range(len(values)) if not opened.capture.has_weights(layer)},
        max_height=MAP_HEIGHT,
        shows="effect_open",
        group=group_size(opened.capture, opened.layer),
    ).packed()


def ffn_payload(opened: PageContext, effects: Effects) -> bytes:
    """The effect of ablating each layer's feed-forward network, one cell per layer."""
    values = effects.found.ffn[None]
    high = change_extent(values)
    unit = _("{column} FFN · {value} nats of log p") if effects.against is None else _("{column} FFN · {value} logits")
    if opened.runner.info.class_scale == "number" and opened.runner.info.classes:
        unit = _("{column} FFN · {value} of the score")
    return layer_head_map.LayerHeadMapPicture(
        values,
        title=_("FFN ablated"),
        scale="signed",
        low=-high,
        high=high,
        number="plain",
        open=(0, opened.layer),
        texts=translated(layer_head_map.TEXTS) | {"cell": unit, "undefined": _("not computed"), "columns": _("layers")},
        row_labels=[_("FFN")],
        column_labels=[f"L{layer}" for layer in range(values.shape[1])],
        max_height=MAP_HEIGHT,
    ).packed()


def _open_layer(place: list[int] | None) -> None:
    if place is not None:
        session.move(layer=int(place[1]))


def _open(place: list[int] | None) -> None:
    if place is not None:
        session.move(layer=int(place[0]), head=int(place[1]))


# -- below the maps ---------------------------------------------------------------------------------------------------


def _show_ranking(opened: PageContext, effects: Effects, layers: IncrementalTask[LayerEffects]) -> None:
    """Show the heads with the largest ablation effects and their ranks by each measure, or progress until then."""
    if not effects.done:
        words = _("{done} of {total} layers, every head ablated once")
        show_progress(layers, len(layers_of(opened.capture)), words, key="effect")
    if effects.done and np.isnan(effects.found.lost).all():
        return
    everywhere = [ranking(effects.values(answer.name), effects.found.lost.size) for answer in ANSWERS]
    own = None if effects.against is not None else _probability(opened, effects.target)
    rows: list[str] = []
    for place in everywhere[0][:RANKED]:
        left = "" if own is None else f"<td>{escape(_left(own, float(effects.found.lost[place])))}</td>"
        cells = "".join(
            f"<td>{signed(float(effects.values(answer.name)[place]), answer.signed)}{_rank(order, place)}</td>"
            for answer, order in zip(ANSWERS, everywhere, strict=True)
        )
        kind = " class='open'" if place == (opened.layer, opened.head) else ""
        rows.append(f"<tr{kind}><th scope='row'>L{place[0]}H{place[1]}</th>{left}{cells}</tr>")
    named = [] if own is None else [_("without it")]
    head = "".join(f"<th>{escape(name)}</th>" for name in (*named, *(_(answer.label) for answer in ANSWERS)))
    heading, aside = _("The heads that matter most"), _("by the size of what is lost; small: the rank")
    if own is not None:
        words = _("with all heads {token} has {share}")
        token = opened.runner.token_text(effects.target)
        aside = f"{words.format(token=token, share=percent(own, _('{number} %')))} · {aside}"
    show_html(
        f"<div class='atlas-head'><b>{escape(heading)}</b> <span>{escape(aside)}</span></div>"
        f"<div class='atlas-wide'><table class='atlas-costs atlas-ranks'><thead><tr><th>{escape(_('head'))}</th>{head}"
        f"</tr></thead><tbody>{''.join(rows)}</tbody></table></div>",
        key="effects_table",
    )


def _rank(order: tuple[tuple[int, int], ...], place: tuple[int, int]) -> str:
    """HTML, beside the number."""
    return f"<small class='rank'>{order.index(place) + 1 if place in order else '–'}</small>"


def _probability(opened: PageContext, target: int) -> float | None:
    """The target token's probability in the unedited model; None for a classifier, whose scores may not be
    probabilities.
    """
    if opened.runner.info.classes:
        return None
    return float(of_next_token(decoder_side(opened.capture)).probabilities[target])


def _left(own: float, lost: float) -> str:
    """What remains of this probability when the head is ablated."""
    return "–" if np.isnan(lost) else percent(own * math.exp(-lost), _("{number} %"))


def signed(value: float, with_sign: bool = True) -> str:
    """Three significant digits with a minus sign; a dash for NaN."""
    text = f"{value:+#.3g}" if with_sign else f"{value:#.3g}"
    return "–" if np.isnan(value) else text.rstrip(".").replace("-", "−")


def _show_problems(layers: IncrementalTask[LayerEffects]) -> None:
    """Show, once each, why this model has no result for a measure."""
    for words in dict.fromkeys(sentence(error) for done in layers.items for error in done.problems):
        st.info(plain(words))


def _show_open(opened: PageContext, effects: Effects) -> None:
    """Show the open head by each measure, and what the last token attends to with it."""
    place = (opened.layer, opened.head)
    looks: list[str] = []
    if not opened.runner.info.classes:  # any token may be scored there
        row = opened.capture.weights(*place, queries=slice(-1, None), shares=True)[0]
        key, tokens = int(row.argmax()), opened.capture.tokens
        where = f"<bdi>{escape(tokens[key].text)}</bdi> ({key})"
        share = number(float(row[key]), "share")
        looks = [_("the last token puts {value} on {key}").format(value=share, key=where)]
    parts = [
        f"{escape(_(answer.label))} {signed(float(effects.values(answer.name)[place]), answer.signed)}"
        for answer in ANSWERS
    ]
    facts = " · ".join([*parts, *looks])
    show_heading(f"L{place[0]}H{place[1]}", facts)


def agreement(effects: Effects) -> dict[tuple[str, str], float]:
    """Spearman's ρ of the magnitudes of every two measures, by their names."""
    names = [answer.name for answer in ANSWERS]
    pairs = [(one, other) for i, one in enumerate(names) for other in names[i + 1 :]]
    return {
        pair: rank_correlation(*(np.abs(effects.values(name)) for name in pair)) if effects.done else float("nan")
        for pair in pairs
    }


def _show_agreement(effects: Effects) -> None:
    labels = {answer.name: _(answer.label) for answer in ANSWERS}
    rows = "".join(
        f"<tr><th scope='row'>{escape(labels[one])} · {escape(labels[other])}</th><td>{signed(value)}</td></tr>"
        for (one, other), value in agreement(effects).items()
    )
    heading, aside = (
        escape(_("Do they agree?")),
        escape(_("1: the three put the heads in the same order; 0: in unrelated ones (Spearman’s ρ of the sizes)")),
    )
    note = _(
        "Attention alone is not an explanation (Jain & Wallace 2019; Wiegreffe & Pinter 2019): a "
        "head may attend and write a lot and still not matter for this token. Ablation asks the "
        "model itself, but other heads may stand in for the one that is gone."
    )
    show_html(
        f"<div class='atlas-head'><b>{heading}</b> <span>{aside}</span></div>"
        f"<table class='atlas-costs atlas-ranks'><tbody>{rows}</tbody></table>"
        f"<p class='atlas-caption' style='margin-top:0.5rem'>{escape(note)}</p>",
        key="effects_agreement",
    )
