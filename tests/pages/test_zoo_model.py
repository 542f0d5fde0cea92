"""Variants in the running model: what the page Zoo says of it, and every page that it is carried over."""

from __future__ import annotations

import functools
import re
from typing import Any

import numpy as np
import pytest

from analysis.comparison import drift_of_head, head_drift, next_token_change
from analysis.hybrid import attending, counts, seven_to_one, softmax_layers, stack
from analysis.mask_effect import perplexity
from analysis.zoo import captured_head, substituted
from attention.zoo.table import BY_NAME
from jobs import zoo_recall
from jobs.greedy_pair import TOKENS
from model_runner import CaptureRequest
from model_runner.block_questions import ConvolvedFeedForward, FeedForwardUnits, StreamAdditions
from model_runner.edit_text import read, written
from model_runner.question import Logits
from model_runner.substitution import Substituted
from pages.zoo import hybrid
from tests.pages.expected import ROUNDING, masked, runner, weights
from tests.pages.test_reading import VIEWS
from tests.ui.driving import html, open_app, payload, payloads, sentences
from tests.ui.taken import Taken, offers, ran, taken
from ui.shared import export_bundle as ui_view
from ui.state.url_state import DEFAULT_TEXT
from viz.share_text import share_digits

PAGE = "pages/zoo/page.py"
HERE = {"layer": "3", "head": "5"}
ONE = Substituted("linear", (), (3,), (5,))
LIGHTNING = (("half_life", 8), ("tile", 4))


@functools.cache
def changed(*edits: Substituted):
    return runner().capture(CaptureRequest(text=DEFAULT_TEXT, edits=edits))


def opened(view: str = "model", **values: str):
    return open_app(page=PAGE, **HERE, **{"zoo.view": view}, **{f"zoo.{name}": value for name, value in values.items()})


def pulled(app, until: str):
    """The page once its work in the background has come so far."""
    for _look in range(200):
        if until in html(app):
            return app
        app.run()
    raise AssertionError(html(app)[-2000:])


PLACES = {"head": ((3,), (5,)), "layer": ((3,), None), "all": (None, None)}


@pytest.mark.parametrize("where", PLACES)
def test_a_head_a_layer_or_all_of_them_before_and_after(where):
    edit = Substituted("linear", (), *PLACES[where])
    after, before = changed(edit), changed()
    app = opened(where=where)
    usual, now, _gained = (arrays["values"] for _meta, arrays in payloads(app, "head_map"))
    np.testing.assert_allclose(usual, masked(weights(3, 5)), atol=ROUNDING)
    np.testing.assert_allclose(now, masked(after.weights(3, 5).numpy()), atol=ROUNDING)
    page = html(app)
    assert f"KL {next_token_change(before, after).kl:.3g} bits" in page
    assert f"{perplexity(before):.3g} before, {perplexity(after):.3g} after" in page
    assert "Substituted, not trained" in page
    assert sentences(app) == []


@pytest.mark.parametrize("name", ["sigmoid", "nystrom", "lightning", "off_by_one"])
def test_the_share_that_lies_elsewhere_is_one_number_on_the_head_and_in_the_model(name):
    """Whatever the rows of its map sum to: a share is at most all of it."""
    edit = Substituted(name, (), (3,), (5,))
    before, after = changed(), changed(edit)
    on_head = substituted(captured_head(before, 3, 5), BY_NAME[name], {}).elsewhere
    in_model = drift_of_head(before, after, 3, 5)
    assert in_model == pytest.approx(on_head, abs=1e-5)
    assert head_drift(before, after)[3, 5] == pytest.approx(on_head, abs=1e-5)
    assert 0 <= in_model <= 1


@pytest.mark.parametrize("name, said", [("mla", "fitted to the whole text"), ("linformer", "tokens see those")])
def test_there_is_no_perplexity_and_no_needle_of_what_is_made_of_the_whole_text(name, said):
    app = opened(variant=name, where="all")
    assert "No perplexity: " in html(app)
    assert said in html(app)
    app = opened("hybrid", variant=name)
    assert any("including the tokens that the model has to predict" in one for one in sentences(app))


def test_the_text_goes_on_by_the_likeliest_token_each_time():
    edit, said = Substituted("cosformer"), []  # which hangs on the whole text: no cache would do
    for _step in range(TOKENS):
        request = CaptureRequest(text=DEFAULT_TEXT, continuation=tuple(said), edits=(edit,))
        said.append(int(runner().capture(request).logits(-1).argmax()))
    words = "".join(runner().token_text(token) for token in said)
    assert f"<bdi>{words}</bdi>" in html(pulled(opened(variant="cosformer", where="all"), f"<bdi>{words}</bdi>"))


