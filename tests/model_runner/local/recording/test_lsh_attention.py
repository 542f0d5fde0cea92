"""Reformer against slow float64 loops: the keys of each query found from the buckets, a round and a chunk at a time."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from functools import cache
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM

from analysis.keys_seen import buckets_of
from attention.masks import SortedChunks
from model_runner.capture import Capture
from model_runner.errors import CannotContinue, NotCapturable
from model_runner.local.runner import LocalRunner
from model_runner.mask_rule import FULL
from model_runner.request import CaptureRequest, GenerateRequest
from model_runner.wire import from_bytes, to_bytes
from tests.model_runner.tiny import N_HEADS, byte_tokenizer, place, tiny

pytestmark = pytest.mark.table

TEXT = "The quick brown fox jumps over the lazy dog, and then it sleeps."
LENGTHS = (1, 4, 5, 9, 30, 61, 64)
SIZES: dict[str, Any] = {
    "attention_head_size": 8, "axial_pos_embds_dim": [16, 16], "axial_pos_shape": [16, 32], "feed_forward_size": 48,
    "lsh_attn_chunk_length": 4, "local_attn_chunk_length": 4, "hash_seed": 3,
}  # fmt: skip
MIXED = ["lsh", "local", "lsh"]
KINDS: dict[str, tuple[Any, dict[str, Any]]] = {
    "two rounds": (AutoModelForMaskedLM, {"attn_layers": MIXED, "num_buckets": 8, "num_hashes": 2}),
    "no seed": (AutoModelForMaskedLM, {"attn_layers": MIXED, "num_buckets": 4, "num_hashes": 2, "hash_seed": None}),
    "factors": (AutoModelForMaskedLM, {"attn_layers": ["lsh"] * 3, "num_buckets": [2, 4], "lsh_num_chunks_after": 1}),
    "causal": (
        AutoModelForCausalLM,
        {"attn_layers": MIXED, "num_hashes": 3, "is_decoder": True, "local_attn_chunk_length": 8},
    ),
    "local": (AutoModelForMaskedLM, {"attn_layers": ["local"] * 3, "local_num_chunks_after": 1}),
}


def build(name: str) -> Any:
    auto, own = KINDS[name]
    return tiny("reformer", auto, **{**SIZES, **own})()


@cache
def runner(name: str) -> LocalRunner:
    return LocalRunner(build(name), byte_tokenizer(), name="reformer")


@cache
def capture(name: str, text: str) -> Capture:
    return runner(name).capture(CaptureRequest(text))


def ids(found: Capture) -> Tensor:
    return torch.tensor([[token.id for token in found.tokens]])


def fresh(name: str) -> Any:
    """A model that nothing watches; one without a seed has that of the capture."""
    model = build(name)
    for module in model.modules():
        if getattr(module, "hash_seed", 0) is None:
            module.hash_seed = 0
    return model


class Seen:
    """What the attention modules of a plain forward were given and returned."""

    def __init__(self, name: str, tokens: Tensor) -> None:
        self.model, self.calls = fresh(name), []
        for layer in self.model.reformer.encoder.layers:
            layer.attention.self_attention.register_forward_hook(self._keep, with_kwargs=True)
        with torch.no_grad():
            self.logits = self.model(tokens).logits[0]

    def _keep(self, module: Any, _: Any, kwargs: dict[str, Any], output: Any) -> None:
        self.calls.append((module, kwargs["hidden_states"][0], output))


def by_loops(module: Any, hidden: Tensor, output: Any, n: int) -> Tensor:
    """Weights ``[heads, tokens, tokens]`` in float64, of the first ``n`` rows: the others are padding."""
    hashes, rows, size = hasattr(module, "query_key"), len(hidden), module.chunk_length
    parts = (module.query_key, module.query_key) if hashes else (module.query, module.key)
    with torch.no_grad():
        q, k = (part(hidden).double().unflatten(-1, (N_HEADS, -1)).transpose(0, 1) for part in parts)
    k = k / k.norm(dim=-1, keepdim=True) if hashes else k / k.shape[-1] ** 0.5
    found = torch.zeros(N_HEADS, n, n, dtype=torch.float64)
    for head in range(N_HEADS):
        order = [*range(rows)]
        if hashes and rows > size:
            order = []
            for of_round in output.buckets[0, head].tolist():
                order += sorted(range(rows), key=lambda token: (of_round[token], token))
        chunks = [order[at : at + size] for at in range(0, len(order), size)] if rows > size else [order]
        near = range(-module.num_chunks_before, module.num_chunks_after + 1) if rows > size else range(1)
        for query in range(n):
            seen: Counter[int] = Counter()
            for at, chunk in enumerate(chunks):
                if query in chunk:
                    for step in near:
                        seen.update(chunks[(at + step) % len(chunks)])
            keys = [key for key in seen if key < n and (key <= query or not module.is_decoder)]
            if hashes and len(keys) > 1:
                keys.remove(query)
            scores = torch.stack([q[head, query] @ k[head, key] for key in keys])
            counts = torch.tensor([float(seen[key]) for key in keys], dtype=torch.float64)
            shares = (scores - scores.max()).exp() * counts
            found[head, query, keys] = shares / shares.sum()
    return found


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("name", KINDS)
def test_weights_logits_and_streams_are_the_models_own(name: str, length: int) -> None:
    found = capture(name, TEXT[:length])
    own = Seen(name, ids(found))
    torch.testing.assert_close(
        torch.stack([found.logits(at) for at in range(length)]), own.logits, atol=1e-5, rtol=1e-5
    )
    for layer, (module, hidden, output) in enumerate(own.calls):
        ours = found.layer_weights(layer, slice(0, length))
        torch.testing.assert_close(ours, by_loops(module, hidden, output, length).float(), atol=1e-5, rtol=0)
        assert found.verify(layer).ok, found.verify(layer)
        mixed = (ours @ found.v(layer)).transpose(0, 1).flatten(1)
        near = 2e-2 if KINDS[name][1].get("is_decoder") else 1e-5  # scores of -100,000 are rounded by its own code
        torch.testing.assert_close(mixed, output.hidden_states[0, :length], atol=near, rtol=0)
        stream = own.model.reformer.encoder.layers[layer].attention.layer_norm(found.residual(layer)[:, 32:])
        torch.testing.assert_close(stream, hidden[:length], atol=1e-5, rtol=1e-5)
    assert {len(one) for one in (*found.residuals, found.hidden)} == {length}


@pytest.mark.parametrize("name", ["two rounds", "causal"])
def test_what_hashing_put_where_is_what_the_model_did(name: str) -> None:
    found = capture(name, TEXT)
    module, _, output = Seen(name, ids(found)).calls[0]
    many = module.num_buckets if isinstance(module.num_buckets, int) else math.prod(module.num_buckets)
    for head in range(N_HEADS):
        buckets = buckets_of(found.record(0), head)
        for one in buckets:
            for token in one.tokens:
                assert int(output.buckets[0, head, one.round, token]) == one.round * many + one.bucket
        for number in range(output.buckets.shape[2]):
            tokens = [token for one in buckets if one.round == number for token in one.tokens]
            assert sorted(tokens) == [*range(len(TEXT))]
    assert buckets_of(found.record(1), 0) == ()  # a local layer
    assert buckets_of(capture(name, TEXT[:4]).record(0), 0) == ()


def test_a_text_is_hashed_in_the_same_way_each_time_and_whatever_came_before() -> None:
    first, again = (LocalRunner(build(name), byte_tokenizer(), name="r") for name in ("no seed", "no seed"))
    again.capture(CaptureRequest(TEXT[:30]))
    for at in (0, 40):
        assert torch.equal(*(held.capture(CaptureRequest(TEXT)).logits(at) for held in (first, again)))
    first, again = (LocalRunner(build(name), byte_tokenizer(), name="r") for name in ("causal", "causal"))
    again.capture(CaptureRequest(TEXT[:10]))  # by which transformers would count the buckets of all texts to come
    assert torch.equal(*(held.capture(CaptureRequest(TEXT)).logits(40) for held in (first, again)))


def test_in_a_coarser_number_format_it_is_refused_in_a_sentence() -> None:
    with pytest.raises(NotCapturable, match="only float32 can be checked"):
        LocalRunner(place(build("two rounds"), "cpu", torch.bfloat16), byte_tokenizer(), name="reformer")


def test_the_badge_says_so_and_sees_a_hundredth_and_other_chunks() -> None:
    found = capture("two rounds", TEXT * 3)
    for layer in range(3):
        assert found.verify(layer).ok, found.verify(layer)
    record = found.record(0)
    rule: Any = record.mask.own
    assert isinstance(rule, SortedChunks)
    other = dataclasses.replace(record.mask, own=dataclasses.replace(rule, places=rule.places.roll(1, dims=0)))
    wrong: list[dict[str, Any]] = [{part: getattr(record, part) * 1.01} for part in ("k", "v", "scale")]
    for fields in [*wrong, {"mask": FULL}, {"mask": other}, {"bias": None}]:
        records = (dataclasses.replace(record, **fields), *found.records[1:])
        assert not dataclasses.replace(found, records=records, _lse={}).verify(0).ok, list(fields)


def test_keys_are_queries_of_length_one_and_each_head_sees_its_own() -> None:
    record = capture("two rounds", TEXT).record(0)
    torch.testing.assert_close(record.k, record.q / record.q.norm(dim=-1, keepdim=True), atol=1e-5, rtol=0)
    assert record.scale == 1
    n = len(TEXT)
    heads = record.mask.tiles(slice(0, N_HEADS), slice(0, n), slice(0, n), record.q.device)
    assert not torch.equal(heads[0], heads[1])
    any_head = record.mask.tile(slice(0, n), slice(0, n), record.q.device)
    assert torch.equal(any_head, heads.any(dim=0))
    assert torch.equal(record.mask.tile(slice(3, 9), slice(1, 7), record.q.device, head=1), heads[1, 3:9, 1:7])


def test_a_capture_goes_through_bytes() -> None:
    found = capture("two rounds", TEXT)
    again = from_bytes(to_bytes(found))
    assert torch.equal(again.layer_weights(0, slice(0, 20)), found.layer_weights(0, slice(0, 20)))
    assert buckets_of(again.record(0), 1) == buckets_of(found.record(0), 1)


def test_a_text_that_grows_is_refused_in_a_sentence() -> None:
    with pytest.raises(CannotContinue):
        list(runner("causal").generate(GenerateRequest(TEXT, max_new_tokens=2)))
