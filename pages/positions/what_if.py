"""What if the rotation were different: an edit of the model's forward, and its effect on the map and the next token."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from analysis.sentences import joined
from model_runner.edits import Documents, Edit
from model_runner.errors import NotRecoverable
from model_runner.positions import layout_of
from model_runner.rotation_edit import NtkTheta, RestartedPositions, ScaledTheta, ShiftedPositions, Unrotated
from model_runner.substitution import Substituted
from pages.positions.state import PositionsState, Question, state
from ui.shared.export_bundle import show_export_menu
from ui.shared.what_if import change_view, show_change, show_maps
from ui.shell.page import PageContext, edited
from ui.state.controls import pick
from ui.state.page_state import refuse
from ui.state.url_values import options_of
from ui.wording.i18n import _

N_ = str  # marks a text for Babel without translating it here

# questions whose amount is a token; a text whose rotation can be inferred has at least two
CUTTING = ("restart", "documents")


@dataclass(frozen=True)
class WhatIf:
    """A question: ``make`` turns its amount (a number, a token, or layers and heads) into edits."""

    label: str
    meaning: str
    make: Callable[[Any], tuple[Edit, ...]]


QUESTIONS: dict[Question, WhatIf] = {
    "off": WhatIf(
        N_("no rotation"),
        N_("The vectors meet as they were projected: no score depends on how far away a key is."),
        lambda places: (Unrotated() if places is None else Substituted("no_positions", (), *places),),
    ),
    "theta": WhatIf(
        N_("θ times"),
        N_("Every pair turns faster or slower; 0.5 is linear interpolation by 2: a text twice as long fits."),
        lambda amount: (ScaledTheta(float(amount)),),
    ),
    "ntk": WhatIf(
        N_("NTK interpolation by"),
        N_("Only slow pairs turn slower; the fast ones, which tell neighbours apart, stay as they were."),
        lambda amount: (NtkTheta(float(amount)),),
    ),
    "shift": WhatIf(
        N_("all positions plus"),
        N_("Every vector turns further, but RoPE is relative: no score changes beyond rounding."),
        lambda amount: (ShiftedPositions(int(amount)),),
    ),
    "restart": WhatIf(
        N_("positions restart at token"),
        N_("As when documents are packed into one row without a mask: the second one looks into the first."),
        lambda token: (RestartedPositions((token,)),),
    ),
    "documents": WhatIf(
        N_("packed documents, the second from token"),
        N_("Positions restart and the mask keeps the documents apart: each is read as if it stood alone."),
        lambda token: (RestartedPositions((token,)), Documents((token,))),
    ),
}


def show_what_if(opened: PageContext) -> None:
    """Show the question, its effect on the open head and the next token, and both export menus. Raises RunnerError."""
    name = state().what_if
    with st.container(key="what_if_controls", horizontal=True, vertical_alignment="center", gap="small"):
        labels = {one: _(question.label) for one, question in QUESTIONS.items()}
        pick(PositionsState, "what_if", name, labels, width=280)
        amount = _amount(opened, name)
        st.html(f"<p class='atlas-caption'>{_meaning(opened, name)}</p>", width="stretch")
    after = edited(opened, QUESTIONS[name].make(amount))
    changed = show_maps(opened, after)
    show_change(opened, after)
    show_export_menu(opened, change_view(changed))


def _meaning(opened: PageContext, name: Question) -> str:
    """What the question means for scores, and that some heads have none."""
    capture = opened.capture
    with_softmax = (capture.record(layer) for layer in range(capture.n_layers) if capture.has_weights(layer))
    of_others = name == "shift" and any(record.substituted for record in with_softmax)
    rest = (
        _("Heads whose softmax is substituted have no such scores: they can change, and so can the layers above.")
        if of_others
        else ""
    )
    stays = _stretch(opened) if name == "off" and state().off == "model" else ""
    return joined(_(QUESTIONS[name].meaning), rest, stays)


def _stretch(opened: PageContext) -> str:
    """Say that a scaling besides the rotation remains without the rotation (YaRN's attention factor)."""
    try:
        factor = layout_of(opened.capture, opened.layer).factor
    except NotRecoverable:
        return ""
    return "" if factor == 1 else _("Their stretch by {factor} stays.").format(factor=f"{factor:.4g}")


def _amount(opened: PageContext, name: Question) -> Any:
    """The question's amount, with a list to choose another; None if it has none."""
    if name == "off":
        return _where(opened)
    held, tokens = getattr(state(), name), opened.capture.tokens
    shown: dict[object, str]
    if name in CUTTING:
        shown = {place: f"{place} {tokens[place].text}" for place in range(1, len(tokens))}
        if held is not None and held not in shown:
            words = _("Position {value} is beyond the text, which ends at {end}.")
            refuse(PositionsState, name, words.format(value=held, end=len(tokens) - 1))
            held = None
        held = len(tokens) // 2 if held is None else held
    else:
        shown = {value: value for value in options_of(PositionsState, name)}
    pick(PositionsState, name, held, shown, width=190)
    return held


def _where(opened: PageContext) -> tuple[tuple[int, ...], tuple[int, ...] | None] | None:
    """The layers and heads (None: all) without rotation; None for the whole model."""
    layer, head = opened.layer, opened.head
    shown = {"model": _("in the whole model"), "layer": f"L{layer}", "head": f"L{layer}H{head}"}
    pick(PositionsState, "off", state().off, shown, width=190)
    return None if state().off == "model" else ((layer,), (head,) if state().off == "head" else None)
