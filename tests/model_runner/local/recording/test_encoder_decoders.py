"""Encoder–decoders: each of their three attentions equals what transformers itself says of the same two texts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
import torch
from transformers import AutoModelForSeq2SeqLM, PreTrainedModel

from model_runner import CaptureRequest, GenerateRequest, load_runner, wire
from model_runner.capture import Capture
from model_runner.edits import ScaledHead
from model_runner.errors import (
    ContextFull,
    EditNotPossible,
    EmptyText,
    EncoderSaysNothing,
    NoAttribution,
    NoSuchAttention,
    NotCapturable,
    OneStackOnly,
)
from model_runner.local.loading.class_of_family import class_of
from model_runner.local.runner import LocalRunner
from model_runner.projection_questions import HeadProjections
from model_runner.questions import Beams
from model_runner.relative_bias import RelativeBias
from model_runner.request import GREEDY
from model_runner.transforms import Sampling
from model_runner.verification import verify
from scripts.families.small import small_model
from tests.model_runner.tiny import (
    BOS,
    D_HEAD,
    D_MODEL,
    EOS,
    N_HEADS,
    N_LAYERS,
    PAD,
    VOCAB,
    byte_tokenizer,
    place,
    tiny,
)

pytestmark = pytest.mark.table

SOURCE, TARGET = "A cat, and two dogs: 猫和狗", "Eine Katze"
T5: dict[str, Any] = {"d_model": D_MODEL, "d_kv": D_HEAD, "d_ff": 48, "num_layers": N_LAYERS, "num_heads": N_HEADS}
BART: dict[str, Any] = {
    "d_model": D_MODEL,
    "encoder_layers": N_LAYERS,
    "decoder_layers": 2,
    "encoder_attention_heads": N_HEADS,
    "decoder_attention_heads": N_HEADS,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
}
STARTS = {"decoder_start_token_id": PAD, "forced_eos_token_id": None, "forced_bos_token_id": None}
GEMMA: dict[str, Any] = {
    "vocab_size": 264, "hidden_size": D_MODEL, "intermediate_size": 48, "num_hidden_layers": 2,
    "num_attention_heads": N_HEADS, "num_key_value_heads": 2, "head_dim": D_HEAD, "sliding_window": 8,
    "layer_types": ["full_attention", "full_attention"], "bos_token_id": BOS, "eos_token_id": EOS, "pad_token_id": PAD,
}  # fmt: skip  # a size a line would be most of this table


BERT: dict[str, Any] = {
    "model_type": "bert", "vocab_size": VOCAB, "hidden_size": D_MODEL, "intermediate_size": 48,
    "num_hidden_layers": N_LAYERS, "num_attention_heads": N_HEADS, "max_position_embeddings": 96,
    "bos_token_id": BOS, "eos_token_id": EOS, "pad_token_id": PAD,
}  # fmt: skip
ACROSS = {"is_decoder": True, "add_cross_attention": True}
GPT2: dict[str, Any] = {
    "model_type": "gpt2", "vocab_size": VOCAB, "n_embd": 48, "n_head": 6, "n_layer": 2, "n_positions": 128,
    "bos_token_id": BOS, "eos_token_id": EOS, "pad_token_id": PAD,
}  # fmt: skip


def built(name: str, **config: Any) -> Callable[[], PreTrainedModel]:
    return tiny(name, AutoModelForSeq2SeqLM, **{**STARTS, **config})


FAMILIES: dict[str, Callable[[], PreTrainedModel]] = {
    "t5": built("t5", **T5),
    "mt5": built("mt5", **T5),
    "umt5": built("umt5", **T5),
    "bart": built("bart", **BART),
    "mbart": built("mbart", **BART),
    "marian": built("marian", **BART, decoder_vocab_size=264),
    "pegasus": built("pegasus", **BART),
    "blenderbot": built("blenderbot", **BART),
    "blenderbot-small": built("blenderbot-small", **BART),
    "m2m_100": built("m2m_100", **BART),
    "plbart": built("plbart", **BART),
    "mvp": built("mvp", **BART),  # multiplies in code of its own
    "switch_transformers": built("switch_transformers", **T5, num_experts=2),  # its masks are of its own making
    "nllb-moe": built("nllb-moe", **BART, num_experts=2, encoder_sparse_step=1, decoder_sparse_step=1),  # reads masks
    "deep decoder": built("t5", **T5, num_decoder_layers=N_LAYERS + 2),  # than its encoder
    "t5gemma": built("t5gemma", encoder=GEMMA, decoder=GEMMA, decoder_start_token_id=BOS),
    "t5gemma2": partial(small_model, "sequence-to-sequence", "t5gemma2"),  # one softmax over both texts
    "bert and bert": built("encoder-decoder", encoder=BERT, decoder={**BERT, **ACROSS}, decoder_start_token_id=BOS),
    "bert and a wider gpt2": built(
        "encoder-decoder", encoder=BERT, decoder={**GPT2, **ACROSS}, decoder_start_token_id=BOS
    ),
}


CACHED = FAMILIES.keys() - {"deep decoder"}  # transformers' own generation finds a cache for these alone


def runner(name: str, dtype: torch.dtype = torch.float32) -> LocalRunner:
    return LocalRunner(place(FAMILIES[name](), "cpu", dtype), byte_tokenizer(), name=name)


def ids_of(text: str) -> list[int]:
    return byte_tokenizer()(text)["input_ids"]


def weights(capture: Capture, layer: int) -> torch.Tensor:
    return torch.stack([capture.weights(layer, head) for head in range(capture.n_heads)])


def three(capture: Capture) -> list[Capture]:
    return [capture.attention(name) for name in ("encoder", "decoder", "cross")]


@pytest.mark.parametrize("name", FAMILIES)
def test_weights_logits_and_streams_are_those_of_eager_attention(name):
    capture = runner(name).capture(CaptureRequest(SOURCE, target=TARGET))
    model: Any = FAMILIES[name]()
    model.set_attn_implementation("eager")
    ids, written = (
        torch.tensor([[token.id for token in tokens]]) for tokens in (three(capture)[0].tokens, capture.tokens)
    )
    with torch.no_grad():
        theirs = model(
            input_ids=ids,
            decoder_input_ids=written,
            output_attentions=True,
            output_hidden_states=True,
            use_cache=False,
        )
    assert (ids[0].tolist(), written[0, 1:].tolist()) == (ids_of(SOURCE), ids_of(TARGET))
    expected = (theirs.encoder_attentions, theirs.decoder_attentions, theirs.cross_attentions)
    for ours, attentions in zip(three(capture), expected, strict=True):
        assert ours.n_layers == len(attentions)
        for layer, theirs_here in enumerate(attentions):
            shown = ours.request.attention, layer
            torch.testing.assert_close(weights(ours, layer), theirs_here[0], atol=3e-5, rtol=0, msg=str(shown))
            assert ours.verify(layer).ok, shown
    found = torch.stack([capture.logits(position) for position in range(len(capture.tokens))])
    torch.testing.assert_close(found, theirs.logits[0], atol=1e-4, rtol=1e-5)
    for ours, states in ((three(capture)[0], theirs.encoder_hidden_states), (capture, theirs.decoder_hidden_states)):
        for layer in range(ours.n_layers):
            rounding = 1e-5 * max(10.0, float(states[layer].abs().max()))  # of sums as large as the largest
            torch.testing.assert_close(ours.residual(layer), states[layer][0], atol=rounding, rtol=1e-5)


@pytest.mark.parametrize(
    "name, dtype",
    [
        ("t5", torch.float32),
        ("t5", torch.bfloat16),
        ("bart", torch.bfloat16),
        ("t5gemma", torch.float32),
        ("t5gemma2", torch.float32),
    ],
)
def test_the_badge_sees_one_per_cent_in_each_of_the_three(name, dtype):
    capture = runner(name, dtype).capture(CaptureRequest(SOURCE * 4, target=TARGET * 8))
    for ours in three(capture):
        layer = ours.n_layers - 1
        record = ours.record(layer)
        assert ours.verify(layer).ok
        wrong = {"k": record.k * 1.01, "v": record.v * 1.01}
        if isinstance(record.bias, RelativeBias):
            factor = 1.01 if dtype == torch.float32 else 1.03  # so random a bias moves little here
            wrong["bias"] = replace(record.bias, values=record.bias.values * factor)
        for part, value in wrong.items():
            changed = replace(record, **{part: value})
            assert not verify(changed, None, 128).ok, (ours.request.attention, part)


def test_only_t5_adds_a_bias_and_none_to_what_it_looks_at_across():
    for name in ("t5", "bart"):
        encoder, decoder, cross = (ours.record(0) for ours in three(runner(name).capture(CaptureRequest("ab cd"))))
        assert cross.bias is None
        assert (encoder.bias is not None) == (decoder.bias is not None) == (name == "t5")


def test_the_bias_of_a_tile_is_the_models_own():
    model: Any = FAMILIES["t5"]()
    own = runner("t5").capture(CaptureRequest(SOURCE, target=TARGET))
    for ours, stack in ((three(own)[0], model.encoder), (own, model.decoder)):
        n, record = len(ours.tokens), ours.record(1)
        with torch.no_grad():
            table = stack.block[0].layer[0].SelfAttention.compute_bias(n, n)[0]
        assert record.bias is not None
        tile = record.bias.tile(slice(1, 3), slice(2, 7), slice(1, 9))
        assert torch.equal(tile, table[1:3, 2:7, 1:9])


def test_by_itself_the_decoder_writes_what_transformers_generates_greedily():
    for name in ("t5", "marian", "deep decoder"):
        model: Any = FAMILIES[name]()
        given = torch.tensor([ids_of("two dogs")])
        with torch.no_grad():
            made = model.generate(
                input_ids=given,
                attention_mask=torch.ones_like(given),
                max_new_tokens=128,
                num_beams=1,
                do_sample=False,
                use_cache=name in CACHED,
            )
        ids = [token.id for token in runner(name).capture(CaptureRequest("two dogs")).tokens]
        assert ids == made[0].tolist()[: len(ids)]
        assert made.shape[1] - len(ids) in (0, 1)  # the end is not read again


def test_a_text_given_to_the_decoder_and_the_same_tokens_generated_are_one_capture():
    held = runner("bart")
    forced = held.capture(CaptureRequest(SOURCE, target=TARGET))
    followed = held.capture(CaptureRequest(SOURCE, target="", continuation=tuple(ids_of(TARGET))))
    assert forced.text == followed.text == TARGET
    for one, other in zip(three(forced), three(followed), strict=True):
        assert torch.equal(weights(one, 1), weights(other, 1))
    assert [token.text for token in held.capture(CaptureRequest(SOURCE, target="")).tokens] == ["⟨pad⟩"]


@pytest.mark.parametrize("sampling", [GREEDY, Sampling(seed=3)])
def test_every_step_of_a_generation_is_the_capture_of_what_is_written(sampling):
    held = runner("marian")
    steps = list(held.generate(GenerateRequest(SOURCE, 4, sampling)))
    assert [step.stop for step in steps] in (["", "", "", "limit"], ["end"], ["", "end"], ["", "", "end"])
    for step in steps:
        own = held.capture(step.capture.request)
        assert [token.id for token in own.tokens] == [token.id for token in step.capture.tokens]
        assert step.capture.tokens[-1] == step.token
        for one, other in zip(three(own), three(step.capture), strict=True):
            torch.testing.assert_close(weights(one, 1), weights(other, 1), atol=1e-6, rtol=0)
        torch.testing.assert_close(step.logits, own.logits(step.position - 1), atol=1e-5, rtol=0)
    if sampling == GREEDY:
        assert all(step.rank == 1 for step in steps)


@pytest.mark.parametrize("name", ["t5", "marian", "deep decoder"])
def test_beams_are_those_of_transformers_own_search(name):
    held, model = runner(name), FAMILIES[name]()
    found = held.submit(Beams(GenerateRequest(SOURCE, 8), 3)).result()
    given = torch.tensor([ids_of(SOURCE)])
    with torch.no_grad():
        theirs = model.generate(
            input_ids=given,
            attention_mask=torch.ones_like(given),
            max_new_tokens=8,
            num_beams=3,
            num_return_sequences=3,
            do_sample=False,
            length_penalty=1.0,
            early_stopping=False,
            return_dict_in_generate=True,
            output_scores=True,
            use_cache=name in CACHED,
        )
    rows = [row[1:] for row in theirs.sequences.tolist()]
    for final, row, score in zip(found.ranking, rows, theirs.sequences_scores.tolist(), strict=True):
        assert list(final.beam.ids) == row[: len(final.beam.ids)]
        assert final.score == pytest.approx(score, abs=1e-4)
    best = found.ranking[0].beam
    forced = held.capture(CaptureRequest(SOURCE, target="", continuation=best.ids))
    for at, log_prob in enumerate(best.log_probs):
        assert log_prob == pytest.approx(float(torch.log_softmax(forced.logits(at), 0)[best.ids[at]]), abs=1e-4)


def test_it_comes_back_from_bytes():
    held = runner("t5")
    capture = held.capture(CaptureRequest(SOURCE, target=TARGET, attention="cross"))
    back = wire.from_bytes(wire.to_bytes(capture), asked=held)
    assert back.request == capture.request
    assert back.keys == capture.keys != back.tokens
    for one, other in zip(three(capture), three(back), strict=True):
        assert torch.equal(weights(one, 0), weights(other, 0))
    assert torch.equal(back.logits(3), capture.logits(3))


def test_a_decoder_and_its_cross_attention_are_counted_once():
    capture = runner("bart").capture(CaptureRequest(SOURCE, target=TARGET))
    assert capture.nbytes == capture.attention("cross").nbytes
    tensors = [*capture.residuals, capture.hidden, *three(capture)[0].residuals, three(capture)[0].hidden]
    records = [one.record(layer) for one in three(capture) for layer in range(one.n_layers)]
    assert capture.nbytes == sum(one.nbytes for one in (*tensors, *records))


def test_what_cannot_be_asked_says_so():
    held = runner("bart")
    capture = held.capture(CaptureRequest(SOURCE, target=TARGET))
    with pytest.raises(NoSuchAttention, match="no “self” attention; it has: encoder, decoder, cross"):
        capture.attention("self")
    with pytest.raises(NoSuchAttention):
        held.capture(CaptureRequest(SOURCE, attention="self"))
    with pytest.raises(EncoderSaysNothing):
        capture.attention("encoder").logits(0)
    with pytest.raises(NoAttribution):
        capture.direct_logits(0, 0, 0)
    with pytest.raises(EditNotPossible):
        held.capture(CaptureRequest(SOURCE, edits=(ScaledHead(0, 0, 0.0),)))
    with pytest.raises(OneStackOnly, match="bart is an encoder–decoder"):
        held.submit(HeadProjections(CaptureRequest(SOURCE), 0, 0, (0,))).result()
    with pytest.raises(EmptyText):
        held.capture(CaptureRequest(" "))
    with pytest.raises(ContextFull):
        held.capture(CaptureRequest(SOURCE, target="a" * 600))
    only = load_runner("default").capture(CaptureRequest("A cat"))
    assert (only.attentions, only.keys) == ((), only.tokens)
    with pytest.raises(NoSuchAttention):
        only.attention("cross")


def test_a_model_that_hears_is_refused_before_its_weights():
    with pytest.raises(NotCapturable, match="its encoder reads sound"):
        class_of("someone/hears", {"model_type": "speech_to_text"})


def test_the_embedded_translator_looks_at_the_word_it_writes_next():
    cross = load_runner("translator").capture(CaptureRequest("The cat eats the mouse.", attention="cross"))
    read, written = [token.text for token in cross.keys], [token.text for token in cross.tokens]
    strongest = cross.weights(3, 2).argmax(dim=-1)
    looks = {written[at + 1]: read[int(strongest[at])] for at in range(len(written) - 1)}
    assert (looks["猫"], looks["老鼠"]) == ("·cat", "·mouse")
