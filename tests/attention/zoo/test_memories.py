"""Memories and masks against loops and torch: tiles, decay, states, segments, landmarks, hashes."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from attention.dual_chunk import index_map
from attention.rotary import angles_at, frequencies, pairs_of, rotate, score_by_distance
from attention.zoo import delta, dual_chunk, flash, lightning, linformer, nystrom, reformer, ssd, titans
from attention.zoo.head import head_of
from attention.zoo.layer import Layer
from tests.attention.zoo.made import dot, made, mixed, softmax_loops, windowed


def close(found: torch.Tensor, expected, rtol: float = 1e-10, atol: float = 1e-12) -> None:
    wanted = expected if isinstance(expected, torch.Tensor) else torch.tensor(expected, dtype=torch.float64)
    torch.testing.assert_close(found, wanted, rtol=rtol, atol=atol)


# -- FlashAttention ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows, columns", [(1, 1), (4, 4), (3, 7), (13, 2), (50, 50)])
@pytest.mark.parametrize("causal", [True, False])
def test_tiles_of_any_size_give_what_torch_gives(rows, columns, causal):
    head = made(23, 6, causal=causal, size=3.0)
    theirs = scaled_dot_product_attention(head.q[None], head.k[None], head.v[None], is_causal=causal)[0]
    close(flash.output(head, rows, columns), theirs)
    close(flash.weights(head, rows, columns), head.softmax())


def test_tiles_that_hide_all_of_a_row_are_passed_over():
    head = windowed(made(23, 6), 2)
    theirs = scaled_dot_product_attention(head.q[None], head.k[None], head.v[None], attn_mask=head.keep[None])[0]
    close(flash.output(head, 5, 3), theirs)


# -- Lightning --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tile", [1, 7, 16, 64])
@pytest.mark.parametrize("half_life", [1, 5, 400])
def test_tiles_of_any_size_give_the_sum_with_decay(tile, half_life):
    head = made(33, 5)
    q, k, v, decay = head.q.tolist(), head.k.tolist(), head.v.tolist(), 0.5 ** (1 / half_life)
    expected = [
        [
            math.fsum(decay ** (i - j) * dot(q[i], k[j]) / math.sqrt(5) * v[j][c] for j in range(i + 1))
            for c in range(len(v[0]))
        ]
        for i in range(len(q))
    ]
    close(lightning.output(head, half_life, tile), expected)


# -- states -----------------------------------------------------------------------------------------------------------


def transition(state: list[list[float]], key: list[float], value: list[float], strength: float, kept: float):
    """S ← α S (I − β k kᵀ) + β v kᵀ, written out; the state is [d_value][d_head]."""
    d = len(key)
    moved = []
    for row, one in zip(state, value, strict=True):
        turned = [sum(row[a] * ((a == b) - strength * key[a] * key[b]) for a in range(d)) for b in range(d)]
        moved.append([kept * turned[b] + strength * one * key[b] for b in range(d)])
    return moved


@pytest.mark.parametrize("strength, kept", [(1.0, 1.0), (0.3, 1.0), (0.7, 0.9), (2.0, 1.0), (1.0, 0.0)])
def test_the_delta_rule_is_the_transition_of_its_paper_token_by_token(strength, kept):
    head = made(9, 4)
    state, rows = [[0.0] * 4 for _ in range(4)], []
    for q, k, v in zip(head.q.tolist(), head.k.tolist(), head.v.tolist(), strict=True):
        k = [one / math.sqrt(dot(k, k)) for one in k]
        state = transition(state, k, v, strength, kept)
        rows.append([dot(row, q) / math.sqrt(dot(q, q)) for row in state])
    close(delta.output(head, strength, kept), rows)
    close(delta.weights(head, strength, kept) @ head.v, rows)


def test_a_key_seen_again_replaces_what_it_stood_for():
    head = made(2, 4)
    head.k[1], head.q[1] = 3 * head.k[0], head.k[0]  # the same direction
    close(delta.output(head, 1.0, 1.0)[1], head.v[1])


@pytest.mark.parametrize("rate", [0.0, 0.1, 3.0])
def test_a_state_space_is_its_recurrence(rate):
    head = made(9, 4)
    state, rows = [[0.0] * 4 for _ in range(4)], []
    for q, k, v in zip(head.q.tolist(), head.k.tolist(), head.v.tolist(), strict=True):
        step = math.sqrt(dot(k, k) / 4)
        left = math.exp(-rate * step)
        state = [[left * state[a][c] + step * k[a] * v[c] for c in range(4)] for a in range(4)]
        rows.append([sum(q[a] / 2 * state[a][c] for a in range(4)) for c in range(4)])
    close(ssd.output(head, rate), rows)
    close(ssd.weights(head, rate) @ head.v, rows)


def test_steep_decay_does_not_overflow():
    head = made(80, 4, size=30.0)
    assert torch.isfinite(ssd.weights(head, 5.0)).all()
    close(ssd.weights(head, 5.0) @ head.v, ssd.output(head, 5.0), rtol=1e-8)


# -- low rank ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n, parts", [(10, 3), (7, 7), (5, 9), (64, 8)])
def test_segments_are_even_and_take_each_token_once(n, parts):
    found = linformer.segments(n, parts)
    assert found.shape == (min(n, parts), n)
    assert ((found > 0).sum(0) == 1).all()
    sizes = (found > 0).sum(1)
    assert sizes.max() - sizes.min() <= 1
    close(found.sum(1), torch.ones(min(n, parts), dtype=torch.float64))


@pytest.mark.parametrize("n", [1, 9])
def test_as_many_segments_as_tokens_is_softmax(n):
    head = made(n, 4, causal=False)
    close(linformer.output(head, n), scaled_dot_product_attention(head.q[None], head.k[None], head.v[None])[0])


def test_linformer_sees_means_of_keys_and_values_by_loops():
    head = made(10, 4, causal=False)
    bounds = [(0, 4), (4, 7), (7, 10)]  # ten tokens in three parts

    def means(x):
        return [[math.fsum(x[t][c] for t in range(a, b)) / (b - a) for c in range(len(x[0]))] for a, b in bounds]

    k, v = means(head.k.tolist()), means(head.v.tolist())
    weights = softmax_loops([[dot(q, one) / 2 for one in k] for q in head.q.tolist()])
    close(linformer.output(head, 3), mixed(weights, v))
    assert torch.linalg.matrix_rank(linformer.weights(head, 3)) <= 3


@pytest.mark.parametrize("steps, off", [(6, 2e-1), (20, 1e-4), (40, 1e-9)])
def test_as_many_landmarks_as_tokens_is_softmax_as_far_as_the_inverse_is_one(steps, off):
    head = made(9, 4, causal=False)
    expected = scaled_dot_product_attention(head.q[None], head.k[None], head.v[None])[0]
    assert (nystrom.output(head, 9, steps) - expected).abs().max() < off


def test_the_iteration_comes_to_the_pseudo_inverse_of_torch():
    head = made(12, 4, causal=False)
    _left, found, _right = nystrom.factors(head, 5, 40)
    means = linformer.segments(12, 5)
    middle = softmax_loops((means @ head.q @ (means @ head.k).T / 2).tolist())
    close(found, torch.linalg.pinv(torch.tensor(middle, dtype=torch.float64)), rtol=1e-6, atol=1e-8)


def test_nystrom_is_the_product_of_its_three_maps_and_of_low_rank():
    head = made(12, 4, causal=False)
    means = linformer.segments(12, 5)
    q, k = means @ head.q, means @ head.k
    left, middle, right = (
        torch.tensor(softmax_loops((a @ b.T / 2).tolist()), dtype=torch.float64)
        for a, b in ((head.q, k), (q, k), (q, head.k))
    )
    expected = left @ torch.linalg.pinv(middle) @ right
    close(nystrom.weights(head, 5, 50), expected, rtol=1e-6, atol=1e-8)
    assert torch.linalg.matrix_rank(nystrom.weights(head, 5, 6)) <= 5


# -- hashes -----------------------------------------------------------------------------------------------------------


def shared(head, seen):
    """Shared-QK attention over the cells seen, by loops: a key is the query of length one, and sees itself last."""
    q = head.q.tolist()
    scores = []
    for i in range(len(q)):
        keys = [j for j in range(len(q)) if seen[i][j] and j != i and head.keep[i, j]] or [i]
        size = [math.sqrt(dot(one, one)) for one in q]
        scores.append([dot(q[i], q[j]) / size[j] * head.scale if j in keys else -math.inf for j in range(len(q))])
    return softmax_loops(scores)


@pytest.mark.parametrize("causal", [True, False])
def test_one_bucket_is_all_of_shared_qk_attention(causal):
    head = made(10, 4, causal=causal)
    close(reformer.weights(head, 1, 1, 0), shared(head, [[True] * 10] * 10))


def test_opposite_vectors_fall_into_opposite_buckets():
    x = torch.randn(300, 4, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    one, other = (reformer.buckets_of(way * x, 8, torch.Generator().manual_seed(0)) for way in (1, -1))
    assert torch.equal(other, (one + 4) % 8)
    assert len(set(one.tolist())) > 4


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("buckets, hashes, seed", [(2, 1, 0), (4, 1, 3), (4, 3, 3), (8, 2, 1)])
def test_buckets_and_chunks_are_those_of_the_paper_by_loops(causal, buckets, hashes, seed):
    head = made(13, 4, causal=causal)
    chance = torch.Generator().manual_seed(seed)
    seen = [[False] * 13 for _ in range(13)]
    for _ in range(hashes):
        turn = torch.randn(4, buckets // 2, generator=chance, dtype=torch.float64).T.tolist()
        sides = [[dot(row, q) for row in turn] for q in head.q.tolist()]
        own = [max(range(buckets), key=[*side, *(-one for one in side)].__getitem__) for side in sides]
        order = sorted(range(13), key=lambda token: (own[token], token))
        chunk = {token: place // math.ceil(2 * 13 / buckets) for place, token in enumerate(order)}
        for i in range(13):
            for j in range(13):
                seen[i][j] |= own[i] == own[j] and chunk[i] - chunk[j] in (0, 1)
    close(reformer.weights(head, buckets, hashes, seed), shared(head, seen))


def test_more_hashes_come_nearer_to_all_of_shared_qk_attention():
    head = made(40, 8, causal=False)
    full = reformer.weights(head, 1, 1, 0) @ head.v

    def error(hashes):
        return sum(float((reformer.weights(head, 8, hashes, seed) @ head.v - full).norm()) for seed in range(5))

    assert error(1) > error(4) > error(32)


# -- Titans -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step, momentum, forgotten", [(0.5, 0.0, 0.0), (0.3, 0.6, 0.05), (0.1, 0.9, 1.0)])
def test_the_memory_takes_the_gradient_steps_that_autograd_finds(step, momentum, forgotten):
    head = made(12, 5, width=4)
    memory = carried = torch.zeros(4, 5, dtype=torch.float64)
    rows, sizes = [], []
    for q, k, v in zip(delta.unit(head.q), delta.unit(head.k), head.v, strict=True):
        held = memory.clone().requires_grad_()
        (gradient,) = torch.autograd.grad((held @ k - v).square().sum(), held)
        carried = momentum * carried - step * gradient
        memory = (1 - forgotten) * memory + carried
        rows.append(memory @ q)
        sizes.append(gradient.norm())
    close(titans.output(head, step, momentum, forgotten), torch.stack(rows))
    close(titans.surprise(head, step, momentum, forgotten), torch.stack(sizes))


def test_without_momentum_and_forgetting_it_is_the_delta_rule_of_twice_the_step():
    head = made(14, 6)
    close(titans.output(head, 0.35, 0.0, 0.0), delta.output(head, 0.7, 1.0))
    close(titans.weights(head, 0.35, 0.0, 0.0), delta.weights(head, 0.7, 1.0))


def test_what_was_learned_whole_surprises_no_more():
    head = made(6, 4)
    same = replace(head, k=head.k[[0, 1, 1, 2, 3, 1]], v=head.v[[0, 1, 1, 2, 3, 1]])
    sizes = titans.surprise(same, 0.5, 0.0, 0.0)
    assert sizes[2] == pytest.approx(0, abs=1e-12)
    assert sizes[5] > 0.01  # what came between has moved the memory


# -- dual chunk -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chunk, local", [(3, 2), (5, 1), (1, 4), (2, 13), (12, 13)])
def test_every_key_is_seen_from_the_distance_of_the_index_map(chunk, local):
    n, d = 13, 8
    plain, theta, pairs = made(n, d), frequencies(50.0, 6), pairs_of(6, "half", start=1)
    angles = angles_at(torch.arange(n), theta)
    q, k = (rotate(x[None], angles, pairs)[0] for x in (plain.q, plain.k))

    def turn_at(x: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        return rotate(x, angles_at(places, theta), pairs)

    layer = Layer(plain.k[None], plain.v[None], turn_back=lambda x: rotate(x, -angles, pairs), turn_at=turn_at)
    head = replace(head_of(q, k, plain.v, causal=True), layer=layer)
    distance = index_map(n, chunk=chunk, local=local).distance
    scores = [
        [
            float(score_by_distance(plain.q[i], plain.k[j], distance[i, j][None], theta, pairs, scale=d**-0.5)[0])
            for j in range(i + 1)
        ]
        + [-math.inf] * (n - 1 - i)
        for i in range(n)
    ]
    close(dual_chunk.weights(head, chunk, local), softmax_loops(scores))
    close(dual_chunk.weights(head, n, local), head.softmax())


def test_the_parts_of_dual_chunk_are_the_own_chunk_the_one_before_and_all_before_that():
    chunks, looks = torch.arange(9) // 3, torch.ones(9, 9, dtype=torch.bool).tril()
    back = chunks[:, None] - chunks
    for found, expected in zip(dual_chunk.parts(9, 3, 1), (back == 0, back == 1, back > 1), strict=True):
        assert torch.equal(found, looks & expected)


def test_tiles_of_flash_count_a_sink_once_in_every_row():
    head = replace(made(13, 4), sink=0.5)
    weights = torch.tensor(softmax_loops(head.scores.tolist(), 0.5), dtype=torch.float64)
    close(flash.weights(head, 5, 3), weights)
    close(flash.output(head, 5, 3), weights @ head.v)
