"""Scores of several products: what a query and a key each say of their distance, against the models' own weights."""

from __future__ import annotations

import dataclasses
from functools import cache, partial
from typing import Any

import pytest
import torch
from transformers import AutoModelForMaskedLM

from analysis.cell import cell
from analysis.score_formula import score_formula
from analysis.step_chain import step_chain
from model_runner.capture import Capture
from model_runner.edits import ScaledHead
from model_runner.errors import CannotContinue, EditNotPossible, NoRotation, NotCapturable
from model_runner.local.loading.known_families import can_be_captured, refusal
from model_runner.local.recording.einsum_product import einsum_orders
from model_runner.local.runner import LocalRunner
from model_runner.relative_key_bias import RelativeKeyBias
from model_runner.request import CaptureRequest, GenerateRequest
from model_runner.wire import from_bytes, to_bytes
from scripts.families.small import small_model
from tests.model_runner.tiny import byte_tokenizer, place, tiny

MASKED = AutoModelForMaskedLM
TEXT = "the dog chased a squirrel, for it ran"
BOTH = {"relative_attention": True, "pos_att_type": ["c2p", "p2c"]}
# As microsoft/deberta-v3-base has it, in small: logarithmic buckets, one table of vectors, normed, for q and k too.
PUBLISHED = {
    "position_buckets": 16,
    "share_att_key": True,
    "norm_rel_ebd": "layer_norm",
    "position_biased_input": False,
}
MADE: dict[str, Any] = {
    "deberta-v2": tiny("deberta-v2", MASKED, **BOTH),
    "deberta-v2-buckets": tiny("deberta-v2", MASKED, **BOTH, **PUBLISHED),
    "deberta-v2-c2p": tiny("deberta-v2", MASKED, relative_attention=True, pos_att_type=["c2p"]),
    "deberta-v2-p2c": tiny("deberta-v2", MASKED, relative_attention=True, pos_att_type=["p2c"]),
    "deberta": tiny("deberta", MASKED, **BOTH),
    "xlnet": partial(small_model, "causal", "xlnet", {"n_layer": 3}),
    "xlnet-uni": partial(small_model, "causal", "xlnet", {"n_layer": 3, "attn_type": "uni"}),
    "deberta-near": tiny("deberta", MASKED, **BOTH, max_relative_positions=9),
}
PROJECTED = {
    "deberta-v2": "deberta.encoder.layer.1.attention.self.{}_proj",
    "deberta-v2-buckets": "deberta.encoder.layer.1.attention.self.{}_proj",
}
PARTS = {"deberta-v2-c2p": 2, "deberta-v2-p2c": 2, "xlnet": 1, "xlnet-uni": 1}  # 3 of the others


@cache
def runner(name: str, dtype: torch.dtype = torch.float32) -> LocalRunner:
    return LocalRunner(place(MADE[name](), "cpu", dtype), byte_tokenizer(), name=name, device="cpu")


@cache
def capture(name: str, text: str = TEXT, dtype: torch.dtype = torch.float32) -> Capture:
    return runner(name, dtype).capture(CaptureRequest(text))


@torch.no_grad()
def plain(name: str, found: Capture) -> Any:
    """What a model says that nothing of ours has touched."""
    ids = torch.tensor([[token.id for token in found.tokens]])
    return MADE[name]()(ids, output_attentions=True, output_hidden_states=True, return_dict=True)


