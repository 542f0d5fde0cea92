"""Five schemes in one form: each follows its formula, with this model's own sizes."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from analysis.position_terms import position_terms
from analysis.positions import turned
from model_runner.trained_positions import T5_REACH, trained_positions
from tests.pages.expected import capture


def terms(*, layout=True, table=None):
    return position_terms(capture(), 3, turned(capture(), 3) if layout else None, table)


def test_sizes_are_the_models_own():
    sizes = {name: term.size for name, term in terms().items()}
    assert sizes == {"sinusoidal": 256, "learned": 128, "t5": 32, "alibi": 8, "rotary": 16}


def test_numbers_of_other_models_are_marked():
    assert {name for name, term in terms().items() if not term.own} == {"learned", "t5"}
    others = terms(layout=False, table=torch.ones(9, 4))
    assert {name for name, term in others.items() if not term.own} == {"t5", "rotary"}


def test_near_distances_have_a_bias_each_and_far_ones_share_it():
    table = trained_positions().t5_bias.numpy()
    curves = terms()["t5"].curves
    np.testing.assert_array_equal(curves[:, :16], table[:16].T)
    np.testing.assert_array_equal(curves[:, 27], curves[:, 30])


def test_the_buckets_are_drawn_as_far_as_they_were_trained():
    term = terms()["t5"]
    assert term.matrix.shape == (T5_REACH, T5_REACH)
    assert term.curves.shape == (4, T5_REACH)


@pytest.mark.parametrize("name", ["sinusoidal", "rotary", "alibi", "t5"])
def test_a_matrix_holds_its_first_curve_along_its_diagonals(name):
    term = terms()[name]
    for distance in (0, 1, 17, term.curves.shape[1] - 1):
        np.testing.assert_allclose(np.diagonal(term.matrix, -distance), term.curves[0, distance])


def test_causal_schemes_leave_later_keys_open():
    later = {name: term.matrix[np.triu_indices_from(term.matrix, 1)] for name, term in terms().items()}
    found = {name for name, cells in later.items() if np.isnan(cells).all()}
    assert found == {"t5", "alibi"}


def test_a_layer_without_rotation_gets_the_papers_frequencies_which_this_model_has_too():
    np.testing.assert_allclose(terms(layout=False)["rotary"].curves, terms()["rotary"].curves, atol=1e-6)


def test_a_learned_table_is_multiplied_with_itself():
    table = torch.randn(100, 6, generator=torch.Generator().manual_seed(0))
    term = terms(table=table)["learned"]
    assert term.size == 100
    wanted = [[float(table[m].double() @ table[n].double()) for n in range(5)] for m in range(5)]
    np.testing.assert_allclose(term.matrix[:5, :5], wanted)
    assert term.curves[0, 63] == pytest.approx(term.matrix[63, 0])


def test_a_table_shorter_than_the_picture_gives_a_smaller_one():
    assert terms(table=torch.randn(10, 6))["learned"].matrix.shape == (10, 10)
