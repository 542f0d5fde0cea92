"""Heads whose softmax is substituted: which have shares, and that every percentage is a real share."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import torch

from analysis.color_scale import Scale, scale_of
from analysis.comparison import drift_of_head, head_drift
from analysis.mask_effect import cut_mass
from analysis.predictions import of_looks
from analysis.read_head import described, read_head
from analysis.stand_in import has_shares
from model_runner import CaptureRequest, load_runner
from model_runner.edits import Masked
from model_runner.substitution import Substituted

TEXT = "The dog chased the squirrel because it was hungry"
PLACE = (3, 7)


@functools.cache
def runner():
    return load_runner("default")


@functools.cache
def capture(variant="", *edits):
    stands = (Substituted(variant),) if variant else ()
    return runner().capture(CaptureRequest(TEXT, edits=(*stands, *edits)))


@functools.cache
def shares(variant):
    """The sizes of a row by their sum, cell by cell."""
    weights = capture(variant).weights(*PLACE).double().abs().numpy()
    return np.array([[one / sum(row) if sum(row) else 0.0 for one in row] for row in weights])


@pytest.mark.parametrize("variant", ["", "flash", "mla", "log_n", "performer", "linear", "blocks"])
def test_rows_that_sum_to_1_are_shares(variant):
    assert has_shares(capture(variant), *PLACE)
    read = read_head(capture(variant), *PLACE)
    assert scale_of(read.view, read.reading, shares=read.shares) == Scale("sequential", 0.0, 1.0, False, "percent")
    assert described(read) == "weights after softmax"
    assert read.shows == "weights"


@pytest.mark.parametrize("variant", ["sigmoid", "off_by_one", "differential", "delta"])
def test_other_rows_are_drawn_as_the_numbers_they_are(variant):
    assert not has_shares(capture(variant), *PLACE)
    read = read_head(capture(variant), *PLACE)
    scale = scale_of(read.view, read.reading, shares=read.shares)
    assert scale.number == "plain"
    assert scale.high == pytest.approx(np.nanmax(abs(read.view.values)))
    assert (scale.scale == "diverging") == bool((read.view.values < 0).any())
    assert described(read) == "weights in the place of softmax, whose rows do not sum to 1"
    assert read.shows == "weight"


@pytest.mark.parametrize("variant", ["sigmoid", "off_by_one"])
def test_what_is_said_in_percent_is_of_shares(variant):
    changed, query = capture(variant), 6
    np.testing.assert_allclose(
        of_looks(changed, *PLACE, query).probabilities, shares(variant)[query, : query + 1], rtol=1e-5
    )
    assert shares(variant).sum(axis=1) == pytest.approx(1)
    apart = drift_of_head(changed, capture(), *PLACE)
    plain = capture().weights(*PLACE).double().numpy()
    assert apart == pytest.approx(np.abs(shares(variant) - plain).sum() / 2 / len(plain), abs=1e-6)
    assert head_drift(changed, capture())[PLACE] == pytest.approx(apart, abs=1e-6)
    masked = Masked("window", (("window", 2),))
    cut = cut_mass(changed, capture(variant, masked))
    assert np.nanmax(cut) <= 1
    far = torch.ones(len(plain), len(plain)).tril(-2).numpy()
    assert cut[PLACE] == pytest.approx((shares(variant) * far).sum() / len(plain), abs=1e-6)
