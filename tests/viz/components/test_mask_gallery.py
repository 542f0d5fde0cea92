"""The payload of the mask gallery."""

from __future__ import annotations

import numpy as np
import pytest

from tests.viz.components.test_packing import unpacked
from viz.components.mask_gallery.mask_gallery import TEXTS, MaskGalleryPicture, Regions

N = 5
NAMES = ["full", "window", "index"]


def gallery(**changes):
    reached = np.zeros((N, N), np.uint8)
    for query in range(N):
        for key in range(query + 1):
            reached[query, key] = max(1, query - key)  # a window of two: one position back with every layer
    small = np.stack([np.full((N, N), code, np.uint8) for code in (200, 0, 251)])
    given = {
        "names": NAMES, "labels": ["every key", "two keys", "an index map"], "small": small, "selected": "window",
        "tokens": ["a", "b", "<i>c</i>", "d", "e"], "reached": reached, "n_layers": 4, "shown": 1, "query": 4,
        "hidden": [], "given": [], "most_hidden": 6, "note": "", "texts": TEXTS, "max_height": 520,
    }  # fmt: skip
    return MaskGalleryPicture(**{**given, **changes}).packed()


def regions():
    distance = np.maximum(0, np.subtract.outer(np.arange(N), np.arange(N)))
    return Regions(distance.astype(np.int32), np.where(distance > 2, 2, np.where(distance > 1, 1, 0)).astype(np.uint8))


def test_the_payload_carries_the_pictures_and_the_cells():
    meta, arrays = unpacked(gallery(hidden=[(3, 2)], given=[1]))
    assert (meta["names"], meta["selected"], meta["hidden"], meta["given"]) == (NAMES, "window", [[3, 2]], [1])
    assert arrays["reached"][4].tolist() == [4, 3, 2, 1, 1]
    assert "region" not in arrays


def test_an_index_map_carries_its_distances_and_regions():
    _, arrays = unpacked(gallery(regions=regions()))
    assert arrays["distance"][4].tolist() == [4, 3, 2, 1, 0]
    assert arrays["region"].dtype == np.uint8


@pytest.mark.parametrize("wrong", [{"labels": ["one"]}, {"tokens": ["a"]}, {"small": np.zeros((1, 2, 2), np.uint8)}])
def test_parts_that_do_not_fit_are_refused(wrong):
    with pytest.raises(ValueError, match="names"):
        gallery(**wrong)
