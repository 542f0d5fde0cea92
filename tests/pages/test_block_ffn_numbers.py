"""The feed-forward part number by number: typed numbers reach every result, and the model's own sums add up."""

from __future__ import annotations

import numpy as np
import pytest

from attention.small_feed_forward import small_feed_forward
from model_runner import CaptureRequest
from model_runner.block_questions import FeedForwardSums
from pages.block.ffn_numbers import numbers_of
from tests.pages.expected import runner
from tests.ui.driving import open_app, payload, send, sentences
from tests.ui.taken import offers, ran
from ui.shared import export_bundle
from ui.state.url_state import DEFAULT_TEXT

PAGE = "pages/block/page.py"
VIEW = {"block.view": "ffn"}
SMALL = {**VIEW, "block.ffn": "small"}
TYPED = "F01_3~B00_-5~G20_0.5~E01_7"


@pytest.mark.parametrize("gated", ["0", "1"])
def test_a_typed_number_is_in_every_result(monkeypatch, gated: str):
    taken = offers(monkeypatch)
    app = open_app(page=PAGE, **SMALL, **{"block.gated": gated, "block.activation": "SiLU"})
    app = send(app, "step_by_step", "numbers", TYPED)
    assert app.query_params["block.numbers"] == TYPED
    numbers = numbers_of(TYPED)
    assert (float(numbers.w_1[0, 1]), float(numbers.b_1[0, 0])) == (3.0, -5.0)
    expected = small_feed_forward(numbers, "SiLU", gated=gated == "1").added.numpy()
    np.testing.assert_allclose(taken[-1].arrays["Y"], expected, atol=1e-12)
    np.testing.assert_allclose(ran(taken[-1].snippet)["steps"].added.numpy(), expected, atol=1e-12)
    meta, _arrays = payload(app, "step_by_step")
    assert (meta["edits"], meta["settings"]["gated"]) == (TYPED, gated == "1")


def test_numbers_that_are_none_are_one_sentence_and_the_others_stay():
    app = open_app(page=PAGE, **SMALL, **{"block.numbers": "F01_3~Q00_1~B00_1e999"})
    assert sentences(app) == ["“Q00_1~B00_1e999” is not a valid number here; it was left out."]
    assert app.query_params["block.numbers"] == "F01_3"


@pytest.mark.parametrize("model, layer", [("default", 7), ("encoder", 1), ("translator", 1)])
def test_the_models_own_sums_add_up_with_what_is_not_shown(monkeypatch, model: str, layer: int):
    text = DEFAULT_TEXT if model == "default" else "A dog sleeps."
    taken = offers(monkeypatch)
    app = open_app(page=PAGE, model=model, text=text, query="2", **VIEW, **{
        "block.ffn": "own", "block.layer": str(layer), **({"attention": "encoder"} if model == "translator" else {}),
    })  # fmt: skip
    assert not sentences(app)
    meta, _arrays = payload(app, "step_by_step")
    matrices = {name: np.array(one["values"], float) for name, one in meta["chain"]["matrices"].items()}
    products = [step for step in meta["chain"]["steps"] if step["kind"] == "product"]
    assert [step["id"] for step in products][-1] == "ffn_second"
    for step in products:
        total = matrices[step["left"]] @ matrices[step["right"]] + np.array(step["rest"])
        np.testing.assert_allclose(total, matrices[step["result"]], atol=1e-4)
    request = CaptureRequest(text, attention="encoder") if model == "translator" else CaptureRequest(text)
    own = runner(model).submit(FeedForwardSums(request, layer, 2)).result()
    np.testing.assert_allclose(matrices["Y"][0], own.added[:6].numpy(), atol=1e-5)
    assert meta["chain"]["matrices"]["W2"]["shape"] == [own.width, len(own.added)]
    np.testing.assert_allclose(ran(taken[-1].snippet)["sums"].values.numpy(), own.values.numpy(), atol=1e-5)


def test_covered_numbers_stand_in_no_table(monkeypatch):
    said: list[str] = []
    monkeypatch.setattr(export_bundle, "show_tables", lambda _make, covered: said.append(covered))
    app = open_app(page=PAGE, **SMALL)
    assert not said[-1]
    app = send(app, "step_by_step", "ask", True)
    assert said[-1].startswith("Numbers are hidden")
    open_app(page=PAGE, **VIEW, **{"block.ask": "1"})  # where nothing is covered
    assert not said[-1]


@pytest.mark.parametrize(
    "address, opened",
    [
        ({"block.ffn": "own"}, "ffn_act"),
        ({"block.ffn": "own", "block.step": "ffn_x"}, "ffn_x"),
        ({"block.ffn": "small"}, "ffn_first"),  # the first that is a sum
        ({"block.ffn": "small", "block.gated": "1"}, "ffn_gate"),
    ],
)
def test_the_models_own_sums_open_on_the_activation_unless_the_address_names_a_step(address, opened: str):
    assert payload(open_app(page=PAGE, **VIEW, **address), "step_by_step")[0]["step"] == opened
