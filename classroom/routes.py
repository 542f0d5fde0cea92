"""The server routes of a room: the student page, its parts, and the WebSocket of teacher and students.

Students have no session of the app: their page draws the components that the teacher's page mounted, from the same
files and payloads.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from classroom import frames
from classroom.desk import NO_ROOM, RoomDesk
from classroom.devices import COOKIE
from classroom.frames import Alive, Complete, Join, PointerFrame, Refused, Teach, Vote
from classroom.room import MOST_STUDENTS, REMOVED, STAYS, Present, Room
from classroom.student_page import CSP, script, sheet, student_page

Translate = Callable[[str, str], str]  # language, message → translated message
Share = Callable[[str], tuple[str, int]]  # address → its source, and how many of its phones a room may have

GREETING = 15.0  # seconds until the first frame has to arrive
LOOK = 0.5  # seconds between two lookups of a room whose teacher is not back yet
MOST_FRAMES, EACH = 40, 2.0  # frames per connection within these seconds
TICK = 60.0  # seconds after which a room is checked without a notification: it may have ended
REFUSED, ENDED, TOO_MUCH, ELSEWHERE = 4404, 4410, 4429, 4403  # close codes of a connection

N_ = str  # marks a text for Babel without translating it here
SLOWER = N_("Too many messages at once.")
SECURE = {
    "content-security-policy": CSP,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
}
KINDS = {"js": (0, "text/javascript"), "css": (1, "text/css"), "html": (2, "text/html")}


def classroom_routes(
    desk: RoomDesk,
    languages: tuple[str, ...],
    translate: Translate,
    base: str = "",
    share: Share = lambda address: (address, MOST_STUDENTS),
    is_host: Callable[[str], bool] = bool,
) -> list[BaseRoute]:
    """Routes of a Starlette application that is mounted under ``base``, a path or empty.

    Browsers that request none of ``languages`` get the first. ``share`` returns the source that an address counts for,
    and how many of its phones a room may have; ``is_host`` whether this server is reached by a host name.
    """

    def page(request: Request) -> Response:
        language = _language(request, languages)
        root = str(request.scope.get("root_path", "")) + base
        text = student_page(root, language, lambda words: translate(language, words))
        more = {"cache-control": "no-store"}
        address = request.client.host if request.client else ""
        known = desk.devices.known(request.cookies.get(COOKIE))
        if not known and desk.newcomers.may(*_newcomers(share(address))):
            secure = request.url.scheme == "https"
            more["set-cookie"] = desk.devices.header(desk.devices.new(), root, secure=secure)
        return Response(text, headers=SECURE | more, media_type="text/html")

    def file(request: Request) -> Response:
        text, kind = (script(), "text/javascript") if request.url.path.endswith(".js") else (sheet(), "text/css")
        return Response(text, headers=SECURE | {"cache-control": "no-cache"}, media_type=kind)

    def part(request: Request) -> Response:
        at, media = KINDS.get(request.path_params["kind"], (0, ""))
        found = desk.part(request.path_params["name"]) if media else None
        if found is None:
            return Response(status_code=404, headers=SECURE)
        keep = "public, max-age=86400, immutable"  # its URL contains its version
        return Response(found[at], headers=SECURE | {"cache-control": keep}, media_type=media)

    async def talk(socket: WebSocket) -> None:
        await _Talk(desk, socket, languages, translate, share, base).run(is_host)

    return [
        Route(f"{base}/join", page),
        Route(base + "/join/{code}", page),
        Route(f"{base}/classroom/student.js", file),
        Route(f"{base}/classroom/student.css", file),
        Route(base + "/classroom/part/{version}/{name}.{kind}", part),
        WebSocketRoute(f"{base}/classroom/talk", talk),
    ]


def _newcomers(share: tuple[str, int]) -> tuple[str, int]:
    """A source, and how many new phones it may add per minute: twice as many as may be in a room."""
    source, most = share
    return source, 2 * most


def _language(request: Request | WebSocket, languages: tuple[str, ...]) -> str:
    """The language in the URL, else the first available one that the browser requests."""
    asked = [request.query_params.get("lang", "")]
    asked += [one.split(";")[0].strip() for one in request.headers.get("accept-language", "")[:200].split(",")]
    known = (one.lower().split("-")[0] for one in asked)
    return next((one for one in known if one in languages), languages[0])


class _Talk:
    """One connection, of a student or a teacher."""

    def __init__(
        self,
        desk: RoomDesk,
        socket: WebSocket,
        languages: tuple[str, ...],
        translate: Translate,
        share: Share,
        base: str,
    ) -> None:
        self._desk, self._socket = desk, socket
        language = _language(socket, languages)
        self._words = lambda sentence: translate(language, sentence)
        self._address = socket.client.host if socket.client else ""
        self._times: list[float] = []
        source, most = share(self._address)
        self._one = Present(desk.devices.known(socket.cookies.get(COOKIE)), source, most)
        self._root = str(socket.scope.get("root_path", "")) + base

    async def run(self, is_host: Callable[[str], bool]) -> None:
        """Handle the connection from the first frame to the last.

        A connection opened by another site is refused at once.
        """
        origin, host = self._socket.headers.get("origin", ""), self._socket.headers.get("host", "")
        if not is_host(host) or urlsplit(origin).netloc != host:
            await self._socket.close(ELSEWHERE)
            return
        if not self._one.who and not self._desk.newcomers.may(*_newcomers((self._one.source, self._one.share))):
            # before anything is sent: a client without a cookie never loaded the page
            await self._socket.close(TOO_MUCH)
            return
        await self._accept()
        with suppress(WebSocketDisconnect):
            try:
                await self._greet()
            except Refused as error:
                await self._end(REFUSED, "refused", str(error))

    async def _accept(self) -> None:
        """Accept, giving a phone a new cookie if it has none of this server, for example after a restart."""
        given: list[tuple[bytes, bytes]] = []
        if not self._one.who:
            self._one.who = self._desk.devices.new()
            secure = self._socket.url.scheme == "wss"
            header = self._desk.devices.header(self._one.who, self._root, secure=secure)
            given.append((b"set-cookie", header.encode()))
        await self._socket.accept(headers=given)

    async def _greet(self) -> None:
        try:
            async with asyncio.timeout(GREETING):
                first = frames.read(await self._receive())
        except TimeoutError:
            raise Refused(frames.UNREADABLE) from None
        match first:
            case Join(code, born):
                room = await self._found(code, born)
                await self._send({"kind": "here", "born": self._desk.born})
                await self._present(room, self._one, teacher=False)
            case Teach(code, key):
                await self._present(self._desk.taught(code, key, self._address), Present(""), teacher=True)
            case _:
                raise Refused(frames.UNREADABLE)

    async def _found(self, code: str, born: str) -> Room:
        """Return the room; a phone from a previous server process waits until its teacher is back."""
        try:
            return self._desk.find(code, self._address, self._one.who)
        except Refused as error:
            if str(error) != NO_ROOM or born in ("", self._desk.born):
                raise
        await self._send({"kind": "waits"})
        with suppress(TimeoutError):
            async with asyncio.timeout(STAYS):
                while (room := self._desk.there(code)) is None:
                    with suppress(TimeoutError):
                        async with asyncio.timeout(LOOK):
                            await self._receive()  # nothing may be sent yet
                            self._not_too_fast()
                return room
        raise Refused(NO_ROOM)

    async def _present(self, room: Room, one: Present, *, teacher: bool) -> None:
        """Receive and send until one of the two ends."""
        room.enter(one, teacher=teacher)
        telling = self._tell_teacher(room, one) if teacher else self._tell_student(room, one)
        both = [asyncio.ensure_future(telling), asyncio.ensure_future(self._hear(room, one, teacher=teacher))]
        try:
            done, _ = await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            room.leave(one)
            for task in both:
                task.cancel()
            ended, _ = await asyncio.wait(both)
            for task in ended:
                _ = task.cancelled() or task.exception()  # retrieved, or asyncio logs a warning

    async def _tell_student(self, room: Room, one: Present) -> None:
        """Send what the board shows and its changes; nothing is queued for a slow phone."""
        seen = -1
        for voted in room.voted(one.who):
            await self._send(dict(zip(("round", "answer", "label"), voted), kind="voted"))
        while not room.ended:
            one.changed.clear()
            if room.is_removed(one):
                raise Refused(REMOVED)
            seen, news = room.board.since(seen)
            for frame in news:
                await self._send_frame(frame)
            await _woken(one)
        await self._end(ENDED, "ended", "")

    async def _tell_teacher(self, room: Room, one: Present) -> None:
        """Send the number of students and of answers."""
        told = None
        while not room.ended:
            one.changed.clear()
            count = {"kind": "count", "there": room.there, "answered": room.answered, "unsaved": room.unsaved}
            count |= {"born": self._desk.born}
            if count != told:
                told = count
                await self._send(count)
                await asyncio.sleep(0.1)
            await _woken(one)
        await self._end(ENDED, "ended", "")

    async def _hear(self, room: Room, one: Present, *, teacher: bool) -> None:
        while True:
            text = await self._receive()
            try:
                if not teacher:  # teachers point at figures, and send no more often than is drawn
                    self._not_too_fast()
                frame = frames.read(text, teacher=teacher)
                await self._answer(room, one, frame, teacher=teacher)
            except Refused as error:
                if str(error) in (frames.TOO_LONG, SLOWER):
                    await self._end(TOO_MUCH, "refused", str(error))
                await self._send({"kind": "refused", "words": self._words(str(error))})

    async def _answer(self, room: Room, one: Present, frame: frames.Frame, *, teacher: bool) -> None:
        match frame:
            case Vote() if not teacher:
                answer, label = room.vote(one, frame)
                await self._send({"kind": "voted", "round": frame.round, "answer": answer, "label": label})
            case Complete(typed) if not teacher:
                await self._send({"kind": "completed", "typed": typed, **room.complete(typed)})
            case Alive() if not teacher:
                await self._send({"kind": "alive"})
            case PointerFrame(figure, at) if teacher:
                if room.board.point(figure, at):
                    room.wake()
            case _:
                raise Refused(frames.UNREADABLE if teacher else frames.ONLY_TEACHER)

    def _not_too_fast(self) -> None:
        now = time.monotonic()
        self._times = [*(at for at in self._times if now - at < EACH), now]
        if len(self._times) > MOST_FRAMES:
            raise Refused(SLOWER)

    async def _receive(self) -> str | bytes | None:
        message: dict[str, Any] = dict(await self._socket.receive())
        if message["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(message.get("code", 1000))
        return message.get("text")

    async def _send(self, value: dict[str, Any]) -> None:
        await self._send_frame(json.dumps(value))

    async def _send_frame(self, frame: str | bytes) -> None:
        if self._socket.application_state is not WebSocketState.CONNECTED:
            raise WebSocketDisconnect
        await (self._socket.send_bytes(frame) if isinstance(frame, bytes) else self._socket.send_text(frame))

    async def _end(self, code: int, kind: str, words: str) -> NoReturn:
        """Send the reason, and close."""
        said = {"kind": kind, "words": self._words(words) if words else "", "last": True}
        await self._send(said | {"born": self._desk.born})
        await self._socket.close(code)
        raise WebSocketDisconnect(code)


async def _woken(one: Present) -> None:
    """Wait for a notification, or for a timeout."""
    with suppress(TimeoutError):
        async with asyncio.timeout(TICK):
            await one.changed.wait()
