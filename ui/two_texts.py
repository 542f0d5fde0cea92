"""Which of an encoder–decoder's three attentions is looked at, and the two texts as one row of tokens."""

from __future__ import annotations

from analysis.joined import joined
from model_runner import Capture
from ui import cached, session
from ui.i18n import _
from ui.inputs import choose_one
from ui.state import change


def choose_attention(capture: Capture) -> Capture:
    """The control, and the capture as pages draw it: of two texts in a row where one looks at the other."""
    words = {
        "encoder": _("encoder: the text at itself"),
        "decoder": _("decoder: what is written at itself"),
        "cross": _("cross: what is written at the text"),
    }
    shown = session.beside().attention
    choose_one(_("attention"), "attention", words, shown, _look_at)
    if shown != "cross":
        return capture
    return cached.made(("joined", repr(capture.request)), lambda: joined(capture))


def _look_at(attention: str) -> None:
    change(session.Beside, attention=attention)
    session.move(layer=None, head=None, query=-1, key=None, window=None)
