"""A phone in a room on a server with only rooms: what it offers, stores, marks, and says about its connection."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
import uvicorn
from playwright.sync_api import Page, WebSocketRoute, expect
from starlette.applications import Starlette

from classroom.desk import RoomDesk
from classroom.room import Room
from classroom.routes import classroom_routes
from classroom.student_page import TEXTS
from classroom.vocabulary import Vocabulary
from tests.browser import free_port
from tests.classroom.talking import question
from viz.chart import Bars
from viz.components.chart import chart

pytestmark = pytest.mark.browser

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True, "locale": "en-GB"}
TOKENS = ["·es", "·esc", "esc", "·bar", "·bark", "很", "·was"]


@dataclass
class Held:
    """A room, its address for phones, and a page there."""

    room: Room
    phone: Page
    url: str

    def ask(self, **more: object) -> None:
        self.room.ask(question(**more))

    def votes(self) -> list[tuple[str, str]]:
        """Answers and names, in the vote that is open."""
        assert self.room.poll
        return [*self.room.poll.votes[-1].values()]

    def until_votes(self, *expected: tuple[str, str]) -> None:
        until = time.monotonic() + 20
        while self.votes() != [*expected] and time.monotonic() < until:
            self.phone.wait_for_timeout(50)
        assert self.votes() == [*expected]


@pytest.fixture
def held(new_page: Callable[..., Page]) -> Iterator[Held]:
    desk, port = RoomDesk(), free_port()
    app = Starlette(routes=classroom_routes(desk, ("en",), lambda _language, words: words))
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    room, phone = desk.open(), new_page(**PHONE)
    yield Held(room, phone, f"http://127.0.0.1:{port}/join/{room.code}")
    room.end()
    phone.wait_for_timeout(100)
    server.should_exit = True
    thread.join(10)


def test_of_a_word_that_is_no_token_the_longest_that_begin_it_are_offered_and_why(held):
    held.ask(answers=Vocabulary(TOKENS), probability=lambda _: 0.1, likeliest=["0"])
    held.phone.goto(held.url)
    field, hint = held.phone.get_by_label("Type a token"), held.phone.locator(".vote .quiet[role=status]")
    for word, offered in (("escaped", ["·esc", "esc"]), ("barked", ["·bark"]), ("很高兴", ["很"])):
        field.fill(word)
        expect(held.phone.locator(".options button")).to_have_text(offered)
        expect(hint).to_have_text(TEXTS["pieces"])
        expect(held.phone.locator(".problem")).to_have_text("")
    field.press("Enter")  # which takes whole tokens alone
    field.fill("wa")
    expect(held.phone.locator(".options button")).to_have_text(["·was"])
    expect(hint).to_have_text("")
    field.fill("zzz")
    expect(held.phone.locator(".problem")).to_have_text(TEXTS["no_token"])
    assert held.votes() == []


def test_at_the_reveal_the_phones_own_answer_is_said_and_marked_also_after_a_reload(held):
    held.ask()
    held.phone.goto(held.url)
    held.phone.get_by_role("button", name="it", exact=True).click()
    expect(held.phone.locator(".answer")).to_contain_text("it")
    held.room.reveal()
    drawn = Bars(labels=["The", "it"], values=[0.0, 1.0], words=["0", "1 · 100 %"])
    held.room.board.figure("poll_vote_0", chart.SOURCE, chart.ChartPicture(drawn, label="The class").packed())
    held.room.board.figure("other", chart.SOURCE, chart.ChartPicture(drawn, label="of no question").packed())
    held.room.wake()
    for _ in range(2):
        expect(held.phone.locator("p.own")).to_have_text("Your answer: it")
        expect(held.phone.locator("text.own")).to_have_text(["it"])
        assert "700" in held.phone.locator("text.own").evaluate("node => getComputedStyle(node).fontWeight")
        held.phone.reload()
    held.room.drop()
    expect(held.phone.locator("p.own")).to_have_text("")
    expect(held.phone.locator("text.own")).to_have_count(0)


def test_of_two_votes_each_marks_what_was_answered_then(held):
    held.ask()
    held.phone.goto(held.url)
    for label in ("it", "The"):
        held.phone.get_by_role("button", name=label, exact=True).click()
        expect(held.phone.locator(".answer")).to_contain_text(label)
        if label == "it":
            held.room.ask_again()
            expect(held.phone.locator(".vote")).to_contain_text(TEXTS["again"])
    held.room.reveal()
    drawn = Bars(labels=["The", "it"], values=[0.5, 0.5], words=["", ""])
    for key in ("poll_vote_0", "poll_vote_1", "poll_model"):
        held.room.board.figure(key, chart.SOURCE, chart.ChartPicture(drawn, label=key).packed())
    held.room.wake()
    for _ in range(2):  # also after a reload
        expect(held.phone.locator("p.own")).to_have_text("Your answer: The")
        expect(held.phone.locator("text.own")).to_have_text(["it", "The", "The"])
        held.phone.reload()


def test_a_name_typed_after_the_answer_is_sent_and_kept_by_the_tab(held):
    held.room.names = True
    held.ask()
    held.phone.goto(held.url)
    name, asks = held.phone.get_by_label("Your name"), held.phone.locator(".asks")
    expect(asks).to_have_text("")
    held.phone.get_by_role("button", name="it", exact=True).click()
    held.until_votes(("2", ""))
    expect(asks).to_have_text(TEXTS["asks_names"])
    name.press_sequentially("Ada")
    expect(asks).to_have_text("")
    held.until_votes(("2", "Ada"))
    held.phone.reload()
    expect(name).to_have_value("Ada")
    name.fill("Ada L")
    held.until_votes(("2", "Ada L"))
    expect(held.phone.locator(".problem")).to_have_text("")
    held.ask()
    held.phone.get_by_role("button", name="The", exact=True).click()
    held.until_votes(("0", "Ada L"))
    kept = held.phone.evaluate("JSON.stringify({ ...localStorage })")
    assert "Ada" not in kept


def test_a_phone_without_connection_says_that_what_it_shows_is_of_before(held):
    lines: list[WebSocketRoute] = []
    silent = [False]

    def between(line: WebSocketRoute) -> None:
        """As a line is to whoever walks out of reach: it neither brings anything nor ends."""
        lines.append(line)
        server = line.connect_to_server()
        line.on_message(lambda words: None if silent[0] else server.send(words))
        server.on_message(lambda words: None if silent[0] else line.send(words))

    held.phone.route_web_socket("**/classroom/talk", between)
    held.room.board.turn({"title": "Heads", "subtitle": "", "page": ""})
    held.phone.clock.install()
    held.phone.goto(held.url)
    expect(held.phone.locator("h2").first).to_contain_text("Heads")
    said = held.phone.locator(".lost")
    expect(said).to_have_text("")
    held.phone.evaluate("dispatchEvent(new Event('offline'))")
    expect(said).to_have_text(TEXTS["gone"], timeout=2000)
    expect(said).to_be_visible()
    held.phone.evaluate("dispatchEvent(new Event('online'))")
    expect(said).to_have_text("")
    silent[0] = True
    held.phone.clock.fast_forward(8_000)  # it asks whether the server is there
    expect(said).to_have_text("")
    held.phone.clock.fast_forward(1_500)
    expect(said).to_have_text(TEXTS["gone"], timeout=2000)
    with held.phone.expect_websocket(timeout=15_000):  # it, too, brings nothing, which is seen after 10 s
        pass
    held.phone.wait_for_timeout(500)
    silent[0] = False
    expect(said).to_have_text(TEXTS["gone"])
    held.phone.clock.fast_forward(10_000)
    expect(said).to_have_text("", timeout=15_000)
    assert len(lines) > 2
    lines[-1].close()
    expect(said).to_have_text(TEXTS["gone"], timeout=2000)
    expect(said).to_have_text("", timeout=15_000)
    expect(held.phone.locator("h2").first).to_contain_text("Heads")
