"""A server with rooms and nothing else, in a process of its own, that a test can kill: `python -m … <port> [folder]`.

What a teacher's session does in the app is done here by GET: /open gives a key and its code, /back/<key> a code,
/show/<key>/<title> turns the board to a page of this title, /ask/<key>/<step> puts a question, of a lesson's step,
/reveal/<key> reveals it, /end/<key> ends the room, and /results/<key> has what its teacher would save. Rooms are kept
in the folder.
"""

from __future__ import annotations

import sys
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from classroom.desk import RoomDesk
from classroom.kept_rooms import KeptRooms
from classroom.results import HEADINGS, results_csv
from classroom.routes import classroom_routes
from tests.classroom.talking import question

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


def ask(request: Request) -> JSONResponse:
    DESK.back(request.path_params["key"]).ask(question(), request.path_params["step"])
    return JSONResponse({})


def reveal(request: Request) -> JSONResponse:
    DESK.back(request.path_params["key"]).reveal()
    return JSONResponse({})


def end(request: Request) -> JSONResponse:
    DESK.back(request.path_params["key"]).end()
    return JSONResponse({})


def results(request: Request) -> JSONResponse:
    room = DESK.back(request.path_params["key"])
    words = {name: name for name in HEADINGS}
    told = {"results": results_csv(room.asked, words).decode("utf-8-sig"), "answered": room.answered}
    return JSONResponse(told | {"shown": sorted(room.shown), "problem": DESK.problem})


if __name__ == "__main__":
    if sys.argv[2:]:
        DESK.keep(KeptRooms(Path(sys.argv[2])))
    routes = [Route("/open", opened), Route("/back/{key}", back), Route("/show/{key}/{title}", show)]
    routes += [Route("/ask/{key}/{step}", ask), Route("/reveal/{key}", reveal), Route("/end/{key}", end)]
    routes += [Route("/results/{key}", results)]
    classes = classroom_routes(DESK, ("en",), lambda _language, words: words)
    uvicorn.run(Starlette(routes=[*routes, *classes]), port=int(sys.argv[1]), log_level="warning")
