"""As many tokens as a model has positions are read, one more is refused, whatever its configuration says of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from transformers import AutoModelForMaskedLM, AutoModelForSeq2SeqLM

from model_runner.errors import ForwardFails, SequenceTooLong, WrittenFull
from model_runner.local.answers.position_table import looked_up_at_load
from model_runner.local.runner import LocalRunner
from model_runner.request import CaptureRequest, GenerateRequest
from tests.model_runner.local.recording.test_sliding_windows import BART, FFN
from tests.model_runner.tiny import BOS, PAD, byte_tokenizer, tiny

FIT, WRITES = 40, 24
AFTER_PAD = {"max_position_embeddings": PAD + 1 + FIT}  # rows that RoBERTa leaves unused: up to that of the padding
TWO = {"max_encoder_position_embeddings": FIT, "max_decoder_position_embeddings": WRITES}
MODELS = {
    "gpt2": tiny("gpt2", max_position_embeddings=FIT),
    "opt": tiny("opt", ffn_dim=48, word_embed_proj_dim=32, max_position_embeddings=FIT),
    "mpt": tiny("mpt", d_model=32, n_heads=4, n_layers=2, max_seq_len=FIT),
    "roberta": tiny("roberta", AutoModelForMaskedLM, **AFTER_PAD),
    "longformer": tiny("longformer", AutoModelForMaskedLM, attention_window=[4, 4, 4], **AFTER_PAD),
}
led = tiny("led", AutoModelForSeq2SeqLM, attention_window=[4, 4, 4], decoder_start_token_id=BOS, **BART, **TWO, **FFN)


def unlimited(build: Callable[[], Any], name: str) -> LocalRunner:
    """With a tokenizer that has no longest text of its own."""
    tokenizer = byte_tokenizer()
    tokenizer.model_max_length = int(1e30)
    return LocalRunner(build(), tokenizer, name=name, device="cpu")


@pytest.fixture
def made(request: pytest.FixtureRequest) -> Iterator[LocalRunner]:
    runner = unlimited(MODELS[request.param], request.param)
    yield runner
    runner.worker.close()


@pytest.mark.parametrize("made", MODELS, indirect=True)
def test_a_text_that_fits_is_read_and_one_token_more_is_refused_with_the_true_number(made: LocalRunner) -> None:
    assert made.info.max_tokens == FIT
    assert len(made.capture(CaptureRequest("a" * FIT)).tokens) == FIT
    with pytest.raises(SequenceTooLong) as refused:
        made.capture(CaptureRequest("a" * (FIT + 1)))
    assert refused.value.values["limit"] == FIT


def test_what_is_read_and_what_is_written_have_each_their_own_number() -> None:
    runner = unlimited(led, "led")
    try:
        assert (runner.info.max_tokens, runner.info.room) == (FIT, WRITES)
        found = runner.capture(CaptureRequest("a" * FIT))  # with what it writes of it by itself
        assert len(found.attention("encoder").tokens) == FIT
        assert len(found.tokens) <= WRITES
        for text, target, refusal in (("a" * (FIT + 1), "b", SequenceTooLong), ("a", "b" * WRITES, WrittenFull)):
            with pytest.raises(refusal):
                runner.capture(CaptureRequest(text, target=target))
        full = runner.capture(CaptureRequest("a", target="b" * (WRITES - 1)))
        assert len(full.tokens) == WRITES
        with pytest.raises(WrittenFull):
            next(iter(runner.generate(GenerateRequest("a", target="b" * (WRITES - 1)))))
    finally:
        runner.worker.close()


def test_a_model_that_turns_its_vectors_is_not_run_for_it() -> None:
    model = tiny("llama", num_key_value_heads=2)()
    ran: list[int] = []
    assert looked_up_at_load(model, lambda: ran.append(1)) == []
    assert not ran


@pytest.mark.parametrize("made", ["gpt2"], indirect=True)
@pytest.mark.parametrize("error", [RuntimeError("sizes differ\nand more"), IndexError("out of range")])
def test_what_a_models_own_code_raises_is_one_sentence(made: LocalRunner, error: Exception) -> None:
    def fails(*_: Any) -> None:
        raise error

    hook = made.engine.model.transformer.h[1].register_forward_pre_hook(fails)
    with pytest.raises(ForwardFails) as said:
        made.capture(CaptureRequest("some text"))
    assert str(error).splitlines()[0] in str(said.value)
    assert "and more" not in str(said.value)
    hook.remove()
    assert torch.isfinite(made.capture(CaptureRequest("some text")).hidden).all()
