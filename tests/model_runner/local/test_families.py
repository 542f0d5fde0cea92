"""The contract of every family: a capture equals what transformers itself computes from the same weights."""

from __future__ import annotations

import dataclasses
import math
import random
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from attention.masks import Band, sliding_window
from model_runner.capture import Capture
from model_runner.errors import NoRotation, NotCapturable, NotRecoverable, NoWeights
from model_runner.local.runner import LocalRunner
from model_runner.mask_rule import CAUSAL, FULL, MaskRule
from model_runner.request import CaptureRequest
from tests.model_runner.cases import FAMILY, TEXT, Case, case_of, runner_of, settings, shared_runner
from tests.model_runner.families import (
    ALTERNATING,
    CHANGED,
    EXPERTS,
    FAMILIES,
    GRANITE_SWA,
    REFUSED,
    SEPARATE,
    WINDOW,
    Family,
    Refused,
    often,
)
from tests.model_runner.reference import Reference, lse_by_loops, scores_by_loops
from tests.model_runner.tiny import byte_tokenizer, place, tiny

pytestmark = pytest.mark.table


@pytest.fixture(params=settings())
def case(request: pytest.FixtureRequest) -> Case:
    return case_of(*request.param)


def _all_weights(capture: Capture, layer: int) -> Tensor:
    return torch.stack([capture.weights(layer, head) for head in range(capture.q(layer).shape[0])])


def test_layers_say_what_kind_they_are(case: Case) -> None:
    kinds = tuple(case.capture.layer_kind(layer) for layer in range(case.capture.n_layers))
    assert kinds == case.family.kinds


def test_weights_are_those_of_eager_attention(case: Case) -> None:
    for layer in case.family.attention_layers:
        expected = case.reference.weights[layer].float()
        if case.family.sinks_apart:  # ours are those that the values are multiplied by
            expected = expected * (1 - _share_of_the_sink(case, layer))
        difference = (_all_weights(case.capture, layer) - expected).abs().max()
        assert difference <= case.apart(lambda reference, layer=layer: reference.weights[layer]), f"layer {layer}"


def test_weights_are_zero_exactly_where_the_model_masks(case: Case) -> None:
    for layer in case.family.attention_layers:
        assert torch.equal(_all_weights(case.capture, layer) > 0, case.reference.weights[layer] > 0), f"layer {layer}"


def test_a_tile_is_the_same_slice_of_the_whole(case: Case) -> None:
    tokens = len(case.capture.tokens)
    tiles = [(slice(0, 1), slice(0, 1)), (slice(5, 20), slice(3, 18)), (slice(tokens - 4, tokens), slice(0, tokens))]
    for layer in case.family.attention_layers:
        for head in (0, case.capture.n_heads - 1):
            scores, weights = case.capture.scores(layer, head), case.capture.weights(layer, head)
            for queries, keys in tiles:
                # Another shape of matrix product may sum in another order: a few float32 eps of scores up to ~20.
                tile = case.capture.scores(layer, head, queries=queries, keys=keys)
                torch.testing.assert_close(tile, scores[queries, keys], atol=1e-5, rtol=0)
                tile = case.capture.weights(layer, head, queries=queries, keys=keys)
                torch.testing.assert_close(tile, weights[queries, keys], atol=1e-5, rtol=0)


def test_logits_are_those_of_the_plain_forward_at_every_position(case: Case) -> None:
    logits = torch.stack([case.capture.logits(position) for position in range(len(case.capture.tokens))])
    assert logits.dtype == torch.float32
    assert (logits - case.reference.logits.float()).abs().max() <= case.apart(lambda reference: reference.logits)
    assert torch.equal(case.capture.logits(-1), logits[-1])


def test_residuals_are_the_hidden_states_of_the_plain_forward(case: Case) -> None:
    assert len(case.reference.residuals) == case.capture.n_layers + 1
    for layer, expected in enumerate(case.reference.residuals):
        difference = (case.capture.residual(layer).float() - expected.float()).abs().max()
        assert difference <= case.apart(lambda reference, layer=layer: reference.residuals[layer]), f"layer {layer}"


def test_unrotated_q_and_k_are_the_projections(case: Case) -> None:
    for layer in case.family.attention_layers:
        unrotated = (case.capture.q_unrotated, case.capture.k_unrotated)
        if case.family.projection is None or layer in case.family.not_rotated:
            for ask in unrotated:
                with pytest.raises(NoRotation, match=f"Layer {layer} has no rotation"):
                    ask(layer)
            continue
        coarse = case.family.float32_only and case.capture.hidden.dtype != torch.float32
        if (reason := CHANGED if coarse else case.family.not_recoverable) is not None:
            for ask in unrotated:
                with pytest.raises(NotRecoverable, match=reason):
                    ask(layer)
            continue
        for ask, expected in zip(unrotated, case.reference.unrotated[layer], strict=True):
            found = ask(layer)
            assert found.shape == expected.shape
            assert (found - expected.float()).abs().max() <= _rotation_rounding(expected), f"layer {layer}"


