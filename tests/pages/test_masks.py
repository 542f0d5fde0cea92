"""The page Masks: its pictures are the patterns', its numbers the changed model's, and bad input is one sentence."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from analysis.comparison import next_token_change
from analysis.mask_effect import cut_mass, perplexity
from analysis.mask_picture import kept
from analysis.number_text import significant, three_digits
from attention.patterns import BY_NAME, PATTERNS
from jobs.mask_sweep import MaskTrial, SweepPoint
from model_runner.edits import Blocked, Masked
from model_runner.python_lines import python_start
from pages.masks import export
from pages.masks.export import gallery_snippet, mask_trial_name, model_snippet, sweep_snippet
from pages.masks.gallery import short
from pages.masks.state import BY_CHOICE, DUAL, Painted
from pages.masks.sweep import SweepView
from tests.pages.expected import capture, runner
from tests.pages.visiting import PATIENCE, visit
from tests.ui.driving import (
    button,
    components,
    html,
    open_app,
    payload,
    payloads,
    picture_taken,
    send,
    sentences,
    type_text,
    until,
)
from tests.ui.taken import ran

PAGE = "pages/masks/page.py"
N = 8  # tokens of the default text


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.name)
def test_the_large_picture_is_the_pattern_on_this_text(pattern):
    app = open_app(page=PAGE, mask=pattern.name, mask_window="2", mask_stride="3", mask_size="3", mask_start="5")
    meta, arrays = payload(app, "mask_gallery")
    values = {"window": 2, "stride": 3, "size": 3, "start": 5, "shared": 2, "sinks": 2, "length": 4}
    assert meta["selected"] == pattern.name
    assert meta["tokens"] == [token.text for token in capture().tokens]
    np.testing.assert_array_equal(arrays["reached"] == 1, kept(pattern, values, N).numpy())
    assert meta["n_layers"] == 8


def test_the_page_opens_with_a_pattern_that_hides_something():
    meta, arrays = payload(open_app(page=PAGE), "mask_gallery")
    assert meta["selected"] == "window"
    assert 0 < (arrays["reached"] == 1).sum() < N * (N + 1) // 2


def test_the_index_map_shows_every_key_and_is_not_offered_on_the_model():
    app = open_app(page=PAGE, mask=DUAL, mask_chunk="3", mask_local="2")
    _, arrays = payload(app, "mask_gallery")
    assert arrays["distance"][7, 0] == 3 + 2 - 1
    app = open_app(page=PAGE, mask=DUAL, masks="model")
    assert "cannot be laid over the model as a mask" in sentences(app)[0]
    assert app.selectbox(key="masks.pattern").value == "window"
    assert "dual chunk" not in app.selectbox(key="masks.pattern").options


def test_a_pattern_sent_by_the_gallery_is_shown_and_in_the_address():
    app = send(open_app(page=PAGE), "mask_gallery", "pattern", "strided")
    assert payload(app, "mask_gallery")[0]["selected"] == "strided"
    assert app.query_params["masks.pattern"] == "strided"


def test_a_slider_changes_the_picture_and_the_address():
    app = open_app(page=PAGE)
    app.slider(key="masks.values.window").set_value(1).run()
    assert app.query_params["masks.values.window"] == "1"
    np.testing.assert_array_equal(payload(app, "mask_gallery")[1]["reached"] == 1, np.eye(N, dtype=bool))


def test_painted_cells_are_hidden_in_the_gallery_and_on_the_model():
    app = send(open_app(page=PAGE, mask="full"), "mask_gallery", "hidden", [[7, 1], [7, 2]])
    assert app.query_params["masks.hidden"] == "7.1-7.2"
    meta, arrays = payload(app, "mask_gallery")
    assert meta["hidden"] == [[7, 1], [7, 2]]
    assert arrays["reached"][7].tolist() == [1, 2, 2, 1, 1, 1, 1, 1]
    assert ", 7 → 1, 7 → 2 hidden in all layers · " in picture_taken(app)
    app = open_app(page=PAGE, mask="full", mask_hidden="7.1-7.2", masks="model", layer="3", head="2")
    after = capture(edits=(Masked("full"), Blocked(((7, 1), (7, 2)))))
    np.testing.assert_allclose(last_map(app)[7], hidden(after.weights(3, 2)[7], (1, 2)), atol=1e-6)
    assert f"attention after {BY_NAME['full'].label} in all layers, 7 → 1, 7 → 2 hidden" in picture_taken(app)


def hidden(row, keys):
    row = row.numpy().copy()
    row[list(keys)] = np.nan
    return row


def last_map(app):
    """The values of the map after the change: the second of the two."""
    return payloads(app, "head_map")[1][1]["values"]


@pytest.mark.parametrize(
    "address, edits",
    [
        ({"mask_window": "3"}, (Masked("window", (("window", 3),)),)),
        ({"mask_window": "3", "mask_where": "second"}, (Masked("window", (("window", 3),), (1, 3, 5, 7)),)),
        (
            {"mask_where": "chosen", "mask_layers": "3", "mask_heads": "2.4"},
            (Masked("window", (("window", 4),), (3,), (2, 4)),),
        ),
        ({"mask": "sinks", "mask_sinks": "1", "mask_window": "2"}, (Masked("sinks", (("window", 2), ("sinks", 1))),)),
    ],
)
def test_before_and_after_are_those_of_the_edited_capture(address, edits):
    app = open_app(page=PAGE, masks="model", layer="3", head="2", **address)
    before, after = capture(), capture(edits=edits)
    keep = after.record(3).mask.tile(slice(0, N), slice(0, N), after.q(3).device, head=2).numpy()
    expected = np.where(keep, after.weights(3, 2).numpy(), np.nan)
    np.testing.assert_allclose(last_map(app), expected, atol=1e-6)
    np.testing.assert_allclose(payload(app, "head_grid")[1]["metric"], cut_mass(before, after), atol=1e-6)
    page = html(app)
    assert f"KL {significant(next_token_change(before, after).kl, 3)} bits" in page
    assert f"{perplexity(before):.3g} before, {perplexity(after):.3g} after" in page


def test_a_prefix_is_judged_by_the_tokens_after_it():
    app = open_app(page=PAGE, masks="model", mask="prefix", mask_length="5")
    after = capture(edits=(Masked("prefix", (("length", 5),)),))
    assert f"{perplexity(capture(), 5):.3g} before, {three_digits(perplexity(after, 5))} after" in html(app)


def test_no_layer_changes_nothing_and_says_so():
    app = open_app(page=PAGE, masks="model", mask_where="chosen", mask_layers="-")
    assert "No layer is chosen, so nothing changes." in html(app)
    assert payload(app, "head_grid")[1]["metric"].max() == 0.0


@pytest.mark.parametrize(
    "address, sentence",
    [
        ({"mask_window": "0"}, "The window is 0; it must be at least 1."),
        ({"mask_window": "abc"}, "“abc” is not a number for window."),
        ({"mask_hidden": "99.3-7.1"}, "Cells hidden by hand beyond the text were dropped: 1; it has 8 tokens."),
        ({"mask_hidden": "what"}, "“what” is not a number for cells hidden by hand."),
        ({"mask": "zzz"}, "“zzz” is not an option for pattern."),
        ({"mask": "full", "mask_hidden": "0.0"}, "would see nothing at all, so each keeps itself: ⟨bos⟩ (0)."),
    ],
)
@pytest.mark.parametrize("masks", ["gallery", "model"])
def test_what_cannot_be_is_one_sentence_and_the_picture_stays(masks, address, sentence):
    app = open_app(page=PAGE, masks=masks, **address)
    assert len(sentences(app)) == 1
    assert sentence in sentences(app)[0]
    assert ("mask_gallery" if masks == "gallery" else "head_grid") in components(app)


@pytest.mark.parametrize("where", ["all", "second", "chosen"])
def test_layers_that_the_model_does_not_have_are_said_wherever_the_pattern_is_laid(where):
    app = open_app(page=PAGE, masks="model", mask_where=where, mask_layers="3.99")
    assert sentences(app) == [
        "Layers that have no softmax attention, or that this model does not have, were left out: 99."
    ]
    assert app.query_params["masks.layers"] == "3"


def test_no_more_cells_are_hidden_than_an_address_holds():
    cells = "-".join(f"{query}.{key}" for query in range(1, 40) for key in range(query))
    app = open_app(page=PAGE, mask_hidden=cells, text=" ".join(["dog"] * 45))
    assert sentences(app) == ["Only the first 300 cells were hidden (maximum reached)."]
    assert len(payload(app, "mask_gallery")[0]["hidden"]) == 300


def test_a_number_beyond_the_slider_is_its_end_so_that_a_shorter_text_needs_no_words():
    app = open_app(page=PAGE, mask_window="999999")
    assert sentences(app) == []
    assert app.slider(key="masks.values.window").value == N


def test_the_sweep_draws_the_models_perplexities():
    app = open_app(page=PAGE, masks="sweep")
    until(app, lambda app: not button(app, "sweep_stop"))
    figure = json.loads(app.get("plotly_chart")[0].proto.spec)
    line = next(one for one in figure["data"] if one["name"] == "sliding window")
    places, values = values_in(line["x"]), values_in(line["y"])
    assert places[0] == 1
    assert places[-1] == N
    for size, value in zip(places, values, strict=True):
        assert value == pytest.approx(
            perplexity(capture(edits=(Masked("window", (("window", int(size)),)),))), rel=1e-6
        )
    assert values[-1] == pytest.approx(perplexity(capture()), rel=1e-5)
    said = "The cells hidden by hand in the gallery are not hidden here."
    assert said not in html(app)
    assert said in html(open_app(page=PAGE, masks="sweep", mask_hidden="3.2-4.3"))


def test_the_rows_of_the_sweeps_table_are_named_in_words(monkeypatch):
    monkeypatch.setattr(export, "_", str)  # no session, no language
    assert mask_trial_name(MaskTrial("window", 8, (("window", 8),))) == "sliding window · window 8"
    assert (
        mask_trial_name(MaskTrial("sinks", 8, (("window", 4), ("sinks", 4)))) == "sinks and window · window 4, sinks 4"
    )


def values_in(axis):
    """A Plotly axis, which may come packed."""
    if isinstance(axis, dict):
        import base64

        return np.frombuffer(base64.b64decode(axis["bdata"]), axis["dtype"]).tolist()
    return axis


def test_a_shorter_text_drops_the_cells_beyond_it():
    app = type_text(open_app(page=PAGE, mask_hidden="7.1"), "Hi")
    assert ["dropped" in one for one in sentences(app)] == [True]


@pytest.mark.long
@pytest.mark.table
@pytest.mark.parametrize(
    "masks", ["model", *(pytest.param(one, marks=pytest.mark.long) for one in ("gallery", "sweep"))]
)
def test_a_model_without_attention_in_some_layers_is_masked_in_the_others(folder_of, masks):
    app = open_app(page=PAGE, model=folder_of("jamba"), masks=masks, mask_where="second", text="some text")
    assert sentences(app) == []


def test_sizes_are_read_by_thousands():
    assert [short(value) for value in (0, 999, 1_234, 33_400_000, 4.29e9, 5.6e14)] == [
        "0 ", "999 ", "1.23 k", "33.4 M", "4.29 G", "560 T",
    ]  # fmt: skip


def test_the_snippets_give_the_numbers_of_the_pictures():
    opened: Any = SimpleNamespace(capture=capture(), layer=3, head=2)
    gallery: Any = SimpleNamespace(
        choice=BY_CHOICE["window"], values={"window": 2}, painted=Painted(((4, 4),)), index=None,
        picture=SimpleNamespace(layers=np.ones((N, N), np.uint8)), causal=True,
    )  # fmt: skip
    names = ran(gallery_snippet(opened, gallery))
    expected = kept(BY_NAME["window"], {"window": 2}, N).numpy().copy()
    expected[4, 4] = False
    np.testing.assert_array_equal(names["values"] == 1, expected)
    edits = (Masked("window", (("window", 2),), (3,)), Blocked(((4, 4),), (3,)))
    found: Any = SimpleNamespace(edits=edits, perplexities=(1.0, 2.0))
    names = ran(python_start(opened.capture.request) + model_snippet(opened, found))
    after = runner().capture(replace(capture().request, edits=edits))
    np.testing.assert_allclose(names["weights"].numpy(), after.weights(3, 2).numpy(), atol=1e-6)
    assert names["after"] == pytest.approx(perplexity(after), rel=1e-6)
    assert not math.isnan(names["before"])
    found.perplexities = None  # the page says that there are none
    assert "perplexity(" not in model_snippet(opened, found)
    found = SimpleNamespace(edits=(Masked("prefix", (("length", 5),)),), perplexities=(1.0, 2.0))
    names = ran(python_start(opened.capture.request) + model_snippet(opened, found))
    assert names["before"] == pytest.approx(perplexity(capture(), 5), rel=1e-6)
    point = SweepPoint(MaskTrial("window", 2, (("window", 2),)), 0.5, 1.0)
    snippet = python_start(opened.capture.request) + sweep_snippet(opened, SweepView((point,), 1.0, N))
    names = ran(snippet)
    assert names["values"] == [
        pytest.approx(perplexity(capture(edits=(Masked("window", (("window", 2),)),))), rel=1e-6)
    ]


@pytest.mark.browser
def test_a_stroke_of_the_pencil_reaches_the_address_and_the_slider_the_picture(server, page):
    visit(page, server, "masks", mask="full")
    root = page.locator(".mask-gallery[data-painted]")
    root.wait_for(timeout=PATIENCE)
    page.locator(".mask-gallery .pencil").click()
    at = json.loads(root.get_attribute("data-geometry") or "{}")
    page.locator(".mask-gallery .large > canvas").click(
        position={"x": at["x"] + 1.5 * at["cell"], "y": at["y"] + 7.5 * at["cell"]}
    )
    page.wait_for_url(lambda url: "masks.hidden=7.1" in url, timeout=PATIENCE)
    page.get_by_text("on the model").click()
    page.get_by_text("Cells hidden by hand in the gallery, 1, are hidden here too.").wait_for(timeout=PATIENCE)
