"""Where browsers take the scripts of components and the style sheet from: anyone may, and may keep them for good."""

from __future__ import annotations

from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import Response

from viz.components.served import SERVED

KEEP = {"cache-control": "public, max-age=31536000, immutable", "vary": "accept-encoding"}  # the URL has its digest


async def served_texts(request: Request) -> Response:
    """One text by the last part of its URL, packed for a browser that takes it so."""
    found = SERVED.get(request.path_params["name"])
    if found is None:
        return Response("", HTTPStatus.NOT_FOUND, {"cache-control": "no-store"}, "text/plain")
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(found.packed, headers=KEEP | {"content-encoding": "gzip"}, media_type=found.kind)
    return Response(found.text, headers=KEEP, media_type=found.kind)
