"""The route for components' scripts and style sheets: public, and cacheable for good."""

from __future__ import annotations

from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import Response

from viz.components.served import SERVED

# the URL contains the digest
KEEP = {"cache-control": "public, max-age=31536000, immutable", "vary": "accept-encoding"}


async def served_texts(request: Request) -> Response:
    """Return a text by the last part of its URL, compressed if the browser accepts it."""
    found = SERVED.get(request.path_params["name"])
    if found is None:
        return Response("", HTTPStatus.NOT_FOUND, {"cache-control": "no-store"}, "text/plain")
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(found.packed, headers=KEEP | {"content-encoding": "gzip"}, media_type=found.kind)
    return Response(found.text, headers=KEEP, media_type=found.kind)
