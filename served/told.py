"""What every endpoint reads from a request, and how it refuses one: the error as bytes, which the client raises."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from model_runner.errors import (
    Cancelled,
    KeyRefused,
    ModelNotListed,
    OtherVersion,
    QuestionTooLarge,
    RunnerBusy,
    UserFacingError,
)
from model_runner.memory import readable
from model_runner.remote.frames import VALUE, VERSION
from model_runner.wire import FORMAT, to_bytes
from served.settings import Access, ServedSettings

STATUSES: dict[type[UserFacingError], int] = {
    KeyRefused: 401,
    ModelNotListed: 404,
    Cancelled: 409,
    QuestionTooLarge: 413,
    OtherVersion: 426,
    RunnerBusy: 429,
}
REFUSED = 422  # status of all other errors


def told(value: Any) -> Response:
    """A response with this value."""
    return Response(to_bytes(value), 200, {VERSION: FORMAT, "cache-control": "no-store"}, VALUE)


def refuse(error: UserFacingError) -> Response:
    """Refuse and close the connection, since the question's body may not have been read."""
    headers = {VERSION: FORMAT, "connection": "close"} | ({"retry-after": "1"} if isinstance(error, RunnerBusy) else {})
    return Response(to_bytes(error), STATUSES.get(type(error), REFUSED), headers, VALUE)


def model_named(request: Request, access: Access, settings: ServedSettings) -> str:
    """The model that the request names. Raises ModelNotListed."""
    name = request.path_params["name"]
    offered = settings.models_of(access)
    if name not in offered:
        raise ModelNotListed(names=", ".join(offered))
    return name


async def body_of(request: Request, most: int) -> bytes:
    """Read the body. Raises QuestionTooLarge as soon as its length, declared or received, exceeds ``most``."""
    length = request.headers.get("content-length", "0")
    if not length.isdecimal() or int(length[:20]) > most:
        raise QuestionTooLarge(limit=readable(most))
    held = bytearray()
    async for piece in request.stream():
        held += piece
        if len(held) > most:
            raise QuestionTooLarge(limit=readable(most))
    return bytes(held)
