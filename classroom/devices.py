"""Phones identified by random bits in a signed cookie, so that each phone has one vote.

An id chosen by the phone itself would allow any number of votes. The secret is saved with the rooms (kept_rooms.py); a
server that saves none loses the votes at a restart anyway, and then issues new cookies.
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
    """Limits the number of new phones per minute and source network.

    A phone that stays joins once; joining repeatedly as a new phone costs the server time. Used by the event loop only.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._came: dict[str, list[float]] = {}  # source → times at which its phones joined in the last minute

    def may(self, source: str, most: int) -> bool:
        """Count another new phone of this source and return True if that is within ``most`` per minute."""
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
    """Cookies of one server, with the saved secret or a new one."""

    def __init__(self, secret: bytes | None = None) -> None:
        self.secret = secrets.token_bytes(32) if secret is None else secret

    def new(self) -> str:
        """Return an id for a new phone."""
        return secrets.token_hex(16)

    def known(self, cookie: str | None) -> str:
        """Return the phone of this cookie value; empty if this server did not sign it."""
        device, _, _ = (cookie or "").partition(".")
        return device if hmac.compare_digest((cookie or "").encode(), self.value(device).encode()) else ""

    def value(self, device: str) -> str:
        """Return the cookie value of this phone."""
        return f"{device}.{hmac.new(self.secret, device.encode(), hashlib.sha256).hexdigest()}"

    def header(self, device: str, path: str, *, secure: bool) -> str:
        """Return the Set-Cookie header for paths below this one."""
        more = "; Secure" if secure else ""
        kept = f"Path={path or '/'}; Max-Age={KEPT}; HttpOnly; SameSite=Lax{more}"
        return f"{COOKIE}={self.value(device)}; {kept}"
