"""Any encoder with any decoder (transformers' encoder-decoder): their folder, their edits, and which are refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import EncoderDecoderModel

from model_runner import CaptureRequest, GenerateRequest, load_runner
from model_runner.edits import OfAttention, ScaledHead
from model_runner.errors import ContextFull, ModelIncomplete, NotCapturable, SequenceTooLong
from model_runner.local.loading.known_families import can_be_captured
from model_runner.local.runner import LocalRunner
from model_runner.questions import Beams, CacheLayers, WhichHeads
from tests.model_runner.folders import change_config, change_weights, save
from tests.model_runner.local.recording.test_encoder_decoders import (
    ACROSS,
    BERT,
    FAMILIES,
    GPT2,
    SOURCE,
    TARGET,
    built,
    ids_of,
    runner,
    three,
    weights,
)
from tests.model_runner.tiny import BOS, D_HEAD, byte_tokenizer

pytestmark = pytest.mark.table

WIDER = "bert and a wider gpt2"
ATTENTIONS = ("encoder", "decoder", "cross")
LAYER, HEAD, N_READING, N_WRITING = 1, 2, 4, 6
REQUEST = CaptureRequest(SOURCE, target=TARGET)
GIVEN, WRITTEN = torch.tensor([ids_of(SOURCE)]), torch.tensor([[BOS, *ids_of(TARGET)]])


def projection(model: Any, attention: str) -> torch.nn.Module:
    """What the heads of one attention of layer LAYER pass on is given to."""
    if attention == "encoder":
        return model.encoder.encoder.layer[LAYER].attention.output.dense
    block = model.decoder.transformer.h[LAYER]
    return (block.crossattention if attention == "cross" else block.attn).c_proj


def without(attention: str, head: int | None) -> Tensor:
    """The logits of plain transformers, where one head passes nothing on."""
    model: Any = FAMILIES[WIDER]()

    def hook(_: Any, args: tuple[Tensor]) -> tuple[Tensor]:
        passed = args[0].unflatten(-1, (-1, D_HEAD)).clone()
        passed[:, :, head] = 0
        return (passed.flatten(-2),)

    if head is not None:
        projection(model, attention).register_forward_pre_hook(hook)
    with torch.no_grad():
        return model(input_ids=GIVEN, decoder_input_ids=WRITTEN).logits[0]


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    """The folder of BERT and a wider GPT-2, as transformers writes it."""
    return save(tmp_path / "pair", FAMILIES[WIDER]())


def flash_asked_for(folder: Path) -> None:
    config: Any = EncoderDecoderModel.from_pretrained(folder).config
    flash = {"_attn_implementation": "flash_attention_2"}
    change_config(folder, encoder={**config.encoder.to_dict(), **flash}, decoder={**config.decoder.to_dict(), **flash})


@pytest.mark.parametrize("change", [lambda _: None, flash_asked_for], ids=["as saved", "its parts ask for flash"])
def test_a_folder_on_disk_opens_as_what_it_is(pair: Path, change: Callable[[Path], None]):
    plain: Any = EncoderDecoderModel.from_pretrained(pair, attn_implementation="eager").eval()
    change(pair)
    held = load_runner(str(pair), device="cpu", dtype="float32", sandboxed=True)
    capture = held.capture(REQUEST)
    with torch.no_grad():
        theirs = plain(input_ids=GIVEN, decoder_input_ids=WRITTEN, output_attentions=True)
    for ours, attentions in zip(
        three(capture), (theirs.encoder_attentions, theirs.decoder_attentions, theirs.cross_attentions), strict=True
    ):
        assert ours.n_layers == len(attentions)
        for layer, expected in enumerate(attentions):
            torch.testing.assert_close(weights(ours, layer), expected[0], atol=1e-5, rtol=0)
            assert ours.verify(layer).ok
    found = torch.stack([capture.logits(position) for position in range(len(capture.tokens))])
    torch.testing.assert_close(found, theirs.logits[0], atol=1e-4, rtol=1e-5)
    assert capture.written == TARGET


def test_each_part_reads_and_writes_as_many_tokens_as_it_has_positions_for():
    held = runner(WIDER)
    assert (held.info.max_tokens, held.info.max_written) == (BERT["max_position_embeddings"], GPT2["n_positions"])
    held.capture(CaptureRequest("a" * 96, target="a" * 127))
    with pytest.raises(SequenceTooLong):
        held.capture(CaptureRequest("a" * 97, target="a"))
    with pytest.raises(ContextFull):
        held.capture(CaptureRequest("a", target="a" * 128))


def test_it_writes_what_transformers_generates_alone_and_by_beams():
    held, model = runner(WIDER), FAMILIES[WIDER]()
    given: dict[str, Any] = {"input_ids": GIVEN, "attention_mask": torch.ones_like(GIVEN), "max_new_tokens": 8}
    with torch.no_grad():
        made: Any = model.generate(**given, do_sample=False)
        beams: Any = model.generate(**given, do_sample=False, num_beams=3, num_return_sequences=3, length_penalty=1.0)
    steps = list(held.generate(GenerateRequest(SOURCE, 8)))
    assert [BOS, *(step.token.id for step in steps)] == made[0].tolist()
    assert [token.id for token in held.capture(CaptureRequest(SOURCE)).tokens][:9] == made[0].tolist()
    found = held.submit(Beams(GenerateRequest(SOURCE, 8), 3)).result()
    for final, row in zip(found.ranking, beams.tolist(), strict=True):
        assert list(final.beam.ids) == row[1:][: len(final.beam.ids)]
    raced = list(held.race(GenerateRequest(SOURCE, max_new_tokens=8)))
    assert [step.cached.id for step in raced] == [step.uncached.id for step in raced] == made[0, 1:].tolist()


@pytest.mark.parametrize("attention", ATTENTIONS)
def test_a_head_ablated_is_a_hook_and_so_is_what_each_head_costs(attention: str):
    held = runner(WIDER)
    capture = held.capture(replace(REQUEST, edits=(OfAttention(attention, ScaledHead(LAYER, HEAD, 0.0)),)))
    plain, expected = without(attention, None), without(attention, HEAD)
    ours = torch.stack([capture.logits(position) for position in range(len(capture.tokens))])
    torch.testing.assert_close(ours, expected, rtol=1e-5, atol=5e-5)
    assert (expected - plain).abs().max() > 1e-3
    assert all(one.verify(layer).ok for one in three(capture) for layer in range(one.n_layers))
    answers = held.submit(WhichHeads(replace(REQUEST, attention=attention), LAYER, 101)).result()
    shares = [without(attention, head)[-1].log_softmax(-1)[101] for head in _heads(attention)]
    assert answers.ablated is not None
    torch.testing.assert_close(
        answers.ablated, torch.stack(shares) - plain[-1].log_softmax(-1)[101], rtol=1e-4, atol=1e-4
    )


def _heads(attention: str) -> range:
    return range(N_READING if attention == "encoder" else N_WRITING)


@pytest.mark.parametrize("attention", ["decoder", "cross"])
def test_its_cache_holds_the_decoders_heads(attention: str):
    layers = runner(WIDER).submit(CacheLayers(replace(REQUEST, attention=attention))).result()
    n_tokens = GIVEN.shape[1] if attention == "cross" else WRITTEN.shape[1]
    assert [layer.k_shape for layer in layers] == [(N_WRITING, n_tokens, D_HEAD)] * GPT2["n_layer"]


OTHER_PARTS: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "a decoder without attention across": (
        BERT,
        {**BERT, "is_decoder": True},
        "no layer of its decoder was seen to look at what its encoder reads",
    ),
    "two vocabularies": (
        {**BERT, "vocab_size": 300},
        {**GPT2, **ACROSS},
        "its encoder reads 300 different tokens and its decoder writes 264, and one tokenizer cannot name both",
    ),
    "an encoder of its own code": (
        {**BERT, "model_type": "deberta-v2"},
        {**GPT2, **ACROSS},
        "its encoder attends by code of its own, and only what its decoder does was recognised",
    ),
    "a decoder of its own code": (
        BERT,
        {**BERT, **ACROSS, "model_type": "roformer"},
        "its decoder attends by code of its own, and only what its encoder does was recognised",
    ),
}


@pytest.mark.parametrize("name", OTHER_PARTS)
def test_a_pair_that_cannot_be_shown_says_why(name: str):
    encoder, decoder, reason = OTHER_PARTS[name]
    model = built("encoder-decoder", encoder=encoder, decoder=decoder, decoder_start_token_id=BOS)()
    with pytest.raises(NotCapturable, match=reason):
        LocalRunner(model, byte_tokenizer(), name=name)


def test_attention_across_that_was_never_trained_is_missing(pair: Path):
    change_weights(pair, lambda held: {name: one for name, one in held.items() if "crossattention" not in name})
    with pytest.raises(ModelIncomplete, match="crossattention"):
        load_runner(str(pair), device="cpu")


def test_of_a_pair_it_is_not_known_before_it_is_loaded():
    assert can_be_captured({"model_type": "encoder-decoder"}) is None
