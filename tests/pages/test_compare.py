"""The page Compare: the numbers of both sides are their models' own; B reads what A does where nothing is chosen."""

from __future__ import annotations

import math
import re
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from analysis.aligned_heads import aligned_heads
from analysis.examples import EXAMPLES, text_beside
from analysis.head_grid import head_grid
from analysis.head_map import head_map
from attention.metrics import METRICS
from model_runner import CaptureRequest, load_runner
from pages.compare import names, numbers
from pages.compare.names import names_of, note_of
from pages.compare.other import request_of
from pages.compare.tokens import counts_of
from tests.model_runner.tiny import byte_tokenizer, tiny
from tests.pages.expected import capture, runner
from tests.ui.driving import html, open_app, payloads, send, sentences
from ui.shell.page import PageContext
from ui.state.url_state import DEFAULT_TEXT
from viz.share_text import share_digits

PAGE = "pages/compare/page.py"
BOOK = "The dog chased the book because it"


def maps(app):
    """(meta, values) of A, of B and of the difference."""
    return [(meta, arrays["values"]) for meta, arrays in payloads(app, "head_map")]


def same(found, expected):
    np.testing.assert_allclose(found, expected, atol=1e-6, equal_nan=True)


def test_a_first_visit_compares_the_open_head_with_the_one_that_looks_at_the_token_before():
    app = open_app(page=PAGE)
    (_, a), (_, b), (meta, difference) = maps(app)
    one, two = (head_map(capture(), *head).values for head in ((6, 4), (3, 7)))
    same(a, one)
    same(b, two)
    same(difference, one - two)
    assert (meta["scale"], meta["low"]) == ("diverging", -meta["high"])
    assert app.selectbox(key="compare.head").value == "L3H7"
    page = html(app)
    elsewhere = np.nansum(np.abs(one - two), axis=1).mean() / 2
    assert f"{share_digits(float(elsewhere))} % of the attention goes to other tokens in B than in A" in page
    assert "A: <span class='atlas-q'><bdi>·it</bdi> (7)</span> looks most at" in page
    assert "compare.head" not in app.query_params


def test_a_head_that_is_chosen_is_compared_and_in_the_address_and_a_click_pins_it_in_all_maps():
    app = open_app(page=PAGE, layer="0", head="1")
    app.selectbox(key="compare.head").set_value("L2H5").run()
    assert app.query_params["compare.head"] == "L2H5"
    same(maps(app)[2][1], head_map(capture(), 0, 1).values - head_map(capture(), 2, 5).values)
    send(app, "head_map", "cell", [5, 2])
    assert (app.query_params["query"], app.query_params["key"]) == ("5", "2")
    assert [meta["selected"] for meta, _ in maps(app)] == [[5, 2]] * 3
    send(app, "head_map", "window", [2, 6, 1, 5])
    assert [meta["window"] for meta, _ in maps(app)] == [[2, 6, 1, 5]] * 3
    same(maps(app)[1][1], head_map(capture(), 2, 5).values[2:6, 1:5])


def test_two_layers_are_compared_as_the_means_of_their_heads():
    app = open_app(page=PAGE, layer="6", head="4", **{"compare.head": "L3H7", "compare.layers": "1"})
    one, two = (np.mean([head_map(capture(), layer, head).values for head in range(8)], axis=0) for layer in (6, 3))
    for (_, found), expected in zip(maps(app), (one, two, one - two), strict=True):
        same(found, expected)
    assert "L6, mean of 8 heads" in html(app)
    box = app.selectbox(key="compare.head")
    assert box.options == [f"L{layer}" for layer in range(8)]
    box.set_value("L1H0").run()
    assert "L1, mean of 8 heads" in html(app)
    app.toggle(key="compare.layers").set_value(False).run()
    assert app.query_params["compare.head"] == "L1H0"
    assert "compare.layers" not in app.query_params
    same(maps(app)[1][1], head_map(capture(), 1, 0).values)


