"""Recurrences written out as matrices, against loops over the papers' own recurrences, float64."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from attention import unrolled
from attention.unrolled import (
    BLOCK,
    DecayedMean,
    MatrixMemory,
    OfChannels,
    StateSpaceChannels,
    StateSpaceHeads,
    Unrolled,
    heads_of,
)

TOKENS, HEADS, STATE, VALUES, CHANNELS = 2 * BLOCK + 5, 3, 4, 5, 8
CLOSE = 1e-5  # of the largest number


def drawn(seed: int, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def selective(own: StateSpaceChannels, x: Tensor) -> Tensor:
    """Gu & Dao 2023, algorithm 2, one channel and one token at a time: h = exp(ΔA) h + ΔB x, y = C · h."""
    y = torch.zeros_like(x, dtype=torch.float64)
    for channel in range(CHANNELS):
        h = [0.0] * STATE
        for t in range(TOKENS):
            step = float(own.step[channel, t])
            for n in range(STATE):
                h[n] *= math.exp(step * float(own.rates[channel, n]))
                h[n] += step * float(own.k[t, n]) * float(x[channel, t])
            y[channel, t] = sum(float(own.q[t, n]) * h[n] for n in range(STATE))
    return y


def dual(own: StateSpaceHeads, x: Tensor) -> Tensor:
    """Dao & Gu 2024, section 3: a state d_state × d_value for each head, with one decay."""
    y = torch.zeros_like(x, dtype=torch.float64)
    for head in range(HEADS):
        h = torch.zeros(STATE, VALUES, dtype=torch.float64)
        for t in range(TOKENS):
            entered = torch.outer(own.k[head, t].double(), x[head, t].double()) * own.step[head, t].double()
            h = h * math.exp(float(own.decay[head, t])) + entered
            y[head, t] = own.q[head, t].double() @ h
    return y


def matrix_memory(own: MatrixMemory, x: Tensor) -> Tensor:
    """Beck et al. 2024, equations 19 to 27, without the state that keeps exponents small."""
    y = torch.zeros_like(x, dtype=torch.float64)
    for head in range(HEADS):
        memory, norm = torch.zeros(VALUES, STATE, dtype=torch.float64), torch.zeros(STATE, dtype=torch.float64)
        for t in range(TOKENS):
            keep, enter = math.exp(float(own.keep[head, t])), math.exp(float(own.enter[head, t]))
            key = own.k[head, t].double() / math.sqrt(STATE)
            memory = keep * memory + enter * torch.outer(x[head, t].double(), key)
            norm = keep * norm + enter * key
            query = own.q[head, t].double()
            y[head, t] = memory @ query / max(abs(float(norm @ query)), 1.0)
    return y


def wkv(own: DecayedMean, x: Tensor) -> Tensor:
    """Peng et al. 2023, equation 14: sums over the earlier tokens."""
    y = torch.zeros_like(x, dtype=torch.float64)
    for channel in range(CHANNELS):
        k, v = own.k[channel].tolist(), x[channel].tolist()
        w, u = float(own.decay[channel]), float(own.bonus[channel])
        for t in range(TOKENS):
            now = math.exp(u + k[t])
            past = [math.exp(-(t - 1 - i) * w + k[i]) for i in range(t)]
            above = sum(weight * value for weight, value in zip(past, v, strict=False)) + now * v[t]
            y[channel, t] = above / (sum(past) + now)
    return y


STEP = drawn(1, HEADS, TOKENS).exp()
CASES = {
    "mamba": (
        StateSpaceChannels(
            drawn(2, TOKENS, STATE), drawn(3, TOKENS, STATE), -drawn(4, CHANNELS, STATE).exp(),
            drawn(5, CHANNELS, TOKENS).exp(),
        ),
        selective,
    ),
    "mamba2": (
        StateSpaceHeads(drawn(2, HEADS, TOKENS, STATE), drawn(3, HEADS, TOKENS, STATE), -0.3 * STEP, STEP), dual,
    ),
    "mlstm": (
        MatrixMemory(
            drawn(2, HEADS, TOKENS, STATE), drawn(3, HEADS, TOKENS, STATE),
            torch.nn.functional.logsigmoid(drawn(4, HEADS, TOKENS)), drawn(5, HEADS, TOKENS), 0.0,
        ),
        matrix_memory,
    ),
    "wkv": (DecayedMean(drawn(2, CHANNELS, TOKENS), drawn(3, CHANNELS).exp(), drawn(4, CHANNELS)), wkv),
}  # fmt: skip  # a case


def inputs(name: str) -> Tensor:
    """One sequence a channel, or as many as a head's values."""
    return drawn(9, CHANNELS, TOKENS) if name in ("mamba", "wkv") else drawn(9, HEADS, TOKENS, VALUES)


