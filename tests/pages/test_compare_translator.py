"""The page Compare with a translator on either side: its texts are compared, and what cannot be says what to choose."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.aligned_heads import aligned_heads
from analysis.examples import OF_MODEL
from analysis.head_grid import head_grid
from analysis.joined import joined
from model_runner import CaptureRequest, load_runner
from model_runner.errors import NotOverOneText
from tests.pages.expected import capture
from tests.pages.test_compare import PAGE, maps, same
from tests.ui.driving import beside_head, html, open_app, sentences
from tests.ui.taken import offers, ran
from viz.distribution import percent

TEXT = OF_MODEL["translator"][0].text
ADDRESS = {"model": "translator", "text": TEXT, "layer": "0", "head": "1"}
VIEWS = ["maps", "metrics", "next", "tokens"]


def translated(attention, text=TEXT):
    return load_runner("translator").capture(CaptureRequest(text, attention=attention))


@pytest.mark.parametrize("attention", ["decoder", "encoder"])
def test_two_heads_of_a_text_that_looks_at_itself_are_compared(attention, monkeypatch):
    offered = offers(monkeypatch)
    app = open_app(page=PAGE, attention=attention, **ADDRESS, **{"compare.head": "L1H2"})
    assert sentences(app) == []
    wanted = aligned_heads(translated(attention), (0, 1), translated(attention), (1, 2))
    for (_meta, values), one in zip(maps(app), wanted.maps, strict=True):
        same(values, one.values)
    names = ran(offered[-1].snippet)
    same(names["values"], wanted.difference.values)


def test_the_decoders_of_two_texts_are_compared_with_what_each_wrote():
    other = OF_MODEL["translator"][1].text
    app = open_app(page=PAGE, attention="decoder", **ADDRESS, **{"compare.text": other, "compare.head": "L0H1"})
    wanted = aligned_heads(translated("decoder"), (0, 1), translated("decoder", other), (0, 1))
    for (_meta, values), one in zip(maps(app), wanted.maps, strict=True):
        same(values, one.values)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("attention", ["cross", "decoder", "encoder"])
def test_a_view_that_cannot_be_shown_says_what_to_choose_and_the_others_are_there(attention, view):
    app = open_app(page=PAGE, attention=attention, **ADDRESS, **{"compare.view": view})
    refused = (attention, view) in [("cross", "maps"), ("cross", "tokens"), ("encoder", "next")]
    said = sentences(app)
    assert len(said) == refused
    if attention == "cross" and refused:
        assert NotOverOneText.message in said[0]
        assert NotOverOneText.hint in said[0]
    assert app.button_group(key="compare.view").value == view
    assert "atlas-badge ok" in html(app)


def test_metrics_across_are_those_of_both_heads():
    app = open_app(page=PAGE, attention="cross", **ADDRESS, **{"compare.view": "metrics", "compare.head": "L1H2"})
    grid = head_grid(joined(translated("cross"))).metrics["entropy"]
    for layer, head in ((0, 1), (1, 2)):
        assert f">{grid[layer, head]:.1f} bits<" in html(app)


def test_a_translator_as_b_reads_the_same_text_with_its_encoder():
    app = open_app(page=PAGE, text=TEXT, layer="3", head="1", **{"compare.model": "translator", "compare.head": "L1H2"})
    assert sentences(app) == []
    wanted = aligned_heads(capture(TEXT), (3, 1), translated("encoder"), (1, 2))
    for (_meta, values), one in zip(maps(app), wanted.maps, strict=True):
        same(values, one.values)


def test_a_translator_as_b_predicts_with_its_decoder():
    app = open_app(page=PAGE, text=TEXT, **{"compare.model": "translator", "compare.view": "next"})
    assert sentences(app) == []
    decoder = translated("decoder")
    likeliest = float(decoder.logits(-1).double().softmax(-1).max())
    assert f">{percent(likeliest)}<" in html(app)


def test_another_model_reads_what_a_decoder_wrote():
    app = open_app(page=PAGE, attention="decoder", **ADDRESS, **{"compare.model": "default", "compare.head": "L3H7"})
    written = translated("decoder")
    wanted = aligned_heads(written, (0, 1), capture(written.text), (3, 7))
    for (_meta, values), one in zip(maps(app), wanted.maps, strict=True):
        np.testing.assert_allclose(values, one.values, atol=1e-6)


def test_as_b_it_takes_a_sentence_of_its_own_where_it_never_read_the_words():
    app = open_app(page=PAGE, text="The Shawshank", **{"compare.model": "translator"})
    assert "has never seen “Shawshank”" in html(app)
    app.button(key="compare_known").click().run()
    assert (beside_head(app)["text"], beside_head(app)["compare.text"]) == ("The Shawshank", TEXT)
    assert "has never seen" not in html(app)
