"""Edit heads and KV cache on the embedded translator: each number is the changed model's, of the open attention."""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np
import pytest

from analysis.comparison import next_token_change
from analysis.examples import OF_MODEL
from analysis.joined import joined, same_tokens
from analysis.kv_work import attention_work
from analysis.next_token import end_of_text
from analysis.number_text import significant
from analysis.units import character_units
from model_runner import Capture, CaptureRequest, Runner, load_runner
from model_runner.edit_text import written
from model_runner.edits import Blocked, Edit, KeepLast, OfAttention, ScaledHead
from model_runner.questions import NextLogits, PatchStream, WhichHeads
from tests.pages.edit_driving import add, chips
from tests.ui.driving import button, html, open_app, payload, payloads, sentences, until

EDIT, CACHE = "pages/edit_heads/page.py", "pages/kv_cache/page.py"
TEXT = OF_MODEL["translator"][0].text
HERE = {"model": "translator", "text": TEXT, "layer": "3", "head": "1"}
OTHER = "The dog chased the boy in the garden yesterday."

CLOSE = 1e-4  # of its weights: scores of some hundreds in float32, by tile or whole

pytestmark = pytest.mark.table  # every view


@functools.cache
def runner() -> Runner:
    return load_runner("translator")


@functools.cache
def capture(attention: str) -> Capture:
    return runner().capture(CaptureRequest(TEXT, attention=attention))


def changed(attention: str, *edits: Edit) -> Capture:
    return runner().capture(same_tokens(capture(attention), edits))


@pytest.mark.parametrize("attention", ["encoder", "decoder", "cross"])
def test_the_button_changes_the_attention_that_is_looked_at(attention: str):
    app = add(open_app(page=EDIT, edit="zero", **HERE, attention=attention))
    edit = OfAttention(attention, ScaledHead(3, 1, 0.0))
    assert sentences(app) == []
    assert app.query_params["edits"] == written((edit,)) == f"{attention}:ScaledHead(3,1,0.0)"
    assert chips(app) == [f"{attention}: L3H1 ablated"]
    before, after = capture(attention), changed(attention, edit)
    maps = [arrays["values"] for _, arrays in payloads(app, "head_map")]
    for found, one in zip(maps[:2], (before, after), strict=True):
        np.testing.assert_allclose(np.nan_to_num(found), one.weights(3, 1).numpy(), atol=CLOSE)
    query = payload(app, "head_map")[0]["selected"][0]
    place = -1 if attention == "encoder" else query
    text = capture("decoder")
    end, whole = end_of_text(character_units(text), place % len(text.tokens) + 1)
    follows = f"after “{'' if whole else '… '}{end}”"
    assert f"{follows} · KL {significant(next_token_change(before, after, place).kl, 3)} bits" in html(app)


def test_cells_are_typed_as_they_are_drawn_and_hidden_where_they_are():
    n_read = len(capture("cross").keys)
    app = add(
        open_app(page=EDIT, edit="block", **HERE, **{"edit_heads.cells": f"{n_read + 5}, 7"}, query=str(n_read + 5))
    )
    edit = OfAttention("cross", Blocked(((5, 7),), (3,), (1,)))
    assert app.query_params["edits"] == written((edit,))
    assert chips(app) == ["cross: written 5 → read 7 hidden in L3H1"]
    after = [arrays["values"] for _, arrays in payloads(app, "head_map")][1]
    assert np.isnan(after[5, 7])
    assert np.isnan(after).sum() == 1
    expected = changed("cross", edit).weights(3, 1).numpy()
    np.testing.assert_allclose(np.nan_to_num(after), expected, atol=CLOSE)


def test_every_page_looks_at_the_changed_model_and_an_edit_without_an_attention_is_refused():
    edit = OfAttention("cross", ScaledHead(3, 1, 0.0))
    app = open_app(page="pages/heads/page.py", **HERE, edits=written((edit,)), everywhere="1")
    assert sentences(app) == []
    assert "changed: cross: L3H1 ablated" in html(app)
    app = open_app(page=EDIT, **HERE, edits="ScaledHead(3,1,0.0)")
    assert "does not say which of them is meant" in " ".join(sentences(app))


