"""Every way to compute a softmax equals torch's, and the naive one overflows where documented."""

from __future__ import annotations

import math

import pytest
import torch

from attention.safe_softmax import log_softmax, naive, online, overflow_at, subtracted

ROWS = [torch.randn(n, generator=torch.Generator().manual_seed(n)).double() * 5 for n in (1, 2, 9, 100)]


@pytest.mark.parametrize("row", ROWS, ids=len)
def test_all_are_the_softmax(row):
    expected = torch.softmax(row, 0)
    last = online(row.tolist())[-1]
    one_pass = [math.exp(score - last.largest) / last.total for score in row.tolist()]
    torch.testing.assert_close(naive(row)[1], expected)
    torch.testing.assert_close(subtracted(row)[1], expected)
    torch.testing.assert_close(log_softmax(row), torch.log_softmax(row, 0))
    assert one_pass == pytest.approx(expected.tolist(), rel=1e-12)


@pytest.mark.parametrize("row", ROWS, ids=len)
def test_after_every_score_the_one_pass_has_the_sum_of_those_so_far(row):
    for count, read in enumerate(online(row.tolist()), 1):
        so_far = row[:count].tolist()
        assert read.largest == max(so_far)
        assert read.total == pytest.approx(sum(math.exp(score - max(so_far)) for score in so_far), rel=1e-12)


def test_masked_keys_may_come_first():
    reads = online([-math.inf, 2.0, -math.inf])
    assert [(read.largest, read.total) for read in reads] == [(-math.inf, 0.0), (2.0, 1.0), (2.0, 1.0)]


@pytest.mark.parametrize("dtype, at", [(torch.float16, 11.09), (torch.bfloat16, 88.72), (torch.float32, 88.72)])
def test_naive_overflows_from_there_on_and_the_subtracted_never(dtype, at):
    assert overflow_at(dtype) == pytest.approx(at, abs=0.01)
    under, over = (torch.tensor([s, 0.0], dtype=dtype) for s in (0.98 * at, 1.02 * at))
    assert naive(under)[0].isfinite().all()
    assert naive(over)[1][0].isnan()
    assert subtracted(over)[1].isfinite().all()
    assert log_softmax(torch.tensor([900.0, 0.0], dtype=dtype)).isfinite().all()
