"""A room: its teacher, its students, what is shown and asked. It outlives the teacher's connection by a few minutes."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from classroom.frames import Refused, Vote
from classroom.kept_rooms import KeptRoom, NotKept, RoomFile
from classroom.poll import CLOSED, ClassQuestion, Poll
from classroom.shared_figures import SharedFigures
from classroom.vocabulary import Vocabulary

N_ = str  # marks a text for Babel without translating it here

STAYS = 600.0  # seconds after its teacher disconnected
MOST_STUDENTS = 500
MOST_KNOWN = 5000  # phones that a room remembers

FULL = N_("This room is full.")
LOCKED = N_("This room is locked: nobody else can join. Ask your teacher.")
REMOVED = N_("Your teacher has taken this phone out of the room.")
MANY = N_("Too many phones of your network are in this room. Ask your teacher.")


@dataclass(eq=False)
class Present:
    """A connected browser, notified through ``changed`` when there may be something new.

    ``source`` is its network, from which at most ``share`` phones may be in a room.
    """

    who: str
    source: str = ""
    share: int = MOST_STUDENTS
    changed: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(frozen=True)
class Phone:
    """A phone that is or was in a room: its number, in order of arrival, and the name given last."""

    who: str
    number: int
    name: str
    here: bool
    answered: bool  # in the open vote


class Room:
    """Thread-safe; connected browsers are notified in the event loop in which they joined.

    State is saved to ``file``. To reopen a room ``kept`` by a previous server process, its teacher must present the
    key.
    """

    def __init__(
        self,
        code: str,
        key: str,
        now: Callable[[], float] = time.monotonic,
        file: RoomFile | None = None,
        kept: KeptRoom | None = None,
    ) -> None:
        self.code, self.key = code, key
        self._proof = _proof_of(key) if kept is None else kept.proof
        self._file: RoomFile = NotKept() if file is None else file
        self.board = SharedFigures()
        self._names = self._asks_first = self._locked = False
        self.shown: set[str] = set()  # pages and lesson steps that the class was shown or asked about
        self.poll: Poll | None = None
        self.past: list[Poll] = []
        self._saved: list[int] = []  # per question, the number of answers when its file was saved
        self._now = now
        self._lock = threading.RLock()
        self._students: set[Present] = set()
        self._teachers: set[Present] = set()
        self._came: dict[str, int] = {}  # phones that were here, most recent last, and their numbers
        self._removed: set[str] = set()
        self._numbers = 0  # numbers given to phones so far
        self._answered: dict[str, set[str]] = {}  # source → its phones that answered
        self._left = now()
        self._ended = False
        self.rounds = secrets.randbelow(10**9)  # random, so that a phone mistakes no round for one on a previous server
        self.reopened: int | None = None  # the round at which it was reopened after a server restart
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waking = False
        if kept is None:
            self._keep()
        else:
            self._come_back(kept)
        self._tell_poll()

    # -- saving -------------------------------------------------------------------------------------------------------

    def _come_back(self, kept: KeptRoom) -> None:
        """Restore the saved state."""
        told, polls = kept.state, kept.polls
        self._names, self._asks_first, self._locked = told["names"], told["asks_first"], told["locked"]
        self.shown, self._saved, self.rounds = {*told["shown"]}, [*told["saved"]], told["rounds"]
        self.poll = polls.get(told["poll"])
        self.past = [polls[number] for number in told["past"] if number in polls]
        self._came = {who: number for who, (number, _) in kept.phones.items()}
        self._removed = {who for who, (_, removed) in kept.phones.items() if removed}
        self._numbers = max(self._came.values(), default=0)

    def _keep(self) -> None:
        """Save the settings and other single values."""
        told = {
            "names": self._names,
            "asks_first": self._asks_first,
            "locked": self._locked,
            "shown": sorted(self.shown),
            "saved": self._saved,
            "rounds": self.rounds,
            "poll": None if self.poll is None else self.poll.number,
            "past": [poll.number for poll in self.past],
        }
        self._file.state(self._proof, told)

    def is_of(self, key: str) -> bool:
        """Return True, and remember the key, if it is the teacher's."""
        given = secrets.compare_digest(_proof_of(key), self._proof)
        if given:
            self.key = key
        return given

    @property
    def names(self) -> bool:
        """Whether phones ask for a name."""
        return self._names

    @names.setter
    def names(self, on: bool) -> None:
        self._choose("_names", on)

    @property
    def asks_first(self) -> bool:
        """Whether a page waits for a question, or for its teacher to show it."""
        return self._asks_first

    @asks_first.setter
    def asks_first(self, on: bool) -> None:
        self._choose("_asks_first", on)

    @property
    def locked(self) -> bool:
        """Whether only phones that have been here may join."""
        return self._locked

    @locked.setter
    def locked(self, on: bool) -> None:
        self._choose("_locked", on)

    def _choose(self, name: str, on: bool) -> None:
        with self._lock:
            if getattr(self, name) != on:
                setattr(self, name, on)
                self._keep()

    # -- lifetime -----------------------------------------------------------------------------------------------------

    @property
    def ended(self) -> bool:
        """True if the teacher ended it or has been away for too long."""
        with self._lock:
            if not self._ended and not self._teachers and self._now() - self._left > STAYS:
                self._ended = True
                self._file.over()
            return self._ended

    @property
    def again(self) -> bool:
        """True until something is asked after the room was reopened on a restarted server."""
        return self.reopened == self.rounds

    def end(self) -> None:
        """End the room and notify everyone in it."""
        with self._lock:
            self._ended = True
            self._file.over()
        self.wake()

    def enter(self, one: Present, *, teacher: bool = False) -> None:
        """Add a connected browser, in the running event loop. Raises Refused if the room is full."""
        with self._lock:
            if not teacher:
                self._let_in(one)
            self._loop = asyncio.get_running_loop()
            (self._teachers if teacher else self._students).add(one)
        self.wake()

    def _let_in(self, one: Present) -> None:
        if len(self._students) >= MOST_STUDENTS:
            raise Refused(FULL)
        if one.who in self._removed:
            raise Refused(REMOVED)
        if self.locked and one.who not in self._came:
            raise Refused(LOCKED)
        beside = {other.who for other in self._students if other.source == one.source and other.who != one.who}
        if len(beside) >= one.share:
            raise Refused(MANY)
        number = self._came.pop(one.who, 0)
        if not number:
            self._numbers = number = self._numbers + 1
            self._file.phone(one.who, number, removed=False)
        self._came[one.who] = number
        if len(self._came) > MOST_KNOWN:
            del self._came[next(iter(self._came))]

    def leave(self, one: Present) -> None:
        """Remove a browser that disconnected."""
        with self._lock:
            self._students.discard(one)
            if one in self._teachers:
                self._teachers.discard(one)
                self._left = self._now()
        self.wake()

    @property
    def there(self) -> int:
        """Number of students; several windows of one phone count once."""
        with self._lock:
            return len({one.who for one in self._students})

    def knows(self, who: str) -> bool:
        """Return True if this phone is or was here, removed or not."""
        with self._lock:
            return who in self._came

    def phones(self) -> list[Phone]:
        """Phones that are or were here, except removed ones, in order of arrival."""
        with self._lock:
            here = {one.who for one in self._students}
            polls = [*self.past, *([self.poll] if self.poll is not None else [])]
            names = {who: name for poll in polls for vote in poll.votes for who, (_, name) in vote.items() if name}
            voted = self.poll.votes[-1] if self.poll is not None and self.poll.state == "open" else {}
            known = sorted((number, who) for who, number in self._came.items() if who not in self._removed)
            return [Phone(who, number, names.get(who, ""), who in here, who in voted) for number, who in known]

    def remove(self, who: str) -> None:
        """Remove a phone with its answer to the open question; it cannot come back."""
        with self._lock:
            self._removed.add(who)
            self._file.phone(who, self._came.get(who, 0), removed=True)
            if self.poll is not None and self.poll.take_back(who):
                self._file.vote(self.poll, who)
        self.wake()

    def is_removed(self, one: Present) -> bool:
        """Return True if this phone was removed."""
        return one.who in self._removed

    # -- questions ----------------------------------------------------------------------------------------------------

    def ask(self, question: ClassQuestion, step: str = "") -> None:
        """Ask the class a question, dropping an earlier one that was not revealed.

        ``step`` is the lesson step that asks it.
        """
        with self._lock:
            self._put_away()
            self.rounds += 1
            self.poll = Poll(question, self.rounds, self.names, step=step)
            self._keep_poll()
        self._tell_poll()

    def ask_again(self) -> None:
        """Ask the same question again, after a discussion. Raises Refused if it is not open."""
        with self._lock:
            if self.poll is None or self.poll.state != "open":
                raise Refused(CLOSED)
            self.rounds += 1
            self.poll.round = self.rounds
            self.poll.votes.append({})
            self._keep_poll()
        self._tell_poll()

    def reveal(self) -> None:
        """Close the vote and show the answers of the class and the model. Raises Refused if no question is open."""
        with self._lock:
            if self.poll is None or self.poll.state != "open":
                raise Refused(CLOSED)
            self.poll.state = "revealed"
            self.past.append(self.poll)
            if self.poll.step:
                self.shown.add(self.poll.step)
            self._keep_poll()
        self._tell_poll()

    def drop(self) -> None:
        """Return to the page; revealed answers are kept for the results."""
        with self._lock:
            self._put_away()
            self._keep()
        self._tell_poll()

    def _put_away(self) -> None:
        if self.poll is not None and self.poll not in self.past:
            self._file.drop(self.poll)
        self.poll = None

    def _keep_poll(self) -> None:
        if self.poll is not None:
            self._file.poll(self.poll)
        self._keep()

    def show(self, name: str) -> None:
        """Record that the class was shown this, or asked about it, so that it needs no question first."""
        with self._lock:
            if name not in self.shown:
                self.shown.add(name)
                self._keep()

    def leave_step(self, step: str = "") -> None:
        """Leave the question of a lesson step, for its page or another step; answers are kept for the results."""
        with self._lock:
            poll = self.poll
            if poll is not None and poll.state == "open" and any(poll.votes):
                self.past.append(poll)
                self.shown.add(poll.step)
            if step:
                self.shown.add(step)
            self._put_away()
            self._keep()
        self._tell_poll()

    @property
    def asked(self) -> list[Poll]:
        """The questions of a results file: earlier ones, and an open one that has answers."""
        with self._lock:
            poll = self.poll
            waits = poll is not None and poll.state == "open" and any(poll.votes)
            return [*self.past, poll] if poll is not None and waits else [*self.past]

    def save(self, counts: Sequence[int]) -> None:
        """Record that the results of the first questions were saved, with the number of answers of each."""
        with self._lock:
            self._saved = [*counts]
            self._keep()
        self.wake()

    @property
    def unsaved(self) -> int:
        """Number of questions with unsaved answers, including one that is not revealed yet."""
        known = dict(enumerate(self._saved))
        return sum(one.taken > known.get(number, 0) for number, one in enumerate(self.asked))

    def vote(self, one: Present, vote: Vote) -> tuple[str, str]:
        """Count an answer; returns its value and label. Raises Refused, also if the source has used up its share."""
        with self._lock:
            if self.poll is None:
                raise Refused(CLOSED)
            answered = self._answered.setdefault(one.source, set())
            if len(answered - {one.who}) >= one.share:
                raise Refused(MANY)
            if one.who in self._removed:
                raise Refused(REMOVED)
            given = self.poll.take(one.who, vote)
            answered.add(one.who)
            self._file.vote(self.poll, one.who)
            self._file.poll(self.poll)
        self.wake()
        return given

    def voted(self, who: str) -> list[tuple[int, str, str]]:
        """A returning student's answers in the votes of this question: round, value and label of each."""
        with self._lock:
            poll = self.poll
            if poll is None:
                return []
            rounds = range(poll.round - len(poll.votes) + 1, poll.round + 1)
            given = [(n, kept[who][0]) for n, kept in zip(rounds, poll.votes, strict=True) if who in kept]
            return [(n, answer, poll.question.answers.label(answer)) for n, answer in given]

    def complete(self, typed: str) -> dict[str, list[tuple[str, str]]]:
        """Tokens that start with ``typed``, for the open question, as ``options``; if there are none, tokens that it
        starts with.
        """
        poll = self.poll
        answers = poll.question.answers if poll is not None and poll.state == "open" else None
        if not isinstance(answers, Vocabulary):
            return {"options": []}
        options = answers.complete(typed)
        return {"options": options} if options else {"options": [], "beginnings": answers.beginnings(typed)}

    @property
    def answered(self) -> int:
        """Number of answers in the open vote."""
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

    # -- notification -------------------------------------------------------------------------------------------------

    def wake(self) -> None:
        """Notify everyone that there may be something new. Callable from any thread."""
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


def _proof_of(key: str) -> bytes:
    """The hash by which a key is recognized without being stored."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()
