"""Head metrics equal loops on hand-made weights, and every row of the table follows the same contract."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from attention.metrics import METRICS, Metric, Rows, offset_totals

IDS = [7, 3, 7, 3, 3, 9, 7, 3]  # 7 3 comes three times, 3 3 once, 9 once
N = len(IDS)
NAN = math.nan
METRIC = {metric.name: metric for metric in METRICS}
UNITS = {"share": 1.0, "bits": math.log2(N), "tokens": N - 1.0}  # unit -> the largest value on N tokens


def noise(*, causal: bool = True) -> Tensor:
    """Two heads of random weights, rows summing to 1."""
    scores = 2 * torch.randn(2, N, N, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    if causal:
        scores = scores.masked_fill(torch.ones(N, N, dtype=torch.bool).triu(1), -torch.inf)
    return torch.softmax(scores, -1)


def rows(weights: Tensor, ids: list[int] = IDS, queries: slice = slice(0, N)) -> Rows:
    every = Rows(weights, torch.arange(len(ids)), torch.tensor(ids))
    chosen = offset_totals(every).argmax(-1)
    return Rows(weights[:, queries], torch.arange(len(ids))[queries], torch.tensor(ids), chosen)


def one_hot(looks: Callable[[int], int], n: int = N) -> Tensor:
    """One head that looks at one key per query."""
    weights = torch.zeros(1, n, n)
    for query in range(n):
        weights[0, query, looks(query)] = 1.0
    return weights


def summed(row: list[float], keys: list[int]) -> float:
    return math.fsum(row[key] for key in keys) if keys else NAN


def on_offset(head: list[list[float]], offset: int) -> list[float]:
    """What the rows of a head, but for the first, have so many places after them; 0 where there is no key."""
    return [row[query + offset] if 0 <= query + offset < N else 0.0 for query, row in enumerate(head) if query]


LOOPS: dict[str, Callable[[list[float], int], float]] = {
    "entropy": lambda row, query: -math.fsum(w * math.log2(w) for w in row if w > 0),
    "distance": lambda row, query: math.fsum(w * abs(query - key) for key, w in enumerate(row)),
    "previous": lambda row, query: row[query - 1] if query >= 1 else NAN,
    "first": lambda row, query: row[0] if query >= 1 else NAN,
    "current": lambda row, query: row[query] if query >= 1 else NAN,
    "duplicate": lambda row, query: summed(row, [key for key in range(query) if IDS[key] == IDS[query]]),
    "induction": lambda row, query: summed(row, [key + 1 for key in range(query) if IDS[key] == IDS[query]]),
}


@pytest.mark.parametrize("name", ["entropy", "distance"])
def test_what_a_learned_sink_takes_does_not_count(name: str) -> None:
    weights = noise()
    taken = weights * torch.linspace(0.2, 1, N, dtype=torch.float64)[:, None]
    torch.testing.assert_close(METRIC[name].of(rows(taken)), METRIC[name].of(rows(weights)))


@pytest.mark.parametrize("causal", [True, False], ids=["causal", "bidirectional"])
@pytest.mark.parametrize("name", [metric.name for metric in METRICS if metric.candidates is None])
def test_a_metric_is_the_one_of_loops(name: str, causal: bool) -> None:
    weights = noise(causal=causal)
    expected = [[LOOPS[name](row, query) for query, row in enumerate(head)] for head in weights.tolist()]
    found = METRIC[name].of(rows(weights))
    # float64 throughout, but entropy divides by a float32 logarithm of 2: off by 1e-8 of at most 3 bits.
    exact = torch.tensor(expected, dtype=torch.float64)
    torch.testing.assert_close(found, exact, atol=1e-7, rtol=0, equal_nan=True)


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
class TestEveryMetric:
    """What the grid, the strip and the menu rely on."""

    def test_gives_one_value_per_head_and_query_within_its_unit(self, metric: Metric) -> None:
        for causal in (True, False):
            values = metric.of(rows(noise(causal=causal)))
            assert values.shape == (2, N)
            defined = values[~values.isnan()]
            assert len(defined) > 0
            assert float(defined.min()) >= 0
            assert float(defined.max()) <= UNITS[metric.unit] + 1e-9

    def test_does_not_depend_on_how_rows_are_cut_into_blocks(self, metric: Metric) -> None:
        weights = noise()
        whole = metric.of(rows(weights))
        blocks = [metric.of(rows(weights, queries=slice(start, stop))) for start, stop in ((0, 1), (1, 5), (5, N))]
        assert torch.equal(torch.cat(blocks, dim=1).nan_to_num(-1), whole.nan_to_num(-1))

    def test_is_undefined_in_the_same_rows_for_every_head(self, metric: Metric) -> None:
        undefined = metric.of(rows(noise())).isnan()
        assert torch.equal(undefined[0], undefined[1])

    def test_leaves_the_weights_as_they_are(self, metric: Metric) -> None:
        weights = noise()
        metric.of(rows(weights))
        assert torch.equal(weights, noise())

    def test_works_on_one_token(self, metric: Metric) -> None:
        value = metric.of(Rows(torch.ones(1, 1, 1), torch.tensor([0]), torch.tensor([5])))
        assert value.shape == (1, 1)
        assert math.isnan(value) or float(value) == 0.0

    def test_explains_itself(self, metric: Metric) -> None:
        assert metric.label
        assert metric.definition
        assert "arXiv:" in metric.source

    def test_has_a_name_of_its_own(self, metric: Metric) -> None:
        assert [other.name for other in METRICS].count(metric.name) == 1


@pytest.mark.parametrize("causal", [True, False], ids=["causal", "bidirectional"])
def test_the_most_used_offset_is_the_one_of_loops_head_by_head(causal: bool) -> None:
    weights = noise(causal=causal)
    weights[1, 2:] = weights[1, 2:] * 0.1
    weights[1, range(2, N), range(N - 2)] += 0.9  # the second head looks two back
    best = [max(range(1 - N, N), key=lambda by: math.fsum(on_offset(head, by))) for head in weights.tolist()]
    assert best[0] != best[1] == -2
    expected = [[-1.0, *on_offset(head, by)] for head, by in zip(weights.tolist(), best, strict=True)]
    for whole in (rows(weights), Rows(weights, torch.arange(N), torch.tensor(IDS))):
        torch.testing.assert_close(
            METRIC["offset"].of(whole).nan_to_num(-1), torch.tensor(expected, dtype=torch.float64)
        )


@pytest.mark.parametrize("causal", [True, False], ids=["causal", "bidirectional"])
def test_the_totals_of_offsets_are_those_of_loops_and_add_up_over_blocks(causal: bool) -> None:
    weights, ids = noise(causal=causal), torch.tensor(IDS)
    blocks = [Rows(weights[:, a:b], torch.arange(a, b), ids) for a, b in ((0, 1), (1, 4), (4, 4), (4, N))]
    found = torch.stack([offset_totals(block) for block in blocks]).sum(0)
    expected = [[math.fsum(on_offset(head, by)) for by in range(1 - N, N)] for head in weights.tolist()]
    torch.testing.assert_close(found, torch.tensor(expected, dtype=torch.float64))


@pytest.mark.parametrize("n", [1, 2, 5, 64])
def test_a_uniform_row_has_log2_n_bits(n: int) -> None:
    found = METRIC["entropy"].of(Rows(torch.full((1, 1, n), 1 / n), torch.tensor([0]), torch.arange(n)))
    assert float(found) == pytest.approx(math.log2(n), abs=1e-6)  # float32 sums of n terms of log2(n)/n


def test_a_row_that_looks_at_one_token_has_no_entropy() -> None:
    assert not METRIC["entropy"].of(rows(one_hot(lambda query: query // 2))).any()


def test_a_row_that_sees_nothing_has_no_entropy_and_no_distance() -> None:
    nothing = rows(torch.zeros(1, N, N))
    assert METRIC["entropy"].of(nothing).isnan().all()
    assert METRIC["distance"].of(nothing).isnan().all()


PURE: dict[str, Callable[[int], int]] = {
    "previous": lambda query: max(0, query - 1),
    "offset": lambda query: max(0, query - 1),
    "first": lambda query: 0,
    "current": lambda query: query,
}


@pytest.mark.parametrize("name", PURE)
def test_a_head_that_does_one_thing_scores_one_and_is_undefined_at_the_first_token(name: str) -> None:
    found = METRIC[name].of(rows(one_hot(PURE[name])))[0]
    assert math.isnan(found[0])
    assert found[1:].tolist() == [1.0] * (N - 1)


def test_distances_are_counted_in_tokens_on_both_sides() -> None:
    assert METRIC["distance"].of(rows(one_hot(lambda query: 2)))[0].tolist() == [2, 1, 0, 1, 2, 3, 4, 5]


def test_induction_looks_behind_the_copies_and_duplicate_at_them() -> None:
    ids = [1, 2, 3, 1, 2, 3]
    behind = rows(one_hot(lambda query: query - 2 if query >= 3 else 0, n=6), ids, slice(0, 6))
    at = rows(one_hot(lambda query: query - 3 if query >= 3 else 0, n=6), ids, slice(0, 6))
    undefined = [-1.0] * 3  # no token of the first half was there before
    assert METRIC["induction"].of(behind)[0].nan_to_num(-1).tolist() == [*undefined, 1.0, 1.0, 1.0]
    assert METRIC["duplicate"].of(behind)[0].nan_to_num(-1).tolist() == [*undefined, 0.0, 0.0, 0.0]
    assert METRIC["duplicate"].of(at)[0].nan_to_num(-1).tolist() == [*undefined, 1.0, 1.0, 1.0]
    assert METRIC["induction"].of(at)[0].nan_to_num(-1).tolist() == [*undefined, 0.0, 0.0, 0.0]


def test_the_token_behind_a_copy_just_before_is_the_query_itself() -> None:
    found = METRIC["induction"].of(rows(one_hot(lambda query: query, n=2), [4, 4], slice(0, 2)))[0]
    assert found.nan_to_num(-1).tolist() == [-1.0, 1.0]


def test_the_last_token_of_the_text_is_not_before_the_first() -> None:
    # The ids are a ring for whoever shifts them carelessly: 5 ends the text and would precede its first token.
    found = METRIC["induction"].of(rows(one_hot(lambda query: 0, n=4), [8, 5, 8, 5], slice(0, 4)))[0]
    assert found.nan_to_num(-1).tolist() == [-1.0, -1.0, 0.0, 0.0]


def test_later_copies_do_not_count_where_a_model_sees_them() -> None:
    weights = noise(causal=False)
    for name in ("duplicate", "induction"):
        assert METRIC[name].of(rows(weights))[0, :2].isnan().all()  # 7 and 3 for the first time