def by_heads(own: Unrolled, flat: Tensor) -> Tensor:
    """(channels, tokens) as (heads, tokens, channels of each)."""
    return flat.view(CHANNELS // own.channels, own.channels, TOKENS).transpose(1, 2)


@pytest.mark.parametrize("name", CASES)
def test_the_matrix_times_the_inputs_is_what_the_recurrence_makes(name):
    own, loop = CASES[name]
    x = inputs(name)
    expected, given = loop(own, x), x
    if name in ("mamba", "wkv"):
        expected, given = by_heads(own, expected), by_heads(own, x)
    assert own.n_tokens == TOKENS
    for queries in (slice(0, TOKENS), slice(7, BLOCK + 9)):
        found, sizes = own.outputs(queries, given)
        torch.testing.assert_close(
            found.double(), expected[:, queries], rtol=0, atol=CLOSE * float(expected.abs().max())
        )
        assert bool((sizes >= found.abs() * (1 - 1e-5)).all())


@pytest.mark.parametrize("name", CASES)
def test_a_map_is_lower_triangular_and_its_tiles_are_its_parts(name):
    own, _ = CASES[name]
    every = slice(0, TOKENS)
    n_heads = HEADS if name in ("mamba2", "mlstm") else heads_of(CHANNELS)
    whole = own.tile(slice(0, n_heads), every, every)
    assert bool((whole.triu(1) == 0).all())
    assert bool(whole.tril().any())
    for queries, keys in (
        (slice(5, 20), slice(3, TOKENS)),
        (slice(18, TOKENS), slice(0, 9)),
        (slice(0, 4), slice(9, 12)),
    ):
        torch.testing.assert_close(
            own.tile(slice(1, 3), queries, keys), whole[1:3, queries, keys], rtol=1e-5, atol=1e-6
        )


@pytest.mark.parametrize("name", ["mamba", "wkv"])
def test_a_head_of_channels_has_the_mean_of_their_matrices(name, monkeypatch):
    own, loop = CASES[name]
    assert isinstance(own, OfChannels)
    every, unit = slice(0, TOKENS), torch.zeros(CHANNELS, TOKENS)
    unit[:, 3] = 1.0  # what token 3 puts in, alone, shows column 3 of every channel's matrix
    columns = loop(own, unit)
    for channel in range(CHANNELS):
        column = own.channel(channel, every, every)[:, 3].double()
        torch.testing.assert_close(column, columns[channel], rtol=1e-4, atol=1e-6)
    monkeypatch.setattr(unrolled, "MOST_HEADS", 3)  # of 8 channels: 2 heads of 4
    assert own.channels == 4
    found = own.tile(slice(0, 2), every, every)[..., 3].double()
    torch.testing.assert_close(found, columns.view(2, 4, TOKENS).mean(1), rtol=1e-4, atol=1e-6)


def test_channels_are_gathered_in_as_many_heads_as_divide_them_up_to_16():
    assert [heads_of(count) for count in (1536, 768, 34, 17, 1)] == [16, 16, 2, 1, 1]


def test_a_weighted_mean_has_rows_that_sum_to_1_and_the_others_have_signs():
    every, signed = slice(0, TOKENS), {name: own.signed for name, (own, _) in CASES.items()}
    assert signed == {"mamba": True, "mamba2": True, "mlstm": True, "wkv": False}
    for name, (own, _) in CASES.items():
        whole = own.tile(slice(0, 3), every, every)
        shares = bool((whole >= 0).all()) and bool(((whole.sum(-1) - 1).abs() < CLOSE).all())
        assert shares is not signed[name]


def test_long_decays_neither_overflow_nor_end_in_nan():
    step = torch.full((CHANNELS, TOKENS), 90.0)
    own = StateSpaceChannels(drawn(2, TOKENS, STATE), drawn(3, TOKENS, STATE), -drawn(4, CHANNELS, STATE).exp(), step)
    assert bool(own.tile(slice(0, 8), slice(0, TOKENS), slice(0, TOKENS)).isfinite().all())
    gates = torch.full((HEADS, TOKENS), 200.0)  # exp(200) is no float32
    own = MatrixMemory(drawn(2, HEADS, TOKENS, STATE), drawn(3, HEADS, TOKENS, STATE), -gates, gates, 1e-6)
    assert bool(own.tile(slice(0, 3), slice(0, TOKENS), slice(0, TOKENS)).isfinite().all())