def _rotation_rounding(projected: Tensor) -> float:
    """How far a recovered vector may be from the projected one.

    The rotation x·cos + y·sin is rounded three times to the model's dtype (unit u), so each of the two numbers it turns
    is off by at most 3u times their norm, itself at most √2 of the largest; turning back mixes the two errors, √2
    again: 6u of the largest. The inverse runs in float32. In float32 that is 2e-6; the contract is 1e-5.
    """
    unit = torch.finfo(projected.dtype).eps / 2
    return max(1e-5, 6 * unit * float(projected.abs().max()))


def test_lse_is_the_one_of_float64_loops(case: Case) -> None:
    for layer in case.family.attention_layers:
        keep = case.reference.weights[layer] > 0
        q, k = case.capture.q(layer), case.capture.k(layer)
        bias = case.reference.biases.get(layer)
        scores = scores_by_loops(q, k, keep, scale=case.family.scale, softcap=case.family.softcap, bias=bias)
        expected = lse_by_loops(scores, _sinks(case, layer))
        # float32 sums of d_head ≤ 16 products for scores up to ~20: an error of a few eps of 20, that is 1e-5.
        np.testing.assert_allclose(case.capture.lse(layer).cpu().numpy(), expected, atol=1e-5, rtol=0)
        for head in range(len(scores)):
            mine = case.capture.scores(layer, head).cpu().numpy()
            np.testing.assert_allclose(mine, scores[head], atol=1e-5, rtol=0)


def _sinks(case: Case, layer: int) -> Tensor | None:
    if case.family.sinks is None:
        return case.reference.sinks.get(layer)
    model = place(case.family.build(), "cpu", case.capture.q(layer).dtype)
    return model.get_parameter(case.family.sinks.format(layer=layer)).detach()


def test_rows_of_weights_sum_to_one_less_the_share_of_the_sink(case: Case) -> None:
    for layer in case.family.attention_layers:
        sums = _all_weights(case.capture, layer).sum(dim=-1, keepdim=True)
        expected = (1 - _share_of_the_sink(case, layer)).to(sums)
        torch.testing.assert_close(sums, expected.expand_as(sums), atol=1e-5, rtol=0)


def _share_of_the_sink(case: Case, layer: int) -> Tensor:
    """(heads, queries, 1), from denominators that a test above compares with loops."""
    sinks = _sinks(case, layer)
    if sinks is None:
        return torch.zeros(())
    lse = case.capture.lse(layer)
    sinks = sinks.float().to(lse.device)
    share = torch.exp((sinks if sinks.dim() == 2 else sinks[:, None]) - lse)
    assert 0.01 < float(share.mean()) < 0.99  # a sink that takes nothing or everything would prove nothing
    return share[..., None]


def test_every_layer_verifies(case: Case) -> None:
    for layer in case.family.attention_layers:
        check = case.capture.verify(layer)
        assert check.ok, f"layer {layer}: {check}"


