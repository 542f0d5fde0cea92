"""Two sentences are read with the types that transformers' own ``tokenizer(a, b)`` gives them, wherever they are read.

The references are plain models of transformers that nothing of ours has touched.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from tokenizers import processors
from torch import Tensor
from transformers import AutoModelForMaskedLM, AutoTokenizer, PreTrainedTokenizerFast

from model_runner.block_questions import StreamAdditions, TrainingStep
from model_runner.edits import KeepLast, ScaledHead
from model_runner.local.loading.model_folder import EMBEDDED
from model_runner.local.loading.sandboxed_tokenizer import SandboxedTokenizer
from model_runner.local.runner import LocalRunner
from model_runner.local.token_types import learned_types, marks_second
from model_runner.projection_questions import HeadProjections
from model_runner.questions import NextLogits, PatchStream
from model_runner.request import CaptureRequest
from tests.model_runner.families import MASKED
from tests.model_runner.tiny import BOS, EOS, byte_tokenizer, tiny

FIRST, SECOND, OTHER = "The dog ran home.", "It was late.", "He was late."
CLOSE = 1e-5  # float32, see tests/model_runner/cases.py
MOBILE = {
    "embedding_size": 16, "intra_bottleneck_size": 32, "true_hidden_size": 32, "num_feedforward_networks": 1,
    "normalization_type": "layer_norm",
}  # fmt: skip  # its sizes in one line
TYPED: dict[str, Callable[[], Any]] = {
    "bert": tiny("bert", MASKED),
    "electra": tiny("electra", MASKED, embedding_size=32),
    "megatron-bert": tiny("megatron-bert", MASKED),
    "roformer": tiny("roformer", MASKED, embedding_size=32),
    "mobilebert": tiny("mobilebert", MASKED, **MOBILE),
}
UNTYPED: dict[str, Callable[[], Any]] = {
    "one type": tiny("roberta", MASKED, max_position_embeddings=800, type_vocab_size=1),
    "takes no types": tiny("distilbert", MASKED, dim=32, hidden_dim=48, type_vocab_size=2),
    "a text that grows": tiny("bert", is_decoder=True),
    "none in DeBERTa": tiny("deberta-v2", MASKED),
    "a table of seven": tiny("tapas", MASKED),
}


def pair_tokenizer(pair: str = "<bos> $A <eos> $B:1 <eos>:1", *, tells: bool = True) -> PreTrainedTokenizerFast:
    """Bytes between a beginning and separators; ``tells``: it gives types, as BERT's does and RoBERTa's does not."""
    inner = byte_tokenizer().backend_tokenizer
    inner.post_processor = processors.TemplateProcessing(
        single="<bos> $A <eos>", pair=pair, special_tokens=[("<bos>", BOS), ("<eos>", EOS)]
    )
    names = ["input_ids", "token_type_ids", "attention_mask"]
    return PreTrainedTokenizerFast(
        tokenizer_object=inner,
        bos_token="<bos>",
        eos_token="<eos>",
        pad_token="<pad>",
        model_max_length=512,
        model_input_names=names if tells else [names[0], names[2]],
    )


class Pair:
    """One model of ours beside transformers' own: what each says of two sentences."""

    def __init__(self, build: Callable[..., Any], tokenizer: PreTrainedTokenizerFast, separator: str) -> None:
        self.build, self.tokenizer, self.separator = build, tokenizer, separator
        self.runner = LocalRunner(build(), tokenizer, name="pair")

    @functools.cached_property
    def plain(self) -> Any:
        model = self.build()
        if model._can_set_attn_implementation():
            model.set_attn_implementation("eager")
        return model

    def request(self, second: str = SECOND, **more: Any) -> CaptureRequest:
        return CaptureRequest(FIRST + self.separator + second, **more)

    def given(self, second: str = SECOND, **more: Any) -> dict[str, Any]:
        return {**self.tokenizer(FIRST, second, return_tensors="pt"), **more}

    @torch.no_grad()
    def said(self, **more: Any) -> Any:
        return self.plain(**self.given(**more), output_attentions=True, output_hidden_states=True)

    def without_types(self) -> Any:
        return self.said(token_type_ids=None)


