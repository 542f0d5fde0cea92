"""What if the rotation were another one: an edit of the model's forward, and what becomes of map and next token."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from model_runner.edits import Documents, Edit
from model_runner.turning import NtkTheta, RestartedPositions, ScaledTheta, ShiftedPositions, Unrotated
from ui.i18n import _
from ui.inputs import pick
from ui.page import Opened, edited
from ui.tables import show_tables
from ui.what_if import show_change, show_maps, tables_of_change, take_change_away

N_ = str  # marks a text for Babel without translating it here

CUTTING = ("restart", "documents")  # questions whose amount is a token: they need a second one


@dataclass(frozen=True)
class WhatIf:
    """One question: ``amounts`` are what can be chosen for it, ``make`` turns the amount into edits."""

    name: str
    label: str
    meaning: str
    amounts: tuple[str, ...]
    make: Callable[[str], tuple[Edit, ...]]


def _restart(amount: str) -> tuple[Edit, ...]:
    return (RestartedPositions((int(amount),)),)


def _documents(amount: str) -> tuple[Edit, ...]:
    return RestartedPositions((int(amount),)), Documents((int(amount),))


def _questions(middle: int, last: int) -> tuple[WhatIf, ...]:
    """The table; two questions cut the text, by default in its middle."""
    places = tuple(dict.fromkeys([str(middle), *(str(place) for place in range(1, last + 1))]))
    return (
        WhatIf(
            "off", N_("no rotation"),
            N_("The vectors meet as they were projected: no query can tell how far away a key is."),
            (), lambda _amount: (Unrotated(),),
        ),
        WhatIf(
            "theta", N_("θ times"),
            N_("Every pair turns faster or slower; 0.5 is linear interpolation by 2: a text twice as long fits."),
            ("2", "0.5", "4", "0.25", "8", "0.125"), lambda amount: (ScaledTheta(float(amount)),),
        ),
        WhatIf(
            "ntk", N_("NTK interpolation by"),
            N_("Only slow pairs turn slower; the fast ones, which tell neighbours apart, stay as they were."),
            ("2", "4", "8"), lambda amount: (NtkTheta(float(amount)),),
        ),
        WhatIf(
            "shift", N_("all positions plus"),
            N_("Every vector turns further, but RoPE is relative: no score changes beyond rounding."),
            ("1", "10", "100", "1000"), lambda amount: (ShiftedPositions(int(amount)),),
        ),
        WhatIf(
            "restart", N_("positions restart at token"),
            N_("As when documents are packed into one row without a mask: the second one looks into the first."),
            places, _restart,
        ),
        WhatIf(
            "documents", N_("packed documents, the second from token"),
            N_("Positions restart and the mask keeps the documents apart: each is read as if it stood alone."),
            places, _documents,
        ),
    )  # fmt: skip  # one question a paragraph


def show_what_if(opened: Opened) -> None:
    """The question, its answer on the open head and on the next token, and the menus for both. Raises RunnerError."""
    n_tokens = len(opened.capture.tokens)
    offered = [item for item in _questions(n_tokens // 2, n_tokens - 1) if n_tokens > 1 or item.name not in CUTTING]
    questions = {item.name: item for item in offered}
    with st.container(key="what_if_controls", horizontal=True, vertical_alignment="center", gap="small"):
        labels = {name: _(item.label) for name, item in questions.items()}
        question = questions[pick(_("What if"), "what_if", labels, width=280)]
        amount = ""
        if question.amounts:
            shown = {value: _shown(opened, question, value) for value in question.amounts}
            amount = pick(_("Amount"), f"amount_{question.name}", shown, width=190)
        st.html(f"<p class='atlas-caption'>{_(question.meaning)}</p>", width="stretch")
    after = edited(opened, question.make(amount))
    left, right = st.columns([0.72, 0.28], gap="medium")
    with left:
        changed = show_maps(opened, after)
    with right:
        show_change(opened, after)
    show_tables(lambda: tables_of_change(opened, changed))
    take_change_away(changed)


def _shown(opened: Opened, question: WhatIf, amount: str) -> str:
    if question.name not in CUTTING:
        return amount
    tokens: Any = opened.capture.tokens
    return f"{amount} {tokens[int(amount)].text}"
