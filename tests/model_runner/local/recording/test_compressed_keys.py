"""DeepSeek-V4's keys that stand for several tokens: beside those of tokens, exactly, and labelled by what they mix."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import DeepseekV4Config, DeepseekV4ForCausalLM

from analysis.chosen_keys import index_row
from analysis.joined import as_square, first_query
from analysis.sinks import REST_IN, n_elsewhere, sink_words
from model_runner import Capture, CaptureRequest, GenerateRequest, wire
from model_runner.block_questions import WhatItIsMadeOf
from model_runner.capture import COMPRESSED, TOKENS
from model_runner.edits import Blocked, ChosenKeys, Int8Cache, MeanHead, OneEdit, ScaledHead, SharpenedHead
from model_runner.errors import CannotContinue, EditNotPossible, NoCompressedKeys
from model_runner.local.recording.compressed_keys import GROWING, OF_BOTH, compression_of
from model_runner.local.runner import LocalRunner
from tests.model_runner.tiny import byte_tokenizer

pytestmark = pytest.mark.table

TEXT = "The animal did not cross the street, it was tired."
SPARSE, HEAVY, PLAIN, AGAIN = range(4)  # layers
KINDS = ("compressed_sparse_attention", "heavily_compressed_attention", "sliding_attention")
RATES, TOP_K = {KINDS[0]: 4, KINDS[1]: 16}, 3
SIZES: dict[str, Any] = {
    "vocab_size": 300, "hidden_size": 32, "moe_intermediate_size": 16, "num_hidden_layers": 4, "num_attention_heads": 4,
    "head_dim": 16, "qk_rope_head_dim": 4, "q_lora_rank": 16, "o_groups": 2, "o_lora_rank": 8, "sliding_window": 8,
    "index_n_heads": 2, "index_head_dim": 8, "index_topk": TOP_K, "n_routed_experts": 4, "num_experts_per_tok": 2,
    "max_position_embeddings": 512, "num_hash_layers": 0, "bos_token_id": 256, "eos_token_id": 257, "pad_token_id": 258,
}  # fmt: skip  # sizes that belong together


def model(attention: str = "eager") -> Any:
    config = DeepseekV4Config(layer_types=[*KINDS, KINDS[0]], compress_rates=RATES, **SIZES)
    torch.manual_seed(0)
    made = DeepseekV4ForCausalLM._from_config(config, attn_implementation=attention).eval()
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for name, parameter in made.named_parameters():
            noise = torch.randn(parameter.shape, generator=generator)
            flat = parameter.dim() < 2 or "norm" in name
            parameter.copy_(parameter + 0.2 * noise if flat else noise * 32**-0.5)
    return made


@cache
def runner() -> LocalRunner:
    return LocalRunner(model(), byte_tokenizer(), name="deepseek_v4")


@cache
def capture() -> Capture:
    return runner().capture(CaptureRequest(TEXT))


def compressed(of: Capture | None = None) -> Capture:
    found = (of or capture()).compressed
    assert found is not None
    return found


def plain(of: Any = None, text: str = TEXT) -> Any:
    """Plain transformers' own answer to the tokens of the text."""
    ids = torch.tensor([[token.id for token in runner().capture(CaptureRequest(text)).tokens]])
    with torch.no_grad():
        return (of or model())(input_ids=ids, output_attentions=True, use_cache=False)


def own_columns(layer: int) -> slice:
    """Where the entries of a layer's compressor are among those of all layers."""
    labels, blocks = [token.text for token in compressed().keys], {SPARSE: 4, HEAVY: 16, AGAIN: 4}
    few = len(capture().tokens) // 4
    assert len(labels) == few + len(capture().tokens) // 16
    return slice(0, few) if blocks[layer] == 4 else slice(few, None)


def test_both_maps_together_are_the_weights_of_transformers():
    answer, tokens = plain(), capture().tokens
    every = slice(0, len(tokens))
    torch.testing.assert_close(capture().logits(-1), answer.logits[0, -1], atol=5e-5, rtol=1e-5)
    for layer, weights in enumerate(answer.attentions):
        torch.testing.assert_close(
            capture().layer_weights(layer, every), weights[0, ..., : len(tokens)], atol=2e-6, rtol=0
        )
        assert capture().verify(layer).ok
        if layer == PLAIN:
            continue
        found = compressed().layer_weights(layer, every)
        torch.testing.assert_close(found[..., own_columns(layer)], weights[0, ..., len(tokens) :], atol=2e-6, rtol=0)
        assert float(found.sum()) == pytest.approx(float(weights[0, ..., len(tokens) :].sum()), abs=1e-3)  # no others
        assert compressed().verify(layer).ok
        assert float(found.mean()) > 0.005


