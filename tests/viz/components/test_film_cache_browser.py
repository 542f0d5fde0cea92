"""The film's sentences about the cache, and its drawing of a choice under the settings, in a browser."""

from __future__ import annotations

import numpy as np
import pytest

from tests.viz.components.test_film import D, film
from tests.viz.components.test_film_browser import STEP, STYLE, plain
from viz.components.film.film import SOURCE, Cache

pytestmark = pytest.mark.browser


def test_the_cache_grows_by_a_column_and_its_bytes_with_it(mount):
    page = mount(SOURCE, film(4), style=STYLE)
    said = []
    for _ in range(3):
        said.append(page.locator(".note.cache").inner_text())
        page.locator(STEP).click()
    assert said[0].startswith("KV cache of the model: 3 tokens, 24 KB = 2 × 8 layers × 4 kv heads × 32 numbers × ")
    assert said[1].startswith("KV cache of the model: 4 tokens, 32 KB")
    assert plain(page.locator(".axis canvas").get_attribute("aria-label")) == "L0H1: “w3” puts 90 % on “The”"


@pytest.mark.parametrize(
    "growth, before, said",
    [
        ({"parts": ((1024, None), (1024, 3)), "fixed": 0, "read": 0}, 0, ("3 tokens, 6 KB.", "4 tokens, 7 KB.")),
        ({"parts": ((1024, None),), "fixed": 4096, "read": 2}, 2, ("3 tokens, 5 KB.", "4 tokens, 6 KB.")),
        ({"parts": ((1024, None),), "fixed": 4096, "read": 9}, 0, ("12 tokens, 7 KB.", "13 tokens, 8 KB.")),
        (None, 0, ("", "")),
    ],
)
def test_windows_keep_their_last_tokens_and_what_was_read_stays(growth, before, said, mount):
    numbers = np.zeros((6, D))
    grown = None if growth is None else {**growth, "shape": None}
    page = mount(SOURCE, film(4, cache=Cache(numbers, numbers, 0, 1, grown, before)), style=STYLE)
    found = []
    for _ in said:
        found.append(page.locator(".note.cache").inner_text())
        page.locator(STEP).click()
    assert found == [one and f"KV cache of the model: {one.removesuffix('.')}" for one in said]


def test_the_outline_of_the_models_own_probability_is_seen_on_what_the_settings_made_of_it(mount):
    page = mount(SOURCE, film(2), style=STYLE)
    model, final = (page.locator(f".candidate:visible .{name}").first for name in ("model", "final"))
    outline, filled = model.bounding_box(), final.bounding_box()
    assert outline["width"] < filled["width"]  # 50 % of its own, drawn with 62.5 %
    end = [outline["x"] + outline["width"] - 1, outline["y"] + outline["height"] / 2]
    assert model.evaluate("(model, at) => model.getRootNode().elementFromPoint(...at) === model", end)
