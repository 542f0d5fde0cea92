"""The life of a question, from its body to its last frame: it waits for the model to load, then for its turn.

If the client disconnects, the question is cancelled and ends before the model's next layer.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Literal
from weakref import WeakKeyDictionary

import torch
from starlette.requests import ClientDisconnect, Request
from starlette.types import Receive, Scope, Send
from torch import Tensor

from analysis import long_blocks
from analysis.cell_ranking import cell_ranking
from analysis.head_grid import grid_of, written
from analysis.long_blocks import BlockRows
from analysis.long_map import Spot, zipped
from analysis.opening import opening_head
from analysis.strongest_key import strongest_key
from hosting.settings import in_bytes
from model_runner.capture import Capture, index
from model_runner.errors import (
    AnswerTooLate,
    Cancelled,
    ModelSilent,
    NoSuchPlace,
    QuestionFails,
    Unreadable,
    UserFacingError,
    first_line,
)
from model_runner.local.local_models import LocalModels
from model_runner.local.runner import LocalRunner
from model_runner.local.worker import QueuedJob
from model_runner.questions import EndRun, NextRaceStep, NextToken
from model_runner.remote.frames import (
    ANSWER,
    FRAMES,
    LONGEST_WAIT,
    REFUSAL,
    VERSION,
    WAITING,
    WAITING_EVERY,
    frame,
)
from model_runner.remote.step_rows import new_rows
from model_runner.request import CaptureRequest
from model_runner.step import Step
from model_runner.token_questions import VerifyLayer
from model_runner.wire import FORMAT, outline, parts, to_bytes
from served.access import KeyCheck
from served.checked_question import check_answer, checked_question
from served.kept_tiles import KeptTiles
from served.runs import GrowingTexts
from served.settings import Access, QuestionLimits, ServedSettings
from served.told import body_of, model_named, refuse

LOG = logging.getLogger(__name__)
SHORT = 1 << 16  # bytes of a question that is parsed in less than a millisecond
PIECE = 1 << 20  # bytes of an answer that are sent at a time
DIGITS = 12  # of an integer in a URL
MOST_PARTS = 8  # parts of a capture in one answer
LOOK = 0.1  # seconds between two checks of a model that is loading

Encode = Callable[[Any], bytes]
Asked = Literal["ask", "part", "grid", "opening", "cell", "strongest", "tile", "far", "block"]


class QuestionEndpoint:
    """The ASGI endpoint for questions. ``what`` selects what is returned.

    "ask" answers a question. The others take a request and return something of its capture: ``part`` some of its
    tensors, ``grid`` thumbnails and metrics of every head, ``opening`` the head to open, ``cell`` the weight of one
    cell in every head, ``strongest`` the key with a query's largest weight, ``tile`` a tile of a head's map, ``far``
    its strongest long-range links, ``block`` all heads of a layer in some rows.
    """

    def __init__(self, settings: ServedSettings, models: LocalModels, keys: KeyCheck, *, what: Asked) -> None:
        self._settings, self._models, self._keys = settings, models, keys
        self._what: Asked = what
        self._body = in_bytes(settings.limits.body)
        self._runs = GrowingTexts(settings.limits.runs)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle an ASGI request."""
        request = Request(scope, receive)
        try:
            access = self._keys.who(request)
            name = model_named(request, access, self._settings)
            encode = ENCODERS[self._what](request)
            with self._keys.inside(access):
                body = await body_of(request, self._body)
                question = await _checked(body, access, self._settings.limits)
                if self._what != "ask" and not isinstance(question, CaptureRequest):
                    raise Unreadable()
                await self._in_frames(_Line(receive, send), request, name, question, encode)
        except ClientDisconnect:
            return
        except UserFacingError as error:
            await refuse(error)(scope, receive, send)

    async def _in_frames(self, line: _Line, request: Request, name: str, question: Any, encode: Encode) -> None:
        """Answer an accepted question; from here on, an error is sent as the last frame."""
        began = time.monotonic()
        until = began + _seconds(request, self._settings.limits.seconds)
        await line.open()
        try:
            kind, data = await self._said(line, request, name, question, encode, until)
            LOG.info("%s: %.3f s, %d bytes", type(question).__name__, time.monotonic() - began, len(data))
            await line.last(kind, data)
        except _Left:
            LOG.info("%s: nobody waited after %.3f s", type(question).__name__, time.monotonic() - began)
        finally:
            line.close()

    async def _said(
        self, line: _Line, request: Request, name: str, question: Any, encode: Encode, until: float
    ) -> tuple[bytes, bytes]:
        try:
            runner = await self._runner(line, name, request.query_params.get("base") == "1", until)
            answer = await self._answer(line, runner, question, until)
            return ANSWER, await self._written(line, answer, question, encode, until)
        except _Left:
            raise
        except UserFacingError as error:
            return REFUSAL, to_bytes(error)
        except Exception as error:
            LOG.warning("%s failed: %s", type(question).__name__, first_line(error))
            LOG.debug("where", exc_info=True)
            # the message may contain paths of the host
            return REFUSAL, to_bytes(QuestionFails(error=type(error).__name__))

    async def _runner(self, line: _Line, name: str, base: bool, until: float) -> LocalRunner:
        loading = self._models.open(name)
        while not loading.future.done():
            await asyncio.to_thread(loading.wait, LOOK)
            await self._turn(line, 0, until)
        runner = loading.result()
        return runner.base or runner if base else runner

    async def _answer(self, line: _Line, runner: LocalRunner, question: Any, until: float) -> Any:
        check_answer(question, runner.info, self._settings.limits)
        run = question.run if isinstance(question, NextToken | NextRaceStep) else None
        if run is not None:
            self._runs.asked(run, runner, begins=question.index == 0)
        elif isinstance(question, EndRun):
            self._runs.ended(question.run)
        job = _asked(runner, question.request if isinstance(question, VerifyLayer) else question, run)
        ended, loop = asyncio.Event(), asyncio.get_running_loop()

        def tell(_: object) -> None:
            with suppress(RuntimeError):  # the server has ended meanwhile
                loop.call_soon_threadsafe(ended.set)

        job.future.add_done_callback(tell)
        try:
            while not job.wait(0.0):
                await self._turn(line, job.ahead, until, ended)
            return _result(job)
        finally:
            job.cancel()

    async def _written(self, line: _Line, answer: Any, question: Any, encode: Encode, until: float) -> bytes:
        """Serialize the answer on another thread than the model's, sending progress frames meanwhile."""
        ended, writing = asyncio.Event(), asyncio.ensure_future(asyncio.to_thread(_written, answer, question, encode))
        writing.add_done_callback(lambda done: (ended.set(), done.cancelled() or done.exception()))
        while not writing.done():
            await self._turn(line, 0, until, ended)
        return writing.result()

    async def _turn(self, line: _Line, ahead: int, until: float, ended: asyncio.Event | None = None) -> None:
        """Wait for half a second or until ``ended``.

        Raises _Left if the client disconnected, AnswerTooLate at the time limit.
        """
        await line.wait(WAITING_EVERY if ended is not None else 0.0, ended)
        if time.monotonic() > until:
            raise AnswerTooLate(seconds=self._settings.limits.seconds)
        if ended is None or not ended.is_set():
            await line.waiting(ahead)


