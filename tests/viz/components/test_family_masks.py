"""The cards of kinds of models: the payload and, in a browser, drawing, sentences, hovering and choosing."""

from __future__ import annotations

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.viz.components.clock import wait
from tests.viz.components.test_packing import unpacked
from viz.components.family_masks.family_masks import SOURCE, TEXTS, FamilyMasksPicture, Kind

CAUSAL = np.tril(np.ones((4, 4), np.uint8))
TWO = np.array([[1, 2, 0, 0, 0], [1, 1, 0, 0, 0], [3, 3, 1, 0, 0], [3, 3, 1, 1, 0], [3, 3, 1, 1, 1]], np.uint8)
FULL = np.where(CAUSAL, 1, 2).astype(np.uint8)


def kind(name, cells, **more):
    tokens = [f"{name[0]}{i}" for i in range(len(cells))]
    return Kind(name, name.title(), "to say", "GPT", "Here: one.", tokens, cells, **more)


def kinds(selected="causal"):
    made = [kind("causal", CAUSAL), kind("prefix", CAUSAL), kind("encoder", FULL), kind("two", TWO, n_read=2, cut=7)]
    return FamilyMasksPicture(kinds=made, selected=selected, texts=TEXTS).packed()


def test_the_grids_are_packed_side_by_side_each_in_its_corner():
    meta, arrays = unpacked(kinds())
    assert [one["name"] for one in meta["kinds"]] == ["causal", "prefix", "encoder", "two"]
    assert arrays["cells"].shape == (4, 5, 5)
    np.testing.assert_array_equal(arrays["cells"][0, :4, :4], CAUSAL)
    assert not arrays["cells"][0, 4].any()
    np.testing.assert_array_equal(arrays["cells"][3], TWO)
    assert (meta["kinds"][3]["n_read"], meta["kinds"][3]["cut"]) == (2, 7)


@pytest.mark.parametrize(
    "wrong, said",
    [
        ({"kinds": [Kind("a", "A", "", "", "", ["x"], CAUSAL)], "selected": "a"}, "1"),
        ({"kinds": [kind("causal", CAUSAL)], "selected": "two"}, "'two' is none of"),
    ],
)
def test_a_grid_that_does_not_fit_its_tokens_and_a_kind_that_is_not_there_are_refused(wrong, said):
    with pytest.raises(ValueError, match=said):
        FamilyMasksPicture(**wrong, texts=TEXTS).packed()


def middle(page, card, query, key):
    """The point of a cell on the screen."""
    canvas = page.locator("canvas").nth(card)
    box, at = canvas.bounding_box(), canvas.evaluate("node => node.dataset")
    cell = float(at["cell"])
    return box["x"] + float(at["left"]) + (key + 0.5) * cell, box["y"] + (query + 0.5) * cell


def color(page, card, query, key):
    """Of most of a cell's inner half, and whether there are lines on it: what is masked is hatched."""
    return (
        page.locator("canvas")
        .nth(card)
        .evaluate(
            """(canvas, [query, key]) => {
          const [cell, left] = [Number(canvas.dataset.cell), Number(canvas.dataset.left)]
          const scale = canvas.width / canvas.getBoundingClientRect().width
          const at = [(left + (key + 0.25) * cell) * scale, (query + 0.25) * cell * scale, 0.5 * cell * scale]
          const data = canvas.getContext("2d").getImageData(...at, at[2]).data, found = new Map()
          for (let i = 0; i < data.length; i += 4) {
            const one = data.slice(i, i + 4).join()
            found.set(one, (found.get(one) ?? 0) + 1)
          }
          return [[...found].sort((a, b) => b[1] - a[1])[0][0], found.size > 1]
        }""",
            [query, key],
        )
    )


@pytest.mark.browser
def test_every_cell_is_drawn_in_the_colour_of_what_it_is(mount):
    page = mount(SOURCE, kinds())
    colors = {int(TWO[q, k]): tuple(color(page, 3, q, k)) for q, k in ((0, 2), (0, 0), (0, 1), (2, 0))}
    assert len(set(colors.values())) == 4
    for card, cells in ((0, CAUSAL), (2, FULL), (3, TWO)):
        for query, key in np.ndindex(cells.shape):
            assert tuple(color(page, card, query, key)) == colors[int(cells[query, key])], (card, query, key)


@pytest.mark.browser
def test_a_cell_pointed_at_is_said_and_the_open_card_is_counted(mount):
    page = mount(SOURCE, kinds())
    readout = page.locator(".readout")
    assert readout.text_content() == f"{TEXTS['rows']} Causal: 10 of 16 cells are seen."
    for cell, said in (
        ((3, 3, 1), "t3 (3), which is written, sees t1 (1), which was read."),
        ((2, 0, 2), "e0 (0) sees e2 (2), which comes after it."),
        ((0, 0, 2), "c0 (0) does not see c2 (2)."),
        ((0, 2, 0), "c2 (2) sees c0 (0)."),
    ):
        page.mouse.move(*middle(page, *cell))
        expect(readout).to_have_text(re.sub(r"(\w\d)(?= \()", "\u2068\\1\u2069", said))
    assert page.locator("canvas").nth(3).get_attribute("aria-label") == "Two: 16 of 25 cells are seen."


@pytest.mark.browser
def test_arrow_keys_open_the_next_card_and_tell_it(mount):
    page = mount(SOURCE, kinds())
    page.locator("button[data-kind=causal]").focus()
    for _ in range(4):  # one more than there are
        page.keyboard.press("ArrowRight")
    wait(page, 200)
    assert page.locator(".family-masks").get_attribute("data-selected") == "two"
    assert page.locator("button[aria-checked=true]").get_attribute("data-kind") == "two"
    assert "Drawn without the last 7 tokens." in (page.locator(".readout").text_content() or "")
    assert [value for _, name, value in page.evaluate("window.calls") if name == "kind"] == ["two"]
