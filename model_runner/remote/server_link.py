"""The HTTP client for a model server: persistent connections, retries where they are safe, and cancellation.

A question that fails in transit is sent again with the same bytes, and another server behind the same address may
answer it. Only if it was being processed when its server ended, or when its model stopped answering, is the failure
counted against the question. After two such failures it is given up, since it would end the next server too.
"""

from __future__ import annotations

import hashlib
import re
import socket
import threading
import time
from collections import OrderedDict
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any

import httpx2

from model_runner.errors import (
    Cancelled,
    KeyRefused,
    ModelSilent,
    OtherVersion,
    QuestionEndsServer,
    QuestionTooLarge,
    RunnerAway,
    RunnerBusy,
    UserFacingError,
    first_line,
)
from model_runner.remote.frames import ANSWER, FRAMES, LONGEST_WAIT, ROUTE, VALUE, VERSION, last_frame
from model_runner.remote.job import RemoteJob
from model_runner.wire import FORMAT, from_bytes

TRIES = 8
WAIT = (
    0.25  # seconds before the second try, twice as many before the third …: a server that ended is replaced meanwhile
)
LATER = {429, 502, 503, 504}  # statuses that mean "not now"
SILENCE = 30.0  # seconds: a working server sends a frame twice a second
DEATHS = 2  # after which a question is not retried
REMEMBERED = 600.0  # seconds for which failures are remembered
MOST_THREADS = 64


