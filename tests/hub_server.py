"""A model hub on 127.0.0.1 with the API that huggingface_hub uses: names, revisions, files and byte ranges."""

from __future__ import annotations

import hashlib
import json
import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

MOST_AT_ONCE = 64 << 10  # bytes
HEADER = "bytes=0-100000"  # of a file of weights, as the hub's library (2.4) asks for it


@dataclass
class LocalHub:
    """``models`` are folders by name@version. ``cuts``: how often a file's answer breaks off, after so many bytes."""

    url: str = ""
    models: dict[str, Path] = field(default_factory=dict[str, Path])
    gated: set[str] = field(default_factory=set[str])
    cuts: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    slow: threading.Event | None = None  # waited for before each piece of a file but its first
    asked: list[tuple[str, str, str | None]] = field(default_factory=list[tuple[str, str, str | None]])  # its range

    def sha(self, name: str, version: str) -> str:
        """The commit of a version, as the hub names it."""
        return hashlib.sha1(f"{name}@{version}".encode(), usedforsecurity=False).hexdigest()

    def fetched(self, file: str, model: str = "") -> list[str | None]:
        """The parts of a model's, or any model's, file that were fetched, but for looks at its header."""
        asked = [(path, given) for method, path, given in self.asked if method == "GET"]
        parts = [given for path, given in asked if path.startswith(model) and path.endswith(f"/{file}")]
        return [part for part in parts if part != HEADER]

    def find(self, name: str, version: str) -> tuple[str, Path] | None:
        """The commit and the folder of a version, by its name or its commit."""
        for key, folder in self.models.items():
            own, _, held = key.partition("@")
            if own == name and version in (held, self.sha(name, held)):
                return self.sha(name, held), folder
        return None


@contextmanager
def local_hub() -> Generator[LocalHub]:
    """A hub without models, for as long as the block lasts."""
    hub = LocalHub()

    class Handler(_Handler):
        served = hub

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        if hub.slow is not None:
            hub.slow.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    served: LocalHub
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def _answer(self, *, body: bool) -> None:
        hub, parts = self.served, unquote(urlsplit(self.path).path).strip("/").split("/")
        hub.asked.append((self.command, "/".join(parts), self.headers.get("Range")))
        if parts[:2] == ["api", "models"]:
            name, what, version = (
                "/".join(parts[2:4]),
                parts[4] if len(parts) > 4 else "",
                "/".join(parts[5:]) or "main",
            )
        elif parts[2:3] == ["resolve"]:
            name, what, version = "/".join(parts[:2]), "file", parts[3]
        else:
            return self._refuse(404, "EntryNotFound")
        if not any(key.partition("@")[0] == name for key in hub.models):
            return self._refuse(404, "RepoNotFound")
        if name in hub.gated:
            return self._refuse(403, "GatedRepo")
        found = hub.find(name, version)
        if found is None:
            return self._refuse(404, "RevisionNotFound")
        sha, folder = found
        if what == "tree":
            return self._json([_entry(folder, file) for file in sorted(folder.rglob("*")) if file.is_file()])
        if what == "file":
            return self._file(folder / "/".join(parts[4:]), sha, body=body)
        return self._json({"id": name, "sha": sha, "siblings": self._siblings(folder)})

    def _siblings(self, folder: Path) -> list[dict[str, str]]:
        return [{"rfilename": str(file.relative_to(folder))} for file in folder.rglob("*") if file.is_file()]

    def _refuse(self, status: int, code: str) -> None:
        self.send_response(status)
        self.send_header("X-Error-Code", code)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _json(self, value: object) -> None:
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _file(self, file: Path, sha: str, *, body: bool) -> None:
        if not file.is_file():
            self._refuse(404, "EntryNotFound")
            return
        data = file.read_bytes()
        first, _, last = self.headers.get("Range", "bytes=0-").removeprefix("bytes=").partition("-")
        start, stop = int(first), min(int(last) + 1 if last else len(data), len(data))
        self.send_response(206 if stop - start < len(data) else 200)
        if stop - start < len(data):
            self.send_header("Content-Range", f"bytes {start}-{stop - 1}/{len(data)}")
        self.send_header("Content-Length", str(stop - start))
        self.send_header("ETag", f'"{hashlib.sha256(data).hexdigest()}"')
        self.send_header("X-Repo-Commit", sha)
        self.send_header("Accept-Ranges", "bytes")
        self.end_headers()
        if body:
            self._send(file.name, data[start:stop])

    def _send(self, name: str, data: bytes) -> None:
        look = self.headers.get("Range") == HEADER
        cuts = self.served.cuts.get(name)
        most = cuts.pop(0) if cuts and not look else len(data)
        for at in range(0, min(most, len(data)), MOST_AT_ONCE):
            if at and self.served.slow is not None and not look:
                self.served.slow.wait()
            self.wfile.write(data[at : min(at + MOST_AT_ONCE, most)])
        if most < len(data):
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True


def _entry(folder: Path, file: Path) -> dict[str, object]:
    data = file.read_bytes()
    return {
        "type": "file",
        "path": str(file.relative_to(folder)),
        "size": len(data),
        "oid": hashlib.sha256(data).hexdigest()[:40],
    }
