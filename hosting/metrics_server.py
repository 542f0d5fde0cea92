"""Health and metrics, on a port of their own that only this machine reaches."""

from __future__ import annotations

import threading
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from hosting.meter import Meter

HERE = "127.0.0.1"


def listen(port: int, meter: Meter, healthy: Callable[[], bool]) -> ThreadingHTTPServer:
    """Answers from now on, on a thread of its own, until its ``shutdown``. Raises OSError where the port is taken."""

    class MetricsHandler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:  # http.server's name
            if self.path == "/metrics":
                self._say(HTTPStatus.OK, meter.text(), "text/plain; version=0.0.4; charset=utf-8")
            elif self.path == "/healthz":
                well = healthy()
                self._say(HTTPStatus.OK if well else HTTPStatus.SERVICE_UNAVAILABLE, "ok\n" if well else "stuck\n")
            else:
                self._say(HTTPStatus.NOT_FOUND, "There is /healthz and /metrics.\n")

        def _say(self, status: HTTPStatus, words: str, kind: str = "text/plain; charset=utf-8") -> None:
            body = words.encode()
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            self.send_header("cache-control", "no-store")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing is worth a line."""

    server = ThreadingHTTPServer((HERE, port), MetricsHandler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, name="local port", daemon=True).start()
    return server