@pytest.mark.parametrize("attention", ["encoder", "cross"])
def test_which_heads_matter_is_asked_of_what_is_written_up_to_the_query(attention: str):
    own = capture(attention)
    query = {} if attention == "encoder" else {"query": str(len(own.keys) + 5)}
    app = open_app(page=EDIT, **HERE, attention=attention, **{"edit_heads.view": "effects"}, **query)
    app = until(app, lambda app: not button(app, "effect_stop"))
    request = same_tokens(own, ())
    request = request if attention == "encoder" else replace(request, continuation=request.continuation[:5])
    target = int(runner().submit(NextLogits(request)).result().argmax())
    found = payloads(app, "layer_head_map")[0][1]["values"]
    for layer in range(own.n_layers):
        ablated = runner().submit(WhichHeads(request, layer, target)).result().ablated
        assert ablated is not None
        np.testing.assert_allclose(found[layer], -ablated.numpy(), atol=1e-6)
    assert np.abs(found).max() > 0
    assert any("does not support encoder–decoders" in one for one in sentences(app))


@pytest.mark.parametrize("attention", ["encoder", "cross"])
def test_patches_go_between_two_texts_with_the_same_translation(attention: str):
    place = {"edit_heads.view": "patching", "edit_heads.text": OTHER}
    app = open_app(page=EDIT, **HERE, attention=attention, **place)
    app = until(app, lambda app: not button(app, "patch_stop"))
    own, found = capture(attention), payload(app, "layer_head_map")[1]["values"]
    plain = same_tokens(own, ())
    first, second = (int(app.selectbox(key=f"edit_heads.{name}").value) for name in ("first", "second"))
    for layer in range(own.n_layers):
        asked = PatchStream(plain, replace(plain, text=OTHER), layer, (first, second))
        np.testing.assert_allclose(found[layer], runner().submit(asked).result().numpy(), atol=1e-3)
    assert found.shape == (own.n_layers, len(own.tokens))
    assert np.abs(found).max() > 0.1
    read = len(own.keys) if attention == "cross" else 0  # of two texts in a row: numbered as on the strip above
    meta = payload(app, "layer_head_map")[0]
    assert meta["first_column"] == read
    assert f"position {read + meta['open'][1]}:" in html(app)


@pytest.mark.parametrize(
    "attention, words",
    [("decoder", "Each further token takes 4 KB"), ("cross", "It is fixed: 4 KB for each token that is read")],
)
def test_each_cache_has_its_bytes(attention: str, words: str):
    app = open_app(page=CACHE, **HERE, attention=attention, **{"kv_cache.view": "bytes"})
    n_bytes = 2 * 4 * 4 * 32 * len(capture(attention).keys) * 4
    said = " ".join(caption.value for caption in app.caption).replace("\\", "")
    assert f"{n_bytes:,} bytes, equal to the formula" in said
    assert words in said


def test_what_has_no_cache_or_forgets_nothing_says_so():
    for view, attention, words in [
        ("bytes", "encoder", "an encoder reads its whole input at once"),
        ("what_if", "encoder", "an encoder reads its whole input at once"),
        ("what_if", "cross", "the cross-attention cache is of the source"),
    ]:
        app = open_app(page=CACHE, **HERE, attention=attention, **{"kv_cache.view": view})
        (said,) = sentences(app)
        assert words in said


def test_the_decoders_cache_can_forget_and_the_next_token_is_the_changed_models():
    app = open_app(page=CACHE, **HERE, attention="decoder", **{"kv_cache.view": "what_if", "kv_cache.keep": "2"})
    after = changed("decoder", OfAttention("decoder", KeepLast(2, 1)))
    assert f"KL {significant(next_token_change(capture('decoder'), after).kl, 3)} bits" in html(app)


def test_work_counts_the_encoder_once_and_a_row_across_at_every_step():
    own, steps, heads, d_head = capture("cross"), 6, 4, 32
    n_read, cell = len(own.keys), 4 * heads * 2 * d_head
    found = attention_work(joined(own), 1, steps)
    rows = [cell * (step + 1 + n_read) for step in range(steps)]
    encoder = cell * n_read * n_read
    assert found.cached.tolist() == [rows[0] + encoder, *rows[1:]]
    assert found.uncached.tolist() == [rows[0] + encoder, *np.cumsum(rows)[1:].tolist()]