@pytest.mark.parametrize("text", ["a", "ab", TEXT, TEXT * 8])
@pytest.mark.parametrize("name", MADE)
def test_weights_logits_and_streams_are_the_models_own(name: str, text: str) -> None:
    found = capture(name, text)
    own = plain(name, found)
    assert len(own.attentions) == found.n_layers
    for layer, weights in enumerate(own.attentions):
        every = found.layer_weights(layer, slice(0, len(found.tokens)))
        torch.testing.assert_close(every, weights[0], atol=1e-5, rtol=0)
        assert found.verify(layer).ok
    for at in (0, -1):
        torch.testing.assert_close(found.logits(at), own.logits[0, at], atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(found.residual(1), own.hidden_states[1][0], atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("name", PROJECTED)
def test_queries_keys_and_values_are_what_the_projections_made(name: str) -> None:
    found, model = capture(name), MADE[name]()
    made: dict[str, Any] = {}
    for part in ("query", "key", "value"):
        module = model.get_submodule(PROJECTED[name].format(part))
        module.register_forward_hook(
            lambda _m, _given, output, part=part: made.update({part: made.get(part, output[0])})
        )
    with torch.no_grad():
        model(torch.tensor([[token.id for token in found.tokens]]))
    for ours, part in zip((found.q(1), found.k(1), found.v(1)), ("query", "key", "value"), strict=True):
        torch.testing.assert_close(ours, made[part].unflatten(-1, (4, 8)).transpose(0, 1), atol=1e-5, rtol=1e-5)
    with pytest.raises(NoRotation):
        found.q_unrotated(1)


def test_xlnets_vectors_are_its_projections_and_what_it_adds_to_queries_stands_apart() -> None:
    found, model = capture("xlnet"), MADE["xlnet"]()
    own: Any = model.transformer.layer[1].rel_attn
    stream = found.residual(1)
    for ours, matrix in ((found.q(1), own.q), (found.k(1), own.k), (found.v(1), own.v)):
        torch.testing.assert_close(ours, torch.einsum("th,hnd->ntd", stream, matrix), atol=1e-5, rtol=1e-5)
    bias = found.record(1).bias
    assert isinstance(bias, RelativeKeyBias)
    of_distance, of_key = bias.terms
    assert (of_distance.of, of_key.of) == ("query", "key")
    assert of_distance.added is not None
    torch.testing.assert_close(of_distance.added, own.r_r_bias)
    torch.testing.assert_close(of_key.table[:, 0], own.r_w_bias)


@pytest.mark.parametrize("name", MADE)
def test_the_scores_are_the_papers_sum(name: str) -> None:
    """(q·k + what the query says of the distance + what the key says of it) / √(parts · d), by loops in float64."""
    record = capture(name).record(1)
    assert record.scale == pytest.approx((8 * PARTS.get(name, 3)) ** -0.5, rel=1e-6)  # 8 numbers a head
    assert isinstance(record.bias, RelativeKeyBias)
    assert {term.of for term in record.bias.terms} == {
        *(("query",) if "p2c" not in name[-3:] else ()),
        *(("key",) if "c2p" not in name[-3:] else ()),
    }
    for head, i, j in ((0, 5, 0), (2, 30, 3), (3, 7, 7)):
        expected = record.scale * float(record.q[head, i].double() @ record.k[head, j].double())
        for term in record.bias.terms:
            vector = term.table[head, int(term.rows[j - i - term.first])].double()
            speaks = (record.q[head, i] if term.of == "query" else record.k[head, j]).double()
            speaks = speaks if term.added is None else speaks + term.added[head].double()
            expected += term.scale * float(speaks @ vector)
        tile = record.scores(slice(head, head + 1), slice(i, i + 1), slice(j, j + 1))
        assert float(tile) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["float32", "bfloat16"])
@pytest.mark.parametrize("name", ["deberta-v2", "deberta-v2-buckets", "deberta", "xlnet"])
def test_the_badge_says_so_and_sees_a_hundredth(name: str, dtype: torch.dtype) -> None:
    found = capture(name, TEXT * 6, dtype)
    for layer in range(found.n_layers):
        assert found.verify(layer).ok, found.verify(layer)
    record = found.record(1)
    assert isinstance(record.bias, RelativeKeyBias)
    wrong: list[dict[str, Any]] = [{part: getattr(record, part) * 1.01} for part in ("k", "v", "scale")]
    for place_, term in enumerate(record.bias.terms):
        terms = list(record.bias.terms)
        terms[place_] = dataclasses.replace(term, scale=term.scale * (1.01 if dtype == torch.float32 else 1.05))
        wrong.append({"bias": RelativeKeyBias(tuple(terms))})
    for fields in wrong:
        records = (found.record(0), dataclasses.replace(record, **fields), found.record(2))
        assert not dataclasses.replace(found, records=records, _lse={}).verify(1).ok, list(fields)


@pytest.mark.parametrize("name", MADE)
def test_a_tile_is_the_same_slice_of_the_whole_and_a_capture_goes_through_bytes(name: str) -> None:
    found = capture(name, TEXT * 8)
    whole = found.weights(1, 2)
    for queries, keys in ((slice(3, 4), slice(0, 9)), (slice(260, 296), slice(1, 290)), (slice(0, 0), slice(0, 5))):
        tile = found.weights(1, 2, queries=queries, keys=keys)
        torch.testing.assert_close(tile, whole[queries, keys], atol=1e-5, rtol=0)
    again = from_bytes(to_bytes(found))
    assert torch.equal(again.layer_weights(1, slice(0, 20)), found.layer_weights(1, slice(0, 20)))
    assert again.verify(1).ok


def test_what_is_kept_grows_with_the_text_and_not_with_its_square() -> None:
    short, long = (capture("deberta-v2", TEXT * times).record(1).nbytes for times in (2, 8))
    assert long < 4.2 * short


def test_pages_of_one_head_say_the_same_sum() -> None:
    found = capture("deberta-v2")
    one = cell(found, 1, 2, 20, 7)
    assert one.bias is not None
    assert not one.rotated
    assert one.score == pytest.approx(one.dot * one.scale + one.bias, abs=1e-5)
    assert one.weight == pytest.approx(float(found.weights(1, 2)[20, 7]), abs=1e-6)
    assert score_formula(found.record(1)) == "q · k / √24 + bias"  # 3 parts of 8 numbers
    chain = step_chain(found, 1, 2, 20)
    shares = dict(zip(chain.matrices["A"].columns, chain.matrices["A"].values[chain.window.queries.index(20)]))
    assert all(share == pytest.approx(float(found.weights(1, 2)[20, key]), abs=1e-6) for key, share in shares.items())


def test_edits_and_growing_are_refused_in_a_sentence() -> None:
    with pytest.raises(EditNotPossible, match="its attention does not go through transformers' attention interface"):
        runner("deberta").capture(CaptureRequest(TEXT, edits=(ScaledHead(1, 1, 0.0),)))
    with pytest.raises(CannotContinue):
        list(runner("deberta-v2").generate(GenerateRequest(TEXT, max_new_tokens=2)))


@pytest.mark.parametrize("more", [BOTH, {}], ids=["relative", "absolute"])
def test_scores_that_heads_mix_are_refused(more: dict[str, Any]) -> None:
    model: Any = tiny("deberta", MASKED, talking_head=True, **more)()
    for layer in model.deberta.encoder.layer:
        layer.attention.self.head_weights_proj = None  # of the two mixings that of scores alone
    with pytest.raises(NotCapturable, match="its scores hold more than q·k and"):
        LocalRunner(model, byte_tokenizer(), name="deberta", device="cpu")


def test_the_preview_says_that_the_published_ones_can_be_captured() -> None:
    for family in ("deberta", "deberta-v2"):
        config = {"model_type": family, "relative_attention": True}
        assert refusal(config) is None
        assert can_be_captured(config)


def test_an_einsum_is_a_product_where_one_axis_is_summed_and_some_are_shared() -> None:
    a, b, c = (torch.randn(5, 2, 3, 4), torch.randn(6, 2, 3, 4), "ibnd,jbnd->bnij")
    orders = einsum_orders(c)
    assert orders is not None
    left, right, made = orders
    product = a.permute(left or ()) @ b.permute(right or ())
    torch.testing.assert_close(product, torch.einsum(c, a, b).permute(made or ()))
    for other in ("ibh,hnd->ibnd", "ibnd,snd->ibns", "ibnd,jbnd->bij"):
        assert einsum_orders(other) is None