def _asked(runner: LocalRunner, question: Any, run: str | None) -> QueuedJob[Any]:
    """Submit a question. Raises Cancelled if the model hangs on another question; a retry finds it reloaded."""
    try:
        return runner.submit(question, session=run)
    except ModelSilent as error:
        raise Cancelled() from error


def _result(job: QueuedJob[Any]) -> Any:
    """Return the answer.

    Raises ModelSilent if the model hung on this question, Cancelled if the question only waited.
    """
    try:
        return job.result()
    except ModelSilent as error:
        if job.begun:
            raise
        raise Cancelled() from error


async def _checked(body: bytes, access: Access, limits: QuestionLimits) -> Any:
    """Parse a question; large ones on a thread, which for small ones would take longer than parsing."""
    if len(body) <= SHORT:
        return checked_question(body, access, limits)
    return await asyncio.to_thread(checked_question, body, access, limits)


def _written(answer: Any, question: Any, encode: Encode) -> bytes:
    """Serialize an answer; a layer is verified in its capture."""
    return encode(answer.verify(question.layer) if isinstance(question, VerifyLayer) else answer)


class _Left(Exception):
    """The client disconnected."""


class _Line:
    """A connection on which frames are written; it notices when the client disconnects."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive, self._send = receive, send
        self._left: asyncio.Task[None] | None = None

    async def open(self) -> None:
        headers = [
            (b"content-type", FRAMES.encode()),
            (VERSION.encode(), FORMAT.encode()),
            (b"cache-control", b"no-store"),
        ]
        await self._send({"type": "http.response.start", "status": 200, "headers": headers})
        self._left = asyncio.create_task(self._until_left())

    async def wait(self, seconds: float, ended: asyncio.Event | None) -> None:
        """Wait for this time, or until ``ended``. Raises _Left."""
        assert self._left is not None
        end = None if ended is None else asyncio.create_task(ended.wait())
        await asyncio.wait(
            [self._left, *([] if end is None else [end])], timeout=seconds, return_when="FIRST_COMPLETED"
        )
        if end is not None:
            end.cancel()
        if self._left.done():
            raise _Left

    async def waiting(self, ahead: int) -> None:
        """Report the number of questions ahead."""
        await self._piece(frame(WAITING, ahead.to_bytes(4, "little")))

    async def last(self, kind: bytes, data: bytes) -> None:
        """Send the last frame, in pieces that the connection takes one after the other."""
        whole = frame(kind, data)
        for start in range(0, len(whole), PIECE):
            await self._piece(whole[start : start + PIECE], more=start + PIECE < len(whole))

    def close(self) -> None:
        """Stop listening."""
        if self._left is not None:
            self._left.cancel()

    async def _until_left(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def _piece(self, data: bytes, *, more: bool = True) -> None:
        try:
            await self._send({"type": "http.response.body", "body": data, "more_body": more})
        except OSError as error:
            raise _Left from error


def _seconds(request: Request, most: int) -> float:
    """How long the client waits for the answer, at most the host's limit."""
    asked = request.headers.get(LONGEST_WAIT, "")
    return min(float(asked), most) if asked.isdecimal() else most


