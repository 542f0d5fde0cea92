"""The rotation equals complex numbers turned one at a time, and transformers' own functions."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers.models.cohere import modeling_cohere
from transformers.models.deepseek_v3 import modeling_deepseek_v3
from transformers.models.glm import modeling_glm
from transformers.models.gpt_neox import modeling_gpt_neox
from transformers.models.gptj import modeling_gptj
from transformers.models.llama import modeling_llama
from transformers.models.phi import modeling_phi

from attention import rotary
from attention.rotary import Layout

TOKENS, D_HEAD = 9, 12
EXACT = 1e-12  # float64: a few roundings (1e-16) of numbers of order 1
CLOSE = 2e-6  # transformers rotates float32 numbers of order 1 here: a few roundings of 6e-8


def noise(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def positions() -> Tensor:
    return torch.arange(TOKENS)


def turned_one_by_one(x: Tensor, pairs: list[list[int]], theta: list[float], factor: float) -> Tensor:
    result = x.clone()
    for head in range(len(x)):
        for token in range(x.shape[1]):
            for (a, b), speed in zip(pairs, theta, strict=True):
                number = complex(float(x[head, token, a]), float(x[head, token, b]))
                number *= factor * cmath.exp(1j * token * speed)
                result[head, token, a], result[head, token, b] = number.real, number.imag
    return result


@pytest.mark.parametrize("factor", [1.0, 1.3])
@pytest.mark.parametrize("start, d_rot", [(0, D_HEAD), (0, 8), (4, 8)], ids=["all", "the first 8", "the last 8"])
@pytest.mark.parametrize("layout", ["half", "interleaved"])
def test_a_rotation_turns_each_pair_as_a_complex_number(layout: Layout, start: int, d_rot: int, factor: float) -> None:
    n = d_rot // 2
    by_hand = [[start + i, start + i + n] if layout == "half" else [start + 2 * i, start + 2 * i + 1] for i in range(n)]
    theta = [1e4 ** (-2 * i / d_rot) for i in range(n)]
    pairs = rotary.pairs_of(d_rot, layout, start=start)
    angles = rotary.angles_at(positions(), rotary.frequencies(1e4, d_rot))
    assert pairs.tolist() == by_hand
    x = noise(2, TOKENS, D_HEAD)
    expected = turned_one_by_one(x, by_hand, theta, factor)
    torch.testing.assert_close(rotary.rotate(x, angles, pairs, factor=factor), expected, atol=EXACT, rtol=0)


def test_pairs_may_change_places_on_the_way() -> None:
    x, source, pairs = noise(2, TOKENS, 8), rotary.pairs_of(8, "interleaved"), rotary.pairs_of(8, "half")
    angles = rotary.angles_at(positions(), rotary.frequencies(1e4, 8))
    found = rotary.rotate(x, angles, pairs, source=source)
    stayed = rotary.rotate(x, angles, source)
    assert torch.equal(found, torch.cat([stayed[..., ::2], stayed[..., 1::2]], dim=-1))


def test_a_rotation_keeps_lengths_and_its_inverse_turns_back() -> None:
    x, pairs = noise(2, TOKENS, D_HEAD), rotary.pairs_of(D_HEAD, "half")
    angles = rotary.angles_at(1000 * positions(), rotary.frequencies(1e4, D_HEAD))
    found = rotary.rotate(x, angles, pairs)
    assert not torch.allclose(found, x)
    torch.testing.assert_close(found.norm(dim=-1), x.norm(dim=-1), atol=EXACT, rtol=0)
    torch.testing.assert_close(rotary.rotate(found, -angles, pairs), x, atol=EXACT, rtol=0)


def test_scores_stay_the_same_when_query_and_key_move_together() -> None:
    q, k, pairs, theta = noise(1, TOKENS, 8), noise(1, TOKENS, 8, seed=1), rotary.pairs_of(8, "half"), _theta(8)

    def scores(shift: int) -> Tensor:
        angles = rotary.angles_at(positions() + shift, theta)
        return rotary.rotate(q, angles, pairs) @ rotary.rotate(k, angles, pairs).transpose(1, 2)

    only_q = rotary.rotate(q, rotary.angles_at(positions() + 7, theta), pairs) @ rotary.rotate(
        k, rotary.angles_at(positions(), theta), pairs
    ).transpose(1, 2)
    for shift in (1, 7, 1000, -3):
        assert (scores(shift) - scores(0)).abs().max() <= 1e-10
    assert (only_q - scores(0)).abs().max() > 0.1


def _theta(d_rot: int) -> Tensor:
    return rotary.frequencies(1e4, d_rot)


def test_contributions_of_the_pairs_and_the_rest_sum_to_the_product() -> None:
    q, k, pairs = noise(3, 1, D_HEAD), noise(3, TOKENS, D_HEAD, seed=1), rotary.pairs_of(8, "interleaved", start=2)
    found = rotary.pair_contributions(q, k, pairs)
    rest = (rotary.without_pairs(q, pairs) * rotary.without_pairs(k, pairs)).sum(-1)
    assert found.shape == (3, TOKENS, 4)
    torch.testing.assert_close(found.sum(-1) + rest, (q * k).sum(-1), atol=EXACT, rtol=0)
    expected = float(q[1, 0, 4] * k[1, 5, 4] + q[1, 0, 5] * k[1, 5, 5])
    assert float(found[1, 5, 1]) == pytest.approx(expected, abs=EXACT)


def test_the_score_by_distance_is_the_score_of_contents_put_that_far_apart() -> None:
    q, k, pairs = noise(2, D_HEAD), noise(2, D_HEAD, seed=1), rotary.pairs_of(8, "half", start=4)
    distances = torch.tensor([0, 1, 5, 200, -3])
    found = rotary.score_by_distance(q, k, distances, _theta(8), pairs, scale=0.3, factor=1.2)
    for i, distance in enumerate(distances.tolist()):
        at_query = rotary.rotate(
            q[:, None], rotary.angles_at(torch.tensor([40 + distance]), _theta(8)), pairs, factor=1.2
        )
        at_key = rotary.rotate(k[:, None], rotary.angles_at(torch.tensor([40]), _theta(8)), pairs, factor=1.2)
        torch.testing.assert_close(found[:, i], 0.3 * (at_query * at_key).sum((1, 2)), atol=1e-11, rtol=0)


def test_wavelengths_run_from_a_full_turn_in_two_pi_tokens() -> None:
    found = rotary.wavelengths(rotary.frequencies(1e4, 64))
    assert float(found[0]) == pytest.approx(2 * math.pi)
    assert float(found[-1]) == pytest.approx(2 * math.pi * 1e4 ** (62 / 64))
    assert rotary.wavelengths(torch.zeros(1)).isinf().all()


@pytest.mark.parametrize("d_rot", [0, 1, 7])
def test_an_odd_number_of_coordinates_is_refused(d_rot: int) -> None:
    with pytest.raises(ValueError, match=f"{d_rot} coordinates do not make pairs"):
        rotary.frequencies(1e4, d_rot)
    with pytest.raises(ValueError, match=f"{d_rot} coordinates do not make pairs"):
        rotary.pairs_of(d_rot, "half")


@pytest.mark.parametrize("base", [0.0, -1.0, math.nan, math.inf])
def test_a_base_that_gives_no_frequencies_is_refused(base: float) -> None:
    with pytest.raises(ValueError, match=f"the base of the frequencies is {base}; it must be a positive number"):
        rotary.frequencies(base, 8)


# -- transformers' own functions: q and k (batch, heads, tokens, d_head), cos and sin (batch, tokens, d_rot) -----------


def _doubled(d_rot: int) -> tuple[Tensor, Tensor]:
    angles = rotary.angles_at(positions(), rotary.frequencies(1e4, d_rot)).float()
    return torch.cat([angles, angles], -1).cos()[None], torch.cat([angles, angles], -1).sin()[None]


def _repeated(d_rot: int) -> tuple[Tensor, Tensor]:
    angles = rotary.angles_at(positions(), rotary.frequencies(1e4, d_rot)).float().repeat_interleave(2, dim=-1)
    return angles.cos()[None], angles.sin()[None]


def _llama(q: Tensor) -> Tensor:
    return modeling_llama.apply_rotary_pos_emb(q, q, *_doubled(D_HEAD))[0]


def _cohere(q: Tensor) -> Tensor:
    return modeling_cohere.apply_rotary_pos_emb(q, q, *_repeated(D_HEAD))[0]


def _glm(q: Tensor) -> Tensor:
    return modeling_glm.apply_rotary_pos_emb(q, q, *_doubled(8))[0]


def _gpt_neox(q: Tensor) -> Tensor:
    return modeling_gpt_neox.apply_rotary_pos_emb(q, q, *_doubled(8))[0]


def _phi(q: Tensor) -> Tensor:
    return torch.cat([modeling_phi.apply_rotary_pos_emb(q[..., :8], q[..., :8], *_doubled(8))[0], q[..., 8:]], dim=-1)


def _gpt_j(q: Tensor) -> Tensor:
    sin, cos = modeling_gptj.create_sinusoidal_positions(TOKENS, D_HEAD).chunk(2, dim=-1)
    return modeling_gptj.apply_rotary_pos_emb(q.transpose(1, 2), sin[None], cos[None]).transpose(1, 2)


THEIRS: dict[str, tuple[Callable[[Tensor], Any], Layout, int]] = {
    "llama": (_llama, "half", D_HEAD),
    "cohere": (_cohere, "interleaved", D_HEAD),
    "gpt-j": (_gpt_j, "interleaved", D_HEAD),
    "glm, partial": (_glm, "interleaved", 8),
    "gpt-neox, partial": (_gpt_neox, "half", 8),
    "phi, partial": (_phi, "half", 8),
}


@pytest.mark.parametrize("theirs, layout, d_rot", THEIRS.values(), ids=THEIRS)
def test_the_rotation_is_that_of_transformers(theirs: Callable[[Tensor], Any], layout: Layout, d_rot: int) -> None:
    x = noise(2, TOKENS, D_HEAD)
    angles = rotary.angles_at(positions(), rotary.frequencies(1e4, d_rot))
    found = rotary.rotate(x, angles, rotary.pairs_of(d_rot, layout))
    torch.testing.assert_close(found, theirs(x.float()[None])[0].double(), atol=CLOSE, rtol=0)


def test_pairs_that_change_places_are_those_of_deepseek() -> None:
    x = noise(2, TOKENS, 8)
    theirs = modeling_deepseek_v3.apply_rotary_pos_emb_interleave(x.float()[None], x.float()[None], *_doubled(8))[0]
    angles = rotary.angles_at(positions(), rotary.frequencies(1e4, 8))
    found = rotary.rotate(x, angles, rotary.pairs_of(8, "half"), source=rotary.pairs_of(8, "interleaved"))
    torch.testing.assert_close(found, theirs[0].double(), atol=CLOSE, rtol=0)
