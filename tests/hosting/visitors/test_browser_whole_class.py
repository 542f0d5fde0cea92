"""A whole class, as a school holds it: ``make serve``, a teacher who signs in, a projector, twenty phones, the file.

With ATLAS_PICTURES set the laptop, the projector and a phone are pictured at each stage, in build/class/<language>.
"""

from __future__ import annotations

import fcntl
import re
from collections.abc import Callable, Iterator
from functools import partial

import pytest
from playwright.sync_api import Browser, Page, expect

from classroom.student_page import TEXTS
from tests.browser import Watch
from tests.hosting.visitors.held_class import SOON, Held, all_in_file, projected
from tests.hosting.visitors.hosted import Hosted, hosted_app, opened
from tests.hosting.visitors.phones import counted, filmed, phones_of, tap, tap_head, together, type_number, type_token
from tests.pages.test_browser_class import ask, click, click_head
from tests.pages.test_browser_lessons import shipped, way
from tests.pages.visiting import end_room, wait_for_rest

pytestmark = [pytest.mark.browser, pytest.mark.long, pytest.mark.timeout(900)]

PHONES, BY_CODE = 20, 10
TOKENS = {"en": ("was", "wanted", "had", "was"), "zh": ("汪汪", "喵喵", "跑", "汪汪")}
DROPS, WANDERS = 3, 7  # numbers of phones
HEADS = ((5, 2), (2, 1), (6, 4), (3, 5))
STEP = "main section:not(.vote) > .words"  # of a lesson, on a phone


