"""What the film writes above its bars of attention, in a browser and without a server."""

from __future__ import annotations

import numpy as np
import pytest

from tests.viz.components.test_film import film, frame
from tests.viz.components.test_film_browser import STYLE, plain
from viz.components.film.film import SOURCE

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
