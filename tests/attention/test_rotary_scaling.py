"""Every scaling gives the frequencies and the factor of transformers' rope type of that name."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from attention import rotary, rotary_scaling
from attention.rotary_scaling import ScaledFrequencies

D_HEAD, BASE, CONTEXT, MAX_POSITIONS = 64, 5e5, 256, 2048
THETA = rotary.frequencies(BASE, D_HEAD)
CLOSE = 2e-6  # of the frequency: theirs are a dozen float32 operations, each off by up to 6e-8
SHORT, LONG = [1 + i / 40 for i in range(D_HEAD // 2)], [2.0 + i for i in range(D_HEAD // 2)]
YARN = {"factor": 8.0, "original_max_position_embeddings": CONTEXT}
LLAMA3 = {
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": CONTEXT,
}
LONGROPE = {
    "short_factor": SHORT,
    "long_factor": LONG,
    "factor": 8.0,
    "original_max_position_embeddings": CONTEXT,
}


def theirs(rope_type: str, parameters: dict[str, Any], tokens: int | None = None) -> ScaledFrequencies:
    config = LlamaConfig(
        hidden_size=4 * D_HEAD,
        num_attention_heads=4,
        max_position_embeddings=MAX_POSITIONS,
        rope_parameters={"rope_type": rope_type, "rope_theta": BASE, **parameters},
    )
    theta, factor = ROPE_INIT_FUNCTIONS[rope_type](config, torch.device("cpu"), seq_len=tokens)
    return ScaledFrequencies(theta.double(), float(factor))


def yarn(**options: Any) -> ScaledFrequencies:
    return rotary_scaling.yarn(THETA, 8.0, base=BASE, context=CONTEXT, **options)


def dynamic(tokens: int) -> ScaledFrequencies:
    return rotary_scaling.dynamic_ntk(THETA, 4.0, tokens=tokens, context=MAX_POSITIONS)


MSCALE = {"mscale": 0.7, "mscale_all_dim": 0.4}
CASES: dict[str, tuple[ScaledFrequencies, ScaledFrequencies]] = {
    "linear": (rotary_scaling.linear(THETA, 4.0), theirs("linear", {"factor": 4.0})),
    "dynamic within the context": (dynamic(100), theirs("dynamic", {"factor": 4.0}, 100)),
    "dynamic beyond it": (dynamic(5000), theirs("dynamic", {"factor": 4.0}, 5000)),
    "yarn": (yarn(), theirs("yarn", YARN)),
    "yarn, other borders": (
        yarn(beta_fast=16.0, beta_slow=2.0),
        theirs("yarn", {**YARN, "beta_fast": 16, "beta_slow": 2}),
    ),
    "yarn, not truncated": (yarn(truncate=False), theirs("yarn", {**YARN, "truncate": False})),
    "yarn, factor given": (yarn(attention_factor=1.5), theirs("yarn", {**YARN, "attention_factor": 1.5})),
    "yarn, DeepSeek's factor": (
        yarn(attention_factor=rotary_scaling.yarn_factor(8.0, 0.7) / rotary_scaling.yarn_factor(8.0, 0.4)),
        theirs("yarn", {**YARN, **MSCALE}),
    ),
    "llama3": (
        rotary_scaling.llama3(THETA, 8.0, low_freq_factor=1.0, high_freq_factor=4.0, context=CONTEXT),
        theirs("llama3", LLAMA3),
    ),
    "longrope, short": (
        rotary_scaling.longrope(THETA, SHORT, factor=8.0, context=CONTEXT),
        theirs("longrope", LONGROPE, 100),
    ),
    "longrope, long": (
        rotary_scaling.longrope(THETA, LONG, factor=8.0, context=CONTEXT),
        theirs("longrope", LONGROPE, CONTEXT + 1),
    ),
    "proportional": (
        rotary_scaling.proportional(THETA, 0.25, factor=2.0),
        theirs("proportional", {"partial_rotary_factor": 0.25, "factor": 2.0}),
    ),
}


@pytest.mark.parametrize("mine, expected", CASES.values(), ids=CASES)
def test_a_scaling_is_that_of_transformers(mine: ScaledFrequencies, expected: ScaledFrequencies) -> None:
    torch.testing.assert_close(mine.theta, expected.theta, atol=0, rtol=CLOSE)
    assert mine.factor == pytest.approx(expected.factor, rel=1e-12)


def test_every_rope_type_of_transformers_is_compared() -> None:
    assert {name.split()[0].strip(",") for name in CASES} == set(ROPE_INIT_FUNCTIONS)


def test_ntk_keeps_the_fastest_pair_and_divides_the_slowest() -> None:
    found = rotary_scaling.ntk(THETA, 4.0).theta
    assert float(found[0]) == float(THETA[0])
    assert float(found[-1]) == pytest.approx(float(THETA[-1]) / 4, rel=1e-12)
    another_base = rotary.frequencies(BASE * 4.0 ** (D_HEAD / (D_HEAD - 2)), D_HEAD)
    torch.testing.assert_close(found, another_base, atol=0, rtol=1e-12)


def test_ntk_leaves_a_single_pair_alone() -> None:
    assert rotary_scaling.ntk(torch.ones(1), 4.0).theta.tolist() == [1.0]


def test_yarn_keeps_fast_pairs_and_divides_slow_ones() -> None:
    turns = CONTEXT * THETA / (2 * math.pi)
    found = yarn().theta / THETA
    assert (turns > 32).any()
    assert (turns < 1).any()
    assert torch.equal(found[turns > 32], torch.ones_like(found[turns > 32]))
    torch.testing.assert_close(found[turns < 1], torch.full_like(found[turns < 1], 1 / 8), atol=0, rtol=1e-12)
    assert (found.diff() <= 0).all()