def test_a_click_carries_it_over_every_page_in_the_place_of_the_one_before():
    app = open_app(page=PAGE, **HERE, **{"zoo.view": "model", "edits": written((Substituted("relu"),))})
    app.toggle[0].set_value(True).run()
    assert read(app.query_params["edits"]) == (ONE,)
    assert app.query_params["everywhere"] == "1"


CARRIED = {"edits": written((Substituted("lightning", LIGHTNING, (3,), (5,)),)), "everywhere": "1"}
NO_SCORES = (
    "cell",
    "positions.difference",
    "positions.frequencies",
    "positions.distance",
    "steps.steps",
    "zoo.maps",
    "zoo.linear",
    "zoo.flash",
)
EVERY = [(page, view) for page, views in VIEWS.items() for view in views if page not in ("sharing", "families")]


@pytest.mark.parametrize("page, view", [("heads", ""), ("cell", ""), ("next_token", ""), ("film", ""), *EVERY])
def test_every_page_shows_the_map_of_a_substituted_head_or_says_why_not(page, view):
    place = {f"{page}.view": view, "steps.source": "model"} if view else {}
    app = open_app(page=f"pages/{page}/page.py", **HERE, **place, **CARRIED)
    told = any("has no softmax scores here" in sentence for sentence in sentences(app))
    assert told == (f"{page}.{view}".rstrip(".") in NO_SCORES)


LIGHT = Substituted("lightning", LIGHTNING, (3,), (5,))


def block(view: str, **values: str):
    """A view of The block with the head substituted, and what is asked of the changed model itself."""
    address = {"block.view": view} | {f"block.{name}": value for name, value in values.items()}
    app = open_app(page="pages/block/page.py", query="5", **HERE, **address, **CARRIED)
    return app, CaptureRequest(text=DEFAULT_TEXT, edits=(LIGHT,))


def test_the_block_has_the_stream_of_the_changed_model_at_every_stage():
    app, request = block("architecture", block="3")
    meta, arrays = payload(app, "model_stages")
    titles = [row["title"] for row in meta["rows"]]
    after, before = changed(LIGHT), changed()
    for layer in range(8):
        expected = after.residual(layer + 1)[5].numpy()
        np.testing.assert_allclose(arrays["vectors"][titles.index(f"L{layer}")], expected, atol=1e-4)
        same = np.allclose(expected, before.residual(layer + 1)[5].numpy(), atol=1e-4)
        assert same == (layer < 3)  # it is changed from its own layer on
    share = float(after.logits(5).double().softmax(0).max())
    shown = meta["rows"][-1]["shapes"].split(" · ")[-1]
    assert float(shown.split()[0]) == pytest.approx(100 * share, abs=1)
    app, _request = block("stream")
    added = runner().submit(StreamAdditions(request, 5)).result()
    vectors = payload(app, "model_stages")[1]["vectors"]
    np.testing.assert_allclose(vectors, added.vectors.numpy(), atol=1e-4)
    np.testing.assert_allclose(vectors.sum(axis=0), after.residual(8)[5].numpy(), atol=1e-3)


def test_norms_units_and_lens_of_the_block_are_of_the_changed_stream():
    after = changed(LIGHT)
    app, request = block("norms", layer="4")
    x = after.residual(4)[5].double().numpy()
    vectors = payload(app, "model_stages")[1]["vectors"]
    np.testing.assert_allclose(vectors[0], x, atol=1e-4)
    np.testing.assert_allclose(vectors[2], x / np.sqrt((x**2).mean()), atol=1e-4)
    app, _request = block("ffn", layer="4")
    units = runner().submit(FeedForwardUnits(request, 4, 5)).result()
    usual = runner().submit(FeedForwardUnits(CaptureRequest(text=DEFAULT_TEXT), 4, 5)).result()
    assert not np.allclose(units.values.numpy(), usual.values.numpy(), atol=1e-4)
    assert all(f"<th>{unit}</th>" in html(app) for unit in units.top.tolist())
    app, _request = block("lens")
    values = payload(app, "layer_head_map")[1]["values"]
    for position in range(values.shape[1]):
        own = float(after.logits(position).double().softmax(0).max())
        assert values[8, position] == pytest.approx(own, abs=1e-5)  # the row of the model's own end


def test_the_block_does_not_train_a_changed_model_and_its_random_experts_are_no_part_of_it():
    app, _request = block("learning")
    (said,) = sentences(app)
    assert "a training step runs only on the unmodified model" in said
    assert payloads(app, "layer_head_map") == []
    app, _request = block("experts", experts="random")
    usual = open_app(page="pages/block/page.py", query="5", **{"block.view": "experts", "block.experts": "random"})
    picks, others = (payloads(one, "layer_head_map")[0][1]["values"] for one in (app, usual))
    np.testing.assert_array_equal(picks, others)


