"""Kinds of models × pages: every page shows the model, or says in one sentence why it does not."""

from __future__ import annotations

import pytest

from pages.entries import ENTRIES
from tests.ui.driving import html, open_app, sentences
from ui.shell.models_offered import EMBEDDED

PAGES = [entry.file.split("/")[1] for entry in ENTRIES]
NO_CHANGE = "This change cannot be made: its attention does not go through transformers' attention interface"
NO_ROTATION = "has no rotation: its queries and keys do not depend on positions this way."
GROWS = "it adds a bias to its scores, which is not known while a text grows."
ONE_STACK = "So far this works only for models with one stack of layers"
ONE_STACK_ONLY = (
    f"{ONE_STACK}; translator is an encoder–decoder. "
    "Other pages and views show it, Heads first of all; or choose another model here."
)
OVER_A_TEXT = "This view compares two sides piece by piece and needs self-attention."
NOT_NEXT = "The model encoder (bert) cannot continue a text: "
HEARS = "cannot be captured: its encoder reads sound, and of such models only Whisper can be looked at so far."
NO_SOFTMAX = "cannot be captured: none of its layers uses transformers' attention interface for softmax attention."
NO_SCORES = "has no softmax scores: its tokens are mixed by a recurrence, "
NO_STATE = "its state is not kept here while a text grows, only keys and values are."
NO_ATTENTION = "This change cannot be made: its layers have no softmax attention, but a recurrence each."
RECURRENCE = {
    **dict.fromkeys(("cell", "positions", "zoo"), NO_SCORES),
    **dict.fromkeys(("film", "kv_cache"), NO_STATE),
    **dict.fromkeys(("sharing", "edit_heads"), NO_ATTENTION),
}
# model → page → what the one sentence has in it, where there is one; the page named "" stands for all others
TABLE: dict[str, dict[str, str]] = {
    "gptj": {"sharing": NO_CHANGE, "edit_heads": NO_CHANGE},
    "bloom": {
        "positions": NO_ROTATION,
        **dict.fromkeys(("film", "kv_cache"), GROWS),
        **dict.fromkeys(("sharing", "edit_heads"), NO_CHANGE),
    },
    "jamba": {"positions": NO_ROTATION},
    "mamba": RECURRENCE,
    "mamba2": RECURRENCE,
    "rwkv": RECURRENCE,
    "xlstm": RECURRENCE,
    "fnet": {"": NO_SOFTMAX},
    "hears": {"": HEARS},
    "whisper": {
        "positions": NO_ROTATION,
        "compare": OVER_A_TEXT,
        **dict.fromkeys(("long_texts", "masks", "sharing"), ONE_STACK),
    },
    "default": {},
    "encoder": {"positions": NO_ROTATION, **dict.fromkeys(("next_token", "film", "kv_cache"), NOT_NEXT)},
    "translator": {
        "positions": NO_ROTATION,
        "compare": OVER_A_TEXT,
        **dict.fromkeys(("long_texts", "masks", "sharing"), ONE_STACK_ONLY),
    },
}
OFTEN = [
    ("gptj", "sharing"), ("bloom", "positions"), ("translator", "compare"), ("translator", "masks"),
    ("encoder", "cell"), ("encoder", "film"), ("rwkv", "positions"),
]  # fmt: skip
NO_CAPTURE = [(name, "film") for name in ("bloom", "encoder", "mamba", "mamba2", "rwkv", "xlstm")]

EXAMPLES = {
    "default": "The dog chased the squirrel because it",
    "encoder": "The capital of France is [MASK].",
    "translator": "The wolf loves Mary.",
}

pytestmark = pytest.mark.table


@pytest.mark.parametrize(
    "name, page",
    [
        pytest.param(name, page, marks=[] if (name, page) in OFTEN else [pytest.mark.long])
        for name in TABLE
        for page in PAGES
    ],
)
def test_a_page_shows_it_or_says_why_not(folder_of, name, page):
    embedded = name in EMBEDDED
    text = EXAMPLES[name] if embedded else "some text here"
    app = open_app(page=f"pages/{page}/page.py", model=name if embedded else folder_of(name), text=text)
    said, expected = sentences(app), TABLE[name].get(page, TABLE[name].get(""))
    assert len(said) == (expected is not None), said
    assert expected is None or expected in said[0]
    shown = not (expected or "").startswith((NO_SOFTMAX, HEARS, ONE_STACK)) and (name, page) not in NO_CAPTURE
    assert ("atlas-badge ok" in html(app)) is shown
