"""Long-range weights equal those that loops find in the full matrix."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.far_looks import far_looks
from analysis.long_map import denominators
from model_runner.mask_rule import CAUSAL, FULL, MaskRule
from tests.analysis.test_long_map import full_matrix, record_of


@pytest.mark.parametrize("n_tokens, least", [(1, 1), (2, 1), (300, 1), (300, 64), (300, 299), (300, 500)])
@pytest.mark.parametrize("mask", [CAUSAL, FULL])
def test_the_strongest_look_of_each_query_that_goes_far_enough_the_strongest_first(
    n_tokens: int, least: int, mask: MaskRule
) -> None:
    record = record_of(n_tokens, mask)
    matrix = np.nan_to_num(full_matrix(record, 1))
    wanted = []
    for query in range(n_tokens):
        far = [(matrix[query, key], key) for key in range(1, n_tokens) if abs(query - key) >= least]
        weight, key = max(far, default=(0.0, 0))
        wanted += [(weight, query, key)] if weight > 0 else []
    wanted = sorted(wanted, reverse=True)[:8]
    found = far_looks(record, 1, denominators(record, 1), least=least, count=8)
    assert [(look.query, look.key) for look in found] == [(query, key) for _, query, key in wanted]
    np.testing.assert_allclose([look.weight for look in found], [weight for weight, _, _ in wanted], rtol=2e-5)
