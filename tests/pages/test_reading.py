"""What "Read this picture" says: of each view its own text, its formula and something to try."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from model_runner.edit_text import written
from model_runner.substitution import Substituted
from tests.ui.driving import open_app

VIEWS = {
    "positions": ("rotation", "difference", "frequencies", "distance", "what_if", "others"),
    "compare": ("maps", "metrics", "next", "tokens"),
    "long_texts": ("map", "heads", "curves", "needle"),
    "masks": ("gallery", "model", "sweep"),
    "sharing": ("model", "counts"),
    "families": ("kinds", "known"),
    "kv_cache": ("race", "bytes", "what_if"),
    "block": ("architecture", "stream", "norms", "ffn", "experts", "lens", "learning"),
    "edit_heads": ("edit", "effects", "patching"),
    "zoo": ("maps", "linear", "model", "hybrid", "weights", "flash", "cost"),
    "steps": ("steps", "scale", "length", "softmax", "similarity", "others"),
}


OFTEN = ("masks", "sharing", "zoo")  # looked at in each run of the tests


def reading(page: str, view: str = "", **address: str) -> list[str]:
    """The paragraphs of the open explanation, what to try last, without the escapes of Markdown."""
    place = {f"{page}.view": view} if view else {}
    app = open_app(page=f"pages/{page}/page.py", **place, **address)
    return explained(app)


def explained(app: AppTest) -> list[str]:
    app.button(key="read").click().run()
    shown = [element.value.replace("\\", "") for element in app.markdown]
    (tried,) = (number for number, words in enumerate(shown) if words.startswith("**Try this** "))
    return [*shown[tried - 1].split("\n\n"), shown[tried]]


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=[] if page in OFTEN else [pytest.mark.long]) for page in VIEWS]
)
def test_each_view_has_an_explanation_of_its_own(page: str):
    said = [paragraph for view in VIEWS[page] for paragraph in reading(page, view)]
    assert len(said) - 1 <= len(set(said)) >= 3 * len(VIEWS[page])  # one may be true of two views


def test_of_a_head_whose_softmax_is_substituted_no_row_is_said_to_add_up():
    edits = written((Substituted("sigmoid", (), (3,), (7,)),))
    said = "\n".join(reading("heads", edits=edits, everywhere="1", layer="3", head="7"))
    assert "sigmoid replaces this head’s softmax" in said
    assert "adds up to 100 %" not in said
    assert "adds up to 100 %" in "\n".join(reading("heads", edits=edits, everywhere="1", layer="3", head="6"))


def test_of_a_model_that_looks_both_ways_nothing_is_said_of_the_last_tokens_or_the_next():
    views = (("long_texts", view) for view in ("map", "heads", "curves"))
    said = "\n".join(paragraph for view in views for paragraph in reading(*view, model="encoder"))
    assert [words for words in ("looking back", "long ago", "last 64", "grow") if words in said] == []
    assert "next token" not in "\n".join(reading("cell", model="encoder"))
    assert "last 64 tokens" in "\n".join(reading("long_texts", "curves"))
    assert "next token" in "\n".join(reading("cell"))


def test_a_model_without_rotation_is_explained_by_the_ways_it_could_know_positions(folder_of):
    first, *_rest = reading("positions", model=folder_of("gpt2"))
    assert first.startswith("Five ways to tell a model where its tokens are")


@pytest.mark.parametrize("view", ["model", "counts"])
def test_a_model_with_nothing_left_to_share_is_not_asked_to_share(folder_of, view: str):
    assert "open another at the left" in reading("sharing", view, model=folder_of("gpt-bigcode"), text="some text")[-1]


@pytest.mark.parametrize("model, rest", [("", False), ("phi", True)])
def test_the_formula_of_a_score_has_a_rest_where_not_all_is_turned(folder_of, model: str, rest: bool):
    place = {"positions.view": "frequencies"} | ({"model": folder_of(model)} if model else {})
    app = open_app(page="pages/positions/page.py", **place)
    explained(app)
    assert ("+ rest" in app.code[-1].value) is rest


@pytest.mark.parametrize("lang, kept", [("en", "top-k: keep the k largest p"), ("zh", "top-k: 保留最大的 k 个 p")])
def test_the_formulas_of_sampling_are_in_the_pages_language(lang, kept):
    codes = [one.value for one in open_app(page="pages/next_token/page.py", lang=lang, reading="1").code]
    assert any(kept in one.splitlines() for one in codes)