def test_heads_draw_the_map_that_stands_in_as_the_numbers_it_has():
    app = open_app(page="pages/heads/page.py", **HERE, **CARRIED)
    meta, arrays = payload(app, "head_map")
    after = changed(Substituted("lightning", LIGHTNING, (3,), (5,)))
    np.testing.assert_allclose(np.nan_to_num(arrays["values"]), after.weights(3, 5).numpy(), rtol=1e-5, atol=1e-4)
    assert (meta["number"], meta["low"]) == ("plain", 0)
    assert meta["high"] == pytest.approx(float(after.weights(3, 5).max()))
    assert "Lightning (decay) half-life 8, tile size 4 for softmax in L3H5, untrained" in html(app)
    assert "the variant’s map × values" in html(app)


@pytest.mark.parametrize("reading", [{"heads.what": "scores"}, {"heads.hide_first": "1"}])
def test_heads_say_where_there_are_no_scores_and_draw_the_map(reading):
    app = open_app(page="pages/heads/page.py", **HERE, **CARRIED, **reading)
    assert any("L3H5 has no softmax scores here" in one for one in sentences(app))
    after = changed(Substituted("lightning", LIGHTNING, (3,), (5,)))
    shown = np.nan_to_num(payload(app, "head_map")[1]["values"])
    np.testing.assert_allclose(shown, after.weights(3, 5).numpy(), rtol=1e-5, atol=1e-4)


# -- the hybrid stack -------------------------------------------------------------------------------------------------


def test_seven_to_one_is_every_eighth_layer():
    assert seven_to_one(range(8)) == (7,)
    assert seven_to_one(range(24)) == (7, 15, 23)
    assert seven_to_one(range(3)) == (2,)
    assert [len(softmax_layers(range(11), count)) for count in range(12)] == list(range(12))
    assert counts(8) == (8, 7, 6, 5, 4, 3, 2, 1, 0)
    assert (*counts(48)[:2], counts(48)[-1]) == (48, 42, 0)
    assert attending(changed()) == tuple(range(8))
    assert stack("linear", {}, range(3), (0, 1, 2)) == ()


def test_any_layer_is_set_by_hand_and_shows_what_the_model_then_says():
    app = opened("hybrid")
    app.button(key="zoo_layer_2").click().run()
    assert app.query_params["zoo.softmax"] == "2.7"
    edit = Substituted("linear", (), (0, 1, 3, 4, 5, 6))
    assert f"KL {next_token_change(changed(), changed(edit)).kl:.3g} bits" in html(app)
    app.button(key="zoo_seven").click().run()
    assert "zoo.softmax" not in app.query_params


def test_another_layer_by_hand_asks_nothing_of_the_curve_anew(monkeypatch):
    made: list[tuple[int, ...] | None] = []

    class Told(zoo_recall.Recall):
        def __init__(self, *given: Any) -> None:
            made.append(given[6])
            super().__init__(*given)

    monkeypatch.setattr(hybrid, "Recall", Told)
    app = opened("hybrid")
    app.button(key="zoo_layer_2").click().run()
    app.button(key="zoo_layer_3").click().run()
    assert made == [None, (7,), (2, 7), (2, 3, 7)]


@pytest.mark.parametrize("model, layers", [("default", tuple(range(8))), ("jamba", (1,))])
def test_the_lines_of_the_curve_put_the_variant_into_the_layers_that_attend(model, layers, folder_of, monkeypatch):
    found = offers(monkeypatch)
    model = folder_of(model) if model != "default" else model
    open_app(page=PAGE, model=model, **{"zoo.view": "hybrid"})
    assert f"layers, needle = {layers}, " in found[-1].snippet
    if model != "default":  # of which a forward takes long
        assert ran(found[-1].snippet)["layers"] == layers


