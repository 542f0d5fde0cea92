"""The logit lens on every family: its last row is the model's own, every row is what a slow reference makes of it."""

from __future__ import annotations

import copy
import functools
import math

import pytest
import torch
from torch import Tensor

from model_runner import CaptureRequest, load_runner
from model_runner.block_questions import Lens, LogitLens
from model_runner.capture import Capture
from model_runner.errors import EncoderSaysNothing, NoLogits
from model_runner.local.answers import logit_lens
from tests.model_runner.cases import FAMILY, TEXT, runner_of, shared_runner
from tests.model_runner.families import ONE_STREAM, often

# Where the stream goes through after the last layer, written down by hand: modules of the backbone, in their order.
ENDS = {
    "llama": ("model.norm",), "gemma2": ("model.norm",), "gpt2": ("transformer.ln_f",), "gptj": ("transformer.ln_f",),
    "gpt-neox": ("gpt_neox.final_layer_norm",), "opt": ("model.decoder.final_layer_norm",), "bert": (),
    "olmo2": ("model.norm",), "cohere": ("model.norm",), "falcon": ("transformer.ln_f",), "distilbert": (),
    "modernbert": ("model.final_norm",), "jamba": ("model.final_layernorm",),
}  # fmt: skip


@functools.cache
def capture(name: str) -> Capture:
    return shared_runner(name).capture(CaptureRequest(TEXT))


@functools.cache
def lens(name: str) -> Lens:
    return shared_runner(name).submit(LogitLens(CaptureRequest(TEXT), 4)).result()


@pytest.mark.parametrize("name", often(family.name for family in ONE_STREAM))
def test_the_last_row_is_the_models_own_distribution(name: str) -> None:
    found, own = lens(name), capture(name)
    assert found.ids.shape == (own.n_layers + 1, len(own.tokens), 4)
    for position in range(len(own.tokens)):
        logits = own.logits(position).double()
        p = (logits - logits.logsumexp(0)).exp()
        best = p.max()
        assert float(p[found.ids[-1, position, 0]]) == pytest.approx(float(best), rel=1e-6)
        assert float(found.probabilities[-1, position, 0]) == pytest.approx(float(best), rel=1e-5)
        assert float(found.final[-1, position]) == pytest.approx(float(best), rel=1e-5)
        entropy = -sum(x * math.log2(x) for x in p.tolist() if x > 0)
        assert float(found.entropy[-1, position]) == pytest.approx(entropy, rel=1e-4, abs=1e-5)
    assert (found.kl[-1].abs() < 1e-6).all()
    assert (found.rank[-1] == 0).all()


@pytest.mark.parametrize("name", ENDS)
def test_every_row_is_what_the_end_of_the_model_makes_of_the_stream(name: str) -> None:
    runner, own, found = shared_runner(name), capture(name), lens(name)
    model = copy.deepcopy(runner.engine.model)
    with torch.no_grad():
        for row in range(own.n_layers + 1):
            state = own.residual(row)
            for path in ENDS[name]:
                state = model.get_submodule(path)(state)
            for position in (0, 5, len(own.tokens) - 1):
                logits = runner.engine.logits(state[None, position : position + 1])[0, 0].double()
                compare(found, row, position, logits, own.logits(position).double())


def compare(found: Lens, row: int, position: int, logits: Tensor, own: Tensor, rel: float = 1e-4) -> None:
    """Against sums over the vocabulary, a token at a time."""
    log_p, log_q = (x - x.logsumexp(0) for x in (own, logits))
    p, q = log_p.exp().tolist(), log_q.exp().tolist()
    final = max(range(len(p)), key=p.__getitem__)
    kl = sum(a * (float(b) - float(c)) for a, b, c in zip(p, log_p, log_q, strict=True) if a > 0) / math.log(2)
    assert float(found.kl[row, position]) == pytest.approx(kl, rel=1e-3, abs=1e-5)
    entropy = -sum(x * math.log2(x) for x in q if x > 0)
    assert float(found.entropy[row, position]) == pytest.approx(entropy, rel=rel, abs=rel / 100)
    assert float(found.final[row, position]) == pytest.approx(q[final], rel=1e-3, abs=1e-9)
    assert int(found.rank[row, position]) == sum(x > q[final] for x in q)
    falling = sorted(q, reverse=True)[: found.ids.shape[-1]]
    assert found.probabilities[row, position].tolist() == pytest.approx(falling, rel=max(1e-3, rel))


