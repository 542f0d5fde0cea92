"""What is pointed at, dragged and played in a component is done in the same one elsewhere, which tells nobody."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.viz.components import made_positions as made
from tests.viz.components.following import PHONE, TEACHER, Room
from tests.viz.components.test_bracketings import blocks_of, sums_of
from tests.viz.components.test_cell_steps import cell as one_cell
from tests.viz.components.test_family_masks import CAUSAL, kind, kinds
from tests.viz.components.test_family_masks import TEXTS as MASK_TEXTS
from tests.viz.components.test_flash_film import film
from tests.viz.components.test_head_bars import bars
from tests.viz.components.test_head_groups import groups
from tests.viz.components.test_mask_gallery import gallery
from tests.viz.components.test_model_stages import stages
from tests.viz.components.test_rotation_browser import rim
from tests.viz.components.test_score_views_browser import cell_of
from tests.viz.components.test_step_by_step import steps
from tests.viz.components.test_step_by_step_browser import scaled_row
from tests.viz.components.test_token_lines import lines
from tests.viz.components.test_token_strip import strip
from tests.viz.components.test_token_tree_browser import chain, small
from tests.viz.test_chart_svg import lines as chart_of_lines
from viz.components.bracketings import bracketings
from viz.components.cell_steps import cell_steps
from viz.components.chart import chart
from viz.components.family_masks import family_masks
from viz.components.flash_film import flash_film
from viz.components.head_bars import head_bars
from viz.components.head_groups import head_groups
from viz.components.mask_gallery import mask_gallery
from viz.components.model_stages import model_stages
from viz.components.rotation import rotation, score_shift, score_split, score_sweep
from viz.components.source import Source
from viz.components.step_by_step import step_by_step
from viz.components.token_lines import token_lines
from viz.components.token_strip import token_strip
from viz.components.token_strip.token_strip import TEXTS as STRIP_TEXTS
from viz.components.token_tree import token_tree

pytestmark = pytest.mark.browser


@dataclass(frozen=True)
class Gesture:
    """What a teacher does in a component; ``other`` data are of another picture, where it means nothing."""

    name: str
    source: Source
    make: Callable[[], bytes]
    act: Callable[[Room], object]
    other: Callable[[], bytes]


def on(selector: str, what: str = "hover", *given: Any) -> Callable[[Room], object]:
    """A gesture on the first element of the teacher's with this selector."""
    return lambda room: getattr(room.teacher.locator(selector).first, what)(*given)


def cell(room: Room, query: int, key: int) -> tuple[float, float]:
    """The middle of a cell of the gallery's large picture."""
    at = json.loads(room.teacher.locator(".mask-gallery").get_attribute("data-geometry") or "")
    box = room.teacher.locator(".large > canvas").bounding_box()
    assert box is not None
    return box["x"] + at["x"] + (key + 0.5) * at["cell"], box["y"] + at["y"] + (query + 0.5) * at["cell"]


def stroke(room: Room) -> None:
    """A stroke of the pencil that has not ended."""
    room.teacher.locator(".pencil").click()
    room.page.mouse.move(*cell(room, 3, 3))
    room.page.mouse.down()
    room.page.mouse.move(*cell(room, 3, 2), steps=4)


def turned() -> bytes:
    charts = [chart_of_lines(x_title=name) for name in ("keys", "rows", "cells")]
    slider = chart.Slider(label="gap", values=(1.0, 2.5, 4.0), at=2.5, charts=charts, said=("one", "two", "three"))
    return chart.ChartPicture(charts[1], label="a chart", knob=slider).packed()


def still() -> bytes:
    return chart.ChartPicture(chart_of_lines(), label="one").packed()


def of_two() -> bytes:
    return groups(head=3, own=2, pooled=1, possible=(2, 1))


def with_rows() -> bytes:
    return strip(rows=np.tril(np.full((8, 8), 0.5)), texts=STRIP_TEXTS | {"row": "Row of {token}"})


def other_bars() -> bytes:
    return bars(heads=[(5, 5)], values=np.array([0.5]), selected=(5, 5), place=1)


