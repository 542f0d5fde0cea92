"""Health, metrics and the drain command, on a separate port that only this machine can reach."""

from __future__ import annotations

import threading
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from hosting.drain import LONGEST, Drain
from hosting.logs import OURS
from hosting.meter import Meter

HERE = "127.0.0.1"
NAMES = (HERE, "localhost")  # refuses web pages whose own host name resolves to this machine (DNS rebinding)
MINUTES = "90"  # default deadline of a drain: a double lesson
WRONG_MINUTES = f"minutes must be a whole number from 0 to {LONGEST}.\n"


def listen(port: int, meter: Meter, healthy: Callable[[], bool], drain: Drain) -> ThreadingHTTPServer:
    """Start the server on a thread of its own, until its ``shutdown`` is called.

    Raises OSError if the port is in use.
    """
    server = LocalServer(port, meter, healthy, drain)
    threading.Thread(target=server.serve_forever, name="local port", daemon=True).start()
    return server


class LocalServer(ThreadingHTTPServer):
    """Sources of the server's answers."""

    daemon_threads = True

    def __init__(self, port: int, meter: Meter, healthy: Callable[[], bool], drain: Drain) -> None:
        super().__init__((HERE, port), _Handler)
        self.meter, self.healthy, self.drain = meter, healthy, drain

    @property
    def health(self) -> tuple[HTTPStatus, str]:
        """Report health. A draining server is healthy: otherwise a supervisor would restart it and end its lessons."""
        if not self.healthy():
            return HTTPStatus.SERVICE_UNAVAILABLE, "stuck\n"
        return HTTPStatus.OK, "draining\n" if self.drain.begun else "ok\n"


class _Handler(BaseHTTPRequestHandler):
    server: LocalServer  # pyright: ignore[reportIncompatibleVariableOverride]  # which alone makes these

    def do_GET(self) -> None:  # http.server's name
        if self.path == "/metrics":
            self._say(HTTPStatus.OK, self.server.meter.text(), "text/plain; version=0.0.4; charset=utf-8")
        elif self.path == "/healthz":
            self._say(*self.server.health)
        else:
            self._say(HTTPStatus.NOT_FOUND, "There is /healthz and /metrics, and POST /drain.\n")

    def do_POST(self) -> None:  # http.server's name
        """/drain?minutes=90: admit nobody new, and exit after that time at the latest."""
        if not self._is_order():
            return
        given = parse_qs(urlsplit(self.path).query).get("minutes", [MINUTES])[0]
        if not (given.isascii() and given.isdecimal() and len(given) <= len(str(LONGEST)) and int(given) <= LONGEST):
            self._say(HTTPStatus.BAD_REQUEST, WRONG_MINUTES)
            return
        self.server.drain.begin(int(given))
        time = "1 minute" if int(given) == 1 else f"{int(given)} minutes"
        OURS.info("Draining: nobody new is let in, and the server ends in %s at the latest.", time)
        self._say(HTTPStatus.ACCEPTED, f"draining, {time} at most\n")

    def do_DELETE(self) -> None:  # http.server's name
        if self._is_order():
            self.server.drain.cancel()
            OURS.info("Draining was cancelled.")
            self._say(HTTPStatus.OK, "not draining\n")

    def _is_order(self) -> bool:
        """Return True if the request comes from a program on this machine and not from a web page in a browser."""
        host = self.headers.get("host", "").rpartition(":")[0]
        if urlsplit(self.path).path != "/drain":
            self._say(HTTPStatus.NOT_FOUND, "There is POST /drain.\n")
        elif host not in NAMES or "origin" in self.headers or "referer" in self.headers:
            self._say(HTTPStatus.FORBIDDEN, "Only programs of this machine may say so.\n")
        else:
            return True
        return False

    def _say(self, status: HTTPStatus, words: str, kind: str = "text/plain; charset=utf-8") -> None:
        body = words.encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.send_header("cache-control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""
