"""Of a model with a learned sink every picture of a head says what is drawn: weights with the sink's share taken."""

from __future__ import annotations

import math

import pytest
import torch

from analysis.sinks import AFTER, IN_SOFTMAX, REST_IN, SCALED_AFTER, sink_words
from analysis.stand_in import NO_SHARES
from model_runner import CaptureRequest
from model_runner.edit_text import written
from model_runner.local.loading.loader import load_runner
from model_runner.substitution import Substituted
from tests.model_runner.families import FAMILIES
from tests.model_runner.folders import save
from tests.model_runner.local.recording import test_encoder_decoders as of_two_texts
from tests.pages.test_class_questions import open_room
from tests.ui.driving import html, open_app, payload, payloads, sentences

pytestmark = pytest.mark.table  # each loads models

TEXT = "The dog chased the squirrel"
SAID = {"gpt-oss": IN_SOFTMAX, "granite-swa": AFTER}


def opened(folder, page, **address):
    return open_app(page=f"pages/{page}/page.py", model=str(folder), text=TEXT, layer="1", head="2", **address)


def told(words):
    """As HTML and as it is."""
    return words.replace("'", "&#x27;")


def test_the_families_that_scale_after_the_softmax_are_those_whose_own_weights_are_without_the_sink():
    with_sinks = {one.build().config.model_type: one.sinks_apart for one in FAMILIES if one.sinks}
    assert {name for name, apart in with_sinks.items() if apart} == set(SCALED_AFTER) & set(with_sinks)
    assert set(with_sinks.values()) == {True, False}


@pytest.mark.parametrize("family", SAID)
def test_what_is_drawn_is_what_the_sentence_says(folder_of, family):
    """Below 1 by the sink's share, and of a model that scales after its softmax not what it returns itself."""
    runner = load_runner(folder_of(family))
    capture = runner.capture(CaptureRequest(TEXT))
    sums = capture.weights(1, 2).sum(-1)
    share = torch.exp(capture.record(1).sinks[2] - capture.lse(1)[2])
    assert float(share.max()) > 0.1
    torch.testing.assert_close(sums, 1 - share, atol=1e-5, rtol=0)
    assert sink_words(capture, 1, 2, runner.info.family) == SAID[family]


@pytest.mark.parametrize("family", SAID)
def test_heads_says_it_in_the_figure_and_under_the_lines(folder_of, family):
    app = opened(folder_of(family), "heads")
    assert payload(app, "head_map")[0]["texts"]["note"] == SAID[family]
    assert told(SAID[family]) in html(app)
    app = opened(folder_of(family), "heads", **{"heads.what": "scores"})
    assert SAID[family] not in payload(app, "head_map")[0]["texts"]["note"]  # which are before any softmax


@pytest.mark.parametrize("family", ["granite-swa", pytest.param("gpt-oss", marks=pytest.mark.long)])
def test_long_texts_says_it_under_every_picture_of_heads(folder_of, family):
    for view in ("map", "heads", "curves"):
        assert told(SAID[family]) in html(opened(folder_of(family), "long_texts", **{"long_texts.view": view}))


@pytest.mark.long
@pytest.mark.parametrize("family", ["granite-swa", "gpt-oss"])
def test_families_says_it_of_the_open_model_and_of_no_embedded_one(folder_of, family):
    app = opened(folder_of(family), "families")
    assert sorted(meta["texts"]["note"] for meta, _ in payloads(app, "head_map")) == ["", SAID[family]]


def test_compare_says_it_of_the_side_that_it_is_true_of(folder_of):
    with_sink = folder_of("gpt-oss")
    app = opened(with_sink, "compare", **{"compare.head": "L1H3"})
    assert html(app).count(told(IN_SOFTMAX)) == 1
    app = opened(with_sink, "compare", **{"compare.model": "default"})
    assert f"A: {told(IN_SOFTMAX)}" in html(app)
    assert "B: A learned sink" not in html(app)


@pytest.mark.long
def test_compare_says_of_each_side_what_is_true_of_it(folder_of):
    app = opened(folder_of("gpt-oss"), "compare", **{"compare.model": folder_of("granite-swa")})
    assert f"A: {told(IN_SOFTMAX)}" in html(app)
    assert f"B: {told(AFTER)}" in html(app)


@pytest.mark.parametrize("page", ["heads", "compare", "long_texts"])
def test_a_model_without_a_sink_says_nothing_of_one(page):
    app = open_app(page=f"pages/{page}/page.py")
    assert "learned sink" not in html(app)


def test_a_head_whose_softmax_is_replaced_has_no_sink_any_more(folder_of):
    edits = written((Substituted("sigmoid", (), (1,), (2,)),))
    app = opened(folder_of("gpt-oss"), "heads", edits=edits, everywhere="1")
    assert payload(app, "head_map")[0]["texts"]["note"] == NO_SHARES
    assert "learned sink" not in html(app)


@pytest.mark.long
def test_of_one_softmax_over_two_texts_pages_say_where_the_rest_of_a_row_is_and_nothing_of_a_sink(tmp_path):
    folder = save(tmp_path / "merged", of_two_texts.FAMILIES["t5gemma2"]())
    for shown, other in (("decoder", "cross"), ("cross", "decoder")):
        app = opened(folder, "heads", target="Der Hund", attention=shown)
        assert payload(app, "head_map")[0]["texts"]["note"] == REST_IN[other]
        assert told(REST_IN[other]) in html(app)
    app = opened(folder, "cell", target="Der Hund", attention="cross")
    texts = payload(app, "cell_steps")[0]["texts"]
    assert texts["sink_long"].endswith("to the keys of the other text, in a map of their own")
    assert all("keys of the other text" in texts[name] for name in ("f_sink", "f_rotated"))
    app = opened(folder, "zoo", target="Der Hund", attention="cross", **{"zoo.view": "flash"})
    assert "the keys of two texts, and this film draws those of one" in html(app) + " ".join(sentences(app))


@pytest.mark.long
def test_a_class_is_told_of_it_and_the_entropy_is_of_the_rest(folder_of):
    folder = folder_of("gpt-oss")
    rows = load_runner(folder).capture(CaptureRequest(TEXT)).weights(1, 2)
    query = 1 + int(rows[1:].sum(-1).argmin())  # the first token has itself alone to look at
    row = rows[query, : query + 1].tolist()
    app, room = open_room(model=folder, text=TEXT, layer="1", head="2", query=str(query))
    app.button(key="ask_where").click().run()
    whole = math.fsum(row)
    assert whole < 0.95
    entropy = -math.fsum(p / whole * math.log2(p / whole) for p in row if p)
    assert room.poll.question.told == f"unsure by {entropy:.2f} bits (entropy) · {SAID['gpt-oss']}"
