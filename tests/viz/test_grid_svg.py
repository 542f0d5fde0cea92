"""The grid of all heads as a picture: one thumbnail a head, where it belongs, with its own pixels."""

from __future__ import annotations

import base64
import io
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from viz.color import palette, sequential
from viz.grid_svg import grid_svg
from viz.svg import LIGHT

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
    masked = palette()["masked"]["light"]
    for i in (0, layers * heads - 1):
        layer, head = divmod(i, heads)
        address = pictures[i].get("href", "").removeprefix("data:image/png;base64,")
        picture = np.asarray(Image.open(io.BytesIO(base64.b64decode(address))))
        step = len(picture) // SIDE
        for row in range(SIDE):
            for column in range(SIDE):
                shade = sequential(thumbnails[layer, head, row, column] / 255)[:3].tolist()
                wanted = shade if keep[layer, row, column] else masked
                assert picture[row * step, column * step].tolist() == wanted
    left_out = (1 - keep).astype(np.uint8)
    left_out[:, 0] = 0
    marked = ElementTree.fromstring(grid_svg(thumbnails, keep, title="", caption="", left_out=left_out))
    address = next(node for node in marked.iter() if node.tag.endswith("image")).get("href", "")
    pixels = np.asarray(Image.open(io.BytesIO(base64.b64decode(address.removeprefix("data:image/png;base64,")))))
    darker = [round(a + (b - a) * 0.2) for a, b in zip(masked, bytes.fromhex(LIGHT.text[1:]), strict=True)]
    at = np.argwhere(left_out[0])[0] * (len(pixels) // SIDE)
    assert pixels[*at].tolist() == darker
    at = np.argwhere(keep[0, :1] == 0)[0] * (len(pixels) // SIDE)
    assert pixels[*at].tolist() == masked
    words = ["".join(node.itertext()) for node in drawn.iter() if node.tag.endswith("text")]
    assert {"L0", f"L{layers - 1}", "H0"} <= set(words)
