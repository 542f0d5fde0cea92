"""A reader's choice in a component is drawn at once, sent once, and not undone by answers to earlier choices."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from tests.viz.components import made_positions as made
from tests.viz.components import map_page, shim
from tests.viz.components import test_head_grid_browser as grid_page
from tests.viz.components import test_layer_head_map_browser as cells_page
from tests.viz.components.clock import settle, wait
from tests.viz.components.test_cell_steps import cell
from tests.viz.components.test_family_masks import kinds
from tests.viz.components.test_head_bars import RANKED, bars
from tests.viz.components.test_head_grid import grid
from tests.viz.components.test_head_groups import groups
from tests.viz.components.test_head_map import head_map
from tests.viz.components.test_layer_head_map import cells
from tests.viz.components.test_long_map import whole_map
from tests.viz.components.test_mask_gallery import NAMES, gallery
from tests.viz.components.test_score_views_browser import cell_of
from tests.viz.components.test_token_lines import lines
from tests.viz.components.test_token_strip import strip
from tests.viz.components.test_token_tree_browser import small
from viz.components.cell_steps import cell_steps
from viz.components.family_masks import family_masks
from viz.components.head_bars import head_bars
from viz.components.head_grid import head_grid
from viz.components.head_groups import head_groups
from viz.components.head_map import head_map as head_map_component
from viz.components.layer_head_map import layer_head_map
from viz.components.long_map import long_map
from viz.components.mask_gallery import mask_gallery
from viz.components.rotation import score_split, score_sweep
from viz.components.source import Source
from viz.components.token_lines import token_lines
from viz.components.token_strip import token_strip
from viz.components.token_tree import token_tree

pytestmark = pytest.mark.browser


@dataclass(frozen=True)
class Choice:
    """One choice of a component: ``values`` are the host's and two that a reader clicks on one after the other."""

    source: Source
    make: Callable[[Any], bytes]  # a value → the payload in which the host has chosen it
    click: Callable[[Any, Any], None]  # a page and a value
    event: str
    fact: str  # of the root's dataset
    values: tuple[Any, Any, Any]
    keys: tuple[str, ...] = ()  # pressed without a rest, and what they lead to from the first value
    led_to: Any = None
    focus: str = "canvas"
    kept: str = "canvas, svg, .chips"  # the same node after a rerun


def on(selector: str) -> Callable[[Any, Any], None]:
    """A click on the element with the value in its selector."""
    return lambda page, value: page.locator(selector.format(value)).first.click()


def at(point: Callable[..., tuple[float, float]]) -> Callable[[Any, Any], None]:
    """A click on the point of a canvas that stands for the value."""
    return lambda page, value: page.mouse.click(*point(page, *(value if isinstance(value, tuple) else (value,))))


def panel(page: Any, head: int) -> tuple[float, float]:
    canvas = page.locator("canvas").nth(1)
    drawn, box = json.loads(canvas.get_attribute("data-geometry")), canvas.bounding_box()
    row, column = divmod(head, drawn["columns"])
    return box["x"] + (column + 0.4) * drawn["pitchX"], box["y"] + (row + 0.5) * drawn["pitchY"]


def long_cell(page: Any, query: int, key: int) -> tuple[float, float]:
    """The middle of a cell of the long map, of which 32 × 32 are in view."""
    plot = json.loads(page.locator(".long-map").get_attribute("data-geometry"))
    box = page.locator(".long-map canvas").first.bounding_box()
    side = plot["width"] / 32
    return box["x"] + plot["x"] + (key + 0.5) * side, box["y"] + plot["y"] + (query + 0.5) * side


