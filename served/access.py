"""Access keys and their limits, checked before the body of a question is read."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager

from starlette.requests import Request

from model_runner.errors import KeyRefused, OtherVersion, RunnerBusy
from model_runner.remote.frames import VERSION
from model_runner.wire import FORMAT
from served.settings import Access, ServedSettings

BEARER = "Bearer "


class KeyCheck:
    """Used only by the thread that accepts requests."""

    def __init__(self, settings: ServedSettings) -> None:
        self._keys = {key.sha256: key for key in settings.keys}
        self._inside: Counter[str] = Counter()

    def who(self, request: Request) -> Access:
        """The key of a request in a supported protocol version. Raises KeyRefused, OtherVersion."""
        access = self.key_of(request)
        theirs = request.headers.get(VERSION, "")
        if theirs != FORMAT:
            raise OtherVersion(theirs=theirs[:100], ours=FORMAT)
        return access

    def key_of(self, request: Request) -> Access:
        """The key of a request. Raises KeyRefused."""
        shown = request.headers.get("authorization", "")
        digest = hashlib.sha256(
            shown.removeprefix(BEARER).encode()
        ).hexdigest()  # a key has 256 bits, so timing reveals nothing
        access = self._keys.get(digest) if shown.startswith(BEARER) else None
        if access is None:
            raise KeyRefused()
        return access

    @contextmanager
    def inside(self, access: Access) -> Generator[None]:
        """Count a question of this key while it is answered. Raises RunnerBusy above the key's limit."""
        if self._inside[access.name] >= access.in_flight:
            raise RunnerBusy()
        self._inside[access.name] += 1
        try:
            yield
        finally:
            self._inside[access.name] -= 1
