"""A server with rooms and nothing else, in a process of its own, that a test can kill: `python -m … <port>`.

What a teacher's session does in the app is done here by GET: /open gives a key and its code, /back/<key> a code, and
/show/<key>/<title> turns the board to a page of this title.
"""

from __future__ import annotations

import sys

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from classroom.desk import RoomDesk
from classroom.routes import classroom_routes

DESK = RoomDesk()


def opened(_request: Request) -> JSONResponse:
    room = DESK.open()
    return JSONResponse({"key": room.key, "code": room.code})


def back(request: Request) -> JSONResponse:
    room = DESK.back(request.path_params["key"])
    return JSONResponse({"code": room.code, "again": room.again})


def show(request: Request) -> JSONResponse:
    room = DESK.back(request.path_params["key"])
    room.board.turn({"title": request.path_params["title"], "subtitle": "", "page": ""})
    room.wake()
    return JSONResponse({"there": room.there})


if __name__ == "__main__":
    routes = [Route("/open", opened), Route("/back/{key}", back), Route("/show/{key}/{title}", show)]
    classes = classroom_routes(DESK, ("en",), lambda _language, words: words)
    uvicorn.run(Starlette(routes=[*routes, *classes]), port=int(sys.argv[1]), log_level="warning")
