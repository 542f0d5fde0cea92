"""The route with which browsers and phones request maps and tiles; few are answered at a time.

A class requests many tiles at once. They have their own threads, so that pages do not wait for them.
"""

from __future__ import annotations

import asyncio
import gzip
from concurrent.futures import ThreadPoolExecutor

from starlette.requests import Request
from starlette.responses import Response

from jobs.tile_tickets import TICKETS

THREADS = ThreadPoolExecutor(4, thread_name_prefix="maps")


async def maps(request: Request) -> Response:
    """Answer the session whose ticket comes with the request; responses to phones are compressed."""
    ticket, place = request.headers.get("x-atlas-ticket", ""), request.path_params["place"]
    phone = "/join/" in request.url.path

    def answer() -> tuple[int, bytes]:
        status, body = TICKETS.answer(ticket, place)
        return status, gzip.compress(body, 1) if phone else body

    status, body = await asyncio.get_running_loop().run_in_executor(THREADS, answer)
    told = {"cache-control": "no-store"} | ({"content-encoding": "gzip"} if phone else {})
    return Response(body, status, told, "application/octet-stream")
