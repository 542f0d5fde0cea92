"""BigBird, BigBird-Pegasus and LongT5's local encoder, against slow float64 loops over the keys that each query has."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM

from attention import masks
from attention.masks import BlockSparse
from model_runner.capture import Capture
from model_runner.edits import OfAttention, ScaledHead
from model_runner.errors import EditNotPossible
from model_runner.local.loading.known_families import can_be_captured
from model_runner.local.runner import LocalRunner
from model_runner.mask_rule import FULL, MaskRule
from model_runner.repeated_keys import RepeatedKeys
from model_runner.request import CaptureRequest, GenerateRequest
from model_runner.wire import from_bytes, to_bytes
from tests.model_runner.local.recording.test_encoder_decoders import BART, T5, built
from tests.model_runner.tiny import D_MODEL, N_HEADS, byte_tokenizer, place, tiny

pytestmark = pytest.mark.table

TEXT = "The quick brown fox jumps over the lazy dog, and then it sleeps."  # 16 blocks of 4
TARGET = "ein Fuchs"
BLOCK = 4
RADIUS = 5
LENGTHS = (20, 28, 29, 61, 64)  # up to 28 tokens BigBird reads as a whole here; 29 and 61 are padded

Build = Callable[[], Any]


def big_bird(draws: int = 1) -> Build:
    return tiny("big_bird", AutoModelForMaskedLM, block_size=BLOCK, num_random_blocks=draws)


BUILDS: dict[str, Build] = {
    "big_bird": big_bird(),
    "big_bird, two draws": big_bird(2),
    "bigbird_pegasus": built("bigbird_pegasus", **BART, block_size=BLOCK, num_random_blocks=1),
    "longt5": built("longt5", **T5, local_radius=RADIUS, encoder_attention_type="local"),
}


@cache
def runner(name: str, dtype: torch.dtype = torch.float32) -> LocalRunner:
    return LocalRunner(place(BUILDS[name](), "cpu", dtype), byte_tokenizer(), name=name)


def reading(name: str, text: str, dtype: torch.dtype = torch.float32) -> Capture:
    """Of the encoder."""
    held = runner(name, dtype)
    if held.info.attentions:
        return held.capture(CaptureRequest(text, target=TARGET)).attention("encoder")
    return held.capture(CaptureRequest(text))


def encoder(model: Any) -> Any:
    return model.bert.encoder if hasattr(model, "bert") else model.get_encoder()


def ids(capture: Capture) -> Tensor:
    return torch.tensor([[token.id for token in capture.tokens]])


def hidden_states(name: str, tokens: Tensor) -> tuple[Tensor, ...]:
    """Those entering each layer of a fresh model that nothing watches."""
    model = BUILDS[name]()
    own = model.bert if hasattr(model, "bert") else model.get_encoder()
    with torch.no_grad():
        return own(input_ids=tokens, output_hidden_states=True, return_dict=True).hidden_states


def seen_by_big_bird(n_tokens: int, draws: int) -> Iterator[list[int]]:
    """The keys of each query in the order of the code, those that come several times included."""
    if n_tokens <= (5 + 2 * draws) * BLOCK:
        yield from ([*range(n_tokens)] for _ in range(n_tokens))
        return
    last = -(-n_tokens // BLOCK) - 1
    for query in range(n_tokens):
        block = query // BLOCK
        blocks = {0, block - 1, block, block + 1, last}
        keys = [key for key in range(n_tokens) if block in (0, last) or key // BLOCK in blocks]
        yield [*keys] if block in (0, last) else keys + draws * [*range(BLOCK)]


def t5_bucket(away: int) -> int:
    """Of 32 for both directions, up to a distance of 128 (Raffel et al. 2019, section 2.1)."""
    size = abs(away)
    small = size if size < 8 else min(15, 8 + int(math.log(size / 8) / math.log(128 / 8) * 8))
    return small + (16 if away > 0 else 0)


def by_loops(name: str, capture: Capture, layer: int) -> Tensor:
    """Weights ``[heads, queries, keys]`` in float64."""
    n, model = len(capture.tokens), BUILDS[name]()
    hidden = hidden_states(name, ids(capture))[layer][0, :n]
    with torch.no_grad():
        if name == "longt5":
            block = model.encoder.block[layer].layer[0]
            own, normed = block.LocalSelfAttention, block.layer_norm(hidden)
            q, k = (part(normed) for part in (own.q, own.k))
            table = model.encoder.block[0].layer[0].LocalSelfAttention.relative_attention_bias.weight.double()
            scale, keys = 1.0, [[j for j in range(n) if abs(i - j) <= RADIUS] for i in range(n)]
        else:
            of_layer = encoder(model).layer[layer].attention if hasattr(model, "bert") else None
            of_layer = of_layer or encoder(model).layers[layer].self_attn
            normed = hidden if hasattr(model, "bert") else encoder(model).layers[layer].self_attn_layer_norm(hidden)
            q, k = (part(normed) for part in (of_layer.self.query, of_layer.self.key))
            table, scale = None, (D_MODEL // N_HEADS) ** -0.5
            keys = [*seen_by_big_bird(n, model.config.num_random_blocks)]
    q, k = (one.double().unflatten(-1, (N_HEADS, -1)).transpose(0, 1) for one in (q, k))
    found = torch.zeros(N_HEADS, n, n, dtype=torch.float64)
    for head in range(N_HEADS):
        for query in range(n):
            scores = [float(q[head, query] @ k[head, key]) * scale for key in keys[query]]
            if table is not None:
                scores = [one + float(table[t5_bucket(j - query), head]) for one, j in zip(scores, keys[query])]
            shares = torch.tensor(scores, dtype=torch.float64).softmax(dim=0)
            for key, share in zip(keys[query], shares, strict=True):
                found[head, query, key] += share
    return found


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("name", BUILDS)
def test_weights_and_logits_are_the_models_own(name: str, length: int) -> None:
    found = reading(name, TEXT[:length])
    for layer in range(found.n_layers):
        ours = found.layer_weights(layer, slice(0, length))
        torch.testing.assert_close(ours, by_loops(name, found, layer).float(), atol=1e-5, rtol=0)
        assert found.verify(layer).ok
        rows = ours.sum(dim=-1)
        torch.testing.assert_close(rows, torch.ones_like(rows), atol=1e-5, rtol=0)
    model, said = (
        BUILDS[name](),
        found if found.asked else runner(name).capture(CaptureRequest(TEXT[:length], target=TARGET)),
    )
    given = {"input_ids": ids(found)} | ({"decoder_input_ids": ids(said)} if runner(name).info.attentions else {})
    with torch.no_grad():
        own = model(**given, return_dict=True).logits[0]
    torch.testing.assert_close(torch.stack([said.logits(at) for at in range(len(own))]), own, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("name", ["big_bird", "bigbird_pegasus"])
def test_a_text_before_does_not_decide_how_a_text_is_read(name: str) -> None:
    """transformers' own BigBird reads a long text as a whole after it has read a short one."""
    held = LocalRunner(BUILDS[name](), byte_tokenizer(), name=name)
    target = TARGET if held.info.attentions else None
    long, short = (held.capture(CaptureRequest(text, target=target)) for text in (TEXT, TEXT[:20]))
    again = held.capture(CaptureRequest(TEXT + "!", target=target))
    every = [one.attention("encoder") if target else one for one in (long, short, again)]
    assert [type(one.record(0).mask.own) for one in every] == [BlockSparse, masks.Full, BlockSparse]
    torch.testing.assert_close(long.logits(-1), LocalRunner(BUILDS[name](), byte_tokenizer(), name=name).capture(
        CaptureRequest(TEXT, target=target)).logits(-1), atol=0, rtol=0)  # fmt: skip