def _encoder(request: Request) -> Encode:
    """How the answer is serialized: a capture as its outline if requested, a step as its rows from ``start`` on."""
    wanted, start = request.query_params.get("form"), _number(request.query_params.get("start", "0"))

    def encode(answer: Any) -> bytes:
        if isinstance(answer, Capture) and wanted == "outline":
            return outline(answer)
        return to_bytes(new_rows(answer, start) if isinstance(answer, Step) else answer)

    return encode


def _part_encoder(request: Request) -> Encode:
    """Parts of a capture, each given by its number and rows: 5:0:8. Raises NoSuchPlace."""
    wanted = [tuple(map(_number, one.split(":"))) for one in request.query_params.getlist("rows")]
    if not 1 <= len(wanted) <= MOST_PARTS or any(len(one) != 3 for one in wanted):
        raise Unreadable()

    def encode(capture: Capture) -> bytes:
        every = _parts(capture)
        for which, *_ in wanted:
            if which >= len(every):
                raise NoSuchPlace(what="part", value=which, count=len(every))
        return to_bytes([every[which][start:stop] for which, start, stop in wanted])

    return encode


def _parts(capture: Capture) -> list[Tensor]:
    """The capture's tensors, listed once and cached as long as it lives."""
    found = _PARTS.get(capture)
    if found is None:
        found = _PARTS[capture] = parts(capture)
    return found


_PARTS: WeakKeyDictionary[Capture, list[Tensor]] = WeakKeyDictionary()


def _grid_encoder(_request: Request) -> Encode:
    def encode(capture: Capture) -> bytes:
        return to_bytes(written(grid_of(capture)))

    return encode


def _opening_encoder(_request: Request) -> Encode:
    def encode(capture: Capture) -> bytes:
        return to_bytes(list(opening_head(capture)))

    return encode


def _cell_encoder(request: Request) -> Encode:
    """Parameters: query, key. Raises Unreadable, or NoSuchPlace if they do not exist."""
    wanted = _numbers_at(request, 2)

    def encode(capture: Capture) -> bytes:
        query, key = (index("position", one, len(capture.tokens)) for one in wanted)
        return to_bytes(torch.from_numpy(cell_ranking(capture, query, key).weights))

    return encode


def _strongest_encoder(request: Request) -> Encode:
    """Parameters: layer, head, query, and optionally the selected key."""
    layer, head, *places = _numbers_at(request, 3, 4)

    def encode(capture: Capture) -> bytes:
        query, *key = (index("position", one, len(capture.tokens)) for one in places)
        return to_bytes(strongest_key(capture, layer, head, query, *key))

    return encode


def _tile_encoder(request: Request) -> Encode:
    """Parameters: layer, head, zoom, and the tile's column and row."""
    layer, head, *spot = _numbers_at(request, 5)

    def encode(capture: Capture) -> bytes:
        return to_bytes(zipped(_TILES.of(capture).tile(layer, head, Spot(*spot))))

    return encode


def _far_encoder(request: Request) -> Encode:
    """Parameters: layer, head, smallest distance, and count."""
    wanted = _numbers_at(request, 4)

    def encode(capture: Capture) -> bytes:
        return to_bytes([[one.query, one.key, one.weight] for one in _TILES.of(capture).far(*wanted)])

    return encode


_TILES = KeptTiles()


def _block_encoder(request: Request) -> Encode:
    """Parameters: layer, first row, and end row (exclusive)."""
    wanted = BlockRows(*_numbers_at(request, 3))

    def encode(capture: Capture) -> bytes:
        return to_bytes(long_blocks.written(long_blocks.block_of(capture, wanted)))

    return encode


ENCODERS: dict[Asked, Callable[[Request], Encode]] = {
    "ask": _encoder,
    "part": _part_encoder,
    "grid": _grid_encoder,
    "opening": _opening_encoder,
    "cell": _cell_encoder,
    "strongest": _strongest_encoder,
    "tile": _tile_encoder,
    "far": _far_encoder,
    "block": _block_encoder,
}


def _numbers_at(request: Request, *counts: int) -> list[int]:
    """Parse the integers that say which part is requested. Raises Unreadable."""
    wanted = list(map(_number, request.query_params.getlist("at")))
    if len(wanted) not in counts:
        raise Unreadable()
    return wanted


def _number(given: str) -> int:
    if not given.isdecimal() or len(given) > DIGITS:
        raise Unreadable()
    return int(given)
