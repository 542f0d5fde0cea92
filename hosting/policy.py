"""The headers that a hosted app sends with every answer: what a page may load, who may frame it, what is told on."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator

from hosting.settings import Server

INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)
YEAR = 365 * 24 * 3600  # seconds
READ_BY_SCRIPT = "_streamlit_xsrf="  # a cookie that Streamlit's page sends back by itself; no other is for scripts


def headers(server: Server, page: str) -> tuple[tuple[str, str], ...]:
    """Names and values; ``page`` is the HTML that the app is loaded with, whose own scripts are allowed by their hash.

    What each directive is for: Streamlit (1.67) loads components' scripts from blobs,
    and what reads its messages asks for WebAssembly; emotion, Plotly and the SVG of
    our figures write styles; pictures are data or blobs that a canvas made; Plotly and the tables start workers.
    """
    hashes = " ".join(f"'sha256-{_sha256(script)}'" for script in INLINE.findall(page))
    framed = " ".join(server.framed_by) or "'none'"
    policy = {
        "default-src": "'none'",
        "script-src": f"'self' blob: 'wasm-unsafe-eval' {hashes}".rstrip(),
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "media-src": "'self' blob:",
        "connect-src": f"'self' {server.origin.replace('http', 'ws', 1)}",
        "worker-src": "'self' blob:",
        "manifest-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": framed,
    }
    return tuple(_all(server, "; ".join(f"{name} {value}" for name, value in policy.items())))


def _all(server: Server, policy: str) -> Iterator[tuple[str, str]]:
    yield "content-security-policy", policy
    yield "x-content-type-options", "nosniff"
    yield "referrer-policy", "same-origin"  # the address holds the text: no other site is told it
    yield "permissions-policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"
    if not server.framed_by:
        yield "x-frame-options", "DENY"
    if server.secure:
        yield "strict-transport-security", f"max-age={YEAR}"


def cookie(value: str, *, secure: bool) -> str:
    """A Set-Cookie header with all that it lacks: SameSite, HttpOnly, and Secure where visitors come by TLS."""
    has = {part.strip().split("=")[0].lower() for part in value.split(";")[1:]}
    if "samesite" not in has:
        value += "; SameSite=Lax"
    if "httponly" not in has and not value.startswith(READ_BY_SCRIPT):
        value += "; HttpOnly"
    if secure and "secure" not in has:
        value += "; Secure"
    return value


def _sha256(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
