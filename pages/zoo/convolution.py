"""SANA's depth-wise convolution in the open layer's feed-forward network, beside ReLU attention on the page Zoo."""

from __future__ import annotations

from html import escape

import streamlit as st

from analysis.mask_effect import looks_ahead
from model_runner import Capture
from model_runner.block_questions import Convolved, ConvolvedFeedForward
from model_runner.errors import NoLogits
from model_runner.question import Logits
from pages.zoo.state import ZooState, state
from ui.shell.page import PageContext, asked
from ui.state.controls import slider
from ui.wording.i18n import _
from ui.wording.sentences import number


def kernel_of(share: float, *, around: bool) -> tuple[float, float, float]:
    """Weights of three taps: ``share`` for the two neighbours together, the rest for the token itself."""
    side = share / 2
    return (side, 1 - share, side) if around else (side, side, 1 - share)


def show_convolution(opened: PageContext, after: Capture) -> None:
    """Show its slider, how far the layer's feed-forward output moves, and the next token. Raises RunnerError."""
    around = looks_ahead(after)
    slider(ZooState, "neighbours", state().neighbours, (0, 100), _("neighbours in the feed-forward part"), per=100)
    words = _("SANA’s depth-wise convolution in the feed-forward part of L{layer}: each unit is mixed with the same "
              "unit of the two tokens before it. The paper learns the kernel; 0 is neutral.")  # fmt: skip
    if around:
        words = _("SANA’s depth-wise convolution in the feed-forward part of L{layer}: each unit is mixed with the "
                  "same unit of the tokens on both sides. The paper learns the kernel; 0 is neutral.")  # fmt: skip
    lines = [words.format(layer=opened.layer)]
    if share := state().neighbours / 100:
        question = ConvolvedFeedForward(after.request, opened.layer, kernel_of(share, around=around), int(around))
        found = asked(opened, question)
        moved = float((found.after - found.before).norm() / found.before.norm())
        lines.append(_("The part’s output moves by {value} of its norm.").format(value=number(moved, "share")))
        if not around:
            lines += _next_token(opened, after, found)
    st.html("".join(f"<p class='atlas-caption'>{escape(line)}</p>" for line in lines))


def _next_token(opened: PageContext, after: Capture, found: Convolved) -> list[str]:
    """The likeliest token with the convolution, and its probability without."""
    try:
        before = after.logits(-1).float().softmax(-1).cpu()
    except NoLogits:
        return []
    then = asked(opened, Logits(found.hidden[-1:]))[0].float().softmax(-1).cpu()
    best = int(then.argmax())
    words = _("Likeliest next token with it: {token}, {before} → {then}.")
    return [
        words.format(
            token=opened.runner.token_text(best),
            before=number(float(before[best]), "share"),
            then=number(float(then[best]), "share"),
        )
    ]