def test_transnormer_is_stacked_as_its_paper_has_it():
    """Softmax inside blocks in the lower half, and rows of norm √d in the upper one, in one model."""
    app = opened("hybrid", **{"values.blocks.size": "3"})
    app.button(key="zoo_transnormer").click().run()
    assert (app.query_params["zoo.variant"], app.query_params["zoo.softmax"]) == ("transnormer", "0.1.2.3")
    assert app.query_params["zoo.kept"] == "blocks"
    edits = stack("transnormer", {}, range(8), (0, 1, 2, 3), 3)
    assert "4 of 8 layers have softmax inside blocks of 3 tokens" in html(app)
    after = changed(*edits)
    assert f"KL {next_token_change(changed(), after).kl:.3g} bits" in html(app)
    places = np.arange(len(after.tokens))
    for layer in range(8):
        weights, v = after.weights(layer, 5).double(), after.v(layer)[5 // after.record(layer).group].double()
        if layer < 4:
            seen = (places[:, None] // 3 == places // 3) & np.tri(len(places), dtype=bool)
            assert ((weights.numpy() != 0) == seen).all()
            assert weights.sum(-1).numpy() == pytest.approx(1)
        else:
            assert (weights @ v).square().mean(-1).sqrt().numpy() == pytest.approx(1, abs=1e-5)
    app.button(key="zoo_seven").click().run()
    assert "zoo.kept" not in app.query_params


def test_one_block_as_long_as_the_text_is_the_stack_with_whole_softmax():
    whole, blocks = (changed(*stack("linear", {}, range(8), (1, 6), size)) for size in (0, len(changed().tokens)))
    assert (whole.hidden - blocks.hidden).abs().max() < 1e-4


@pytest.mark.long
@pytest.mark.parametrize("lang, words", [("en", "“The code is 7412” is hidden"), ("zh", "“密码是7412”")])
def test_the_recall_falls_with_the_share_of_softmax_from_what_the_model_can_do(monkeypatch, lang, words):
    kept: list[Taken] = []
    monkeypatch.setattr(ui_view, "show_file_menu", lambda opened, shown: kept.append(taken(opened, shown)))
    app = open_app(page=PAGE, **HERE, lang=lang, **{"zoo.view": "hybrid"})
    while app.get("progress"):  # they are gone once all is done
        app.run()
    assert words in html(app)
    found = kept[-1].arrays
    curve = dict(zip(found["kept"][:9].tolist(), found["share"][:9].tolist(), strict=True))
    assert curve[1.0] >= 0.9
    assert curve[0.0] <= 0.1
    assert found["kept"][9:].tolist() == [1 / 8]  # the stack above, which is on the curve too
    assert found["share"][9] == curve[1 / 8]


@pytest.mark.parametrize("view, named", [("model", {"variant": "dual_chunk"}), ("weights", {"factors.1": "0"})])
def test_the_lines_of_python_make_the_changed_model_and_give_its_map(monkeypatch, view, named):
    kept: list[Taken] = []
    monkeypatch.setattr(ui_view, "show_file_menu", lambda opened, shown: kept.append(taken(opened, shown)))
    app = opened(view, **named)
    assert ("(successive) ·" in html(app)) is (view == "model")  # the shares of its parts in the running model
    left: dict[str, Any] = {}
    exec(kept[-1].snippet, left)
    arrays = kept[-1].arrays
    np.testing.assert_allclose(np.nan_to_num(left["values"]), np.nan_to_num(arrays["after"]), atol=1e-6)
    assert np.nanmax(np.abs(arrays["after"] - arrays["before"])) > 0.01


# -- what has no place ------------------------------------------------------------------------------------------------


def test_what_has_no_place_in_the_model_is_one_sentence_and_the_controls_stay():
    app = open_app(page=PAGE, model="encoder", **{"zoo.view": "model", "zoo.variant": "lightning", "zoo.where": "all"})
    assert any(re.search("this layer is bidirectional", one) for one in sentences(app))
    app = opened(variant="nystrom", **{"values.nystrom.landmarks": "99"})
    assert any("it may be at most 8" in one for one in sentences(app))
    assert len(payloads(app, "head_map")) == 3
    app = opened("hybrid", softmax="2.99")
    assert any("were left out: 99" in one for one in sentences(app))


def test_sanas_convolution_moves_the_part_of_its_layer_and_0_is_neutral():
    page = html(opened(variant="relu", where="layer"))
    assert "0 is neutral" in page
    assert "The part’s output moves by" not in page
    page = html(opened(variant="relu", where="layer", neighbours="40"))
    after = changed(Substituted("relu", (), (3,)))
    found = runner().submit(ConvolvedFeedForward(after.request, 3, (0.2, 0.2, 0.6))).result()
    moved = float((found.after - found.before).norm() / found.before.norm())
    assert f"moves by {share_digits(moved)} % of its norm" in page
    then = runner().submit(Logits(found.hidden[-1:])).result()[0].softmax(-1)
    assert f"{runner().token_text(int(then.argmax()))}, " in page
    assert f"→ {share_digits(float(then.max()))} %" in page
    around = html(
        open_app(
            page=PAGE, model="encoder", **HERE, **{"zoo.view": "model", "zoo.variant": "relu", "zoo.neighbours": "40"}
        )
    )
    assert "on both sides" in around
    assert "Likeliest next token with it" not in around
    assert "depth-wise" not in html(opened(variant="linear"))