def in_map(room: Room) -> None:
    room.teacher.locator(".chip").first.evaluate(
        "() => dispatchEvent(new CustomEvent('atlas-row', { detail: { token: 3, row: null } }))"
    )


def long_strip() -> bytes:
    return strip([f"·{i}" for i in range(1700)])


def fewer_kinds() -> bytes:
    return family_masks.FamilyMasksPicture(kinds=[kind("causal", CAUSAL)], selected="causal", texts=MASK_TEXTS).packed()


def wide_gallery() -> bytes:
    return gallery(n_layers=6)


def cell_data(**changes: Any) -> bytes:
    return cell_steps.CellStepsPicture(**one_cell(**changes)).packed()


def dial(room: Room) -> None:
    room.page.mouse.move(*rim(room.teacher, 3, 0.1))


def split_cell(room: Room) -> None:
    room.page.mouse.click(*cell_of(room.teacher, 3, 4))
    room.page.mouse.move(*cell_of(room.teacher, 5, 1))


def on_canvas(nth: int, what: str, x: float, y: float) -> Callable[[Room], object]:
    """A gesture at a place of a canvas of the teacher's."""
    return lambda room: getattr(room.teacher.locator("canvas").nth(nth), what)(position={"x": x, "y": y})


def apart(room: Room) -> None:
    room.teacher.locator(".lock input").uncheck()
    room.teacher.locator(".slider.key").fill("20")


def other_token() -> bytes:
    return made.turning(token="·other", own=2, position=2)


def other_tokens() -> bytes:
    return made.shifting(tokens=("·cat", "·dog"), positions=(9, 3))