def test_the_metrics_of_two_layers_are_means_over_their_heads():
    app = open_app(
        page=PAGE, layer="6", head="4", **{"compare.head": "L3H7", "compare.layers": "1", "compare.view": "metrics"}
    )
    page, grid = html(app), head_grid(capture()).metrics
    assert "Every metric of both layers, means over their heads" in page
    for layer in (6, 3):
        mean = np.mean([grid["previous"][layer, head] for head in range(8)])
        assert f">{100 * mean:.1f} %<" in page


def test_two_texts_are_compared_in_one_head_where_they_have_the_same_words():
    app = open_app(page=PAGE, layer="6", head="4", **{"compare.text": BOOK})
    (a, _), (b, second), (meta, difference) = maps(app)
    assert (a["row_labels"][5], b["row_labels"][5]) == ("·squirrel", "·book")
    same(second, head_map(capture(BOOK), 6, 4).values)
    expected = head_map(capture(), 6, 4).values - second
    expected[5], expected[:, 5] = np.nan, np.nan
    same(difference, expected)
    assert "1 in A, 1 in B" in meta["texts"]["note"]
    assert meta["texts"]["masked_label"] == "masked, or on one side only"


def test_two_tokenizers_are_compared_on_common_pieces(folder_of):
    folder = folder_of("bert-base")  # a token a byte
    app = open_app(page=PAGE, text="a 狗 dog", layer="6", head="4", **{"compare.model": folder, "compare.head": "L1H2"})
    assert sentences(app) == []
    first, second = capture("a 狗 dog"), load_runner(folder).capture(CaptureRequest(text="a 狗 dog"))
    view = aligned_heads(first, (6, 4), second, (1, 2))
    assert len(second.tokens) > len(view.second.labels)
    assert view.merged
    for (_, values), one in zip(maps(app), view.maps, strict=True):
        same(values, one.values)
    same(np.nansum(maps(app)[1][1], axis=1), np.ones(len(view.second.labels)))
    for name, one in (("A", view.first), ("B", view.second)):
        keys = one.values[-1]
        label, share = one.labels[int(np.nanargmax(keys))], f"{share_digits(float(np.nanmax(keys)))} %"
        assert re.search(
            rf"{name}: <span[^>]*><bdi>·dog</bdi> \([\d–]+\)</span> looks most at .*?{label}.*?{share}", html(app)
        )
    assert "summed over keys" in maps(app)[0][0]["texts"]["note"]


def test_another_model_opens_on_its_own_head_and_its_predictions_have_no_kl():
    app = open_app(page=PAGE, text="法国的首都是[MASK]。", **{"compare.model": "encoder", "compare.view": "next"})
    assert sentences(app) == []
    assert "the two questions differ" in html(app)
    assert "KL(A" not in html(app)


def trained(folder, text="abcab", steps=8):
    """A model saved before and after steps of training on this text; its losses before each."""
    model, losses = tiny("llama")(), []
    ids, optimizer = byte_tokenizer()(text, return_tensors="pt")["input_ids"], torch.optim.SGD(model.parameters(), 0.05)
    for step in range(steps + 1):
        if step in (0, steps):
            model.save_pretrained(folder / f"checkpoint-{step}")
            byte_tokenizer().save_pretrained(folder / f"checkpoint-{step}")
        optimizer.zero_grad()
        with torch.enable_grad():
            loss = model.requires_grad_(True)(input_ids=ids, labels=ids).loss
            loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_a_model_is_compared_with_itself_after_steps_of_training_in_the_same_head(tmp_path):
    losses = trained(tmp_path)
    before, after = (str(tmp_path / f"checkpoint-{step}") for step in (0, 8))
    place = {"model": before, "text": "abcab", "layer": "2", "head": "1", "compare.model": after}
    app = open_app(page=PAGE, **place)
    assert sentences(app) == []
    assert app.selectbox(key="compare.head").value == "L2H1"
    assert "checkpoint-0" in html(app)  # the sides are told apart by their folders
    assert "checkpoint-8" in html(app)
    (_, a), (_, b), (_, difference) = maps(app)
    one, two = (head_map(capture("abcab", folder), 2, 1).values for folder in (before, after))
    same(a, one)
    same(b, two)
    same(difference, one - two)
    assert np.nanmax(np.abs(difference)) > 0.01
    logits = [torch.stack([capture("abcab", one).logits(at) for at in range(4)]) for one in (before, after)]
    wanted = [token.id for token in capture("abcab", before).tokens][1:]
    said = [-float(one.log_softmax(-1)[range(4), wanted].mean()) for one in logits]
    assert said[0] == pytest.approx(losses[0], abs=1e-3)  # both sides are the model at that step
    assert said[1] == pytest.approx(losses[8], abs=1e-3)
    assert said[1] < said[0]


