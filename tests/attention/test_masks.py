"""Mask rules equal their definitions cell by cell, on any tile."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from transformers.masking_utils import sliding_window_causal_mask_function

from attention import masks
from attention.masks import Rule

N = 9
WHOLE = slice(0, N)

CHOSEN = {5: (4, 0, 5), 6: (6, 2, 1), 7: (0, 7, 3), 8: (8, 3, 0)}  # query -> keys

DEFINITIONS: dict[str, tuple[Rule, Callable[[int, int], bool]]] = {
    "full": (masks.Full(), lambda query, key: True),
    "causal": (masks.Causal(), lambda query, key: key <= query),
    "window of 1": (masks.sliding_window(1), lambda query, key: key == query),
    "window of 3": (masks.sliding_window(3), lambda query, key: key in (query - 2, query - 1, query)),
    "window beyond the text": (masks.sliding_window(N + 5), lambda query, key: key <= query),
    "both": (
        masks.And(masks.Causal(), lambda batch, head, q_idx, k_idx: k_idx % 2 == 0),
        lambda query, key: key <= query and key % 2 == 0,
    ),
    "chosen keys": (
        masks.And(masks.Causal(), masks.Chosen.of(torch.tensor(list(CHOSEN.values())), start=5)),
        lambda query, key: key in CHOSEN[query] if query in CHOSEN else key <= query,
    ),
    "chosen keys of the first queries": (
        masks.Chosen.of(torch.tensor([[3], [0]])),
        lambda query, key: (query, key) in ((0, 3), (1, 0)),
    ),
    "blocks of 4 that are closed": (
        masks.ClosedBlocks(4),
        lambda query, key: all(token <= query for token in range(4 * key, 4 * key + 4)),
    ),
    "closed blocks after two other keys and a query": (
        masks.ClosedBlocks(2, first_key=2, first_query=1),
        lambda query, key: key >= 2 and query >= 1 and 2 * (key - 2) + 1 <= query - 1,
    ),
    "either": (
        masks.Or(masks.sliding_window(2), lambda batch, head, q_idx, k_idx: (k_idx == 0) & (q_idx >= 0)),
        lambda query, key: key in (query - 1, query) or key == 0,
    ),
}


@pytest.fixture(params=DEFINITIONS)
def rule(request: pytest.FixtureRequest) -> tuple[Rule, Callable[[int, int], bool]]:
    return DEFINITIONS[request.param]


def test_every_cell_is_as_defined(rule: tuple[Rule, Callable[[int, int], bool]]) -> None:
    mask, keeps = rule
    expected = [[keeps(query, key) for key in range(N)] for query in range(N)]
    assert masks.tile(mask, WHOLE, WHOLE).tolist() == expected


@pytest.mark.parametrize(
    "queries, keys", [(slice(4, 5), slice(0, N)), (slice(3, 8), slice(2, 6)), (WHOLE, slice(8, 9))]
)
def test_a_tile_is_the_slice_of_the_whole(
    rule: tuple[Rule, Callable[[int, int], bool]], queries: slice, keys: slice
) -> None:
    mask, _ = rule
    assert torch.equal(masks.tile(mask, queries, keys), masks.tile(mask, WHOLE, WHOLE)[queries, keys])


def test_window_one_keeps_only_the_query() -> None:
    assert torch.equal(masks.tile(masks.sliding_window(1), WHOLE, WHOLE), torch.eye(N, dtype=torch.bool))


def test_a_window_keeps_as_many_keys_as_it_says_where_there_are_that_many() -> None:
    kept = masks.tile(masks.sliding_window(4), WHOLE, WHOLE).sum(-1)
    assert kept.tolist() == [1, 2, 3, 4, 4, 4, 4, 4, 4]


@pytest.mark.parametrize("window", [1, 2, 5])
def test_a_window_is_the_one_of_transformers(window: int) -> None:
    theirs = masks.tile(sliding_window_causal_mask_function(window), WHOLE, WHOLE)
    assert torch.equal(masks.tile(masks.sliding_window(window), WHOLE, WHOLE), theirs)


def test_rules_compose_like_sets() -> None:
    def odd(batch: Tensor, head: Tensor, q_idx: Tensor, k_idx: Tensor) -> Tensor:
        return (q_idx + k_idx) % 2 == 1

    def whole(rule: Rule) -> Tensor:
        return masks.tile(rule, WHOLE, WHOLE)

    assert torch.equal(whole(masks.And(masks.Causal(), odd)), whole(masks.Causal()) & whole(odd))
    assert torch.equal(whole(masks.Or(masks.Causal(), odd)), whole(masks.Causal()) | whole(odd))
    nested = masks.Or(masks.And(masks.Causal(), odd), masks.sliding_window(1))
    assert torch.equal(whole(nested), (whole(masks.Causal()) & whole(odd)) | torch.eye(N, dtype=torch.bool))


@pytest.mark.parametrize("window, sinks", [(1, 0), (3, 2), (2, 9)])
def test_what_a_cache_still_holds_are_the_last_keys_and_the_first(window: int, sinks: int) -> None:
    kept = masks.tile(masks.And(masks.Causal(), masks.Recent(window, sinks=sinks)), WHOLE, WHOLE)
    for query in range(N):
        held = {*range(min(sinks, query + 1)), *range(max(0, query - window + 1), query + 1)}
        assert set(kept[query].nonzero().flatten().tolist()) == held


@pytest.mark.parametrize("starts", [(), (0,), (4,), (2, 5, 6)])
def test_documents_do_not_see_each_other(starts: tuple[int, ...]) -> None:
    document = [sum(start <= position for start in starts if start > 0) for position in range(N)]
    kept = masks.tile(masks.SameDocument(starts), WHOLE, WHOLE)
    for query in range(N):
        for key in range(N):
            assert bool(kept[query, key]) == (document[query] == document[key])


FIRST_TWO_APART = masks.Without(((0, 1),))
AHEAD: dict[str, tuple[Rule, bool]] = {
    "an encoder that hides the one cell": (masks.And(masks.Full(), FIRST_TWO_APART), True),
    "written out": (masks.Written.of(masks.tile(FIRST_TWO_APART, WHOLE, WHOLE)), True),
    "causal, written out": (masks.Written.of(torch.ones(N, N, dtype=torch.bool).tril()), False),
    "chosen keys of a causal model": (masks.And(masks.Causal(), masks.Chosen.of(torch.tensor([[0, 1]]))), False),
    "a prefix": (masks.Or(masks.Causal(), masks.SameChunk(3)), True),
    "a window": (masks.sliding_window(3), False),
    "of one token": (masks.Full(), True),
}


@pytest.mark.parametrize("rule, ahead", AHEAD.values(), ids=AHEAD)
def test_whether_a_rule_looks_ahead_does_not_hang_on_one_cell(rule: Rule, ahead: bool) -> None:
    assert masks.sees_ahead(rule) == ahead


CLOSED = masks.ClosedBlocks(2)
CHOSEN_BLOCKS = masks.And(masks.ClosedBlocks(1), masks.Chosen.of(torch.tensor([[0], [2]]), start=3))
BY_CELL = masks.Written.of(torch.arange(N * N).reshape(N, N) % 3 == 0)


@pytest.mark.parametrize("rule, keys", [(CLOSED, 0), (CLOSED, 2), (CHOSEN_BLOCKS, 0), (CHOSEN_BLOCKS, 2), (BY_CELL, 0)])
def test_a_moved_rule_keeps_the_same_cells_further_on(rule: Rule, keys: int) -> None:
    found = masks.moved(rule, queries=3, keys=keys)
    before, after = (slice(0, 5), slice(0, 5)), (slice(3, 8), slice(keys, keys + 5))
    assert torch.equal(masks.tile(found, *after), masks.tile(rule, *before))


def test_a_rule_that_compares_a_query_with_a_key_is_not_moved() -> None:
    with pytest.raises(TypeError, match="Causal"):
        masks.moved(masks.Causal(), queries=1)
