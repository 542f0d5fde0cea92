"""A class on a hosted server: the teacher's page on a laptop or a projector, the phones, and what they did."""

from __future__ import annotations

import csv
import io
import os
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, ViewportSize, WebSocketRoute, expect

from tests.browser import DESK, ROOT
from tests.hosting.visitors.hosted import Hosted
from tests.hosting.visitors.phones import Times, counted, timed
from tests.pages.test_browser_class import click, in_words

PICTURES = "ATLAS_PICTURES"
PROJECTOR: ViewportSize = {"width": 1280, "height": 720}
# ms until 95 % of twenty browsers on the server's own two cores have it, by what the teacher does: 3.7 times or more
# of what docs/performance.md has of a machine that did other work too; benchmarks/classroom.py measures the server
TOLD, RUN, MADE = 2_000, 5_000, 10_000  # what is told at once, what a run of the page shows, what is computed first
SOON = {
    "a question": TOLD,
    "pointing at a number": TOLD,
    "pointing at a cell": TOLD,
    "another head → its square": TOLD,
    "another head → its map": TOLD,
    "a film that is there: behind at a frame": TOLD,
    "a step of the film": TOLD,
    "reveal → the answers of class and model": RUN,
    "the lesson's next step → its words": RUN,
    "a film that is made: behind at a frame": RUN,
    "another page → its picture": MADE,  # the film's
}


@dataclass(frozen=True)
class Asked:
    """A question that was revealed: what phones answered at each vote, and their names, if they were asked for."""

    votes: list[list[str]]
    names: list[str]


@dataclass
class Held:
    """A class, and what it did so far."""

    hosted: Hosted
    teacher: Page
    phones: list[Page]
    lang: str
    lines: list[WebSocketRoute] = field(default_factory=list[WebSocketRoute])  # of the phone that drops out
    away: bool = False  # it comes through no more
    times: Times = field(default_factory=Times)
    asked: list[Asked] = field(default_factory=list[Asked])
    pictures: int = 0

    def words(self, words: str) -> str:
        return in_words(self.lang, words)

    def look(self, stage: str) -> None:
        """Pictures of all that there is to see; by the dark theme too."""
        if PICTURES not in os.environ:
            return
        self.pictures += 1
        folder = ROOT / "build" / "class" / self.lang
        folder.mkdir(parents=True, exist_ok=True)
        for scheme in ("light", "dark"):
            self.teacher.emulate_media(color_scheme=scheme)
            name = str(folder / f"{self.pictures:02}-{stage}-{scheme}")
            self.phones[scheme == "dark"].screenshot(path=f"{name}-phone.png", full_page=True)
            self.teacher.wait_for_timeout(400)
            self.teacher.screenshot(path=f"{name}-laptop.png")
            with projected(self.teacher):
                self.teacher.wait_for_timeout(600)
                self.teacher.screenshot(path=f"{name}-projector.png")
        self.teacher.emulate_media(color_scheme="light")

    def timed(self, name: str, shown: tuple[str, str, str | None], act: Callable[[], None], **how: Any) -> None:
        self.times.add(name, timed(self.teacher, self.phones, shown, act, **how))

    def late(self) -> dict[str, float]:
        """What was there too late, and when."""
        return {name: at for name in self.times.found if (at := self.times.p95(name)) > SOON[name]}

    def lead_on(self, line: WebSocketRoute) -> None:
        """The connection of the phone that drops out, unless it is away."""
        if self.away:
            line.close()
            return
        self.lines.append(line)
        line.connect_to_server()

    def vote(self, answer: Callable[[Page, int], str]) -> list[str]:
        """Every phone answers, and the projector says how many did."""
        asked = self.teacher.locator(".atlas-question").inner_text()
        for phone in self.phones:
            expect(phone.locator(".vote h2")).to_have_text(asked)
        labels = [answer(phone, number) for number, phone in enumerate(self.phones)]
        counted(self.phones, labels)
        expect(self.teacher.locator(".class-answered")).to_have_text(str(len(self.phones)))
        return labels

    def reveal(self, votes: list[list[str]], names: list[str] | None = None, stage: str = "") -> None:
        """The class and the model on every screen, and back to the page."""
        self.asked.append(Asked(votes, names or []))
        shown = (".figure[data-key=poll_model][data-drawn]", "drawn", None)
        self.timed("reveal → the answers of class and model", shown, lambda: click(self.teacher, "reveal"))
        asked = self.teacher.locator(".atlas-question").inner_text()
        for phone in self.phones:
            expect(phone.locator(".figure .chart")).to_have_count(len(votes) + 1)
            expect(phone.locator("main section:not(.vote) > h2")).to_have_text(asked)
        expect(self.teacher.locator(".st-key-results button")).to_be_visible()
        self.look(stage)
        click(self.teacher, "drop_poll")
        for phone in self.phones:
            expect(phone.locator(".figure[data-key^=poll_]")).to_have_count(0)


@contextmanager
def projected(teacher: Page) -> Generator[None]:
    """The teacher's window is on the projector, with large type; then back on the laptop."""
    teacher.set_viewport_size(PROJECTOR)
    _press_p(teacher)
    expect(teacher.get_by_test_id("stSidebar")).to_be_hidden()
    yield
    _press_p(teacher)
    expect(teacher.get_by_test_id("stSidebar")).to_be_visible()
    teacher.set_viewport_size(DESK)


def _press_p(teacher: Page) -> None:
    teacher.evaluate("document.activeElement?.blur()")
    teacher.keyboard.press("p")


def all_in_file(path: Path, asked: list[Asked]) -> None:
    """The file has every vote that was sent, with its name where names were asked for, and no other."""
    rows = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8-sig"))))
    middle = rows.index([])
    for number, one in enumerate(asked, 1):
        mine = [row for row in rows[1:middle] if row[0] == str(number)]
        for vote, labels in enumerate(one.votes):
            found = {row[3]: int(row[4 + vote]) for row in mine}
            assert Counter({label: count for label, count in found.items() if count}) == Counter(labels)
        if len(one.votes) == 1:
            assert {row[5] for row in mine} == {""}
        named = [(row[2], row[4]) for row in rows[middle + 2 :] if row[0] == str(number)]
        assert sorted(named) == sorted(zip(one.names, one.votes[0], strict=False))
    assert {row[0] for row in rows[1:middle]} == {str(number) for number in range(1, len(asked) + 1)}
