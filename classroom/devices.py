"""Which phone it is: random bits that this server chose and signed, in a cookie, so that one phone has one vote.

A phone's own word would be as many votes as it likes to send. The secret is kept with the rooms (kept_rooms.py); a
server that keeps none has forgotten the votes when it was started again, and gives new cookies.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets

COOKIE = "atlas_phone"
KEPT = 6 * 3600  # seconds: a school day


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
