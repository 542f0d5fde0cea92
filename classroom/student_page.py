"""The student page: one HTML file, one script and one style sheet, from `viz/classroom/`."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path
from string import Template

from viz.components.source import one_module
from viz.token_text import escaped

N_ = str  # marks a text for Babel without translating it here

FOLDER = Path(__file__).resolve().parents[1] / "viz" / "classroom"

# Everything comes from this server, as files: no inline or foreign scripts and styles, and no framing.
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

TEXTS: dict[str, str] = {
    "class": N_("The class"),
    "code": N_("Code of the room"),
    "join": N_("Join"),
    "six": N_("A code has six characters; you find it on the teacher’s screen."),
    "waiting": N_("You are in the room. What the teacher shows appears here."),
    "connecting": N_("Connecting …"),
    "gone": N_("No connection. This is what was last shown; the page reconnects by itself."),
    "lost": N_("The connection was lost; reconnecting …"),
    "waits": N_("The teacher is not back yet; this page continues by itself."),
    "ended": N_("The teacher has ended this room."),
    "wander": N_("Look around on your own"),
    "only_there": N_("What else this page shows is on the teacher’s screen; “{wander}” opens it here."),
    "more": N_("Texts, other tables and controls are on the teacher’s screen; “{wander}” opens all of this page here."),
    "first": N_("The teacher may ask first; then this page appears here."),
    "your_answer": N_("Your answer: {answer}. You can still change it."),
    "was_yours": N_("Your answer: {answer}"),
    "type": N_("Type a token"),
    "no_token": N_("No token begins like this."),
    "pieces": N_("This is not one token: the model writes it in pieces. The longest tokens that it begins with:"),
    "number": N_("Type a number"),
    "send": N_("Send"),
    "layer": N_("layer"),
    "head": N_("head"),
    "layer_then_head": N_("First the layer, then the head."),
    "unsent": N_("There is no connection; your answer is sent as soon as it is back."),
    "late": N_("Your answer came too late: the question is closed."),
    "name": N_("Your name"),
    "asks_names": N_("An answer counts without a name too, but your teacher asks for one."),
    "again": N_("Second vote: after the discussion, answer again."),
    "scripts": N_("This page needs JavaScript."),
}


def student_page(root: str, language: str, translate: Callable[[str], str]) -> str:
    """The whole page; ``root`` is the server's base path, or empty."""
    words = {name: translate(text) for name, text in TEXTS.items()}
    return Template((FOLDER / "student.html").read_text(encoding="utf-8")).substitute(
        lang=escaped(language),
        root=escaped(root),
        title=escaped(words["class"]),
        scripts=escaped(words["scripts"]),
        words=escaped(json.dumps(words)),
    )


@functools.cache
def script() -> str:
    """The page's script with everything that it imports."""
    return one_module(FOLDER / "student.js")


@functools.cache
def sheet() -> str:
    """The page's style sheet, after that of standalone figures, which defines the colours."""
    files = (FOLDER.parent / "standalone" / "standalone.css", FOLDER / "student.css")
    return "\n".join(path.read_text(encoding="utf-8") for path in files)