class ServerLink:
    """``key`` is sent with every request. ``seconds``: the timeout of a question."""

    def __init__(self, url: str, key: str, *, seconds: float = 600.0) -> None:
        self.url, self._seconds = url.rstrip("/"), seconds
        headers = {"authorization": f"Bearer {key}", VERSION: FORMAT, LONGEST_WAIT: f"{seconds:.0f}"}
        self._client = httpx2.Client(
            headers=headers,
            timeout=httpx2.Timeout(SILENCE, connect=10.0, pool=None),
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=MOST_THREADS, keepalive_expiry=60.0),
        )
        self._pool = ThreadPoolExecutor(MOST_THREADS, thread_name_prefix="asking")
        self._deaths: OrderedDict[str, tuple[int, float]] = OrderedDict()
        self._lock = threading.Lock()
        self.open_jobs = 0
        self.requests = self.bytes_in = self.bytes_out = 0

    def start(self, job: RemoteJob[Any], work: Any) -> None:
        """Run ``work`` on a thread; its result or error ends the job. Raises Cancelled when the process ends."""

        def run() -> None:
            try:
                job.check()
                job.end(work())
            except BaseException as error:  # noqa: BLE001  it is raised where the job is waited for
                job.end(error=error)
            finally:
                with self._lock:
                    self.open_jobs -= 1

        with self._lock:
            self.open_jobs += 1
        try:
            self._pool.submit(run)
        except RuntimeError as error:
            raise Cancelled() from error

    def value(self, method: str, path: str, body: bytes = b"", *, tries: int = TRIES) -> Any:
        """The server's immediate answer. Raises RunnerError."""
        return from_bytes(self.call(RemoteJob(), method, path, body, tries=tries))

    def call(
        self,
        job: RemoteJob[Any],
        method: str,
        path: str,
        body: bytes = b"",
        *,
        near: str = "",
        name: str = "",
        tries: int = TRIES,
    ) -> bytes:
        """The bytes of the answer. Raises RunnerError, or Cancelled if the job was cancelled or the server gave it up.

        ``near`` is equal for requests about one text: a proxy may route them to one server. ``name`` is equal for what
        is the same question in different bytes.
        """
        name = name or hashlib.sha256(f"{path} ".encode() + body).hexdigest()
        until = time.monotonic() + self._seconds + SILENCE
        problem: UserFacingError = RunnerAway(reason="")
        for attempt in range(tries):
            if attempt:
                job.pause(WAIT * attempt)
            if attempt and time.monotonic() > until:
                break
            if self._dead(name) >= DEATHS:
                raise QuestionEndsServer(times=DEATHS)
            taken = _Taken()
            try:
                return self._once(job, method, path, body, near, taken)
            except _NotNow as error:
                problem = error.said
            except ModelSilent as error:
                job.check()
                problem = error
                self._count_death(name)
            except (httpx2.TransportError, EOFError, OSError) as error:
                job.check()  # the connection was closed
                problem = RunnerAway(reason=_words(error))
                if taken.accepted:
                    self._count_death(name)
        raise problem

    def close(self) -> None:
        """Send no more requests."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._client.close()

    def _once(self, job: RemoteJob[Any], method: str, path: str, body: bytes, near: str, taken: _Taken) -> bytes:
        job.check()
        headers = {ROUTE: near} if near else {}
        with self._stream(method, f"{self.url}{path}", body, headers) as response:
            job.on_line(lambda: _shut(response))
            try:
                kind = response.headers.get("content-type", "").partition(";")[0]
                self._check_version(response)
                if kind == FRAMES:
                    taken.accepted = True
                    return self._framed(job, response, len(body))
                data = response.read()
            finally:
                job.on_line(lambda: None)
        self._count(len(data), len(body))
        if response.status_code == 200 and kind == VALUE:
            return data
        # sent by a proxy whose server ended while it processed the question
        if response.status_code == 500 and kind != VALUE:
            taken.accepted = True
            raise EOFError("HTTP 500")
        raise self._refusal(response.status_code, kind, data)

    @contextmanager
    def _stream(self, method: str, url: str, body: bytes, headers: dict[str, str]) -> Generator[httpx2.Response]:
        try:
            with self._client.stream(method, url, content=body, headers=headers) as response:
                yield response
        except (httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
            raise RunnerAway(reason=_words(error)) from error

    def _framed(self, job: RemoteJob[Any], response: httpx2.Response, sent: int) -> bytes:
        def waiting(ahead: int) -> None:
            job.ahead = ahead

        pieces = response.iter_raw()
        try:
            kind, data = last_frame(pieces, waiting)
        except ValueError as error:
            raise RunnerAway(reason=_words(error)) from error
        with suppress(httpx2.TransportError):  # the answer is complete
            next(pieces, None)  # the end of the body: a connection is only reused after its body was read to the end
        self._count(len(data), sent)
        if kind == ANSWER:
            return data
        raise from_bytes(data)

    def _check_version(self, response: httpx2.Response) -> None:
        theirs = response.headers.get(VERSION)
        if theirs is not None and theirs != FORMAT:
            raise OtherVersion(theirs=theirs[:100], ours=FORMAT)

    def _refusal(self, status: int, kind: str, data: bytes) -> Exception:
        said = from_bytes(data) if kind == VALUE else None
        if status in LATER:
            return _NotNow(said if isinstance(said, UserFacingError) else RunnerBusy())
        if isinstance(said, UserFacingError):
            return said
        if status in (401, 403):
            return KeyRefused()
        if status == 413:
            return QuestionTooLarge(limit="HTTP 413")
        return RunnerAway(reason=f"HTTP {status}")

    def _count(self, received: int, sent: int) -> None:
        with self._lock:
            self.requests, self.bytes_in = self.requests + 1, self.bytes_in + received
            self.bytes_out += sent

    def _dead(self, name: str) -> int:
        with self._lock:
            times, when = self._deaths.get(name, (0, 0.0))
            return times if time.monotonic() - when < REMEMBERED else 0

    def _count_death(self, name: str) -> None:
        times = self._dead(name) + 1
        with self._lock:
            self._deaths[name] = times, time.monotonic()
            while len(self._deaths) > 1000:
                self._deaths.popitem(last=False)


class _Taken:
    """Whether the server had begun to process it."""

    accepted = False


class _NotNow(Exception):
    """The server is running but takes no questions now; ``said`` is the message if retrying fails."""

    def __init__(self, said: UserFacingError) -> None:
        self.said = said
        super().__init__()


def _words(error: BaseException) -> str:
    """The message of a transport error, without its number."""
    return re.sub(r"^\[Errno -?\d+\] ", "", first_line(error)) or type(error).__name__


def _shut(response: httpx2.Response) -> None:
    """Close the connection: the server notices at once, and a reader gets an error."""
    stream = response.extensions.get("network_stream")
    line = None if stream is None else stream.get_extra_info("socket")
    if line is not None:
        with suppress(OSError):
            line.shutdown(socket.SHUT_RDWR)
