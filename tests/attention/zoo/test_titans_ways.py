"""Titans' memory beside attention, against loops over tokens: as a context, as a gate, as a layer."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from attention.zoo import titans, titans_ways
from attention.zoo.head import head_of, stacked
from attention.zoo.table import BY_NAME
from tests.attention.zoo.made import dot, made, mixed, softmax_loops

MEMORY = {"step": 0.5, "momentum": 0.3, "forgotten": 0.01}
HEADS = [made(13, 4, width=5), made(13, 4, size=2.0), replace(made(13, 4), sink=0.5)]


def close(found: torch.Tensor, expected) -> None:
    torch.testing.assert_close(found, torch.tensor(expected, dtype=torch.float64), rtol=1e-9, atol=1e-11)


def unit(x: list[float]) -> list[float]:
    return [one / math.sqrt(dot(x, x)) for one in x]


def memories(head, told: list[list[float]]) -> list[list[list[float]]]:
    """The memory before each token and after the last, [told][d_head], by equations 10 and 13 of the paper."""
    memory = [[0.0] * head.k.shape[1] for _ in told[0]]
    carried = [row[:] for row in memory]
    found = [memory]
    for key, wanted in zip(map(unit, head.k.tolist()), told, strict=True):
        wrong = [dot(row, key) - one for row, one in zip(memory, wanted, strict=True)]
        carried = [
            [MEMORY["momentum"] * old - MEMORY["step"] * 2 * off * one for old, one in zip(row, key, strict=True)]
            for row, off in zip(carried, wrong, strict=True)
        ]
        memory = [
            [(1 - MEMORY["forgotten"]) * old + new for old, new in zip(*rows, strict=True)]
            for rows in zip(memory, carried, strict=True)
        ]
        found.append(memory)
    return found


def near(head, window: int) -> list[list[float]]:
    scores = head.scores.tolist()
    hidden = [[s if i - j < window else -math.inf for j, s in enumerate(row)] for i, row in enumerate(scores)]
    return softmax_loops(hidden, head.sink)


def remembered(head) -> list[list[float]]:
    """What each token reads after it was learned itself."""
    after = memories(head, head.v.tolist())[1:]
    return [[dot(row, unit(q)) for row in memory] for memory, q in zip(after, head.q.tolist(), strict=True)]


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("window", [1, 4, 50])
def test_a_gate_mixes_the_window_and_the_memory(head, window):
    attended, read = mixed(near(head, window), head.v.tolist()), remembered(head)
    for gate in (0.0, 0.25, 1.0):
        expected = [
            [gate * a + (1 - gate) * r for a, r in zip(*rows, strict=True)] for rows in zip(attended, read, strict=True)
        ]
        close(titans_ways.gate_output(head, window, gate, **MEMORY), expected)
        close(titans_ways.gate_weights(head, window, gate, **MEMORY) @ head.v, expected)


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("window", [1, 4, 50])
def test_a_layer_of_memory_gives_attention_its_values(head, window):
    expected = mixed(near(head, window), remembered(head))
    close(titans_ways.layer_output(head, window, **MEMORY), expected)
    close(titans_ways.layer_weights(head, window, **MEMORY) @ head.v, expected)


def test_a_window_of_one_token_is_the_memory_alone():
    found = titans_ways.layer_output(HEADS[0], 1, **MEMORY)
    torch.testing.assert_close(found, titans.output(HEADS[0], **MEMORY))


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("segment", [1, 4, 5, 13, 50])
def test_a_context_is_softmax_over_what_was_read_and_the_segment(head, segment):
    q, k, v = (one.tolist() for one in (head.q, head.k, head.v))
    of_keys, of_values, scores = memories(head, k), memories(head, v), head.scores.tolist()
    expected = []
    for i in range(len(q)):
        start = i - i % segment
        seen = range(start, i + 1)
        read_keys = [[dot(row, unit(q[j])) for row in of_keys[start]] for j in seen] if start else []
        read_values = [[dot(row, unit(q[j])) for row in of_values[start]] for j in seen] if start else []
        row = [dot(q[i], one) * head.scale for one in read_keys] + [scores[i][j] for j in seen]
        (weights,) = softmax_loops([row], head.sink)
        values = read_values + [v[j] for j in seen]
        expected += mixed([weights], values)
    close(titans_ways.context_output(head, segment, **MEMORY), expected)
    close(titans_ways.context_weights(head, segment, **MEMORY) @ head.v, expected)


@pytest.mark.parametrize("name", ["titans_mac", "titans_mag", "titans_mal"])
def test_the_masks_are_who_moves_whose_output(name):
    """Another value of a token moves the outputs that one of the masks has it in; softmax alone has the window."""
    variant, head = BY_NAME[name], made(13, 4)
    values = {"segment" if name == "titans_mac" else "window": 4}
    numbers = variant.numbers(values, 13)
    assert variant.parts is not None
    masks = variant.parts(13, **numbers)
    weights = variant.map(head, values)
    moved = torch.zeros(13, 13, dtype=torch.bool)
    for key in range(13):
        other = head.v.clone()
        other[key] += 1
        moved[:, key] = (variant.mixed(replace(head, v=other), values) - variant.mixed(head, values)).abs().amax(1) > 0
    seen = torch.stack(masks).any(0)
    assert torch.equal(moved, seen)
    assert torch.equal(weights != 0, seen)
    if name == "titans_mac":
        own, reads, learned = masks
        assert torch.equal(own, (weights != 0) & ~learned)
        assert reads.any(1).tolist() == [place >= 4 for place in range(13)]
    else:
        assert torch.equal(masks[0], titans_ways.near(head, 4) > 0)
        assert torch.equal(masks[1], torch.ones(13, 13).tril().bool())


def test_one_segment_is_softmax():
    torch.testing.assert_close(titans_ways.context_weights(HEADS[2], 13, **MEMORY), HEADS[2].softmax())


def test_a_memory_that_learned_nothing_is_read_as_nothing():
    head = stacked([made(9, 4, seed=seed) for seed in range(3)])
    learned_nothing = titans.read_before(head, head.v, 4, 0.0, 0.0, 0.0)
    assert learned_nothing.shape == head.v.shape
    assert (learned_nothing == 0).all()


# -- persistent tokens ------------------------------------------------------------------------------------------------


def with_persistent(rows: list[list[float]], head, count: int, seed: int) -> list[list[float]]:
    """Scores of persistent keys, drawn as the seed says, before those of each row."""
    keys = torch.randn(count, head.q.shape[1], generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    first = [[dot(q, key) * head.scale for key in keys.tolist()] for q in head.q.tolist()]
    return [[*mine, *row] for mine, row in zip(first, rows, strict=True)]


@pytest.mark.parametrize("head", HEADS)
def test_persistent_tokens_take_their_share_of_one_softmax_and_add_nothing(head):
    """[p ‖ x] by loops: their values are 0, in the window of MAG and MAL always."""
    scores = [[s if i - j < 4 else -math.inf for j, s in enumerate(row)] for i, row in enumerate(head.scores.tolist())]
    rows = softmax_loops(with_persistent(scores, head, 3, 7), head.sink)
    close(titans_ways.window_persistent(head, 4, 3, 7), [row[:3] for row in rows])
    values = [[0.0] * head.v.shape[1]] * 3 + head.v.tolist()
    close(titans_ways.gate_output(head, 4, 1.0, 3, 7, **MEMORY), mixed(rows, values))
    learned = [[0.0] * head.v.shape[1]] * 3 + remembered(head)  # the memory foresees 0 of them, and learns nothing
    close(titans_ways.layer_output(head, 4, 3, 7, **MEMORY), mixed(rows, learned))


def test_the_memory_that_reads_persistent_tokens_first_is_the_same_memory():
    head = HEADS[0]
    keys = titans_ways.persistent_keys(3, 4, 7)
    q, k = (torch.cat([keys, one]) for one in (head.q, head.k))
    v = torch.cat([torch.zeros(3, 5, dtype=torch.float64), head.v])
    found = titans.output(head_of(q, k, v, causal=True), **MEMORY)
    torch.testing.assert_close(found[3:], titans.output(head, **MEMORY))
    assert (found[:3] == 0).all()


@pytest.mark.parametrize("head", HEADS)
def test_one_segment_with_persistent_tokens_is_softmax_over_them_and_the_text(head):
    rows = softmax_loops(with_persistent(head.scores.tolist(), head, 2, 0), head.sink)
    close(titans_ways.context_weights(head, 13, 2, 0, **MEMORY), [row[2:] for row in rows])
    close(titans_ways.context_persistent(head, 13, 2, 0, **MEMORY), [row[:2] for row in rows])
    shorter = titans_ways.context_persistent(head, 4, 2, 0, **MEMORY)  # what was read takes its share as well
    assert (shorter[4:] != titans_ways.context_persistent(head, 13, 2, 0, **MEMORY)[4:]).all()
