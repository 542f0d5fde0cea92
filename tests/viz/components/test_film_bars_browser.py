"""What the film writes above its bars of attention, in a browser and without a server."""

from __future__ import annotations

import numpy as np
import pytest

from tests.viz.components.test_film import film, frame
from tests.viz.components.test_film_browser import STYLE, plain
from viz.components.film.film import SOURCE, FilmView

pytestmark = pytest.mark.browser

WORDS = """() => {
  window.words = []
  const fill = CanvasRenderingContext2D.prototype.fillText
  CanvasRenderingContext2D.prototype.fillText = function (text, ...at) {
    window.words.push(text)
    return fill.call(this, text, ...at)
  }
}"""


def test_a_bar_that_is_not_whole_is_not_said_to_be(mount):
    row = np.array([0.0008, 0.999, 0.0002], dtype=np.float32)
    page = mount(SOURCE, film(1, frames=[frame(0, row=row)]), style=STYLE)
    page.evaluate(WORDS)
    page.locator(".film").evaluate("root => root.atlas.again()")
    page.wait_for_function("window.words.length > 0")
    words = {plain(one) for one in page.evaluate("window.words")}
    assert ">99" in words
    assert not [one for one in words if "100" in one.split()]


def test_a_column_of_several_tokens_is_named_after_the_one_that_has_its_weight(mount):
    """And not the column of the new token after that one."""
    row, keys = np.array([0.05, 0.9], dtype=np.float32), np.array([0, 2])
    strip = np.zeros((2, 2), dtype=np.uint8)
    one = frame(1, row=row, keys=keys, strip=strip)
    view = FilmView(head=(0, 1), heads=[(0, 0), (0, 1)], n_heads=2, bin=2)
    page = mount(SOURCE, film(2, at=1, frames=[frame(0, row=row, keys=keys, strip=strip), one], view=view), style=STYLE)
    page.evaluate(WORDS)
    page.locator(".film").evaluate("root => root.atlas.again()")
    assert plain(page.locator(".caption").inner_text()) == "L0H1: ·w1 looks 90 % at ·dog (2), the most of all tokens"
    page.wait_for_function("window.words.length > 0")
    assert {"⟨bos⟩ 5 %", "·dog 90 %"} <= {plain(words) for words in page.evaluate("window.words")}