@functools.cache
def pair_of(name: str) -> Pair:
    if name == "embedded":
        folder = EMBEDDED["encoder"]
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        return Pair(lambda: AutoModelForMaskedLM.from_pretrained(folder, dtype=torch.float32), tokenizer, "[SEP]")
    return Pair(TYPED.get(name) or UNTYPED[name], pair_tokenizer(), "<eos>")


def weights_of(pair: Pair, *edits: Any) -> Tensor:
    made = pair.runner.capture(pair.request(edits=edits))
    return torch.stack([made.layer_weights(layer, slice(0, len(made.tokens))) for layer in range(made.n_layers)])


def logits_of(pair: Pair, *edits: Any) -> Tensor:
    made = pair.runner.capture(pair.request(edits=edits))
    return torch.stack([made.logits(place) for place in range(len(made.tokens))])


def without(pair: Pair, layer: int, head: int) -> Tensor:
    """Logits of transformers' own model when a head of it passes on nothing: by a hook before its projection."""
    size = pair.plain.config.hidden_size // pair.plain.config.num_attention_heads

    def silence(_: Any, args: tuple[Tensor]) -> tuple[Tensor]:
        passed_on = args[0].clone()
        passed_on[..., head * size : (head + 1) * size] = 0.0
        return (passed_on,)

    hook = pair.plain.base_model.encoder.layer[layer].attention.output.dense.register_forward_pre_hook(silence)
    try:
        return pair.said().logits[0]
    finally:
        hook.remove()


@pytest.mark.parametrize("name", ["embedded", *TYPED])
def test_the_map_and_the_guesses_of_a_pair_are_those_that_transformers_reads_with_its_types(name: str) -> None:
    pair = pair_of(name)
    theirs, untyped = pair.said(), pair.without_types()
    assert pair.given()["token_type_ids"].unique().tolist() == [0, 1]
    maps, plain = (torch.stack(one.attentions)[:, 0] for one in (theirs, untyped))
    assert (weights_of(pair) - maps).abs().max() <= CLOSE
    assert (maps - plain).abs().max() > 0.01  # the types do change something
    assert (logits_of(pair) - theirs.logits[0]).abs().max() <= 10 * CLOSE
    assert (theirs.logits - untyped.logits).abs().max() > 0.01
    made = pair.runner.capture(pair.request())
    assert all(made.verify(layer).ok for layer in range(made.n_layers))


@pytest.mark.parametrize("name", UNTYPED)
def test_models_without_types_of_two_sentences_read_as_before(name: str) -> None:
    pair = pair_of(name)
    assert not learned_types(pair.plain, pair.runner.engine.structure.backbone.module)
    theirs = pair.without_types()
    maps = torch.stack(theirs.attentions)[:, 0]
    assert (weights_of(pair) - maps).abs().max() <= CLOSE
    assert (logits_of(pair) - theirs.logits[0]).abs().max() <= 10 * CLOSE


@pytest.mark.parametrize(
    "tokenizer",
    [pair_tokenizer(tells=False), pair_tokenizer("<bos> $A <eos> <eos> $B <eos>"), pair_tokenizer("<bos> $A $B:1")],
    ids=["tells none", "two separators, one type", "no separator"],
)
def test_a_model_whose_tokenizer_gives_a_pair_no_such_types_is_given_none(tokenizer: PreTrainedTokenizerFast) -> None:
    pair = Pair(TYPED["bert"], tokenizer, "<eos>")
    ids = tokenizer(pair.request().text, return_tensors="pt")["input_ids"]
    with torch.no_grad():
        expected = pair.plain(input_ids=ids).logits[0]
    assert (logits_of(pair) - expected).abs().max() <= 10 * CLOSE


@pytest.mark.parametrize("text", ["The dog ran home.", "The dog ran home.[SEP]", "[SEP]"])
def test_one_sentence_has_one_type(text: str) -> None:
    pair = pair_of("embedded")
    made = pair.runner.capture(CaptureRequest(text))
    with torch.no_grad():
        expected = pair.plain(**pair.tokenizer(text, return_tensors="pt")).logits[0]
    found = torch.stack([made.logits(place) for place in range(len(made.tokens))])
    assert (found - expected).abs().max() <= 10 * CLOSE


def test_what_follows_the_first_separator_is_of_the_second_sentence_further_separators_too() -> None:
    pair = pair_of("embedded")
    second = "It was late.[SEP]And dark."
    made = pair.runner.capture(pair.request(second))
    with torch.no_grad():
        expected = pair.plain(**pair.given(second)).logits[0]
    assert (torch.stack([made.logits(place) for place in range(len(made.tokens))]) - expected).abs().max() <= 10 * CLOSE