DIALS = (rotation.SOURCE, made.turning)
SHIFT = (score_shift.SOURCE, made.shifting)
SPLIT = (score_split.SOURCE, made.splitting)
SWEEP = (score_sweep.SOURCE, made.sweeping)
CELL = (cell_steps.SOURCE, cell_data)
SMALL = (step_by_step.SOURCE, steps)
GALLERY = (mask_gallery.SOURCE, gallery)
GESTURES = [
    Gesture("a cell of a mask", *GALLERY, lambda room: room.page.mouse.move(*cell(room, 4, 2)), wide_gallery),
    Gesture("a stroke of the pencil", *GALLERY, stroke, wide_gallery),
    Gesture("a mask that grows", *GALLERY, on("input[type=range]", "fill", "3"), wide_gallery),
    Gesture("another mask", *GALLERY, on(".patterns button", "click"), wide_gallery),
    Gesture("a step of the tiles", flash_film.SOURCE, film, on(".step", "click"), lambda: film(7)),
    Gesture("a row of the tiles", flash_film.SOURCE, film, on(".tiles", "press", "ArrowUp"), lambda: film(7)),
    Gesture("a dragged film", flash_film.SOURCE, film, on(".scrub", "fill", "9"), lambda: film(7)),
    Gesture("a state that is read", bracketings.SOURCE, sums_of, on(".scrub", "fill", "3"), lambda: sums_of(7)),
    Gesture("a size of blocks", bracketings.SOURCE, blocks_of, on(".size", "fill", "5"), lambda: blocks_of(7)),
    Gesture("a head of a group", head_groups.SOURCE, groups, on("[data-head='1'] .q"), of_two),
    Gesture("another sharing", head_groups.SOURCE, groups, on("[data-kv='1']", "click"), of_two),
    Gesture("a cell of a kind", family_masks.SOURCE, kinds, on("canvas"), fewer_kinds),
    Gesture("another kind", family_masks.SOURCE, kinds, on("[data-kind=prefix] b", "click"), fewer_kinds),
    Gesture("a chart's slider", chart.SOURCE, turned, on("input", "fill", "2"), still),
    Gesture("a token of a tree", token_tree.SOURCE, small, on(".chip[data-id='1.4.6']"), lambda: chain(3)),
    Gesture("a node opened", token_tree.SOURCE, small, on(".chip[data-id='1.4.5']", "click"), lambda: chain(3)),
    Gesture("an unfolded run", token_tree.SOURCE, lambda: chain(20), on(".more", "click"), lambda: chain(3)),
    Gesture("a token by keys", token_tree.SOURCE, small, on(".scroller", "press", "ArrowRight"), lambda: chain(3)),
    Gesture("a stage", model_stages.SOURCE, stages, on("[data-index='2'] .name"), lambda: stages(2)),
    Gesture("a dimension", model_stages.SOURCE, stages, on("[data-index='2'] canvas"), lambda: stages(2)),
    Gesture("a stage by keys", model_stages.SOURCE, stages, on("button", "focus"), lambda: stages(2)),
    Gesture("a token", token_strip.SOURCE, strip, on("[data-chip='3']"), lambda: strip(["a", "b"])),
    Gesture("a chosen token", token_strip.SOURCE, strip, on("[data-chip='5']", "click"), lambda: strip(["a", "b"])),
    Gesture("a head of a list", head_bars.SOURCE, bars, on("[data-row='2']", "click"), other_bars),
    Gesture("a row of the map", token_strip.SOURCE, with_rows, in_map, lambda: strip(["a", "b"])),
    Gesture("a later part", token_strip.SOURCE, long_strip, on("[data-side=later]", "click"), strip),
    Gesture("a dial", *DIALS, dial, other_token),
    Gesture("a turned dial", *DIALS, on(".slider", "fill", "33"), other_token),
    Gesture("a range of dials", *DIALS, on("[data-span='2']", "click"), other_token),
    Gesture("two positions", *SHIFT, on(".slider.query", "fill", "45"), other_tokens),
    Gesture("a range of positions", *SHIFT, on("[data-span='1']", "click"), other_tokens),
    Gesture("positions apart", *SHIFT, apart, other_tokens),
    Gesture("a place of their map", *SHIFT, on_canvas(0, "click", 200, 120), other_tokens),
    Gesture("a part of a score", *SPLIT, split_cell, lambda: made.splitting(head="L4H0")),
    Gesture("a pair by keys", *SPLIT, on("canvas", "press", "ArrowDown"), lambda: made.splitting(head="L4H0")),
    Gesture("a distance", *SWEEP, on_canvas(0, "hover", 200, 150), lambda: made.sweeping(layer=4)),
    Gesture("a head by distance", *SWEEP, on_canvas(1, "hover", 30, 40), lambda: made.sweeping(layer=4)),
    Gesture("a chosen head", *SWEEP, on_canvas(1, "click", 30, 40), lambda: made.sweeping(layer=4)),
    Gesture("a dimension of q", *CELL, on(".strip-row.query canvas"), lambda: cell_data(head="L4H0")),
    Gesture("a dimension of v", *CELL, on(".value canvas"), lambda: cell_data(head="L4H0")),
    Gesture("an open step", *CELL, on(".title[data-step='3']", "click"), lambda: cell_data(head="L4H0")),
    Gesture("a key of a row", *CELL, on(".bar[data-key='1']", "click"), lambda: cell_data(head="L4H0")),
    Gesture("a turned knob", step_by_step.SOURCE, scaled_row, on("[data-knob=wide]", "fill", "2"), steps),
    Gesture("covered numbers", *SMALL, on(".ask", "click"), scaled_row),
    Gesture("a number's sum", *SMALL, on(".result td[data-row]"), scaled_row),
    Gesture("a token's line", token_lines.SOURCE, lines, on("[data-row='3']"), lambda: lines(offset=2)),
]  # fmt: skip

EACH = pytest.mark.parametrize("gesture", GESTURES, ids=lambda gesture: gesture.name)


@EACH
def test_a_gesture_is_drawn_where_it_is_followed_and_told_nobody_there(sheet: Any, gesture: Gesture):
    room = Room(sheet, gesture.source, gesture.make())
    before = room.look(PHONE)
    assert before == room.look(TEACHER)
    gesture.act(room)
    after = room.look(TEACHER)
    assert after != before
    assert room.look(PHONE) == after
    assert room.said == []
    assert all(len(json.dumps(at)) < 300 for at in room.told())