@pytest.mark.parametrize("layer", [SPARSE, HEAVY])
def test_a_key_is_labelled_by_the_tokens_that_it_mixes(layer: int):
    """By the gradient of every entry with respect to every token that the compressor is given."""
    own: Any = model()
    attention = own.model.layers[layer].self_attn
    n_tokens, generator = len(capture().tokens), torch.Generator().manual_seed(1)
    given = torch.randn(1, n_tokens, SIZES["hidden_size"], generator=generator, requires_grad=True)
    queries = torch.randn(1, n_tokens, SIZES["q_lora_rank"], generator=generator)
    entries, _ = attention.compressor(given, queries, torch.arange(n_tokens)[None], None, layer)
    mixed = [
        torch.autograd.grad(entries[0, 0, entry].sum(), given, retain_graph=True)[0][0].abs().sum(-1).nonzero()[:, 0]
        for entry in range(entries.shape[2])
    ]
    labels = [f"⟨{int(one.min())}–{int(one.max())}⟩" for one in mixed]
    assert labels == [token.text for token in compressed().keys[own_columns(layer)]]
    assert all(len(one) == int(one.max()) - int(one.min()) + 1 for one in mixed)


def test_a_query_sees_the_blocks_that_are_closed_and_of_these_the_chosen():
    queries, keys = slice(0, len(capture().tokens)), slice(0, len(compressed().keys))
    for layer in (SPARSE, HEAVY, AGAIN):
        seen = compressed().record(layer).mask.tile(queries, keys, torch.device("cpu"))
        weights = compressed().layer_weights(layer, queries)
        assert torch.equal(seen, (weights > 0).any(dim=0))
        assert compressed().has_indexer(layer) is (layer != HEAVY)
        if layer != HEAVY:
            assert int(seen.sum(-1).max()) == TOP_K


def test_what_the_indexer_scored_decides_what_is_read():
    last = len(capture().tokens) - 1
    row = index_row(compressed(), SPARSE, 0, last)
    assert row.top_k == TOP_K
    assert set(row.scores.argsort()[-TOP_K:]) == set(row.chosen.nonzero()[0])
    assert len(row.keys) == len(capture().tokens) // 4
    assert 0 < row.missed < 1
    drawn = as_square(compressed())
    below = index_row(drawn, SPARSE, 0, last + first_query(drawn))
    assert (below.keys, below.scores.tolist(), below.missed) == (
        row.keys,
        row.scores.tolist(),
        pytest.approx(row.missed),
    )


def test_every_block_can_be_read_and_the_missed_share_says_what_that_would_give():
    with_all: Any = model()
    for layer in (SPARSE, AGAIN):
        with_all.model.layers[layer].self_attn.compressor.indexer.index_topk = 10**6
    changed = runner().capture(CaptureRequest(TEXT, edits=(ChosenKeys(None),)))
    torch.testing.assert_close(changed.logits(-1), plain(with_all).logits[0, -1], atol=5e-5, rtol=1e-5)
    last, keys = len(capture().tokens) - 1, [*index_row(compressed(), SPARSE, 1, len(capture().tokens) - 1).keys]
    chosen = compressed().chosen_keys(SPARSE)[last]
    whole = compressed(changed).weights(SPARSE, 1)[last]  # the first layer: its queries and keys are the same
    left = float(whole[[key for key in keys if not chosen[key]]].sum())
    assert left == pytest.approx(float(compressed().missed_share(SPARSE, 1)[last]), abs=1e-5)


