"""A layer's lines of PyTorch give the model's own weights and outputs, on families that score differently."""

from __future__ import annotations

import pytest
import torch

from model_runner import CaptureRequest, load_runner
from model_runner.edits import ScaledHead, SharedKeys
from tests.model_runner.cases import TEXT, shared_runner
from tests.pages.expected import capture
from tests.ui.driving import open_app
from tests.ui.taken import ran
from ui.shared import model_code
from ui.shared.code_pane import code_text
from ui.shared.model_code import attention_lines


@pytest.mark.parametrize("layer", [0, 6])
def test_they_give_what_the_page_shows_and_every_tensor_has_its_shape(layer: int):
    lines = attention_lines(capture(), layer, query=7)
    names = ran(code_text(lines, "softmax"))
    torch.testing.assert_close(names["weights"][0].float(), capture().weights(layer), atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(
        names["mixed"][0].transpose(0, 1).float(), capture().record(layer).output, atol=1e-4, rtol=1e-4
    )
    for line in lines:
        name = line.code.partition(" = ")[0]
        if line.shape and line.step not in ("v", "rk"):  # those of the lines below have more heads
            assert tuple(names[name].shape) == line.shape, line


@pytest.mark.parametrize("name", ["gpt2", "gemma2", "falcon", "mistral", "doge"])
def test_of_other_families_too(name: str, monkeypatch: pytest.MonkeyPatch):
    one = shared_runner(name).capture(CaptureRequest(TEXT))
    monkeypatch.setattr(model_code, "python_start", lambda request: "")
    for layer in range(2):
        text = code_text(attention_lines(one, layer), "")
        names = {"capture": one}
        exec(text, names)
        torch.testing.assert_close(names["weights"][0].float(), one.weights(layer), atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("shared", [1, 2])
def test_shared_keys_in_the_first_layer_are_those_of_the_model_and_everywhere_the_pages(shared: int):
    names = ran(code_text(attention_lines(capture(), 0, shared=shared), "pool"))
    after = capture(edits=(SharedKeys(shared),))
    torch.testing.assert_close(names["weights"][0].float(), after.weights(0), atol=1e-5, rtol=1e-5)
    names = ran(code_text(attention_lines(capture(), 6, shared=shared), "pool"))
    torch.testing.assert_close(names["everywhere"], after.weights(6), atol=1e-6, rtol=1e-5)


def test_of_an_edited_model_and_of_two_texts_there_are_none():
    assert attention_lines(capture(edits=(ScaledHead(6, 5, 0.0),)), 6) == []
    translated = load_runner("translator").capture(CaptureRequest("A dog sleeps.", attention="decoder"))
    assert attention_lines(translated, 0) == []


@pytest.mark.parametrize(
    "page, address, lit",
    [
        ("steps", {"steps.source": "model", "layer": "6", "head": "4", "steps.step": "rk"}, ["k = capture.k(layer)"]),
        ("sharing", {"sharing.kv_heads": "2"}, ["k = k.view", "v = v.view", "k = k.repeat", "v = v.repeat"]),
    ],
)
def test_the_page_has_the_lines_of_the_open_layer_and_lights_what_it_shows(page: str, address: dict[str, str], lit):
    app = open_app(page=f"pages/{page}/page.py", **address)
    (code,) = (one.value for one in app.code if "record = capture.record(layer)" in one.value)
    found = [line for line in code.splitlines() if "◀" in line]
    assert len(found) == len(lit)
    for line, begin in zip(found, lit, strict=True):
        assert line.startswith(begin)
    ran(code)
