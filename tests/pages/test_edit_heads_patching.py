"""Activation patching on the page Edit heads: its numbers are the model's, and a click opens what it shows."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

from analysis.examples import OF_MODEL
from analysis.patching import logit_difference
from jobs.second_text import PAIRS
from model_runner import CaptureRequest, load_runner
from model_runner.questions import PatchStream
from tests.pages.expected import capture, runner
from tests.pages.patch_driving import (
    CLOSE,
    DIFFERENT,
    OTHER,
    PAGE,
    N,
    box,
    changes,
    chosen,
    computed,
    finished,
    opened,
    setting,
    tokens,
)
from tests.ui.driving import html, open_app, payload, send, sentences
from ui.state.url_state import DEFAULT_TEXT
from viz.share_text import share_digits

pytestmark = pytest.mark.table  # its tests take a second each

# -- numbers ----------------------------------------------------------------------------------------------------------


def test_the_page_opens_with_a_second_text_that_changes_the_next_token():
    app = opened()
    assert sentences(app) == []
    assert box(app).value == OTHER
    assert tokens() == tuple(int(one.logits(-1).argmax()) for one in (capture(), capture(OTHER)))
    assert [chosen(app, "First token").value, chosen(app, "Second token").value] == list(tokens())
    assert "edit_heads.text" not in app.query_params


def test_the_map_is_the_residual_stream_replaced_by_a_plain_hook():
    found = changes(opened())
    model, (first, second) = runner().engine.model, tokens()
    ids = torch.tensor([[token.id for token in capture().tokens]])

    def difference() -> float:
        with torch.no_grad():
            logits = model(ids).logits[0, -1].double()
        return float(logits[first] - logits[second])

    plain = difference()
    for layer, position in itertools.product((0, 3, 7), (2, DIFFERENT, N - 1)):

        def patch(_module, args, kwargs, layer=layer, position=position):
            stream = (args[0] if args else kwargs["hidden_states"]).clone()
            stream[0, position] = capture(OTHER).residual(layer)[position]
            return ((stream, *args[1:]), kwargs) if args else (args, {**kwargs, "hidden_states": stream})

        hook = model.model.layers[layer].register_forward_pre_hook(patch, with_kwargs=True)
        after = difference()
        hook.remove()
        assert found[layer, position] == pytest.approx(after - plain, abs=CLOSE)


def test_the_only_differing_embedding_is_the_whole_way_and_what_agrees_is_none():
    found = changes(opened())
    way = logit_difference(capture(OTHER), tokens()) - logit_difference(capture(), tokens())
    assert found[0, DIFFERENT] == pytest.approx(way, abs=CLOSE)
    assert np.abs(found[:, :DIFFERENT]).max() <= CLOSE
    assert abs(found[0, N - 1]) <= CLOSE
    assert abs(found[7, N - 1]) > 0.5 * abs(way)


@pytest.mark.parametrize("kind, address", [("attention", {}), ("heads", {"layer": "3", "head": "0"})])
@pytest.mark.parametrize("reversed", [False, True])
def test_other_kinds_are_the_engines_own_in_both_directions(kind, address, reversed):
    way = {"patch_way": "from"} if reversed else {}
    app = opened(patch=kind, **address, **way)
    one = setting(kind, reversed=reversed)
    np.testing.assert_allclose(changes(app), computed(one), atol=CLOSE)
    meta, _ = payload(app, "layer_head_map")
    assert meta["column_labels"] == [token.text for token in one.plain.tokens]
    assert meta["row_labels"][:2] == (["H0", "H1"] if kind == "heads" else ["L0", "L1"])


def test_the_selected_cells_numbers_add_up():
    app = opened(layer="4", head="0", query="6")
    plain, other = (logit_difference(capture(text), tokens()) for text in (DEFAULT_TEXT, OTHER))
    change = float(changes(app)[4, 6])
    page = html(app).replace("−", "-")
    for number in (plain, plain + change, other, change):
        assert f"{number:+.3f}" in page
    assert f"{share_digits(float(change / (other - plain)))} %".replace("−", "-") in page
    assert payload(app, "layer_head_map")[0]["open"] == [4, 6]


def test_chosen_tokens_are_compared_and_in_the_address():
    first, second = (runner().ids_of(text)[0] for text in (" ran", " had"))
    app = opened(patch_first=str(first))
    chosen(app, "Second token").set_value(second).run()
    assert app.query_params["edit_heads.second"] == str(second)
    finished(app)
    found = runner().submit(PatchStream(capture().request, capture(OTHER).request, 5, (first, second))).result()
    np.testing.assert_allclose(changes(app)[5], found.numpy(), atol=CLOSE)


def test_a_typed_token_is_found_and_the_address_holds_its_id():
    app = opened(patch_second="'ran")
    assert sentences(app) == []
    assert app.query_params["edit_heads.second"] == str(runner().ids_of(" ran")[0])


def test_a_text_without_an_example_is_given_a_second_one_of_the_models_own():
    app = opened(text="She went to the park with her brother")
    assert sentences(app) == []
    second = box(app).value
    assert second != "She went to the park with her brother"
    assert len(second.split()) == 8
    assert "edit_heads.text" not in app.query_params


@pytest.mark.parametrize("text", PAIRS)
def test_an_examples_second_text_is_equally_long_and_ends_otherwise(text):
    translated = text in {example.text for example in OF_MODEL["translator"]}
    runner = load_runner("translator" if translated else "default")
    one, other = (runner.capture(CaptureRequest(words)) for words in (text, PAIRS[text]))
    assert len(one.tokens) == len(other.tokens)
    if translated:
        assert one.attention("decoder").text != other.attention("decoder").text
    else:
        assert int(one.logits(-1).argmax()) != int(other.logits(-1).argmax())


def test_generated_tokens_follow_both_texts():
    ids = tuple(token.id for token in capture("it was so").tokens[1:])
    app = opened(continuation=".".join(map(str, ids)))
    assert sentences(app) == []
    assert changes(app).shape == (8, N + len(ids))


# -- clicks -----------------------------------------------------------------------------------------------------------


def test_a_click_opens_the_layer_and_pins_the_position():
    app = send(opened(), "layer_head_map", "head", [2, 6])
    assert (app.query_params["layer"], app.query_params["query"]) == ("2", "6")
    assert payload(app, "layer_head_map")[0]["open"] == [2, 6]
    assert payload(app, "token_strip")[0]["selected"] == 6


def test_a_click_on_a_head_opens_it():
    app = send(opened(patch="heads", layer="3", head="0"), "layer_head_map", "head", [5, 7])
    assert payload(app, "layer_head_map")[0]["open"] == [5, 7]
    assert "L3H5" in html(app)


@pytest.mark.long  # test_cell.py and test_masks.py have such a model too
def test_layers_without_softmax_attention_can_be_patched_but_not_opened(folder_of):
    folder = folder_of("jamba")
    app = opened(model=folder, text="some text", patch_text="same text")
    assert sentences(app) == []
    found = changes(app)
    assert not np.isnan(found).any()
    app = send(app, "layer_head_map", "head", [2, 1])
    assert sentences(app) == []
    assert payload(app, "layer_head_map")[0]["open"] == [2, 1]
    app = opened(model=folder, text="some text", patch_text="same text", patch="attention")
    assert list(payload(app, "layer_head_map")[0]["notes"]) == ["0", "2"]
    assert np.isnan(changes(app)[[0, 2]]).all()


def test_stopped_work_goes_on_where_it_was(monkeypatch):
    monkeypatch.setattr("jobs.incremental_task.BUDGET", 0.0)  # nothing comes of the first looks
    app = open_app(page=PAGE, heads="patching")
    assert np.isnan(changes(app)).all()
    app.button(key="patch_stop").click().run()
    assert any(button.key == "patch_start" for button in app.button)
    monkeypatch.setattr("jobs.incremental_task.BUDGET", 5.0)
    app.run()
    assert np.isnan(changes(app)).any()
    finished(app.button(key="patch_start").click().run())
    np.testing.assert_allclose(changes(app), computed(setting()), atol=CLOSE)


def test_the_map_of_ffns_is_what_each_adds_replaced_by_a_plain_hook():
    found = changes(opened(**{"edit_heads.patched": "ffn"}))
    model, (first, second) = runner().engine.model, tokens()
    ids, others = (torch.tensor([[token.id for token in one.tokens]]) for one in (capture(), capture(OTHER)))

    def run(which: torch.Tensor, layer: int, hook) -> float:
        handle = model.model.layers[layer].mlp.register_forward_hook(hook)
        with torch.no_grad():
            logits = model(which).logits[0, -1].double()
        handle.remove()
        return float(logits[first] - logits[second])

    plain = run(ids, 0, lambda _module, _args, _output: None)
    for layer, position in itertools.product((0, 4, 7), (DIFFERENT, N - 1)):
        theirs: list[torch.Tensor] = []
        run(others, layer, lambda _module, _args, output, kept=theirs: kept.append(output.clone()))

        def patch(_module, _args, output, position=position, kept=theirs):
            output = output.clone()
            output[0, position] = kept[0][0, position]
            return output

        assert found[layer, position] == pytest.approx(run(ids, layer, patch) - plain, abs=CLOSE)
