"""The drawn logit lens: words and top-ranked rows, against loops."""

from __future__ import annotations

import numpy as np
import torch

from analysis.logit_lens import lens_map
from model_runner import CaptureRequest
from model_runner.block_questions import Lens, LogitLens
from tests.model_runner.cases import TEXT, shared_runner


def test_words_entropies_and_first_places_are_those_of_the_lens() -> None:
    runner, request = shared_runner("gpt2"), CaptureRequest(TEXT)
    lens, capture = runner.submit(LogitLens(request)).result(), runner.capture(request)
    found = lens_map(capture, lens, runner.token_text)
    assert found.tokens == tuple(token.text for token in capture.tokens)
    assert found.names == ["0", "L0", "L1", "L2"]
    for column in range(len(found.tokens)):
        tops = [int(lens.ids[row, column, 0]) for row in range(4)]
        assert [found.words[row][column] for row in range(4)] == [runner.token_text(top) for top in tops]
        assert found.first[column] == tops.index(tops[-1])
        stays = 3
        while stays and tops[stays - 1] == tops[-1]:
            stays -= 1
        assert found.stays[column] == stays
        assert found.entropy[2, column] == float(lens.entropy[2, column])
    assert (found.kl >= 0).all()


def test_a_token_that_comes_goes_and_comes_again_is_first_early_and_stays_late() -> None:
    ids = torch.tensor([[[7]], [[3]], [[7]], [[7]]])
    zeros = torch.zeros(4, 1)
    lens = Lens(ids, torch.ones(4, 1, 1), zeros, zeros - 1e-9, zeros, torch.zeros(4, 1, dtype=torch.long))
    capture = shared_runner("gpt2").capture(CaptureRequest("a"))
    found = lens_map(capture, lens, str)
    assert (found.first[0], found.stays[0]) == (0, 2)
    np.testing.assert_array_equal(found.kl, 0)
