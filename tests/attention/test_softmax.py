"""Scores, denominators, weights and outputs equal the ones of plain loops, for every form of softmax attention."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import torch
from torch import Tensor

from attention import softmax
from tests.attention.loops import log_sum_exp_of, mix, scores_of, softmax_of

QUERIES, KEYS, D_HEAD, D_VALUE = 7, 9, 5, 3
SCALE = 0.37
EXACT = 1e-12  # float64 sums of at most 9 terms of order 1: some eps (2e-16) times their number


@dataclass(frozen=True, eq=False)
class Case:
    q: Tensor
    k: Tensor
    v: Tensor
    keep: Tensor
    softcap: float | None
    sinks: Tensor | None

    def scores(self) -> Tensor:
        return softmax.scores(self.q, self.k, scale=SCALE, softcap=self.softcap, keep=self.keep)

    def expected_scores(self) -> Tensor:
        group = len(self.q) // len(self.k)
        return torch.tensor(
            [
                scores_of(
                    self.q[head].tolist(),
                    self.k[head // group].tolist(),
                    self.keep.tolist(),
                    scale=SCALE,
                    softcap=self.softcap,
                )
                for head in range(len(self.q))
            ],
            dtype=torch.float64,
        )

    def sink(self, head: int) -> float | None:
        return None if self.sinks is None else float(self.sinks[head])


def make(kv_heads: int = 2, *, softcap: float | None = None, sinks: bool = False) -> Case:
    """Four query heads; a mask with holes, in which query 3 sees nothing and query 5 only its last key."""
    generator = torch.Generator().manual_seed(kv_heads)

    def noise(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    keep = noise(QUERIES, KEYS) > -0.5
    keep[3] = False
    keep[5], keep[5, -1] = False, True
    return Case(
        q=3 * noise(4, QUERIES, D_HEAD),
        k=noise(kv_heads, KEYS, D_HEAD),
        v=noise(kv_heads, KEYS, D_VALUE),
        keep=keep,
        softcap=softcap,
        sinks=noise(4) if sinks else None,
    )


@pytest.fixture(
    params=[
        pytest.param((kv_heads, softcap, sinks), id=f"{kv_heads}kv-{softcap and 'softcap'}-{sinks and 'sinks'}")
        for kv_heads in (4, 2, 1)
        for softcap in (None, 2.0)
        for sinks in (False, True)
    ]
)
def case(request: pytest.FixtureRequest) -> Case:
    kv_heads, softcap, sinks = request.param
    return make(kv_heads, softcap=softcap, sinks=sinks)


def test_scores_are_those_of_loops(case: Case) -> None:
    torch.testing.assert_close(case.scores(), case.expected_scores(), atol=EXACT, rtol=0)


def test_denominators_are_those_of_loops(case: Case) -> None:
    expected = torch.tensor(
        [
            [log_sum_exp_of(row, case.sink(head)) for row in rows]
            for head, rows in enumerate(case.expected_scores().tolist())
        ],
        dtype=torch.float64,
    )
    torch.testing.assert_close(softmax.log_sum_exp(case.scores(), case.sinks), expected, atol=EXACT, rtol=0)


def test_weights_and_outputs_are_those_of_loops(case: Case) -> None:
    group = len(case.q) // len(case.k)
    weights = [
        [softmax_of(row, case.sink(head)) for row in rows] for head, rows in enumerate(case.expected_scores().tolist())
    ]
    outputs = [[mix(row, case.v[head // group].tolist()) for row in rows] for head, rows in enumerate(weights)]
    scores = case.scores()
    found = softmax.weights(scores, softmax.log_sum_exp(scores, case.sinks))
    torch.testing.assert_close(found, torch.tensor(weights, dtype=torch.float64), atol=EXACT, rtol=0)
    expected = torch.tensor(outputs, dtype=torch.float64)
    torch.testing.assert_close(softmax.attend(found, case.v), expected, atol=EXACT, rtol=0)


def test_rows_sum_to_one_less_the_share_of_the_sink(case: Case) -> None:
    scores = case.scores()
    lse = softmax.log_sum_exp(scores, case.sinks)
    sums = softmax.weights(scores, lse).sum(-1)
    seen = case.keep.any(-1)
    shares = torch.zeros_like(lse) if case.sinks is None else torch.exp(case.sinks[:, None] - lse)
    torch.testing.assert_close(sums[:, seen], (1 - shares)[:, seen], atol=EXACT, rtol=0)


def test_a_query_that_sees_nothing_has_zero_weights_and_a_zero_output(case: Case) -> None:
    scores = case.scores()
    lse = softmax.log_sum_exp(scores, case.sinks)
    weights = softmax.weights(scores, lse)
    assert not weights[:, 3].any()
    assert not softmax.attend(weights, case.v)[:, 3].any()
    nothing = torch.full((4,), -torch.inf, dtype=torch.float64)
    assert torch.equal(lse[:, 3], nothing if case.sinks is None else case.sinks)


def test_a_query_that_sees_one_key_gives_it_all_but_the_share_of_the_sink(case: Case) -> None:
    scores = case.scores()
    weights = softmax.weights(scores, softmax.log_sum_exp(scores, case.sinks))[:, 5]
    assert not weights[:, :-1].any()
    if case.sinks is None:
        assert torch.equal(weights[:, -1], torch.ones(4, dtype=torch.float64))
    else:  # a softmax over two is a sigmoid of their difference
        expected = torch.sigmoid(scores[:, 5, -1] - case.sinks)
        torch.testing.assert_close(weights[:, -1], expected, atol=EXACT, rtol=0)


@pytest.mark.parametrize(
    "queries, keys", [(slice(0, 1), slice(0, 1)), (slice(2, 6), slice(1, 8)), (slice(6, 7), slice(0, KEYS))]
)
def test_a_tile_is_the_slice_of_the_whole(case: Case, queries: slice, keys: slice) -> None:
    whole = case.scores()
    lse = softmax.log_sum_exp(whole, case.sinks)
    tile = softmax.scores(
        case.q[:, queries], case.k[:, keys], scale=SCALE, softcap=case.softcap, keep=case.keep[queries, keys]
    )
    torch.testing.assert_close(tile, whole[:, queries, keys], atol=EXACT, rtol=0)
    weights = softmax.weights(tile, lse[:, queries])
    torch.testing.assert_close(weights, softmax.weights(whole, lse)[:, queries, keys], atol=EXACT, rtol=0)


def test_a_denominator_can_be_put_together_from_blocks_of_keys() -> None:
    case = make()
    scores = case.scores()
    parts = torch.stack([softmax.log_sum_exp(block) for block in scores.split(4, dim=-1)])
    whole = softmax.log_sum_exp(scores)
    torch.testing.assert_close(softmax.log_sum_exp(parts.permute(1, 2, 0)), whole, atol=EXACT, rtol=0)


def test_query_heads_of_a_group_share_one_key_head_in_order() -> None:
    q = torch.ones(4, 1, 1, dtype=torch.float64)
    k = torch.tensor([[[2.0]], [[5.0]]], dtype=torch.float64)
    assert softmax.scores(q, k, scale=1.0).flatten().tolist() == [2.0, 2.0, 5.0, 5.0]
    weights = torch.ones(4, 1, 1, dtype=torch.float64)
    assert softmax.attend(weights, k).flatten().tolist() == [2.0, 2.0, 5.0, 5.0]


def test_the_soft_cap_comes_after_the_scale_and_before_the_mask() -> None:
    q, k = torch.full((1, 1, 1), 100.0), torch.tensor([[[1.0], [-1.0], [1.0]]])
    keep = torch.tensor([[True, True, False]])
    found = softmax.scores(q, k, scale=0.5, softcap=2.0, keep=keep)[0, 0]
    assert found.tolist() == pytest.approx([2.0, -2.0, -torch.inf], abs=1e-6)  # tanh(±25) is ±1 in float32


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_is_computed_in_float32(dtype: torch.dtype) -> None:
    case = make()
    q, k, v = case.q.to(dtype), case.k.to(dtype), case.v.to(dtype)
    found = softmax.scores(q, k, scale=SCALE, keep=case.keep)
    assert found.dtype == torch.float32
    exact = softmax.scores(q.double(), k.double(), scale=SCALE, keep=case.keep)
    # Products of two numbers of 8 or 11 bits are exact in float32; sums of five below 40 lose a few units of 2^-19.
    torch.testing.assert_close(found.double(), exact, atol=2e-5, rtol=0)
    weights = softmax.weights(found, softmax.log_sum_exp(found))
    assert softmax.attend(weights, v).dtype == torch.float32


def test_scores_too_large_for_an_exponential_still_give_finite_weights() -> None:
    q, k = torch.full((1, 2, 1), 1e4), torch.tensor([[[1.0], [-1.0], [1.0]]])
    scores = softmax.scores(q, k, scale=1.0)
    weights = softmax.weights(scores, softmax.log_sum_exp(scores))
    # lse is 10000 + ln 2, of which float32 keeps 0.6934 (units of 2^-10): a relative error of 5e-4 at most.
    torch.testing.assert_close(weights[0, 0], torch.tensor([0.5, 0.0, 0.5]), atol=5e-4, rtol=0)


def test_no_argument_is_changed() -> None:
    case = make(softcap=2.0, sinks=True)
    given = [case.q, case.k, case.v, case.keep, case.sinks]
    before = [None if part is None else part.clone() for part in given]
    scores = case.scores()
    kept = scores.clone()
    lse = softmax.log_sum_exp(scores, case.sinks)
    softmax.attend(softmax.weights(scores, lse), case.v)
    assert torch.equal(scores, kept)
    for part, copy in zip(given, before, strict=True):
        assert part is not None
        assert copy is not None
        assert torch.equal(part, copy)
