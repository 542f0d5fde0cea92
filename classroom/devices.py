"""Which phone it is: random bits that this server chose and signed, in a cookie, so that one phone has one vote.

A phone's own word would be as many votes as it likes to send. The secret is kept with the rooms (kept_rooms.py); a
server that keeps none has forgotten the votes when it was started again, and gives new cookies.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable

COOKIE = "atlas_phone"
KEPT = 6 * 3600  # seconds: a school day
MINUTE, MOST_SOURCES = 60.0, 10_000


class Newcomers:
    """Phones that were not here before, by the network that they come from: so many in a minute.

    One that is there has joined once; who joins again and again as another costs the class's server its time. Used by
    the event loop alone.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._came: dict[str, list[float]] = {}  # source → when its phones came, the last minute

    def may(self, source: str, most: int) -> bool:
        """Whether another one may come from there; then it is counted."""
        since = self._now() - MINUTE
        came = [at for at in self._came.pop(source, []) if at > since]
        if len(self._came) >= MOST_SOURCES:
            del self._came[next(iter(self._came))]
        self._came[source] = came
        if len(came) >= most:
            return False
        came.append(self._now())
        return True


class Devices:
    """Cookies of one server; without a secret of before it makes one."""

    def __init__(self, secret: bytes | None = None) -> None:
        self.secret = secrets.token_bytes(32) if secret is None else secret

    def new(self) -> str:
        """A phone that was not here before."""
        return secrets.token_hex(16)

    def known(self, cookie: str | None) -> str:
        """The phone that this cookie's value is of; nothing for what this server did not sign."""
        device, _, _ = (cookie or "").partition(".")
        return device if hmac.compare_digest((cookie or "").encode(), self.value(device).encode()) else ""

    def value(self, device: str) -> str:
        """The cookie's, of this phone."""
        return f"{device}.{hmac.new(self.secret, device.encode(), hashlib.sha256).hexdigest()}"

    def header(self, device: str, path: str, *, secure: bool) -> str:
        """Set-Cookie, for everything below this path."""
        more = "; Secure" if secure else ""
        kept = f"Path={path or '/'}; Max-Age={KEPT}; HttpOnly; SameSite=Lax{more}"
        return f"{COOKIE}={self.value(device)}; {kept}"
