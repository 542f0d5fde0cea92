"""The SVGs of the page The block: what is written in them, colours and escapes."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

from viz.color import sequential
from viz.stages_svg import stages_svg
from viz.word_map_svg import word_map_svg

NS = "{http://www.w3.org/2000/svg}"


def test_a_word_map_has_every_word_on_the_colour_of_its_value() -> None:
    values = np.array([[0.0, 0.5], [1.0, np.nan]])
    drawn = ElementTree.fromstring(
        word_map_svg(values, [["a", "<b>"], ["c", "d"]], row_labels=["r", "s"], col_labels=["x", "y"], low=0.0,
                     high=1.0, title="t", caption="c")
    )  # fmt: skip
    words = [node.text or "" for node in drawn.iter(f"{NS}text")]
    assert all(any(word in text for text in words) for word in ("a", "<b>", "c", "d", "r", "s", "x", "y"))
    fills = [node.get("fill") for node in drawn.iter(f"{NS}rect")][1:]
    colors = ["rgb({},{},{})".format(*sequential(value)[:3]) for value in values.ravel()[:3]]
    assert fills[-4:] == [*colors, "url(#atlas-masked)"]
    with pytest.raises(ValueError, match="for 1 × 2 labels"):
        word_map_svg(values, [], row_labels=["r"], col_labels=["x", "y"], low=0, high=1, title="", caption="")


def test_stages_are_rows_with_bars_as_long_as_their_share() -> None:
    rows = [(0, "embedding", "wte", "8×4", "32", 0.5), (1, "RMSNorm", "norm", "4", "4", None)]
    drawn = ElementTree.fromstring(stages_svg(rows, title="t", caption="c"))
    words = " ".join(node.text or "" for node in drawn.iter(f"{NS}text"))
    assert all(word in words for word in ("embedding", "wte", "8×4", "32", "RMSNorm"))
    assert [node.get("width") for node in drawn.iter(f"{NS}rect")][1:] == ["8", "35", "8"]