@EACH
def test_what_was_pointed_at_in_an_older_picture_changes_nothing_in_a_newer_one(sheet: Any, gesture: Gesture):
    room = Room(sheet, gesture.source, gesture.make())
    gesture.act(room)
    told = room.told()
    room.send(PHONE, gesture.other())
    drawn = room.look(PHONE)
    for at in told:
        room.follow(at)
    assert room.look(PHONE) == drawn
    assert room.said == []


@EACH
def test_the_same_data_again_are_followed_by_what_is_pointed_at_in_them(sheet: Any, gesture: Gesture):
    """Who comes late, or comes back, has the newest figure and what was pointed at since."""
    room = Room(sheet, gesture.source, gesture.make())
    gesture.act(room)
    room.look(TEACHER)
    count = len(room.told())
    room.send(TEACHER, gesture.make())
    seen = room.look(TEACHER)
    assert len(room.told()) > count
    room.send(PHONE, gesture.make())
    room.follow(room.told()[-1])
    assert room.look(PHONE) == seen


def test_a_film_of_tiles_plays_where_it_is_followed(sheet: Any):
    room = Room(sheet, flash_film.SOURCE, film())
    room.teacher.locator(".speed").select_option("60")
    room.teacher.locator(".play").click()
    sheet.wait_for_function("window.shown('phone').dataset.frame > 2")
    expect(room.phone.locator(".flash-film")).to_have_attribute("data-playing", "false")  # it is drawn, frame by frame
    expect(room.teacher.locator(".flash-film")).to_have_attribute("data-playing", "false")
    assert room.look(PHONE) == room.look(TEACHER)
    assert room.said == []


def test_a_mask_grows_where_it_is_followed(sheet: Any):
    room = Room(sheet, mask_gallery.SOURCE, gallery(shown=4))
    room.teacher.locator(".play").click()
    expect(room.phone.locator(".mask-gallery")).to_have_attribute("data-shown", "1")
    expect(room.phone.locator(".mask-gallery")).to_have_attribute("data-shown", "3")
    expect(room.teacher.locator(".play")).to_have_text("▶")
    assert room.look(PHONE) == room.look(TEACHER)
    assert room.said == []


def test_hundreds_of_hidden_cells_fit_one_message(sheet: Any):
    n = 60
    hidden = [(query, key) for query in range(30, 40) for key in range(30)]
    data = gallery(
        tokens=[f"t{i}" for i in range(n)], reached=np.ones((n, n), np.uint8), hidden=hidden, most_hidden=300,
        small=np.zeros((3, n, n), np.uint8),
    )  # fmt: skip
    room = Room(sheet, mask_gallery.SOURCE, data)
    room.teacher.locator(".pencil").click()
    room.page.mouse.click(*cell(room, 35, 5))
    assert len(json.dumps(room.told()[-1], separators=(",", ":"))) < 3900
    assert room.look(PHONE) == room.look(TEACHER)


def test_a_line_that_is_looked_at_is_brought_into_sight_where_it_is_followed(sheet: Any):
    n = 60
    data = lines(np.tri(n, dtype=np.float32) / n, [f"·{i}" for i in range(n)], max_height=300)
    room = Room(sheet, token_lines.SOURCE, data)
    row = "[data-side=query][data-row='50']"
    room.teacher.locator(row).hover()  # which scrolls to it
    room.look(PHONE)
    frame = room.phone.locator(".scroller").bounding_box()
    seen = room.phone.locator(row).bounding_box()
    assert frame is not None
    assert seen is not None
    assert frame["y"] <= seen["y"] <= frame["y"] + frame["height"] - seen["height"]


def test_a_walk_through_a_cell_is_followed_step_by_step_and_does_not_walk_by_itself(sheet: Any):
    room = Room(sheet, cell_steps.SOURCE, cell_data(step=7))
    room.teacher.locator(".walk").click()
    expect(room.teacher.locator(".cell-steps")).to_have_attribute("data-walking", "true")
    expect(room.phone.locator(".cell-steps")).to_have_attribute("data-open", "8", timeout=10_000)
    expect(room.phone.locator(".cell-steps")).to_have_attribute("data-walking", "false")