def test_verify_turns_red_when_what_was_kept_is_wrong(case: Case) -> None:
    for layer in case.family.attention_layers:
        record = case.capture.record(layer)
        has_mask = bool((case.reference.weights[layer] == 0).any())
        wrong: dict[str, dict[str, Any]] = {
            "values of the neighbour": {"v": record.v.roll(1, dims=1)},
            "queries of another head": {"q": record.q.roll(1, dims=0)},
            "another mask": {"mask": FULL if has_mask else CAUSAL},
        }
        if record.sinks is not None:
            wrong["no sinks"] = {"sinks": None}
        if record.softcap is not None:
            wrong["no soft-cap"] = {"softcap": None}
        for what, fields in wrong.items():
            assert not _with(case.capture, layer, **fields).verify(layer).ok, f"layer {layer}: {what}"


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["float32", "bfloat16"])
@pytest.mark.parametrize("name", often(FAMILY))
def test_verify_sees_a_hundredth(name: str, dtype: torch.dtype) -> None:
    family = FAMILY[name]
    if family.mixes_dtypes and dtype != torch.float32:
        pytest.skip("its own code does not run in bfloat16")
    capture = shared_runner(name, dtype).capture(CaptureRequest(TEXT * 6))
    for layer in family.attention_layers:
        assert capture.verify(layer).ok, f"layer {layer}: {capture.verify(layer)}"
    kinds = {(kind, layer in family.not_rotated): layer for layer, kind in enumerate(family.kinds)}
    for layer in (0,) if family.runs else kinds.values():  # one module again and again makes all tokens alike
        if layer not in family.attention_layers:
            continue
        record = capture.record(layer)
        for factor in (0.99, 1.01):
            wrong: dict[str, dict[str, Any]] = {
                "k": {"k": record.k * factor},
                "v": {"v": record.v * factor},
                "scale": {"scale": record.scale * factor},
            }
            if record.softcap is not None:
                wrong["soft-cap"] = {"softcap": record.softcap * factor}
            if record.sinks is not None and dtype == torch.float32:
                wrong["sinks"] = {"sinks": record.sinks + math.log(factor)}
            if record.window is not None and family.kinds[layer] == "sliding":
                one = 1 if factor > 1 else -1
                rule = Band(WINDOW // 2 + one) if name == "modernbert" else sliding_window(WINDOW + one)
                wrong["window"] = {"mask": MaskRule(rule)}
            for what, fields in wrong.items():
                assert not _with(capture, layer, **fields).verify(layer).ok, f"layer {layer}: {what} × {factor}"


WIDE = {"num_attention_heads": 16, "num_key_value_heads": 4, "head_dim": 64}  # as many numbers a row as models in use


WIDE_GRANITE = {**GRANITE_SWA, **WIDE, "attention_multiplier": 0.125}


@pytest.mark.parametrize("model_type, config", [
    ("gpt_oss", {**EXPERTS, **ALTERNATING, **WIDE}), ("granite_swa", WIDE_GRANITE), ("granitemoe_swa", WIDE_GRANITE),
])  # fmt: skip
def test_verify_sees_a_hundredth_of_the_sinks_in_bfloat16(model_type: str, config: dict[str, Any]) -> None:
    """They move a row by less than its rounding: only many numbers, none like another, tell it."""
    family = Family(model_type, tiny(model_type, **config), SEPARATE)
    letters = random.Random(0)
    text = "".join(chr(letters.randrange(33, 126)) for _ in range(300))
    capture = runner_of(family, dtype=torch.bfloat16).capture(CaptureRequest(text))
    for layer in range(capture.n_layers):
        sinks = capture.record(layer).sinks
        assert sinks is not None
        assert capture.verify(layer).ok, f"layer {layer}: {capture.verify(layer)}"
        for factor in (0.99, 1.01):
            wrong = _with(capture, layer, sinks=sinks.float() + math.log(factor))
            assert not wrong.verify(layer).ok, f"layer {layer}: × {factor}"


@pytest.mark.parametrize("name", ["gpt2", "smollm3", "gemma2", "gpt-oss", "granite-swa"])
@pytest.mark.parametrize("text", ["a" * 300, "ab" * 150, TEXT * 8])
def test_rows_that_are_rounded_alike_do_not_count_as_many(text: str, name: str) -> None:
    capture = shared_runner(name, torch.bfloat16).capture(CaptureRequest(text))
    for layer in range(capture.n_layers):
        assert capture.verify(layer).ok, f"layer {layer}: {capture.verify(layer)}"


def _with(capture: Capture, layer: int, **fields: Any) -> Capture:
    records = list(capture.records)
    records[layer] = dataclasses.replace(capture.record(layer), **fields)
    return dataclasses.replace(capture, records=tuple(records), _lse={})


def test_layers_without_softmax_attention_have_no_weights(case: Case) -> None:
    for layer in set(range(case.capture.n_layers)) - set(case.family.attention_layers):
        for ask in (case.capture.q, case.capture.lse, case.capture.verify, case.capture.q_unrotated):
            with pytest.raises(NoWeights, match=f"Layer {layer} has no softmax attention"):
                ask(layer)
        with pytest.raises(NoWeights):
            case.capture.weights(layer, 0)


@pytest.mark.parametrize("name", [family.name for family in FAMILIES if "sliding" in family.kinds])
def test_a_sliding_window_is_shorter_than_the_text_of_these_tests(name: str) -> None:
    capture = case_of(name).capture
    assert len(capture.tokens) > 2 * WINDOW
    layer = FAMILY[name].kinds.index("sliding")
    assert not capture.weights(layer, 0)[-1, : len(capture.tokens) - WINDOW].any()


@pytest.mark.parametrize("refused", REFUSED, ids=lambda refused: refused.name)
def test_a_family_that_cannot_be_captured_is_refused_with_a_reason(refused: Refused) -> None:
    with pytest.raises(NotCapturable) as raised:
        LocalRunner(refused.build(), byte_tokenizer(), name=f"tiny-{refused.name}", device="cpu")
    assert str(raised.value.values["reason"]).startswith(refused.reason)
    assert f"tiny-{refused.name}" in str(raised.value)


def test_no_rotation_is_a_case_of_not_recoverable() -> None:
    assert issubclass(NoRotation, NotRecoverable)


def test_surprisals_are_the_cross_entropies_of_the_plain_forward(case: Case) -> None:
    ids = [token.id for token in case.capture.tokens]

    def expected(reference: Reference) -> Tensor:
        logs = torch.log_softmax(reference.logits.float(), dim=-1)
        return torch.stack([-logs[position, ids[position + 1]] for position in range(len(ids) - 1)])

    found = case.capture.surprisals()
    assert found.dtype == torch.float32
    assert (found - expected(case.reference)).abs().max() <= 2 * case.apart(expected)  # a logit and a log-sum-exp