@pytest.mark.parametrize("model", ["default", "encoder"])
def test_the_embedded_models_have_a_lens(model: str) -> None:
    runner = load_runner(model)
    request = CaptureRequest("The dog chased the squirrel because it")
    found, own = runner.submit(LogitLens(request)).result(), runner.capture(request)
    for position in range(len(own.tokens)):
        p = own.logits(position).softmax(0)
        assert int(found.ids[-1, position, 0]) == int(p.argmax())
        torch.testing.assert_close(found.probabilities[-1, position], p.topk(5).values)


def test_the_lens_of_a_decoder_is_what_its_norm_and_output_layer_make_of_its_stream() -> None:
    """T5 with a tied output layer: its final norm divides by the root mean square, logits are scaled by 1/√d_model."""
    runner, request = load_runner("translator"), CaptureRequest("A dog sleeps.", attention="decoder")
    found, own = runner.submit(LogitLens(request)).result(), runner.capture(request)
    model = runner.engine.model
    gain, matrix = model.decoder.final_layer_norm.weight.double(), model.lm_head.weight.double()
    for row in range(own.n_layers + 1):
        for position in range(len(own.tokens)):
            x = own.residual(row)[position].double()
            x = gain * x / (x.square().mean() + model.config.layer_norm_epsilon).sqrt()
            logits = matrix @ (x * model.config.d_model**-0.5 if model.config.scale_decoder_outputs else x)
            # logits of about 50, which float32 rounds by some 1e-5, and what is rare by as large a part of itself
            compare(found, row, position, logits, own.logits(position).double(), rel=2e-3)


def test_blocks_of_positions_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = lens("llama")
    monkeypatch.setattr(logit_lens, "ROWS", 7)
    parts = shared_runner("llama").submit(LogitLens(CaptureRequest(TEXT), 4)).result()
    for name in ("ids", "probabilities", "entropy", "kl", "final", "rank"):
        torch.testing.assert_close(getattr(parts, name), getattr(whole, name), rtol=1e-5, atol=1e-6)


def test_one_token_has_a_lens_too() -> None:
    found = shared_runner("gpt2").submit(LogitLens(CaptureRequest("a"))).result()
    assert found.ids.shape == (4, 1, 5)


@pytest.mark.parametrize("name", ["gptj", "llama"])
def test_the_model_is_as_it_was_afterwards(name: str) -> None:
    runner = runner_of(FAMILY[name])
    before = runner.capture(CaptureRequest("one text")).logits(-1)
    runner.submit(LogitLens(CaptureRequest("another"))).result()
    held = {id(layer): set(vars(layer)) for layer in runner.engine.model.modules()}
    assert all("forward" not in held[id(layer)] for layer in runner.engine.structure.layers)
    again = runner.capture(CaptureRequest("one text", continuation=(5,))).logits(-2)
    torch.testing.assert_close(again, before, rtol=1e-5, atol=1e-5)


def test_what_cannot_be_said_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(EncoderSaysNothing):
        load_runner("translator").submit(LogitLens(CaptureRequest("A dog sleeps.", attention="encoder"))).result()
    without = shared_runner("llama")
    monkeypatch.setattr(without.engine, "has_head", False)
    with pytest.raises(NoLogits):
        without.submit(LogitLens(CaptureRequest(TEXT))).result()
