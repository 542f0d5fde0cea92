"""The film's shares of attention as text, in a browser and without a server."""

from __future__ import annotations

import numpy as np
import pytest

from tests.viz.components.test_film import film, frame
from tests.viz.components.test_film_browser import STYLE, plain
from viz.components.film.film import SOURCE, FilmView

pytestmark = pytest.mark.browser


def test_a_share_that_is_not_whole_is_not_said_to_be(mount):
    row = np.array([0.0008, 0.999, 0.0002], dtype=np.float32)
    page = mount(SOURCE, film(1, frames=[frame(0, row=row)]), style=STYLE)
    assert page.locator(".shares span").all_inner_texts() == [">99 %"]
    assert "99.9 %" in plain(page.locator(".axis .heading").inner_text())


def test_a_column_of_several_tokens_is_named_after_the_one_that_has_its_weight(mount):
    """And not the column of the new token after that one."""
    row, keys = np.array([0.05, 0.9], dtype=np.float32), np.array([0, 2])
    strip = np.zeros((2, 2), dtype=np.uint8)
    one = frame(1, row=row, keys=keys, strip=strip)
    view = FilmView(head=(0, 1), heads=[(0, 0), (0, 1)], n_heads=2, bin=2)
    page = mount(SOURCE, film(2, at=1, frames=[frame(0, row=row, keys=keys, strip=strip), one], view=view), style=STYLE)
    assert plain(page.locator(".axis .heading").inner_text()).startswith("“w1” puts 90 % on “dog”")
    assert [plain(words) for words in page.locator(".arcs text").all_text_contents()] == ["⟨bos⟩ 5 %", "·w1 90 %"]
