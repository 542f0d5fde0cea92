"""A subprocess for handling untrusted files; it answers within its limits or is killed."""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
import queue
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import psutil

PROGRAM = Path(__file__).with_name("subprocess_probe.py")
LOOK = 0.05  # seconds between two checks of its usage
PATIENCE = 6  # on a busy machine, a process may take this many times its CPU seconds
LONGEST_ANSWER = 64 << 20  # bytes


class SandboxLimitReached(Exception):
    """The process ended, or was killed, before it answered: it ran out of time or memory."""


class SandboxedProcess:
    """Runs one duty of :mod:`model_runner.local.loading.subprocess_probe` on one folder.

    After it was ended, the process is restarted at the next request, and answers ``first`` before anything else.
    """

    def __init__(
        self, duty: str, folder: Path, *, memory: int, first: tuple[dict[str, Any], float] | None = None
    ) -> None:
        self.memory = memory
        self._command = [sys.executable, "-P", str(PROGRAM), duty, str(memory), str(folder)]
        self._first = first
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._answers: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._start()

    def ask(self, question: dict[str, Any], seconds: float, check: Callable[[], None] = lambda: None) -> Any:
        """Send a request and return the answer, given within so many seconds of work; requests are served one at a
        time.

        Raises SandboxLimitReached, and whatever ``check`` raises; both end the process.
        """
        with self._lock:
            if self._process is None:
                self._start()
                if self._first is not None:
                    self._answer(*self._first, check)
            return self._answer(question, seconds, check)

    def close(self) -> None:
        """End the process; the next request starts it again."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()

    def _start(self) -> None:
        process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", "OMP_NUM_THREADS": "1"},
            bufsize=0,
        )
        self._process, self._answers = process, queue.SimpleQueue()
        threading.Thread(target=_listen, args=(process.stdout, self._answers), daemon=True).start()
        weakref.finalize(self, process.kill)

    def _answer(self, question: dict[str, Any], seconds: float, check: Callable[[], None]) -> Any:
        process = self._process
        if process is None or process.stdin is None:
            raise SandboxLimitReached
        try:
            _write(process.stdin, json.dumps({**question, "seconds": math.ceil(seconds)}).encode())
            return json.loads(self._wait(psutil.Process(process.pid), seconds, check))
        except (OSError, ValueError, psutil.NoSuchProcess) as error:
            self.close()
            raise SandboxLimitReached from error
        except BaseException:
            self.close()
            raise

    def _wait(self, process: psutil.Process, seconds: float, check: Callable[[], None]) -> bytes:
        until, worked = time.monotonic() + PATIENCE * seconds, _worked(process)
        while True:
            try:
                answer = self._answers.get(timeout=LOOK)
            except queue.Empty:
                check()
                late = time.monotonic() > until or _worked(process) - worked > seconds
                if late or process.memory_info().rss > self.memory:
                    raise SandboxLimitReached from None
                continue
            if answer is None:
                raise SandboxLimitReached
            return answer


def _worked(process: psutil.Process) -> float:
    """CPU seconds that it has used."""
    times = process.cpu_times()
    return times.user + times.system


def _write(stream: IO[bytes], text: bytes) -> None:
    """Write all of the text: a single write to an unbuffered pipe may be partial."""
    left = memoryview(len(text).to_bytes(8, "little") + text)
    while left:
        left = left[stream.write(left) :]


def _listen(stream: IO[bytes], answers: queue.SimpleQueue[bytes | None]) -> None:
    """Put every complete answer into the queue; None at the end of the stream."""
    buffered = io.BufferedReader(stream)  # pyright: ignore[reportArgumentType]  # of a file without a buffer
    with contextlib.suppress(OSError, ValueError):
        while 0 < (length := int.from_bytes(buffered.read(8), "little")) <= LONGEST_ANSWER:
            text = buffered.read(length)
            if len(text) < length:
                break
            answers.put(text)
    answers.put(None)
