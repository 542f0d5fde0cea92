"""One room: who teaches it, who is there, what is shown and asked; it outlives its teacher's connection a little."""

from __future__ import annotations

import asyncio
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from classroom.frames import Refused, Vote
from classroom.poll import CLOSED, ClassQuestion, Poll
from classroom.shared_figures import SharedFigures
from classroom.vocabulary import Vocabulary

N_ = str  # marks a text for Babel without translating it here

STAYS = 600.0  # seconds after its teacher left
MOST_STUDENTS = 500
MOST_KNOWN = 5000  # phones that a room remembers

FULL = N_("This room is full.")
LOCKED = N_("This room is locked: nobody else can join. Ask your teacher.")
MANY = N_("Too many phones of your network are in this room. Ask your teacher.")


@dataclass(eq=False)
class Present:
    """Somebody whose browser is connected: woken by ``changed`` whenever there may be something new.

    ``source`` is the network that it comes from, of which so many phones may be in a room: ``share``.
    """

    who: str
    source: str = ""
    share: int = MOST_STUDENTS
    changed: asyncio.Event = field(default_factory=asyncio.Event)


class Room:
    """Safe to use from several threads; those who are connected are woken in the event loop that they came in."""

    def __init__(self, code: str, key: str, now: Callable[[], float] = time.monotonic) -> None:
        self.code, self.key = code, key
        self.board = SharedFigures()
        self.names = False
        self.asks_first = False  # a page waits for a question, or for its teacher to show it
        self.shown: set[str] = set()  # pages and steps of lessons that the class was asked about, or shown
        self.poll: Poll | None = None
        self.past: list[Poll] = []
        self._saved: list[int] = []  # of each question, how many answers were taken when its file was saved
        self._now = now
        self._lock = threading.RLock()
        self._students: set[Present] = set()
        self._teachers: set[Present] = set()
        self.locked = False  # only phones that were here may come back
        self._came: dict[str, None] = {}  # phones that were here, the last ones
        self._answered: dict[str, set[str]] = {}  # source → phones of it that answered
        self._left = now()
        self._ended = False
        self.rounds = secrets.randbelow(10**9)  # a phone takes no round for one that it knew on a server before
        self.reopened: int | None = None  # its round when it was opened once more on a server that was started again
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waking = False
        self._tell_poll()

    # -- its life -----------------------------------------------------------------------------------------------------

    @property
    def ended(self) -> bool:
        """Whether it is over: its teacher said so, or has been away for too long."""
        with self._lock:
            if not self._ended and not self._teachers and self._now() - self._left > STAYS:
                self._ended = True
            return self._ended

    @property
    def again(self) -> bool:
        """Whether nothing was asked since it was opened once more, on a server that was started again."""
        return self.reopened == self.rounds

    def end(self) -> None:
        """Nobody may come any more, and who is there is told."""
        with self._lock:
            self._ended = True
        self.wake()

    def enter(self, one: Present, *, teacher: bool = False) -> None:
        """Somebody is there now, in the running event loop. Raises Refused for a full room."""
        with self._lock:
            if not teacher:
                self._let_in(one)
            self._loop = asyncio.get_running_loop()
            (self._teachers if teacher else self._students).add(one)
        self.wake()

    def _let_in(self, one: Present) -> None:
        if len(self._students) >= MOST_STUDENTS:
            raise Refused(FULL)
        if self.locked and one.who not in self._came:
            raise Refused(LOCKED)
        beside = {other.who for other in self._students if other.source == one.source and other.who != one.who}
        if len(beside) >= one.share:
            raise Refused(MANY)
        self._came.pop(one.who, None)
        self._came[one.who] = None
        if len(self._came) > MOST_KNOWN:
            del self._came[next(iter(self._came))]

    def leave(self, one: Present) -> None:
        """Not any more."""
        with self._lock:
            self._students.discard(one)
            if one in self._teachers:
                self._teachers.discard(one)
                self._left = self._now()
        self.wake()

    @property
    def there(self) -> int:
        """How many students; one with two windows is one."""
        with self._lock:
            return len({one.who for one in self._students})

    # -- what is asked ------------------------------------------------------------------------------------------------

    def ask(self, question: ClassQuestion, step: str = "") -> None:
        """Ask the class; a question before it that was not revealed is dropped. ``step``: of a lesson, that asks it."""
        with self._lock:
            self.rounds += 1
            self.poll = Poll(question, self.rounds, self.names, step=step)
        self._tell_poll()

    def ask_again(self) -> None:
        """The same question once more, after a discussion. Raises Refused where it is not open."""
        with self._lock:
            if self.poll is None or self.poll.state != "open":
                raise Refused(CLOSED)
            self.rounds += 1
            self.poll.round = self.rounds
            self.poll.votes.append({})
        self._tell_poll()

    def reveal(self) -> None:
        """No more answers: now the class sees its own and the model's. Raises Refused where nothing is open."""
        with self._lock:
            if self.poll is None or self.poll.state != "open":
                raise Refused(CLOSED)
            self.poll.state = "revealed"
            self.past.append(self.poll)
            if self.poll.step:
                self.shown.add(self.poll.step)
        self._tell_poll()

    def drop(self) -> None:
        """Back to the page; what was revealed is kept for the results."""
        with self._lock:
            self.poll = None
        self._tell_poll()

    def show(self, name: str) -> None:
        """The class was shown this, or asked about it: it waits for no question any more."""
        with self._lock:
            self.shown.add(name)

    def leave_step(self, step: str = "") -> None:
        """The page of a lesson's step instead of its question, or another step; answers are kept for the results."""
        with self._lock:
            poll = self.poll
            if poll is not None and poll.state == "open" and any(poll.votes):
                self.past.append(poll)
                self.shown.add(poll.step)
            if step:
                self.shown.add(step)
            self.poll = None
        self._tell_poll()

    @property
    def asked(self) -> list[Poll]:
        """The questions that a file of results is about: those of before, and an open one that has answers."""
        with self._lock:
            poll = self.poll
            waits = poll is not None and poll.state == "open" and any(poll.votes)
            return [*self.past, poll] if poll is not None and waits else [*self.past]

    def save(self, counts: Sequence[int]) -> None:
        """The results of the first questions were saved as a file, when so many answers of each were taken."""
        with self._lock:
            self._saved = [*counts]
        self.wake()

    @property
    def unsaved(self) -> int:
        """How many questions have answers that are in no file: also the one that is not revealed yet."""
        known = dict(enumerate(self._saved))
        return sum(one.taken > known.get(number, 0) for number, one in enumerate(self.asked))

    def vote(self, one: Present, vote: Vote) -> tuple[str, str]:
        """Count an answer; its value and label. Raises Refused, also where enough others of its source answered."""
        with self._lock:
            if self.poll is None:
                raise Refused(CLOSED)
            answered = self._answered.setdefault(one.source, set())
            if len(answered - {one.who}) >= one.share:
                raise Refused(MANY)
            given = self.poll.take(one.who, vote)
            answered.add(one.who)
        self.wake()
        return given

    def voted(self, who: str) -> list[tuple[int, str, str]]:
        """What somebody who comes back answered in the votes of this question: round, value, label of each."""
        with self._lock:
            poll = self.poll
            if poll is None:
                return []
            rounds = range(poll.round - len(poll.votes) + 1, poll.round + 1)
            given = [(n, kept[who][0]) for n, kept in zip(rounds, poll.votes, strict=True) if who in kept]
            return [(n, answer, poll.question.answers.label(answer)) for n, answer in given]

    def complete(self, typed: str) -> dict[str, list[tuple[str, str]]]:
        """Tokens that begin so, of the question that is open, as ``options``; where none does, those that begin it."""
        poll = self.poll
        answers = poll.question.answers if poll is not None and poll.state == "open" else None
        if not isinstance(answers, Vocabulary):
            return {"options": []}
        options = answers.complete(typed)
        return {"options": options} if options else {"options": [], "beginnings": answers.beginnings(typed)}

    @property
    def answered(self) -> int:
        """How many answered in the vote that is open."""
        with self._lock:
            return 0 if self.poll is None else self.poll.answered

    def _tell_poll(self) -> None:
        poll = self.poll
        if poll is None:
            self.board.say("poll", {"state": "none"})
        else:
            asked = poll.question
            told = {"question": asked.words, "about": asked.kind, "text": asked.text, "changed": asked.changed}
            told |= asked.answers.offered()
            again = len(poll.votes) > 1
            self.board.say(
                "poll", {"state": poll.state, "round": poll.round, "names": poll.named, "again": again, **told}
            )
        self.wake()

    # -- waking -------------------------------------------------------------------------------------------------------

    def wake(self) -> None:
        """There may be something new for everybody; from any thread."""
        with self._lock:
            if self._loop is None or self._waking or self._loop.is_closed():
                return
            self._waking = True
            self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        with self._lock:
            self._waking = False
            present = [*self._teachers, *self._students]
        for one in present:
            one.changed.set()