CHOICES = [
    Choice(
        cell_steps.SOURCE, lambda key: cell_steps.CellStepsPicture(**cell(key=key)).packed(), on(".bar[data-key='{}']"),
        "key", "key", (2, 3, 1), ("ArrowRight", "ArrowRight"), 4, ".bars",
    ),
    Choice(
        cell_steps.SOURCE, lambda step: cell_steps.CellStepsPicture(**cell(step=step)).packed(),
        on(".title[data-step='{}']"),
        "step", "open", (2, 5, 7), kept=".bars",
    ),
    Choice(
        family_masks.SOURCE, kinds, on("[data-kind='{}']"), "kind", "selected", ("causal", "encoder", "prefix"),
        ("ArrowRight", "ArrowRight"), "encoder", "[data-kind=causal]", "[data-kind=causal]",
    ),
    Choice(
        head_grid.SOURCE, lambda head: grid(selected=head, layer_has_weights=[True, True, False, True]),
        at(grid_page.point), "head", "selected", ((1, 2), (3, 4), (0, 0)), ("ArrowDown", "ArrowRight"), (3, 3),
    ),
    Choice(
        head_groups.SOURCE, lambda head: groups(head=head), on("[data-head='{}'] .q"),
        "head", "head", (5, 1, 6), ("ArrowRight", "ArrowRight", "ArrowRight"), 7, "figure svg",
    ),
    Choice(
        head_map_component.SOURCE, lambda pin: head_map(selected=pin), at(map_page.cell),
        "cell", "selected", ((4, 2), (6, 1), (7, 3)), ("ArrowDown", "ArrowDown", "ArrowLeft"), (6, 1),
    ),
    Choice(
        long_map.SOURCE, lambda pin: whole_map(selected=pin, window=(0, 32, 0, 32)), at(long_cell),
        "cell", "selected", ((4, 2), (6, 1), (7, 3)), ("ArrowDown", "ArrowDown", "ArrowLeft"), (6, 1),
    ),
    Choice(
        layer_head_map.SOURCE, lambda head: cells(open=head, notes={2: "no attention"}), at(cells_page.point),
        "head", "open", ((1, 2), (3, 4), (0, 0)), ("ArrowDown", "ArrowRight"), (3, 3),
    ),
    Choice(
        head_bars.SOURCE, lambda head: bars(selected=head),
        lambda page, head: page.locator(".head-bars button").nth(RANKED.index(head)).click(),
        "head", "selected", ((6, 3), (0, 1), (2, 2)), ("ArrowDown", "ArrowDown"), (2, 2), "button.selected", ".list",
    ),
    Choice(
        mask_gallery.SOURCE, lambda name: gallery(selected=name),
        lambda page, name: page.locator(".patterns button").nth(NAMES.index(name)).click(),
        "pattern", "selected", ("window", "full", "index"),
    ),
    Choice(
        score_split.SOURCE, lambda key: made.splitting(key=key), at(lambda page, key: cell_of(page, 3, key)),
        "key", "key", (2, 4, 1), ("ArrowRight", "ArrowRight"), 4,
    ),
    Choice(score_sweep.SOURCE, lambda head: made.sweeping(head=head), at(panel), "head", "head", (2, 3, 1)),
    Choice(
        token_lines.SOURCE, lambda query: lines(selected=query), on(".token-lines [data-side='query'][data-row='{}']"),
        "query", "pinned", (1, 2, 4), ("ArrowDown", "ArrowDown"), 3, ".scroller",
    ),
    Choice(
        token_lines.SOURCE, lambda cell: lines(selected=cell[0], looked_at=cell[1]),
        lambda page, cell: page.locator(f".token-lines [data-side='key'][data-row='{cell[1]}']").click(),
        "cell", "cell", ((4, 2), (4, 1), (4, 3)), kept=".scroller",
    ),
    Choice(
        token_strip.SOURCE, lambda token: strip(selected=token), on(".token-strip [data-chip='{}']"),
        "token", "selected", (1, 2, 3), ("ArrowRight", "ArrowRight", "ArrowRight"), 4, ".chip.selected",
    ),
    Choice(
        token_strip.SOURCE, lambda key: strip(selected=4, looked_at=key, sets="key"),
        on(".token-strip [data-chip='{}']"), "token", "looked-at", (1, 2, 3),
    ),
    Choice(
        token_tree.SOURCE, lambda node: small(opened=node), on(".chip[data-id='{}']"),
        "node", "opened", ("1.2", "1.4.5", "1.4.6"), kept=".scroller",
    ),
]  # fmt: skip


def shown(page: Any, choice: Choice) -> str:
    settle(page)
    return page.locator(f".{choice.source.name.replace('_', '-')}").get_attribute(f"data-{choice.fact}")


def written(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def told(page: Any, choice: Choice, *values: Any) -> bool:
    """Whether these values, and nothing else, have been told once all that was due is."""
    page.wait_for_function(f"window.calls.length >= {len(values)}")
    wait(page, 200)
    expected = [[choice.source.name, choice.event, list(one) if isinstance(one, tuple) else one] for one in values]
    return page.evaluate("window.calls") == expected


def answer(page: Any, choice: Choice, value: Any) -> None:
    page.evaluate("data => window.send(...data)", [choice.source.name, shim.encoded(choice.make(value))])


@pytest.mark.parametrize("choice", CHOICES, ids=lambda choice: choice.source.name)
def test_a_click_counts_before_any_answer_and_an_older_answer_does_not_undo_it(mount, choice):
    given, first, second = choice.values
    page = mount(choice.source, choice.make(given), style="section{max-width:1100px}")
    assert shown(page, choice) == written(given)
    for value in (first, second):
        choice.click(page, value)
        assert shown(page, choice) == written(value)
    assert told(page, choice, first, second)
    page.mouse.move(2, 2)  # what is pointed at may be looked into
    answer(page, choice, first)
    assert shown(page, choice) == written(second)
    answer(page, choice, second)
    assert shown(page, choice) == written(second)
    answer(page, choice, given)  # once confirmed, the host is believed again
    assert shown(page, choice) == written(given)


@pytest.mark.parametrize("choice", CHOICES, ids=lambda choice: choice.source.name)
def test_another_choice_of_the_host_is_drawn_in_place_and_a_click_still_counts_once(mount, choice):
    given, first, second = choice.values
    page = mount(choice.source, choice.make(given), style="section{max-width:1100px}")
    picture = page.locator(choice.kept).first
    before = picture.element_handle()
    answer(page, choice, first)
    assert shown(page, choice) == written(first)
    assert picture.evaluate("(now, before) => now === before", before)
    choice.click(page, second)
    assert told(page, choice, second)


@pytest.mark.parametrize("choice", [one for one in CHOICES if one.keys], ids=lambda choice: choice.source.name)
def test_arrows_move_at_once_and_ask_once_at_rest(mount, choice):
    page = mount(choice.source, choice.make(choice.values[0]))
    at_once = page.locator(choice.focus).first.evaluate(
        """(node, keys) => {
            node.focus()
            for (const key of keys)
                node.getRootNode().activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }))
            return window.calls
        }""",
        choice.keys,
    )
    assert at_once == []
    assert told(page, choice, choice.led_to)
    assert shown(page, choice) == written(choice.led_to)