@pytest.mark.parametrize("name", ["embedded", "bert"])
def test_an_edited_forward_of_a_pair_has_its_types(name: str) -> None:
    pair = pair_of(name)
    plain = pair.said().logits[0]
    expected = without(pair, 1, 2)
    assert (expected - plain).abs().max() > 0.01
    assert (logits_of(pair, ScaledHead(1, 2)) - expected).abs().max() <= 10 * CLOSE
    hidden = torch.arange(len(plain))[:, None] - torch.arange(len(plain)) >= 3  # what comes later stays in view
    added = torch.zeros(1, 1, *hidden.shape).masked_fill(hidden, -1e9)
    masked = pair.said(attention_mask=added).logits[0]
    assert (logits_of(pair, KeepLast(3)) - masked).abs().max() <= 10 * CLOSE


@pytest.mark.parametrize("name", ["embedded", "bert"])
def test_the_logits_after_a_pair_are_those_with_its_types(name: str) -> None:
    pair = pair_of(name)
    plain = pair.runner.submit(NextLogits(pair.request())).result()
    assert (plain - pair.said().logits[0, -1]).abs().max() <= 10 * CLOSE
    edited = pair.runner.submit(NextLogits(pair.request(edits=(ScaledHead(1, 2),)))).result()
    assert (edited - without(pair, 1, 2)[-1]).abs().max() <= 10 * CLOSE


@pytest.mark.parametrize("name", ["embedded", "bert"])
def test_what_the_block_shows_of_a_pair_is_of_its_types(name: str) -> None:
    pair, layer, head = pair_of(name), 1, 2
    hidden = pair.said().hidden_states
    added = pair.runner.submit(StreamAdditions(pair.request(), -1)).result()
    assert (added.streams[0] - hidden[0][0].norm(dim=-1)).abs().max() <= 10 * CLOSE
    places = (0, len(hidden[0][0]) - 1)
    read = pair.runner.submit(HeadProjections(pair.request(), layer, head, places)).result().q
    assert read is not None
    assert (read.read - hidden[layer][0][list(places)]).abs().max() <= CLOSE


@pytest.mark.parametrize("name", ["embedded", "bert"])
def test_a_step_of_learning_of_a_pair_begins_with_the_losses_that_its_types_give(name: str) -> None:
    pair = pair_of(name)
    found = pair.runner.submit(TrainingStep(pair.request(), (0.0,))).result()
    ids = pair.given()["input_ids"][0]
    expected = torch.nn.functional.cross_entropy(pair.said().logits[0, :-1], ids[1:], reduction="none")
    assert (found.before - expected).abs().max() <= 1e-4
    assert (found.after[0] - expected).abs().max() <= 1e-4


@pytest.mark.parametrize("name", ["embedded", "bert"])
def test_patches_between_two_pairs_are_plain_hooks_over_their_types(name: str) -> None:
    pair, layer, tokens, place = pair_of(name), 1, (70, 80), 8
    source = pair.plain(**pair.given(OTHER), output_hidden_states=True).hidden_states[layer]
    found = pair.runner.submit(PatchStream(pair.request(), pair.request(OTHER), layer, tokens)).result()

    def patch(_: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
        stream = args[0].clone()
        stream[0, place] = source[0, place]
        return (stream, *args[1:])

    before = pair.said().logits[0, -1]
    hook = pair.plain.base_model.encoder.layer[layer].register_forward_pre_hook(patch)
    after = pair.said().logits[0, -1]
    hook.remove()
    change = after.log_softmax(-1) - before.log_softmax(-1)
    assert float(found[place]) == pytest.approx(float(change[tokens[0]] - change[tokens[1]]), abs=1e-4)


def test_a_tokenizer_in_a_process_of_its_own_tells_the_same(tmp_path: Path) -> None:
    for tells in (True, False):
        folder = tmp_path / str(tells)
        pair_tokenizer(tells=tells).save_pretrained(folder)
        apart = SandboxedTokenizer(folder)
        apart.load("pair", lambda: None)
        try:
            assert marks_second(apart) == marks_second(pair_tokenizer(tells=tells)) == tells
        finally:
            apart.close()
