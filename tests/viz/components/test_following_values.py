"""Dragged, played and typed values are followed live; the phone ignores what it does not have."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.viz.components import made_positions as made
from tests.viz.components.following import PHONE, TEACHER, Room
from tests.viz.components.test_cell_steps import D_VALUE, cell
from tests.viz.components.test_rotation_browser import rim
from tests.viz.components.test_step_by_step import steps
from tests.viz.components.test_step_by_step_browser import scaled_row
from viz.components.cell_steps import cell_steps
from viz.components.rotation import rotation, score_shift, score_split, score_sweep
from viz.components.source import Source
from viz.components.step_by_step import step_by_step

pytestmark = pytest.mark.browser

CELL = cell_steps.CellStepsPicture(**cell()).packed()
ANOTHER = {"of": "another"}


def drag(room: Room, slider: str, value: float) -> None:
    """A slider of the teacher's is here, and still held."""
    room.teacher.locator(slider).evaluate(
        """(slider, value) => {
            slider.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true }))
            slider.value = value
            slider.dispatchEvent(new Event("input", { bubbles: true }))
        }""",
        value,
    )


def phone_facts(room: Room, *names: str) -> list[str]:
    """What the phone says of itself."""
    room.look(PHONE)
    found = room.phone.locator("[data-painted]").evaluate("root => ({...root.dataset})")
    return [found[name] for name in names]


def check_same(room: Room) -> None:
    assert room.look(PHONE) == room.look(TEACHER)


@pytest.mark.parametrize(
    "source, data, right, wrongs",
    [
        (
            rotation.SOURCE, made.turning(), {"pair": 1, "position": 9},
            [{"pair": made.PAIRS}, {"range": "widest"}, {"position": 10**9}, ANOTHER],
        ),
        (
            score_shift.SOURCE, made.shifting(), {"positions": [9, 8]},
            [{"positions": [9, 10**9]}, {"positions": [-1, 8]}, {"range": "widest"}, ANOTHER],
        ),
        (
            score_split.SOURCE, made.splitting(), {"key": 1, "pair": 1},
            [{"key": 99}, {"hovered": 99}, {"pair": 99}, ANOTHER],
        ),
        (
            score_sweep.SOURCE, made.sweeping(), {"head": 1, "distance": 3},
            [{"head": 99}, {"hovered": 99}, {"distance": 99}, ANOTHER],
        ),
        (
            cell_steps.SOURCE, CELL, {"key": 1, "open": 2, "dimension": 1, "valueDimension": 1},
            [{"key": 99}, {"dimension": 99}, {"valueDimension": D_VALUE}, {"open": 8}, ANOTHER],
        ),
        (
            step_by_step.SOURCE, scaled_row(), {"knobs": {"wide": 4, "temperature": 1}},
            [
                {"knobs": {"wide": 3, "temperature": 1}}, {"knobs": {"wide": 4, "temperature": 99}},
                {"knobs": {"wide": 4}}, {"knobs": {}}, {"knobs": {"gap": 1}}, ANOTHER,
            ],
        ),
    ],
    ids=lambda value: getattr(value, "name", ""),
)  # fmt: skip  # a component
def test_what_the_phone_does_not_have_is_passed_over(
    sheet: Any, source: Source, data: bytes, right: dict[str, Any], wrongs: list[dict[str, Any]]
):
    room = Room(sheet, source, data)
    before = room.look(PHONE)
    at = room.told()[-1] | right
    for wrong in wrongs:
        room.follow(at | wrong)
        assert room.look(PHONE) == before, wrong
    room.follow(at)
    assert room.look(PHONE) != before


def test_a_position_is_followed_while_it_is_held(sheet: Any):
    room = Room(sheet, rotation.SOURCE, made.turning())
    for position in (12, 33):
        drag(room, ".slider", position)
        check_same(room)
        assert phone_facts(room, "position") == [str(position)]


def test_a_position_that_is_played_is_followed_as_it_goes(sheet: Any):
    room = Room(sheet, rotation.SOURCE, made.turning())
    room.teacher.locator(".play").click()
    sheet.wait_for_function("window.shown('phone').dataset.position > 20")
    room.teacher.locator(".play").click()
    check_same(room)
    assert room.said == []


