"""A pattern's picture against sets passed on layer by layer, and the small pictures against their cells."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from analysis.mask_picture import FUTURE, LARGEST, SMALL, WHOLE, kept, mask_picture, thumbnails
from attention.patterns import BY_NAME, PATTERNS
from model_runner.edits import Masked
from model_runner.mask_rule import CAUSAL, FULL

N = 11


def heard_by_walking(keep, n_layers):
    """{(query, key): layer} by passing sets of tokens on, a layer at a time; a token carries itself from the start."""
    n_tokens = len(keep)
    known = [{query} for query in range(n_tokens)]
    found = {}
    for layer in range(1, n_layers + 1):
        known = [
            known[query].union(*(known[key] for key in range(n_tokens) if keep[query, key]))
            for query in range(n_tokens)
        ]
        for query in range(n_tokens):
            for key in known[query]:
                found.setdefault((query, key), layer)
    return found


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.name)
@pytest.mark.parametrize("n_layers", [1, 2, 4])
def test_layers_are_those_in_which_a_token_arrives(pattern, n_layers):
    values = {"window": 3, "stride": 3, "size": 4, "start": 5}
    found = mask_picture(pattern, values, N, n_layers=n_layers)
    expected = heard_by_walking(kept(pattern, values, N).numpy(), n_layers)
    for query in range(N):
        for key in range(N):
            assert found.layers[query, key] == expected.get((query, key), 0), (query, key)


def test_a_hidden_cell_is_not_seen_but_may_be_heard_of():
    found = mask_picture(BY_NAME["window"], {"window": 3}, N, n_layers=3, hidden=[(5, 3), (7, 7)])
    assert found.layers[5, 3] == 2  # by way of token 4
    assert found.layers[7, 7] == 0  # the query does not look at itself
    assert found.n_kept == int(kept(BY_NAME["window"], {"window": 3}, N).sum()) - 2


def test_hidden_cells_beyond_the_picture_are_left_out():
    assert mask_picture(BY_NAME["full"], {}, 300, n_layers=1, hidden=[(290, 0)]).layers.shape == (LARGEST, LARGEST)


@pytest.mark.parametrize("own, causal", [(CAUSAL, True), (FULL, False)], ids=["causal", "both ways"])
@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.name)
def test_the_picture_is_what_is_laid_over_a_model(pattern, own, causal):
    values = {item.name: max(item.least, 3) for item in pattern.parameters}
    laid = replace(own, edits=(Masked(pattern.name, tuple(values.items())),))
    whole = slice(0, N)
    assert torch.equal(kept(pattern, values, N, causal=causal), laid.tile(whole, whole, torch.device("cpu")))


@pytest.mark.parametrize("causal", [True, False], ids=["causal", "both ways"])
@pytest.mark.parametrize("n_tokens", [1, 7, SMALL, 100])
def test_a_small_picture_shows_the_root_of_the_share_of_kept_cells(n_tokens, causal):
    values = (("window", 3), ("stride", 5))
    found = thumbnails(values, n_tokens, causal=causal)
    side = min(n_tokens, SMALL)
    edges = [i * n_tokens // side for i in range(side + 1)]
    for picture, pattern in zip(found, PATTERNS, strict=True):
        keep = kept(pattern, dict(values), n_tokens, causal=causal).numpy()
        for row in range(side):
            for column in range(side):
                rows, columns = range(edges[row], edges[row + 1]), range(edges[column], edges[column + 1])
                seen = sum(bool(keep[q, k]) for q in rows for k in columns)
                possible = sum(bool(keep[q, k]) or k <= q or not causal for q in rows for k in columns)
                expected = round(WHOLE * math.sqrt(seen / possible)) if possible else FUTURE
                assert abs(int(picture[row, column]) - expected) <= 1, pattern.name  # a half may round either way


def test_small_pictures_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        thumbnails((), 5)[0, 0, 0] = 1
    assert thumbnails((), 5).dtype == np.uint8
