"""A recurrent net over a sentence: what is left of each token at the end, against autograd."""

from __future__ import annotations

import pytest
import torch

from attention.sentence_rnn import STATE, read_sentence


@pytest.mark.parametrize("gain", [0.5, 1.0, 2.0])
def test_the_reach_is_autograds_jacobian(gain: float):
    vectors = torch.randn(6, 16, generator=torch.Generator().manual_seed(3))
    found = read_sentence(vectors, gain)
    draw = torch.Generator().manual_seed(0)
    turn = torch.linalg.qr(torch.randn(STATE, STATE, generator=draw, dtype=torch.float64)).Q * gain
    put_in = torch.randn(STATE, 16, generator=draw, dtype=torch.float64) * 0.3 / 4
    rows = vectors.double() / vectors.double().pow(2).mean(-1, keepdim=True).sqrt()
    for place in range(6):

        def last(state: torch.Tensor, place: int = place) -> torch.Tensor:
            for row in rows[place + 1 :]:
                state = torch.tanh(turn @ state + put_in @ row)
            return state

        jacobian = torch.autograd.functional.jacobian(last, found.states[place])
        assert float(found.reach[place]) == pytest.approx(float(torch.linalg.matrix_norm(jacobian, 2)), rel=1e-9)
        torch.testing.assert_close(last(found.states[place]), found.states[-1])


def test_a_net_below_one_forgets_the_first_token_and_one_token_is_its_own_end():
    vectors = torch.randn(20, 16, generator=torch.Generator().manual_seed(1))
    assert float(read_sentence(vectors, 0.7).reach[0]) < 0.7**19 * 1.0001
    assert read_sentence(vectors[:1], 0.7).reach.tolist() == [1.0]
