"""A head's queries, keys and values as sums: of what the matrices read, term by term, and they are the model's own."""

from __future__ import annotations

import pytest
import torch

from model_runner import CaptureRequest, load_runner
from model_runner.errors import NotRecoverable, OneStackOnly
from model_runner.projection_questions import HeadProjections, Projections
from tests.model_runner.cases import TEXT, shared_runner

PLACES = (0, 4, 9, 20)
FOUND = {  # which of q, k, v are columns of a matrix: latents (deepseek), q scaled (opt)
    "llama": "qkv", "qwen2": "qkv", "gpt2": "qkv", "phi3": "qkv", "gpt-neox": "qkv", "gptj": "qkv", "qwen3": "qkv",
    "olmo2": "qkv", "gemma3": "qkv",
    "deepseek-v3": "", "bert": "qkv", "opt": "kv", "falcon": "qkv",
}  # fmt: skip


def asked(name: str, head: int = 3) -> Projections:
    return shared_runner(name).submit(HeadProjections(CaptureRequest(TEXT), 1, head, PLACES)).result()


@pytest.mark.parametrize("name", FOUND)
def test_the_sum_of_all_terms_is_the_models_own_number(name: str) -> None:
    found, capture = asked(name), shared_runner(name).capture(CaptureRequest(TEXT))
    record = capture.record(1)
    assert "".join(letter for letter in "qkv" if getattr(found, letter) is not None) == FOUND[name]
    for letter in FOUND[name]:
        own, head = getattr(found, letter), 3 if letter == "q" else 3 // record.group
        try:
            unturned = getattr(capture, f"{letter}_unrotated")(1) if letter != "v" else record.v
        except NotRecoverable:
            unturned = getattr(record, letter)
        for row, place in enumerate(PLACES):
            for dim in range(own.matrix.shape[1]):
                terms = [float(x) * float(w) for x, w in zip(own.read[row], own.matrix[:, dim], strict=True)]
                total = sum(terms) + float(own.bias[dim])
                assert total == pytest.approx(float(own.made[row, dim]), abs=2e-5)
                total = (total - float(own.less[row, dim])) * float(own.factor[row, dim])
                assert total == pytest.approx(float(unturned[head, place, dim]), abs=2e-4)


def test_the_columns_are_those_of_the_family() -> None:
    own = asked("qwen2").q
    assert own is not None
    layer = shared_runner("qwen2").engine.model.model.layers[1]
    torch.testing.assert_close(own.matrix, layer.self_attn.q_proj.weight[24:32].T)
    torch.testing.assert_close(own.bias, layer.self_attn.q_proj.bias[24:32])
    stream = shared_runner("qwen2").capture(CaptureRequest(TEXT)).residual(1)[list(PLACES)]
    torch.testing.assert_close(own.read, layer.input_layernorm(stream), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name, norms", [("qwen3", ("q_norm", "k_norm", "")), ("llama", ("", "", ""))])
def test_a_norm_of_the_head_is_its_factor(name: str, norms: tuple[str, str, str]) -> None:
    found = asked(name)
    assert tuple(one.norm for one in (found.q, found.k, found.v) if one is not None) == norms
    own = found.q
    assert own is not None
    if not own.norm:
        assert (own.factor == 1).all()
        return
    gain = shared_runner(name).engine.model.model.layers[1].self_attn.q_norm
    expected = gain.weight / (own.made.square().mean(dim=-1, keepdim=True) + gain.variance_epsilon).sqrt()
    torch.testing.assert_close(own.factor, expected, rtol=1e-3, atol=1e-4)
    assert (own.less == 0).all()


def test_an_encoder_decoder_is_refused() -> None:
    with pytest.raises(OneStackOnly):
        load_runner("translator").submit(HeadProjections(CaptureRequest("A dog."), 0, 0, (0,))).result()