@pytest.fixture(scope="module")
def hosted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosted]:
    """A school's server, with places for the teacher and some who wander; of several processes one at a time."""
    with (tmp_path_factory.getbasetemp().parent / "class.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with hosted_app(tmp_path_factory.mktemp("school"), sessions=6) as held:
            yield held


@pytest.fixture
def phones(browser: Browser, watch: Watch, new_page: object, lang: str) -> Iterator[list[Page]]:
    """They are in browsers of their own; ``new_page`` looks at what went wrong in them."""
    with phones_of(browser, watch, PHONES, lang) as pages:
        yield pages


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_class_of_twenty_from_the_servers_start_to_the_file(
    hosted: Hosted,
    new_page: Callable[..., Page],
    phones: list[Page],
    watch: Watch,
    lang: str,
    record_property: Callable[[str, object], None],
):
    held = Held(hosted, new_page(), phones, lang)
    phones[DROPS].route_web_socket("**/classroom/talk", held.lead_on)
    _sign_in(held)
    code = _open_room(held)
    _look_and_ask(held)
    _go_through_the_lesson(held)
    _point_and_choose(held)
    _ask_of_heads(held)
    _wander(held, code)
    _play_the_film(held)
    _save_and_end(held)
    record_property("measured", f"{PHONES} phones, {lang}, after the teacher's click:\n{held.times.told()}")
    watch.errors[:] = [one for one in watch.errors if "WebSocket" not in one and "_stcore/h" not in one]
    assert held.times.found.keys() == SOON.keys()
    assert held.late() == {}


def _sign_in(held: Held) -> None:
    teacher = opened(held.teacher, f"{held.hosted.url}/?lang={held.lang}")
    foot = teacher.locator(".st-key-visitors_foot")
    foot.get_by_role("button", name=held.words("For teachers: sign in")).click()
    expect(foot).to_contain_text(held.words("{name} teaches").format(name="Ada"))
    wait_for_rest(teacher)


def _open_room(held: Held) -> str:
    """A lesson is open; half of the phones join by the typed code, half by the link."""
    teacher, lesson = held.teacher, shipped(held.lang)
    click(teacher, "lessons_menu")
    teacher.locator(".st-key-lesson_list").get_by_text(lesson.title, exact=True).click()
    expect(teacher.locator(".st-key-lesson h2")).to_have_text(lesson.steps[0].title)
    wait_for_rest(teacher)
    click(teacher, "open_room")
    code = teacher.locator(".atlas-huge").inner_text()
    for number, phone in enumerate(held.phones):
        if number >= BY_CODE:
            phone.goto(f"{held.hosted.url}/join/{code}")
            continue
        phone.goto(f"{held.hosted.url}/join")
        phone.locator("input.code").fill(code.lower())
        phone.locator("form button").click()
    for phone in held.phones:
        expect(phone.locator("header h1")).to_have_text(code)
    expect(teacher.locator(f".room-link[data-there='{PHONES}']")).to_be_visible()
    held.look("code")
    return code


def _step_is_shown(held: Held, number: int, *figures: str) -> None:
    step = shipped(held.lang).steps[number - 1]
    expect(held.teacher.locator(".st-key-lesson h2")).to_have_text(step.title)
    expect(way(held.teacher, "again")).to_have_count(0)
    wait_for_rest(held.teacher)
    for phone in held.phones:
        expect(phone.locator(STEP)).to_have_text(re.compile(re.escape(step.title)))
    together(held.teacher, held.phones, *figures)


def _look_and_ask(held: Held) -> None:
    """The first step's question comes first: where a token looks; on the projector, and again after a discussion."""
    with projected(held.teacher):
        shown = (".vote:not([hidden]) h2", "", None)
        held.timed("a question", shown, lambda: held.teacher.keyboard.press("PageDown"), by="keydown")
        first = held.vote(tap)
    held.look("where")
    click(held.teacher, "vote_again")
    expect(held.teacher.locator(".class-answered")).to_have_text("0")
    for phone in held.phones:
        expect(phone.locator(".vote .quiet:not(:empty)")).to_be_visible()
    second = held.vote(lambda phone, number: tap(phone, 1 + number // 15))
    held.reveal([first, second], stage="where-revealed")
    _step_is_shown(held, 1, "head_grid", "head_map")
    held.look("step")


def _go_through_the_lesson(held: Held) -> None:
    """By a presenter's button, with a covered number at the sixth step, and the question of the last, with names."""
    steps = shipped(held.lang).steps
    figures = {2: "head_map", 3: "cell_steps", 4: "steps_scale", 5: "cell_steps", 6: "step_by_step"}
    for number, figure in figures.items():
        with projected(held.teacher):
            held.timed(
                "the lesson's next step → its words",
                (STEP, "", steps[number - 1].title),
                lambda: held.teacher.keyboard.press("PageDown"),
                by="keydown",
            )
            _step_is_shown(held, number, figure)
        held.look(f"step-{number}")
        if number == 6:
            _ask_a_number(held)
            _step_is_shown(held, number, figure)
    _name_the_asked(held)
    held.teacher.keyboard.press("PageDown")  # to the last step, which asks
    expect(held.teacher.locator(".atlas-answered")).to_be_visible()
    names = [f"{TOKENS[held.lang][0]} {number:02}" for number in range(PHONES)]
    for phone, name in zip(held.phones, names, strict=True):
        phone.get_by_label(held.words("Your name")).fill(name)
    tokens = TOKENS[held.lang]
    labels = held.vote(lambda phone, number: type_token(phone, tokens[number % len(tokens)]))
    held.look("next")
    held.reveal([labels], names, stage="next-revealed")
    _name_the_asked(held)
    click(held.teacher, "lesson_close")
    expect(held.teacher.locator(".st-key-lesson")).to_have_count(0)
    together(held.teacher, held.phones, "head_grid", "head_map")


def _name_the_asked(held: Held) -> None:
    """Names are asked for from now on, or not any more."""
    click(held.teacher, "ask_class")
    held.teacher.locator(".st-key-ask_names label").first.click()
    wait_for_rest(held.teacher)
    held.teacher.keyboard.press("Escape")
    expect(held.teacher.locator(".st-key-ask_names")).to_be_hidden()


def _ask_a_number(held: Held) -> None:
    figure = held.teacher.locator(".step-by-step")
    figure.locator("button[data-step=scores]").click()
    together(held.teacher, held.phones, "step_by_step")
    hover = figure.locator(".result td[data-row='2'][data-column='1']").hover
    held.timed("pointing at a number", (".step-by-step", "at", "2 1"), hover, by="pointermove")
    together(held.teacher, held.phones, "step_by_step")
    figure.locator("button.ask").click()
    wait_for_rest(held.teacher)
    figure.locator(".result td[data-row='1'][data-column='0']").click()
    figure.locator("button.pass").click()
    expect(held.teacher.locator(".atlas-answered")).to_be_visible()
    answers = [f"{number / 4:g}" for number in range(PHONES)]
    held.vote(lambda phone, number: type_number(phone, answers[number]))
    held.look("number")
    held.reveal([answers], stage="number-revealed")
    figure.locator("button.ask").click()
    wait_for_rest(held.teacher)


def _point_and_choose(held: Held) -> None:
    """Other heads by clicks, and cells under the pointer."""
    teacher, grid, map_ = held.teacher, ".head-grid", ".figure[data-key=head_map]"
    canvas, hovered = teacher.locator(".head-map canvas").first, (".head-map", "hovered", None)
    for layer, head in HEADS:
        to = partial(click_head, teacher, layer, head)
        held.timed("another head → its square", (grid, "selected", f"{layer},{head}"), to)
        together(teacher, held.phones, "head_grid", "head_map")
    for layer, head in HEADS:
        wait_for_rest(teacher)
        to = partial(click_head, teacher, layer, head)
        held.timed("another head → its map", (map_, "drawn", None), to, fresh=True)
        together(teacher, held.phones, "head_grid", "head_map")
    for x, y in ((110, 200), (150, 250)):
        teacher.mouse.move(5, 5)
        _hovered_alike(held, "")
        to = partial(canvas.hover, position={"x": x, "y": y})
        held.timed("pointing at a cell", hovered, to, by="pointermove")
        _hovered_alike(held, teacher.locator(".head-map").get_attribute("data-hovered") or "a cell")
    held.look("pointing")


def _hovered_alike(held: Held, cell: str) -> None:
    for phone in held.phones:
        expect(phone.locator(".head-map")).to_have_attribute("data-hovered", cell)


def _ask_of_heads(held: Held) -> None:
    """What this head does, answered by one phone without a connection; and which head has most of a metric."""
    ask(held.teacher, "ablate")
    dropped, before = held.phones[DROPS], len(held.lines)
    for phone in held.phones:
        expect(phone.locator(".vote .options button").first).to_be_visible()
    held.away = True
    held.lines[-1].close()
    expect(dropped.locator(".lost")).to_have_text(held.words(TEXTS["gone"]))
    labels = [tap(phone, number // 13) for number, phone in enumerate(held.phones)]
    unsent = held.words("There is no connection; your answer is sent as soon as it is back.")
    expect(dropped.locator(".vote .problem")).to_have_text(unsent)
    expect(held.teacher.locator(".class-answered")).to_have_text(str(PHONES - 1))
    held.away = False
    counted(held.phones, labels)
    assert len(held.lines) == before + 1
    expect(held.teacher.locator(".class-answered")).to_have_text(str(PHONES))
    held.look("ablate")
    held.reveal([labels], stage="ablate-revealed")
    ask(held.teacher, "head")
    labels = held.vote(lambda phone, number: tap_head(phone, number % 4, number % 3))
    held.look("head")
    held.reveal([labels], stage="head-revealed")
    together(held.teacher, held.phones, "head_grid", "head_map")


def _wander(held: Held, code: str) -> None:
    """One phone looks around in the whole app, and comes back; another is loaded again."""
    phone = held.phones[WANDERS]
    selected = held.teacher.locator(".head-grid").get_attribute("data-selected") or ""
    phone.locator("header a").click()
    back = phone.locator(".atlas-back a")
    expect(back).to_have_text(f"← {held.words('Back to the class')}")
    expect(phone.locator(".head-grid")).to_have_attribute("data-selected", selected)
    expect(phone.locator(".st-key-open_room")).to_have_count(0)
    expect(held.teacher.locator(f".room-link[data-there='{PHONES - 1}']")).to_be_visible()
    back.click()
    expect(phone).to_have_url(f"{held.hosted.url}/join/{code}")
    held.phones[WANDERS + 1].reload()
    expect(held.teacher.locator(f".room-link[data-there='{PHONES}']")).to_be_visible()
    together(held.teacher, held.phones, "head_grid", "head_map")


def _play_the_film(held: Held) -> None:
    """Played to its end, which makes its frames, and once more; then a step back."""
    teacher = held.teacher
    link = teacher.locator(".st-key-navigation a").get_by_text(held.words("Generation film"), exact=True)
    held.timed("another page → its picture", (".film", "painted", None), link.click)
    film = teacher.locator(".film")

    def play() -> None:
        film.locator(".play").click()
        expect(film).to_have_attribute("data-playing", "true")
        expect(film).to_have_attribute("data-playing", "false")

    for name in ("a film that is made: behind at a frame", "a film that is there: behind at a frame"):
        held.times.add(name, filmed(teacher, held.phones, play))
        wait_for_rest(teacher)
        together(teacher, held.phones, "film")
    held.look("film")
    last = int(film.get_attribute("data-frame") or 0)
    assert last >= 3
    held.timed("a step of the film", (".film", "frame", str(last - 1)), film.locator(".back").click)
    together(teacher, held.phones, "film")


def _save_and_end(held: Held) -> None:
    """The file has every vote that was sent, and no other; then the room is over."""
    click(held.teacher, "ask_class")
    with held.teacher.expect_download() as download:
        click(held.teacher, "results_beside")
    all_in_file(download.value.path(), held.asked)
    held.teacher.keyboard.press("Escape")
    end_room(held.teacher)
    for phone in held.phones:
        expect(phone.locator(".problem")).to_have_text(held.words("The teacher has ended this room."))
    held.look("ended")
    expect(held.teacher.locator(".st-key-open_room")).to_be_visible()
