"""The state of the page Heads: the grid's metric and order, the open head's quantity, and the head to compare with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import streamlit as st

from analysis.head_map import Reading, What
from analysis.head_names import head_name
from analysis.joined import first_query
from attention.metrics import METRICS, Metric
from model_runner.substitution import NoSoftmax
from ui.shell.page import PageContext
from ui.state.page_state import refuse, setting
from ui.wording.i18n import _
from ui.wording.sentences import sentence
from viz.markdown import plain

N_ = str  # marks a text for Babel without translating it here

BY_NAME = {metric.name: metric for metric in METRICS}

Other = tuple[int, int] | None


@dataclass(frozen=True)
class HeadsState:
    """``other`` is a head's name, such as L3H7; empty: the open head is shown alone."""

    SCOPE: ClassVar[str] = "heads"

    metric: str = setting(METRICS[0].name, N_("metric"), options=lambda: BY_NAME)
    grid: Literal["maps", "metric"] = setting("maps", N_("drawing of the heads"))
    order: Literal["layer", "rank"] = setting("layer", N_("order"))
    shade: bool = setting(False, N_("metric under each token"))
    what: What = setting("weights", N_("quantity"))
    color: Literal["linear", "log"] = setting("linear", N_("colour"))
    unit: Literal["tokens", "words"] = setting("tokens", N_("unit"))
    hide_first: bool = setting(False, N_("hide first token"))
    other: str = setting("", N_("head to compare with"), max_length=16)

    @property
    def reading(self) -> Reading:
        """The quantity of the open head that is shown."""
        return Reading(what=self.what, hide_first=self.hide_first, words=self.unit == "words")


def metrics_of(opened: PageContext) -> dict[str, Metric]:
    """The metrics that are defined here, by name; fewer for cross-attention."""
    across = first_query(opened.capture) > 0
    return {name: metric for name, metric in BY_NAME.items() if metric.across or not across}


def metric_of(opened: PageContext, held: HeadsState) -> Metric:
    """The chosen metric, or the last defined one if that is undefined."""
    metrics = metrics_of(opened)
    return metrics.get(held.metric) or list(metrics.values())[-1]


def names_of_heads(opened: PageContext) -> dict[str, str]:
    """Every head with weights: L3H7 → its name in a list."""
    capture = opened.capture
    layers = [layer for layer in range(capture.n_layers) if capture.has_weights(layer)]
    return {
        f"L{layer}H{head}": f"L{layer}{head_name(capture, layer, head)}"
        for layer in layers
        for head in range(len(capture.q(layer)))
    }


def reading_of(opened: PageContext, held: HeadsState, other: Other) -> Reading:
    """The open head's quantity; the weights, with a message, if it or the other head has no softmax scores."""
    layers = [opened.layer, *([] if other is None else [other[0]])]
    subtracts = all(opened.capture.record(layer).difference is not None for layer in layers)
    if held.what == "difference" and not subtracts:
        refuse(HeadsState, "what", _("This model does not subtract heads from each other. Showing the weights."))
        held = replace(held, what="weights")
    if held.what == "scores" or held.hide_first:
        try:
            for place in ((opened.layer, opened.head), *([] if other is None else [other])):
                opened.capture.check_softmax(*place)
        except NoSoftmax as error:
            st.info(plain(sentence(error)))
            return replace(held.reading, what="weights" if held.what == "scores" else held.what, hide_first=False)
    return held.reading


def other_of(opened: PageContext, held: HeadsState, names: dict[str, str]) -> Other:
    """The head to compare with; if it does not exist or is the open one, that is reported and it is dropped."""
    if not held.other:
        return None
    if held.other not in names:
        words = _("There is no head {name} to compare with.")
    elif held.other == f"L{opened.layer}H{opened.head}":
        words = _("{name} is the open head: with itself there is nothing to compare. Choose another.")
    else:
        layer, head = held.other.removeprefix("L").split("H")
        return int(layer), int(head)
    refuse(HeadsState, "other", words.format(name=held.other))
    return None
