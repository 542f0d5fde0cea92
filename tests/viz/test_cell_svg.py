"""A cell as SVG: well-formed, escaped, and every bar proportional to its number."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

from viz.cell_svg import KeyWeight, VectorBars, cell_svg

SVG = "{http://www.w3.org/2000/svg}"
MARKUP = "</text><script>alert(1)</script>"


def drawn(values: np.ndarray, weights: list[float]) -> ElementTree.Element:
    keys = [KeyWeight(MARKUP, share, "%", share > 0.5) for share in weights]
    return ElementTree.fromstring(
        cell_svg(
            [VectorBars(MARKUP, values, "query")],
            ["q · k = 1"],
            keys,
            [VectorBars("v", values)],
            title=MARKUP,
            caption=MARKUP,
        )
    )


def test_bars_are_as_long_as_their_numbers_and_stand_above_or_below_zero():
    values = np.array([2.0, -1.0, 0.5])
    bars = drawn(values, []).findall(f"{SVG}g")[0].findall(f"{SVG}rect")
    heights = [float(bar.get("height", "")) for bar in bars]
    assert [height / heights[0] for height in heights] == pytest.approx([1, 0.5, 0.25])
    zero = float(bars[0].get("y", "")) + heights[0]
    assert float(bars[1].get("y", "")) == pytest.approx(zero)


def test_weights_are_as_long_as_their_shares():
    root = drawn(np.ones(2), [0.75, 0.25, 0.0])
    wide = [float(bar.get("width", "")) for bar in root.findall(f"{SVG}rect")[1:]]
    assert [width / wide[0] for width in wide] == pytest.approx([1, 1 / 3, 0])


def test_a_vector_of_zeros_is_drawn_and_words_stay_words():
    root = drawn(np.zeros(3), [])
    assert root.findall(f".//{SVG}script") == []
