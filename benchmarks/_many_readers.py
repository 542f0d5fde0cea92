"""Fifty users at once who submit questions without a pause: one process, one server, and two of them."""

from __future__ import annotations

import threading
import time
import zlib
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from statistics import median, quantiles
from typing import Any

from analysis.head_map import head_map
from benchmarks._model_server import model_server
from model_runner import load_runner
from model_runner.errors import RunnerError
from model_runner.remote.models import RemoteModels

READERS = 50
HEADS = 6  # that a user opens of each text
TURNS = 3
MEMORY = "512 MB"  # for captures on a server: more than all users look at
WORDS = "the dog sat because it was late and then " * 14  # about 128 tokens
HEAD = ("", "questions a second", "a capture, median", "95 %", "a head, median", "95 %", "errors")


@dataclass
class Waits:
    """Seconds that users waited, and the errors that they got."""

    captures: list[float] = field(default_factory=list[float])
    heads: list[float] = field(default_factory=list[float])
    errors: list[str] = field(default_factory=list[str])
    seconds: float = 0.0

    def row(self, what: str) -> list[str]:
        """The row of the table."""
        rate = (len(self.captures) + len(self.heads)) / self.seconds
        waits = [cell for found in (self.captures, self.heads) for cell in (median(found), quantiles(found, n=20)[-1])]
        return [what, f"{rate:.0f}", *(f"{1000 * wait:,.0f} ms" for wait in waits), str(len(self.errors))]


def many_readers(seconds: float) -> list[list[str]]:
    """The rows: each way of serving for so many seconds, three times in turns."""
    with ExitStack() as stack:
        own = load_runner("default", device="cpu")
        ways: dict[str, list[Any]] = {"the model in this process": [own]}
        servers = [stack.enter_context(_asked_server()) for _ in range(2)]
        ways |= {"one server": servers[:1], "two servers": servers}
        found = {what: Waits() for what in ways}
        for turn in range(TURNS):
            for what in list(ways)[turn:] + list(ways)[:turn]:
                _read(ways[what], f"{what} {turn}", seconds, found[what])
    for waits in found.values():
        for error in waits.errors[:3]:
            print(f"! {error}")
    return [waits.row(what) for what, waits in found.items()]


@contextmanager
def _asked_server() -> Generator[Any]:
    """A runner of the embedded model on its own server."""
    with model_server(MEMORY) as server:
        yield RemoteModels(server.url, server.key).open("default").result()


def _read(runners: Sequence[Any], name: str, seconds: float, found: Waits) -> None:
    """Run all users until the time is over. A text's runner is chosen by its hash, as a proxy chooses its server."""
    began = time.perf_counter()

    def work(number: int) -> None:
        count = 0
        while time.perf_counter() - began < seconds:
            count += 1
            words = f"{name} {number} {count} {WORDS}"
            _one_text(runners[zlib.crc32(words.encode()) % len(runners)], words, number, found)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(READERS)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    found.seconds += time.perf_counter() - began


def _one_text(runner: Any, words: str, number: int, found: Waits) -> None:
    """Capture a text and open heads of it."""
    try:
        capture = _timed(lambda: runner.capture(words), found.captures)
        for layer in range(HEADS):
            _timed(lambda at=layer: head_map(capture, at % capture.n_layers, number % capture.n_heads), found.heads)
    except RunnerError as error:
        found.errors.append(str(error))


def _timed(work: Callable[[], Any], kept: list[float]) -> Any:
    began = time.perf_counter()
    made = work()
    kept.append(time.perf_counter() - began)
    return made