def test_what_is_pointed_at_is_told_by_what_it_is_not_by_where_it_stands(sheet: Any):
    room = Room(sheet, rotation.SOURCE, made.turning())
    sheet.add_style_tag(content="[data-who=phone]{width:358px}")
    room.look(PHONE)
    sheet.mouse.click(*rim(room.teacher, 6, 0.1))
    assert phone_facts(room, "pair") == ["6"]
    expect(room.phone.locator(".readout")).to_have_text(room.teacher.locator(".readout").inner_text())


def test_data_of_another_token_are_believed_at_once(sheet: Any):
    room = Room(sheet, rotation.SOURCE, made.turning())
    drag(room, ".slider", 33)
    assert phone_facts(room, "position") == ["33"]
    room.send(PHONE, made.turning(token="·other", own=2, position=2))
    assert phone_facts(room, "position") == ["2"]


def test_an_older_position_of_the_same_token_does_not_turn_the_phone_back(sheet: Any):
    room = Room(sheet, rotation.SOURCE, made.turning())
    drag(room, ".slider", 33)
    room.look(TEACHER)
    room.send(PHONE, made.turning(position=12))
    assert phone_facts(room, "position") == ["33"]
    room.send(PHONE, made.turning(position=33))
    room.send(PHONE, made.turning(position=5))  # Back
    assert phone_facts(room, "position") == ["5"]


def test_knobs_are_followed_while_they_are_held(sheet: Any):
    room = Room(sheet, step_by_step.SOURCE, scaled_row())
    drag(room, "[data-knob=wide]", 2)
    drag(room, "[data-knob=temperature]", 2)
    check_same(room)
    assert room.phone.locator(".knob output").all_text_contents() == ["4", "2"]
    assert room.said == []


def test_a_number_is_followed_while_it_is_typed(sheet: Any):
    room = Room(sheet, step_by_step.SOURCE, steps(step="q"))
    result = [one.locator("[data-matrix=Q] td[data-row]") for one in (room.teacher, room.phone)]
    before = result[1].all_text_contents()
    room.teacher.locator("[data-matrix=X] input").first.fill("2.5")
    assert phone_facts(room, "edits") == ["X00_2.5"]
    assert result[0].all_text_contents() == result[1].all_text_contents() != before
    expect(room.phone.locator("[data-matrix=X] input").first).to_have_value("2.5")
    room.send(PHONE, steps(step="q", edits="X00_2.5"))
    room.send(PHONE, steps(step="q", edits="X01_1"))  # Back
    assert phone_facts(room, "edits") == ["X01_1"]
    assert room.said == []


def test_a_number_that_the_teacher_covers_is_uncovered_by_the_teacher_alone(sheet: Any):
    room = Room(sheet, step_by_step.SOURCE, steps(ask=True))
    teacher, phone = (one.locator(".result td[data-row='1'][data-column='1']") for one in (room.teacher, room.phone))
    expect(room.teacher.get_by_role("button", name="show all numbers")).to_be_visible()
    expect(room.phone.get_by_role("button", name="show all numbers")).to_be_hidden()
    phone.click()
    expect(room.phone.locator(".sum")).to_contain_text("= ?")
    expect(room.phone.locator(".sum")).not_to_contain_text("click")
    phone.focus()
    sheet.keyboard.press("Enter")
    room.look(PHONE)
    expect(phone).to_have_text("?")
    for ways in ("next step", "previous step", "play", "softmax"):  # where they are the numbers that a step is made of
        expect(room.phone.get_by_role("button", name=ways)).to_be_disabled()
    teacher.click()
    expect(teacher).not_to_have_text("?")
    phone_facts(room, "step")
    expect(phone).to_have_text(teacher.inner_text())
    room.teacher.get_by_role("button", name="next step").click()
    room.teacher.get_by_role("button", name="show all numbers").click()
    assert phone_facts(room, "step") == ["scale"]
    room.phone.get_by_role("button", name="next step").click()
    assert phone_facts(room, "step") == ["mask"]