def test_metrics_of_both_heads_are_the_grids_own():
    app = open_app(page=PAGE, layer="7", head="7", text="lamp river lamp river lamp", **{"compare.view": "metrics"})
    found = head_grid(capture("lamp river lamp river lamp")).metrics
    other = app.selectbox(key="compare.head").value
    layer, head = (int(part) for part in other.removeprefix("L").split("H"))
    page = html(app)
    for metric in METRICS:
        assert metric.label in page
    gaps = {
        one.label: abs(found[one.name][7, 7] - found[one.name][layer, head]) for one in METRICS if one.unit == "share"
    }
    furthest = max((one for one in gaps if gaps[one] == gaps[one]), key=gaps.__getitem__)
    assert f"Furthest apart in: {furthest}</b>" in page
    a, b = found["induction"][7, 7], found["induction"][layer, head]
    assert f">{100 * a:.1f} %<" in page
    gap = round(100 * a, 1) - round(100 * b, 1)  # what a reader who subtracts the two numbers finds
    assert f">{'+' if gap > 0 else '−'}{abs(gap):.1f} points<" in page


def test_next_tokens_of_two_texts_in_one_model_have_their_kl():
    app = open_app(page=PAGE, **{"compare.text": BOOK, "compare.view": "next"})
    one, two = (capture(text).logits(-1).double().log_softmax(-1) for text in (DEFAULT_TEXT, BOOK))
    assert f"{float((one.exp() * (one - two)).sum()) / math.log(2):.3g} bits" in html(app)
    assert f"{100 * float(one.exp().max()):.1f} %" in html(app)
    first, second = (runner().token_text(int(side.argmax())).strip("·") for side in (one, two))
    assert f"A expects “<bdi>{first}</bdi>”, B “<bdi>{second}</bdi>”" in html(app)
    app = open_app(page=PAGE, text="a text of my own", **{"compare.view": "next"})
    assert "Both sides are one model on one text." in html(app)


def test_an_example_is_beside_one_like_it_and_tokens_are_beside_those_of_another_model():
    fact = next(example.text for example in EXAMPLES if example.topic == "fact")
    app = open_app(page=PAGE, text=fact, **{"compare.view": "next"})
    beside = text_beside(fact)
    assert next(box.value for box in app.text_input if "compare.text" in box.key) == beside
    first, second = (capture(text).logits(-1).argmax() for text in (fact, beside))
    assert first != second
    words = [runner().token_text(int(token)).strip("·") for token in (first, second)]
    assert f"A expects “<bdi>{words[0]}</bdi>”, B “<bdi>{words[1]}</bdi>”" in html(app)
    app = open_app(page=PAGE, text=fact, **{"compare.view": "tokens"})
    assert app.selectbox(key="compare.model").value == "translator"
    app.selectbox(key="compare.model").set_value(":same").run()
    assert sentences(app) == []
    assert next(box.value for box in app.text_input if "compare.text" in box.key) == beside
    app = open_app(page=PAGE, model="encoder", **{"compare.view": "tokens"})
    assert app.selectbox(key="compare.model").value == "translator"


