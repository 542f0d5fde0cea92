"""The cache of an encoder–decoder: its bytes by formula and as transformers' own generation fills it, and the race."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from analysis.kv_bytes import cache_bytes
from model_runner import CaptureRequest, GenerateRequest
from model_runner.errors import NotSeparable
from model_runner.questions import CacheLayers
from tests.model_runner import listening
from tests.model_runner.local.recording.test_encoder_decoders import FAMILIES, SOURCE, TARGET, ids_of, runner
from tests.model_runner.tiny import D_HEAD, N_HEADS

NAMES = ("t5", "bart", "marian", "t5gemma", "t5gemma2")


@pytest.mark.parametrize("attention", ["decoder", "cross"])
@pytest.mark.parametrize("name", NAMES)
def test_the_caches_hold_what_transformers_own_hold_and_the_formula_says(name: str, attention: str):
    made, model = runner(name), FAMILIES[name]()
    request = CaptureRequest(SOURCE, target=TARGET, attention=attention)
    layers = made.submit(CacheLayers(request)).result()
    structure: Any = made.engine.structure
    start = structure.start
    with torch.no_grad():
        output: Any = model(
            input_ids=torch.tensor([ids_of(SOURCE)]), decoder_input_ids=torch.tensor([[start, *ids_of(TARGET)]]),
            use_cache=True,
        )  # fmt: skip
    theirs = getattr(output.past_key_values, f"{'cross' if attention == 'cross' else 'self'}_attention_cache").layers
    assert [layer.k_shape for layer in layers] == [tuple(one.keys.shape[1:]) for one in theirs]
    n_tokens = len(ids_of(SOURCE)) if attention == "cross" else 1 + len(ids_of(TARGET))
    if (attention, name) == ("decoder", "t5gemma2"):  # some of its layers slide
        assert [layer.k_shape and layer.k_shape[1] for layer in layers] == [7, n_tokens, 7, n_tokens]
        return
    found = cache_bytes(made.capture(request), layers)
    kv_heads = 2 if name.startswith("t5gemma") else N_HEADS
    assert found.formula == found.measured == 2 * len(theirs) * kv_heads * D_HEAD * n_tokens * 4
    assert found.shape == (len(theirs), kv_heads, D_HEAD, n_tokens, 4)


@pytest.mark.parametrize("attention", ["decoder", "cross"])
def test_what_fills_every_position_has_its_bytes(attention: str):
    made = listening.runner()
    request = CaptureRequest(sound=listening.tone(), target="x" * 59, attention=attention)
    capture = made.capture(request)
    assert len(capture.attention("decoder").tokens) == made.info.max_tokens
    n_tokens = listening.FRAMES if attention == "cross" else made.info.max_tokens
    found = cache_bytes(capture, made.submit(CacheLayers(request)).result())
    assert found.formula == found.measured == 2 * capture.n_layers * N_HEADS * D_HEAD * n_tokens * 4


@pytest.mark.parametrize("name", NAMES)
def test_both_lanes_write_what_the_model_writes_greedily(name: str):
    made = runner(name)
    steps = list(made.race(GenerateRequest(SOURCE, max_new_tokens=10)))
    assert [step.position for step in steps] == list(range(1, 11))
    assert [step.cached.id for step in steps] == [step.uncached.id for step in steps]
    generated = list(made.generate(GenerateRequest(SOURCE, max_new_tokens=10)))
    assert [step.cached.id for step in steps][: len(generated)] == [step.token.id for step in generated]
    forced = list(made.race(GenerateRequest(SOURCE, target=TARGET, max_new_tokens=2)))
    assert forced[0].position == 1 + len(ids_of(TARGET))
    assert forced[0].cached.id == int(made.capture(CaptureRequest(SOURCE, target=TARGET)).logits(-1).argmax())


def test_an_encoder_has_no_cache():
    with pytest.raises(NotSeparable, match="reads its whole input at once"):
        runner("bart").submit(CacheLayers(CaptureRequest(SOURCE, attention="encoder"))).result()
