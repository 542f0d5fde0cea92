"""After signing in or out, return to the page that was open; Streamlit (1.67) always goes to the first page.

The browser names the page in the Referer header. Beyond 4,096 characters it sends only the origin, and the first page
is used. A cookie holds the page until the browser is back, or for ten minutes.
"""

from __future__ import annotations

from urllib.parse import urlsplit

COOKIE = "atlas_way_back"
LEAVES, RETURNS = ("/auth/login", "/auth/logout"), "/oauth2callback"  # Streamlit's own routes
LONGEST, KEPT = 3800, 600  # characters of a cookie, which may have 4,096 with its attributes; seconds
UNSAFE = {ord(one): f"%{ord(one):02X}" for one in ' ";,\\'}  # in a cookie's value

Headers = list[tuple[bytes, bytes]]


def with_return_page(path: str, asked: Headers, told: Headers, origin: str, base: str) -> Headers:
    """Add the redirect to the response headers ``told`` for a request of ``path`` with headers ``asked``, below
    ``base``.
    """
    leaves = path in LEAVES
    if not leaves and path != RETURNS:
        return told
    back = _page(_first(asked, b"referer"), origin, base) if leaves else _cookie(asked)
    if not is_page(back, base):
        return told
    if _first(told, b"location") == f"{base}/":
        told = [(name, value) for name, value in told if name.lower() != b"location"]
        told.append((b"location", back.encode("latin-1")))
        return told if leaves else [*told, _set("", 0, base)]
    return [*told, _set(back, KEPT, base)] if leaves else told


def is_page(address: str, base: str) -> bool:
    """Return True if this URL (path and query, as a browser writes them) is a page of this server."""
    plain = address.isascii() and address.isprintable() and "\\" not in address
    return plain and address.startswith(f"{base}/") and not address.startswith("//") and len(address) <= LONGEST


def _page(referer: str, origin: str, base: str) -> str:
    if not referer.startswith(f"{origin}/"):
        return ""
    parts = urlsplit(referer)
    page = parts.path + (f"?{parts.query}" if parts.query else "")
    return "" if page == f"{base}/" else page.translate(UNSAFE)


def _cookie(asked: Headers) -> str:
    for part in _first(asked, b"cookie").split(";"):
        name, _, value = part.strip().partition("=")
        if name == COOKIE:
            return value
    return ""


def _set(value: str, seconds: int, base: str) -> tuple[bytes, bytes]:
    return b"set-cookie", f"{COOKIE}={value}; Path={base}{RETURNS}; Max-Age={seconds}".encode("latin-1")


def _first(headers: Headers, wanted: bytes) -> str:
    return next((value.decode("latin-1") for name, value in headers if name.lower() == wanted), "")