def test_tokens_are_counted_on_both_sides_and_a_hidden_word_is_one_piece():
    app = open_app(page=PAGE, text="法国的首都是[MASK]。", **{"compare.model": "encoder", "compare.view": "tokens"})
    page = html(app)
    assert "Pairs of one token each: 5. Cut differently (orange): 1. On one side only (dashed): 0." in page
    assert "11 tokens in A, 6 in B</b>" in page
    assert list(app.table[0].value.iloc[0]) == ["11", "6"]
    assert list(app.table[0].value.iloc[2]) == [f"{13 / 11:.2f}", f"{13 / 6:.2f}"]
    assert counts_of(capture("😀")) == counts_of(capture("😀", "encoder")).__class__(4, 1, 1)


# -- what b reads -----------------------------------------------------------------------------------------------------


def context(name: str = "default", **request) -> PageContext:
    found = runner(name).capture(CaptureRequest(**{"text": DEFAULT_TEXT, **request}))
    return PageContext(runner(name), found, 0, 0, None, None)


def test_b_reads_what_a_reads_without_its_edits():
    from model_runner.edits import MeanHead

    opened = context(continuation=(396, 273), edits=(MeanHead(3, 1),))
    own, text = opened.capture.request, opened.capture.text
    assert request_of(opened, opened.runner, "").edits == ()
    assert request_of(opened, opened.runner, "").continuation == own.continuation
    assert request_of(opened, opened.runner, BOOK).continuation == ()
    assert request_of(opened, runner("encoder"), "") == CaptureRequest(text=text)
    assert text.startswith(DEFAULT_TEXT)
    assert len(text) > len(DEFAULT_TEXT)
    assert request_of(opened, runner("encoder"), BOOK) == CaptureRequest(text=BOOK)


def test_a_model_that_other_pages_show_changed_is_compared_with_itself_unchanged():
    app = open_app(page=PAGE, layer="3", head="1", edits="MeanHead(3,1)", everywhere="1")
    assert app.selectbox(key="compare.head").value == "L3H1"
    same(maps(app)[1][1], head_map(capture(), 3, 1).values)
    assert "changed by edits" in html(app)


def test_a_vocabulary_is_every_token_once(monkeypatch):
    asked: list[int] = []

    def text(i: int) -> str:
        asked.append(i)
        return f"t{i}"

    bar = SimpleNamespace(progress=lambda *_, **__: None, empty=lambda: None)
    monkeypatch.setattr(numbers.cached, "made", lambda _key, make: make())
    monkeypatch.setattr(numbers, "frame_slots", lambda: SimpleNamespace(status=bar))
    monkeypatch.setattr(numbers, "_", str)
    info = SimpleNamespace(n_vocab=9001, name="made", revision=None)
    found = numbers.vocabulary(SimpleNamespace(info=info, token_text=text))
    assert found == tuple(f"t{i}" for i in range(9001))
    assert asked == list(range(9001))


def test_sides_are_named_by_what_tells_them_apart(monkeypatch):
    monkeypatch.setattr(names, "_", str)
    a, b = context(), context("encoder")
    assert names_of(a, a) == ("L0H0", "L0H0")
    assert names_of(a, b) == ("L0H0 · Embedded small Llama", "L0H0 · Embedded encoder")
    long = PageContext(a.runner, capture(f"{BOOK} {BOOK}"), 0, 0, None, None)
    first, second = names_of(a, long)
    assert first == f"L0H0 · “{DEFAULT_TEXT}”"
    assert second.endswith("…”")
    assert len(second) < 55
    assert note_of(aligned_heads(a.capture, (0, 0), a.capture, (0, 0)), 2, (a.capture, a.capture)) == ""
    beside = note_of(
        aligned_heads(a.capture, (0, 0), capture(model="encoder"), (0, 0)), 0, (a.capture, capture(model="encoder"))
    )
    assert beside.startswith("⟨bos⟩ of A and ⟨CLS⟩ of B stand for no text")
