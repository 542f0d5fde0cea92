"""Singular values of a weight matrix on the page Zoo: sliders, maps, the next token, and what has no place."""

from __future__ import annotations

import numpy as np

from analysis.comparison import next_token_change
from model_runner import CaptureRequest
from model_runner.edit_text import read
from model_runner.local.runner import LocalRunner
from model_runner.matrix_edit import ScaledSingulars
from tests.pages.expected import ROUNDING, masked, runner, weights
from tests.ui.driving import html, open_app, payloads, sentences
from ui.state.url_state import DEFAULT_TEXT
from viz.markdown import plain

PAGE = "pages/zoo/page.py"


def opened(**values: str):
    named = {name if name in ("text", "model", "layer") else f"zoo.{name}": value for name, value in values.items()}
    return open_app(page=PAGE, **{"layer": "3", "head": "5", "zoo.view": "weights"} | named)


def changed(*edits):
    return runner().capture(CaptureRequest(text=DEFAULT_TEXT, edits=edits))


def test_a_slider_moves_the_map_and_the_next_token_and_is_an_edit_as_every_other():
    app = opened(**{"factors.1": "100"})
    before, after, change = (arrays["values"] for _meta, arrays in payloads(app, "head_map"))
    np.testing.assert_array_equal(before, after)
    assert not np.nan_to_num(change).any()
    assert not app.toggle  # nothing to carry yet
    model = runner()
    assert isinstance(model, LocalRunner)
    weight = model.engine.structure.layers[3].get_submodule("self_attn.q_proj").weight
    size = np.linalg.svd(weight.numpy(), compute_uv=False)
    assert [one.label for one in app.slider][1] == plain(f"z2 · σ = {size[1]:.3g}")
    app.slider[1].set_value(2.5).run()
    assert app.query_params["zoo.factors.2"] == "250"
    edit = ScaledSingulars(3, "self_attn.q_proj", (1.0, 2.5))
    usual, now, change = (arrays["values"] for _meta, arrays in payloads(app, "head_map"))
    np.testing.assert_allclose(change, now - usual, atol=ROUNDING)
    np.testing.assert_allclose(now, masked(changed(edit).weights(3, 5).numpy()), atol=ROUNDING)
    assert f"KL {next_token_change(changed(), changed(edit)).kl:.3g} bits" in html(app)
    app.toggle[0].set_value(True).run()
    assert read(app.query_params["edits"]) == (edit,)
    assert sentences(app) == []


def test_at_first_the_largest_singular_value_is_taken_out_and_stays_out_when_another_is_moved():
    app = opened()
    assert [one.value for one in app.slider] == [0.0] + [1.0] * 7
    without = payloads(app, "head_map")[1][1]["values"]
    edit = ScaledSingulars(3, "self_attn.q_proj", (0.0,))
    np.testing.assert_allclose(without, masked(changed(edit).weights(3, 5).numpy()), atol=ROUNDING)
    app.slider[1].set_value(2.0).run()
    assert [one.value for one in app.slider] == [0.0, 2.0] + [1.0] * 6
    app.slider[0].set_value(1.0).run()
    app.slider[1].set_value(1.0).run()
    assert [one.value for one in app.slider] == [1.0] * 8
    before, after, _change = (arrays["values"] for _meta, arrays in payloads(app, "head_map"))
    np.testing.assert_array_equal(before, after)


def test_an_address_opens_its_matrix_and_a_wrong_one_is_one_sentence():
    app = opened(matrix="mlp.down_proj", **{"factors.1": "0"})
    edit = ScaledSingulars(3, "mlp.down_proj", (0.0,))
    np.testing.assert_allclose(payloads(app, "head_map")[0][1]["values"], masked(weights(3, 5)), atol=ROUNDING)
    assert f"KL {next_token_change(changed(), changed(edit)).kl:.3g} bits" in html(app)
    assert sentences(opened(matrix="c_attn")) == ["Layer 3 has no matrix named c_attn."]
    assert sentences(opened(**{"factors.1": "1000"})) == ["The z1 is 1000; it may be at most 300."]
    assert sentences(opened(**{"factors.1": "much"})) == ["“much” is not a number for z1."]


def test_a_model_without_one_stack_says_so():
    app = opened(model="translator", text="The dog sleeps.", layer="1")
    assert sentences(app)[0].startswith("So far this works only for models with one stack")
    assert app.button_group(key="zoo.view").value == "weights"  # the way to the other views
    assert len(payloads(app, "head_map")) == 0
