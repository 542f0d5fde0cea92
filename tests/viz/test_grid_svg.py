"""The grid of all heads as a picture: one thumbnail a head, where it belongs, with its own pixels."""

from __future__ import annotations

import base64
import io
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from viz.color import sequential
from viz.grid_svg import LARGEST, SMALLEST, grid_svg
from viz.grid_svg import SIDE as PAGE

SIDE = 5


@pytest.mark.parametrize("layers, heads", [(3, 4), (1, 1), (48, 32)])
def test_every_head_is_a_picture_of_its_own_thumbnail(layers, heads):
    random = np.random.default_rng(0)
    thumbnails = random.integers(0, 256, (layers, heads, SIDE, SIDE), dtype=np.uint8)
    keep = random.integers(0, 2, (layers, SIDE, SIDE), dtype=np.uint8)
    drawn = ElementTree.fromstring(grid_svg(thumbnails, keep, title="<b>", caption="a & b"))
    pictures = [node for node in drawn.iter() if node.tag.endswith("image")]
    assert len(pictures) == layers * heads
    places = [(float(node.get("y", "")), float(node.get("x", ""))) for node in pictures]
    assert len(set(places)) == len(places)
    assert places == sorted(places)
    for i in (0, layers * heads - 1):
        layer, head = divmod(i, heads)
        address = pictures[i].get("href", "").removeprefix("data:image/png;base64,")
        picture = np.asarray(Image.open(io.BytesIO(base64.b64decode(address))))
        step = len(picture) // SIDE
        for row in range(SIDE):
            for column in range(SIDE):
                shade = sequential(thumbnails[layer, head, row, column] / 255)[:3].tolist()
                seen = bool(keep[layer, row, column])
                *color, solid = picture[row * step, column * step].tolist()
                assert (solid == 255) == seen
                assert color == shade or not seen
    left_out = (1 - keep).astype(np.uint8)
    left_out[:, 0] = 0
    marked = ElementTree.fromstring(grid_svg(thumbnails, keep, title="", caption="", left_out=left_out))
    size = min(LARGEST, max(SMALLEST, PAGE // max(layers, heads)))
    for kind, cells in (("masked", (keep == 0) & (left_out == 0)), ("left-out", left_out == 1)):
        paths = [node.get("d", "") for node in marked.iter() if node.get("fill") == f"url(#atlas-{kind})"]
        # each layer's cells once a head, in runs of a row
        drawn_cells = sum(round(float(width) * SIDE / size) for d in paths for width in re.findall(r"h([\d.]+)v", d))
        assert drawn_cells == heads * int(cells.sum())
    words = ["".join(node.itertext()) for node in drawn.iter() if node.tag.endswith("text")]
    assert {"L0", f"L{layers - 1}", "H0"} <= set(words)