def test_the_streams_are_without_padding_and_the_models_own() -> None:
    found = reading("big_bird", TEXT[:61])
    expected = hidden_states("big_bird", ids(found))
    for layer in range(found.n_layers):
        torch.testing.assert_close(found.residual(layer), expected[layer][0, :61], atol=1e-5, rtol=1e-5)
    assert {len(one) for one in (*found.residuals, found.hidden)} == {61}
    assert found.record(0).k.shape[1] == 61


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["float32", "bfloat16"])
@pytest.mark.parametrize("name", ["big_bird", "longt5"])
def test_the_badge_says_so_and_sees_a_hundredth_and_what_is_counted_otherwise(name: str, dtype: torch.dtype) -> None:
    found = reading(name, TEXT * 3, dtype)
    for layer in range(3):
        assert found.verify(layer).ok, found.verify(layer)
    record = found.record(1)
    wrong: list[dict[str, Any]] = [{part: getattr(record, part) * 1.01} for part in ("k", "v", "scale")]
    wrong += [{"mask": FULL}, {"bias": None}]
    for fields in wrong:
        records = (found.record(0), dataclasses.replace(record, **fields), found.record(2))
        assert not dataclasses.replace(found, records=records, _lse={}).verify(1).ok, list(fields)


@pytest.mark.parametrize("name", ["big_bird", "longt5"])
def test_a_capture_goes_through_bytes(name: str) -> None:
    found = reading(name, TEXT)
    again = from_bytes(to_bytes(found))
    assert torch.equal(again.layer_weights(1, slice(0, 20)), found.layer_weights(1, slice(0, 20)))
    assert again.record(1).mask == found.record(1).mask