def by_output(change: Any) -> Tensor:
    """The logits of plain transformers where what a layer's heads pass on is changed."""
    own: Any = model()

    def hook(_: Any, given: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        grouped = given[0].reshape(1, -1, SIZES["num_attention_heads"], SIZES["head_dim"])
        return (change(grouped.clone()).reshape(given[0].shape),)

    own.model.layers[HEAVY].self_attn.o_a_proj.register_forward_pre_hook(hook)
    return plain(own).logits[0, -1]


def edited(edit: OneEdit) -> Tensor:
    found = runner().capture(CaptureRequest(TEXT, edits=(edit,)))
    both = [found, compressed(found)]
    assert all(one.verify(layer).ok for one in both for layer in range(4) if one.has_weights(layer))
    return found.logits(-1)


def test_a_head_that_is_left_out_passes_on_nothing_of_either_kind():
    def without(output: Tensor) -> Tensor:
        output[:, :, 2] = 0
        return output

    torch.testing.assert_close(edited(ScaledHead(HEAVY, 2)), by_output(without), atol=5e-5, rtol=1e-5)


def test_a_hidden_token_gives_its_share_to_keys_of_both_kinds():
    last = len(capture().tokens) - 1
    found = runner().capture(CaptureRequest(TEXT, edits=(Blocked(((last, last),), (SPARSE,), (1,)),)))
    both = [(capture(), found), (compressed(), compressed(found))]
    before, after = ([pair[at].weights(SPARSE, 1)[last] for pair in both] for at in range(2))
    kept = 1 - float(before[0][last])
    assert float(after[0][last]) == 0
    for own, changed in zip(before, after):
        others = torch.arange(len(own)) != last if len(own) > last else slice(None)
        torch.testing.assert_close(changed[others], own[others] / kept, atol=1e-6, rtol=1e-5)


def test_what_can_be_edited_of_both_kinds_is_and_a_temperature_is_refused():
    unchanged = capture().logits(-1)
    for edit in (MeanHead(SPARSE, 1), Int8Cache()):
        assert (edited(edit) - unchanged).abs().max() > 1e-4
    with pytest.raises(EditNotPossible, match=OF_BOTH):
        edited(SharpenedHead(SPARSE, 1, 0.5))


def test_pictures_say_where_the_rest_of_a_row_is():
    last, drawn = len(capture().tokens) - 1, as_square(compressed())
    said = [sink_words(one, HEAVY, 0, "deepseek_v4") for one in (capture(), compressed(), drawn)]
    assert said == [REST_IN[COMPRESSED], REST_IN[TOKENS], REST_IN[TOKENS]]
    assert n_elsewhere(capture(), HEAVY, last) == (last + 1) // 16
    assert n_elsewhere(compressed(), HEAVY, last) == n_elsewhere(drawn, HEAVY, last + first_query(drawn)) == 8
    assert n_elsewhere(capture(), PLAIN, last) == 0
    torch.testing.assert_close(
        drawn.weights(HEAVY, 1)[first_query(drawn) :, : first_query(drawn)], compressed().weights(HEAVY, 1)
    )
    with pytest.raises(NoCompressedKeys):
        compressed().record(PLAIN)


def test_a_short_text_has_the_smaller_blocks_alone_or_none():
    assert runner().capture(CaptureRequest("No")).compressed is None
    short = runner().capture(CaptureRequest("No cats."))
    assert [token.text for token in compressed(short).keys] == ["⟨0–3⟩", "⟨0–7⟩"]
    assert not compressed(short).has_weights(HEAVY)
    assert short.verify(HEAVY).ok


def test_both_survive_the_way_over_bytes_and_count_once():
    back = wire.from_bytes(wire.to_bytes(capture()))
    torch.testing.assert_close(compressed(back).weights(SPARSE, 1), compressed().weights(SPARSE, 1))
    assert compressed(back).rest_of(SPARSE) is not None
    alone = replace(capture(), others=())
    assert alone.nbytes < capture().nbytes < 3 * alone.nbytes


def test_a_text_that_grows_is_refused_with_its_reason():
    with pytest.raises(CannotContinue, match=GROWING):
        list(runner().generate(GenerateRequest(TEXT, max_new_tokens=2)))


def test_the_block_has_every_part_by_its_kind_and_no_number_is_left_over():
    made = runner().submit(WhatItIsMadeOf()).result()
    for block in made.blocks:
        assert [part.role for part in block.parts] == ["other", "norm", "attention", "other", "norm", "ffn"]
        assert sum(part.n_parameters for part in block.parts) == block.n_parameters
    assert {part.name: part.role for part in made.after}["model.norm"] == "norm"


def test_a_module_without_a_compressor_has_no_compression():
    own: Any = model()
    found = [compression_of(layer.self_attn) for layer in own.model.layers]
    assert [one and (one.rate, one.overlaps) for one in found] == [(4, True), (16, False), None, (4, True)]
