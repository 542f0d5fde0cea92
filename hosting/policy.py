"""Security headers of every response: what a page may load, who may frame it, and what the browser passes on."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator

from hosting.settings import Server

INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)
YEAR = 365 * 24 * 3600  # seconds
READ_BY_SCRIPT = "_streamlit_xsrf="  # read by Streamlit's page and sent back; scripts may read no other cookie


def headers(server: Server, page: str) -> tuple[tuple[str, str], ...]:
    """Header names and values; ``page`` is the HTML of the app, whose inline scripts are allowed by hash.

    Why each directive is needed: Streamlit (1.67) loads components' scripts from blobs, and its message decoder needs
    WebAssembly; emotion, Plotly and the SVG of our figures write styles; pictures are data URLs or blobs from a canvas;
    Plotly and the tables start workers.
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
    yield "referrer-policy", "same-origin"  # the URL contains the text, which no other site may learn
    yield "permissions-policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"
    if not server.framed_by:
        yield "x-frame-options", "DENY"
    if server.secure:
        yield "strict-transport-security", f"max-age={YEAR}"


def cookie(value: str, *, secure: bool) -> str:
    """A Set-Cookie header with the missing attributes added: SameSite, HttpOnly, and Secure if visitors use TLS."""
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