def test_blocks_that_are_drawn_count_as_often_as_they_are_seen() -> None:
    drawn = ((3, 5), (0, 4), (2, 2), (1, 5), (0, 1), (5, 1))
    rule = BlockSparse(3, 8, drawn)
    n = 23  # the last block is not whole
    expected = torch.zeros(n, n, dtype=torch.long)
    for query in range(n):
        block = query // 3
        for key in range(n):
            other = key // 3
            if block in (0, 7):
                expected[query, key] = 1
                continue
            expected[query, key] = int(abs(block - other) <= 1 or other in (0, 7))
            expected[query, key] += drawn[block - 1].count(other)
    whole = slice(0, n)
    found = masks.counts(rule, slice(0, 2), whole, whole)
    assert torch.equal(found, expected.expand(2, n, n))
    assert torch.equal(masks.tile(rule, whole, whole), expected > 0)
    assert torch.equal(masks.tile(rule, slice(4, 9), slice(2, 20)), (expected > 0)[4:9, 2:20])
    assert rule.most == 3 >= int(expected.max())
    bias = RepeatedKeys(rule).tile(slice(0, 1), whole, whole, torch.device("cpu"))
    assert torch.equal(bias[0], expected.clamp(min=1).float().log())
    assert MaskRule(rule) == MaskRule(BlockSparse(3, 8, drawn)) != MaskRule(BlockSparse(3, 8, drawn[::-1]))


def test_heads_of_an_encoder_that_multiplies_by_itself_stay_and_those_of_its_decoder_can_be_changed() -> None:
    held = runner("longt5")
    whole = held.capture(CaptureRequest(TEXT, target=TARGET))
    for attention in ("decoder", "cross"):
        edit = OfAttention(attention, ScaledHead(0, 1, 0.0))  # type: ignore[arg-type]  # one of the literals
        changed = held.capture(CaptureRequest(TEXT, target=TARGET, edits=(edit,)))
        assert changed.attention(attention).verify(0).ok
        assert not torch.allclose(changed.logits(-1), whole.logits(-1), atol=1e-3)
    with pytest.raises(EditNotPossible, match="does not go through transformers' attention interface"):
        held.capture(CaptureRequest(TEXT, target=TARGET, edits=(OfAttention("encoder", ScaledHead(0, 1, 0.0)),)))


@pytest.mark.parametrize("name", ["bigbird_pegasus", "longt5"])
def test_what_is_written_goes_on_as_the_model_has_it(name: str) -> None:
    steps = list(runner(name).generate(GenerateRequest(TEXT, 3, target="ein")))
    read, written = steps[0].capture.attention("encoder"), steps[0].capture
    model, tokens = BUILDS[name](), ids(written)[:, :-1]  # a step's capture has read its token
    for step in steps:
        with torch.no_grad():
            own = model(input_ids=ids(read), decoder_input_ids=tokens, use_cache=False).logits[0, -1]
        assert step.token.id == int(own.argmax())
        tokens = torch.cat([tokens, torch.tensor([[step.token.id]])], dim=1)


def test_the_decoder_of_bigbird_pegasus_alone_is_causal_as_its_own_mask_has_it() -> None:
    """Its module does not say that it is causal, and transformers leaves out what it takes such a module to know."""
    build = tiny("bigbird_pegasus", AutoModelForCausalLM, **BART)
    held = LocalRunner(build(), byte_tokenizer(), name="bigbird_pegasus")
    found = held.capture(CaptureRequest(TEXT))
    with torch.no_grad():
        own = build()(ids(found), output_attentions=True)
    torch.testing.assert_close(found.logits(-1), own.logits[0, -1], atol=1e-5, rtol=1e-5)
    for layer, weights in enumerate(own.attentions):
        torch.testing.assert_close(found.layer_weights(layer, slice(0, len(TEXT))), weights[0], atol=1e-5, rtol=0)
        assert found.verify(layer).ok
    *_, last = held.generate(GenerateRequest(TEXT, 3))
    assert last.capture.verify(1).ok


def test_the_preview_says_that_they_can_be_captured() -> None:
    assert can_be_captured({"model_type": "big_bird"})
    assert can_be_captured({"model_type": "bigbird_pegasus"})
