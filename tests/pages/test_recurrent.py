"""Heads of a model without softmax: the matrix of its recurrence, and what is said of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from analysis.read_head import described, python_lines, read_head
from analysis.stand_in import OVER_CHANNELS, SIGNED, WEIGHTED_MEAN
from model_runner import CaptureRequest, load_runner
from tests.ui.driving import App, html, open_app, payload, sentences

TEXT = "The dog chased"
NOTES = {
    "mamba": f"{SIGNED} {OVER_CHANNELS}",
    "mamba2": SIGNED,
    "rwkv": f"{WEIGHTED_MEAN} {OVER_CHANNELS}",
    "xlstm": SIGNED,
}


def opened(folder_of: Any, name: str, page: str = "heads", **address: str) -> App:
    return open_app(page=f"pages/{page}/page.py", model=folder_of(name), text=TEXT, layer="1", head="2", **address)


@pytest.mark.parametrize(
    "name", ["mamba", *(pytest.param(one, marks=pytest.mark.long) for one in ("mamba2", "xlstm")), "rwkv"]
)
def test_heads_draws_the_matrix_with_its_sign_and_says_that_it_is_no_softmax(folder_of, name):
    app = opened(folder_of, name, query="9", reading="1")
    meta, arrays = payload(app, "head_map")[:2]
    own = load_runner(folder_of(name)).capture(CaptureRequest(TEXT)).weights(1, 2).numpy()
    seen = np.tril(np.ones_like(own, dtype=bool))
    np.testing.assert_allclose(arrays["values"][seen], own[seen], atol=2e-3 * np.abs(own).max())
    assert meta["texts"]["note"] == NOTES[name]
    signed = name != "rwkv"
    assert (meta["scale"], meta["number"]) == (("diverging", "plain") if signed else ("sequential", "percent"))
    assert ("orange cells subtract it" in html(app)) == signed
    assert "each row adds up to 100 %" not in html(app)
    explained = "\n".join(one.value for one in app.markdown)
    assert "its output is a lower-triangular matrix × its inputs" in explained
    assert ("channels has a matrix of its own" in explained) == (name in ("mamba", "rwkv"))
    assert "own recurrence returned in the same forward, before its gate" in html(app)


@pytest.mark.long
@pytest.mark.parametrize("page", [pytest.param("compare", marks=pytest.mark.long), "long_texts"])
def test_other_pages_that_draw_it_say_so_too(folder_of, page):
    assert SIGNED in html(opened(folder_of, "mamba2", page))


def test_in_chinese_it_is_said_in_chinese(folder_of):
    app = opened(folder_of, "mamba", lang="zh", reading="1")
    assert payload(app, "head_map")[0]["texts"]["note"].startswith("不是 softmax：有正有负，每行之和不是 1。")
    assert "选择性状态空间（Mamba）" in "\n".join(one.value for one in app.markdown)


@pytest.mark.long
def test_scores_are_refused_in_a_sentence_and_the_matrix_stays(folder_of):
    app = opened(folder_of, "xlstm", what="scores")
    assert sentences(app) == [
        "L1 has no softmax scores: its tokens are mixed by a recurrence, matrix memory (mLSTM). "
        "Heads shows its matrix, written out."
    ]
    assert payload(app, "head_map")[0]["texts"]["note"] == SIGNED


@pytest.mark.parametrize(
    "name, words",
    [
        ("mamba2", "entries of the matrix of the layer's recurrence, not softmax: signed, rows do not sum to 1"),
        ("rwkv", "entries of the matrix of the layer's recurrence, not softmax, the mean over 2 channels"),
    ],
)
def test_files_say_it_and_the_lines_of_python_give_the_same_numbers(folder_of, name, words):
    capture = load_runner(folder_of(name)).capture(CaptureRequest(TEXT))
    read = read_head(capture, 1, 2)
    assert described(read) == words
    found: dict[str, Any] = {"capture": capture}
    exec(python_lines(read), found)
    np.testing.assert_array_equal(found["values"], read.view.values)


def test_the_tokenizer_s_card_says_how_many_rows_the_embedding_has(folder_of):
    shown = html(opened(folder_of, "mamba"))
    assert "It knows 259 tokens." in shown
    assert "The model’s embedding has 264 rows." in shown
