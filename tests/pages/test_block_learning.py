"""The page The block, learning: input, target and prediction, and the losses before and after one step."""

from __future__ import annotations

import numpy as np
import pytest

from model_runner import CaptureRequest, load_runner
from model_runner.block_questions import TrainingStep
from tests.pages.test_block import REQUEST, runner, view
from tests.ui.driving import finding, html, payloads, sentences, tell

pytestmark = pytest.mark.table  # its tests take a second each


@pytest.mark.parametrize("attention", ["encoder", "decoder", "cross"])
def test_the_translator_learns_what_its_decoder_writes(attention: str):
    text, held = "A dog sleeps.", load_runner("translator")
    app = view("learning", model="translator", attention=attention, text=text, **{"block.rate": "0.03"})
    assert sentences(app) == []
    request = CaptureRequest(text, attention=attention)
    learned, written = held.submit(TrainingStep(request, (0.03,))).result(), held.capture(CaptureRequest(text)).tokens
    forced, gradient = payloads(app, "layer_head_map")
    read, wanted = forced[0]["words"][:2]
    assert read == [token.text for token in written]
    assert wanted == [*read[1:], "⟨/s⟩"]
    np.testing.assert_allclose(forced[1]["values"][1], learned.before.numpy(), atol=1e-4)
    np.testing.assert_allclose(gradient[1]["values"], learned.heads.numpy(), atol=1e-4)
    if attention != "encoder":
        maps = [one.proto for one in app.get("bidi_component") if one.proto.component_name == "layer_head_map"]
        app = tell(app, maps[0], "head", [1, 2])
        first = len(held.capture(request).attention("encoder").tokens) if attention == "cross" else 0
        assert app.query_params["query"] == str(first + 2)


def test_learning_shows_targets_shifted_by_one_and_the_step():
    app = view("learning", **{"block.rate": "0.03"})
    learned = runner().submit(TrainingStep(REQUEST, (0.03,))).result()
    forced, gradient = payloads(app, "layer_head_map")
    read, wanted = forced[0]["words"][:2]
    assert read[1:] == wanted[:-1]
    np.testing.assert_allclose(forced[1]["values"][1], learned.before.numpy(), atol=1e-4)
    np.testing.assert_allclose(forced[1]["values"][4], learned.after[0].numpy(), atol=1e-3)
    assert forced[0]["row_labels"][3:] == ["loss before, nat", "loss after, nat"]
    for row, losses in ((3, learned.before), (4, learned.after[0])):
        np.testing.assert_allclose(forced[1]["values"][row], losses.numpy(), atol=1e-3)
        np.testing.assert_allclose(
            [float(one.replace("−", "-")) for one in forced[0]["words"][row]], losses.numpy(), atol=0.006
        )
    np.testing.assert_allclose(gradient[1]["values"], learned.heads.numpy(), atol=1e-4)
    before, after = float(learned.before.mean()), float(learned.after[0].mean())
    assert finding(app).startswith(f"One step lowers the loss from {before:.3f} to {after:.3f} nats ")


@pytest.mark.parametrize("rate", ["0.01", "0.3"])
def test_a_loss_that_is_smaller_on_average_and_not_at_every_token_is_said_to_be(rate: str):
    learned = runner().submit(TrainingStep(REQUEST, (float(rate),))).result()
    grown = sum(
        after > before for before, after in zip(learned.before.tolist(), learned.after[0].tolist(), strict=True)
    )
    smaller = float(learned.after.mean()) < float(learned.before.mean())
    assert grown
    assert smaller == (rate == "0.01")
    words = f"not at every token: it grew at {grown} of {len(learned.before)}."
    assert (words in html(view("learning", **{"block.rate": rate}))) == smaller
