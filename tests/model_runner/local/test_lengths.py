"""A text's maximum length comes from the model: its positions, the reach of its rotation, or no limit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForSeq2SeqLM

from model_runner.capture import Capture
from model_runner.errors import EditNotPossible, ModelIncomplete, SequenceTooLong, TokenizerStops
from model_runner.local.loading.checkpoint import inspect_folder
from model_runner.local.loading.folder_files import MOST_EXPERTS
from model_runner.local.recording.rope_switch import crosses
from model_runner.local.runner import LocalRunner
from model_runner.request import CaptureRequest, GenerateRequest
from model_runner.rotation_edit import ScaledTheta
from tests.model_runner.folders import change_config
from tests.model_runner.tiny import byte_tokenizer, tiny

TRAINED, FACTOR = 16, 4.0
DYNAMIC = {"rope_type": "dynamic", "rope_theta": 1e4, "factor": FACTOR}
LONG, LONGER = "the dog chased the dog up the hill", "a cat on a mat saw the dog that chased a cat in a hat"


def of(model: Any, length: int) -> LocalRunner:
    """A runner whose tokenizer says ``length``."""
    tokenizer = byte_tokenizer()
    tokenizer.model_max_length = length
    return LocalRunner(model, tokenizer, name="tiny", device="cpu")


def dynamic() -> LocalRunner:
    made = tiny("llama", num_key_value_heads=2, rope_parameters=DYNAMIC, max_position_embeddings=TRAINED)()
    return of(made, 8)


@pytest.mark.parametrize("family", ["llama", "gpt2"])  # by its settings, by its table
def test_the_models_positions_bound_a_text_and_not_its_tokenizers_length(family: str) -> None:
    runner = of(tiny(family)(), 8)
    assert runner.info.max_tokens == 512
    assert len(runner.capture(CaptureRequest(LONG)).tokens) == len(LONG)
    with pytest.raises(SequenceTooLong, match="513 tokens long, but 512 fit: this model was built for that many"):
        runner.capture(CaptureRequest("a" * 513))


def test_a_model_without_a_longest_text_is_bounded_by_its_tokenizer_and_told_so() -> None:
    sizes = {"d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 1, "num_heads": 4, "decoder_start_token_id": 258}
    runner = of(tiny("t5", AutoModelForSeq2SeqLM, **sizes, max_position_embeddings=None)(), 8)
    assert (runner.info.max_tokens, runner.info.unbounded) == (8, True)
    with pytest.raises(TokenizerStops, match="9 tokens long, but 8 fit: this model sets no maximum length"):
        runner.capture(CaptureRequest("a" * 9, target=""))


def test_a_dynamic_rotation_reaches_its_factor_times_the_first_length() -> None:
    runner = dynamic()
    assert runner.info.max_tokens == FACTOR * TRAINED
    capture = runner.capture(CaptureRequest(LONG))
    model = tiny("llama", num_key_value_heads=2, rope_parameters=DYNAMIC, max_position_embeddings=TRAINED)()
    model.set_attn_implementation("eager")
    with torch.no_grad():
        theirs = model(torch.tensor([[token.id for token in capture.tokens]]), output_attentions=True)
    for layer, weights in enumerate(theirs.attentions):
        assert capture.verify(layer).ok
        torch.testing.assert_close(capture.layer_weights(layer, slice(None)), weights[0], atol=1e-5, rtol=0)
    torch.testing.assert_close(capture.logits(-1), theirs.logits[0, -1], atol=1e-5, rtol=0)


def test_what_is_read_before_leaves_a_dynamic_rotation_as_it_is() -> None:
    """transformers keeps the frequencies of the longest text so far."""
    fresh, used = dynamic(), dynamic()
    used.capture(CaptureRequest(LONGER))
    assert same(used.capture(CaptureRequest(LONG)), fresh.capture(CaptureRequest(LONG)))


def test_a_text_that_grows_past_the_first_length_is_turned_as_a_whole_one() -> None:
    runner = dynamic()
    text = LONGER[: TRAINED - 3]
    steps = list(runner.generate(GenerateRequest(text, max_new_tokens=8)))
    whole = dynamic().capture(CaptureRequest(text, continuation=tuple(step.token.id for step in steps)))
    assert len(whole.tokens) > TRAINED
    for layer in range(whole.n_layers):
        torch.testing.assert_close(steps[-1].capture.q(layer), whole.q(layer), atol=1e-5, rtol=0)
        torch.testing.assert_close(steps[-1].capture.k(layer), whole.k(layer), atol=1e-5, rtol=0)
    torch.testing.assert_close(steps[-1].capture.hidden, whole.hidden, atol=1e-5, rtol=0)


def test_the_rotation_is_edited_where_a_dynamic_one_has_one_set_of_frequencies() -> None:
    runner = dynamic()
    edited = runner.capture(CaptureRequest(LONG[:TRAINED], edits=(ScaledTheta(0.5),)))
    assert edited.verify(0).ok
    with pytest.raises(EditNotPossible, match="its frequencies depend on the length of the text"):
        runner.capture(CaptureRequest(LONG, edits=(ScaledTheta(0.5),)))


def same(one: Capture, other: Capture) -> bool:
    pairs = [(one.hidden, other.hidden), *((one.k(layer), other.k(layer)) for layer in range(one.n_layers))]
    return all(torch.equal(*pair) for pair in pairs)


def test_a_range_of_lengths_is_crossed_at_each_of_them() -> None:
    beyond = range(TRAINED, 1 << 31)
    assert not crosses(beyond, TRAINED - 1, TRAINED)
    assert crosses(beyond, TRAINED, TRAINED + 1)
    assert crosses(beyond, TRAINED + 7, TRAINED + 8)
    assert not crosses(beyond, 0, TRAINED + 1)  # nothing is held
    assert not crosses((), 5, 6)
    assert not crosses((TRAINED,), TRAINED + 1, TRAINED + 2)


def test_as_many_experts_as_doge_has_are_no_hostile_number(folder: Path) -> None:
    change_config(folder, model_type="doge", num_experts=16_384)
    assert inspect_folder(folder).config["num_experts"] == 16_384
    change_config(folder, num_experts=MOST_EXPERTS + 1)
    with pytest.raises(ModelIncomplete, match="65,537 as num_experts, and no model has more than 65536"):
        inspect_folder(folder)
