"""Check the certificate as a browser that trusts its issuer would, by a TLS handshake in memory."""

from __future__ import annotations

import ssl
import time
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

from hosting.checks.finding import Findings, error, ok, warning
from hosting.settings import Server

SOON = 14  # days before expiry; issuers renew about a month before
DAY = 24 * 3600  # seconds
WHAT = "server.certificate"


def certificate(server: Server) -> Findings:
    """Check that the certificate matches its key, is valid now and names the URL's host, and report its expiry."""
    if not server.certificate:
        return
    offered = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        offered.load_cert_chain(server.certificate, server.key, password=_no_password)
    except _Locked:
        yield error("server.key", "it is locked with a password, which the server cannot type; store it without one.")
        return
    except ssl.SSLError as problem:
        mismatch = problem.reason == "KEY_VALUES_MISMATCH"
        words = "the key belongs to another certificate." if mismatch else "it and its key are not files of PEM."
        yield error(WHAT, words)
        return
    except OSError as problem:
        yield error(WHAT, f"it or its key cannot be read: {problem.strerror}.")
        return
    host = urlsplit(server.public).hostname or ""
    try:
        until = _shaken(offered, _trusting(server.certificate), host)
    except ssl.SSLCertVerificationError as problem:
        yield error(WHAT, f"browsers refuse it: {problem.verify_message}.")
        return
    days = int((until - time.time()) / DAY)
    words = f"it and its key match, it names {host}, and lasts for {days} more days."
    yield warning(WHAT, f"{words} Renew it.") if days < SOON else ok(WHAT, words)
    with suppress(OSError):  # an empty store, as in a small container, says nothing about browsers
        yield from _known(offered, host)
    if Path(server.key).stat().st_mode & 0o004:
        yield warning("server.key", f"everybody on this machine can read it; run chmod o-r {server.key}.")


def _known(offered: ssl.SSLContext, host: str) -> Findings:
    try:
        _shaken(offered, ssl.create_default_context(), host)
    except ssl.SSLCertVerificationError:
        yield warning(
            WHAT,
            "this machine does not trust its issuer; a school's own issuer has to be installed on every phone, and a "
            "file with intermediate certificates needs all of them.",
        )


class _Locked(Exception):
    """The key is encrypted with a password."""


def _no_password() -> str:
    raise _Locked


def _trusting(certificate: str) -> ssl.SSLContext:
    """Context of a browser that trusts only this certificate, whoever issued it; it checks names and dates."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.load_verify_locations(certificate)
    return context


def _shaken(server: ssl.SSLContext, browser: ssl.SSLContext, host: str) -> float:
    """Return the certificate's expiry in seconds since 1970. Raises SSLCertVerificationError."""
    up, down = ssl.MemoryBIO(), ssl.MemoryBIO()
    theirs = browser.wrap_bio(down, up, server_hostname=host)
    ours = server.wrap_bio(up, down, server_side=True)
    for side in (theirs, ours, theirs, ours, theirs):
        with suppress(ssl.SSLWantReadError):
            side.do_handshake()
    found = theirs.getpeercert() or {}
    return ssl.cert_time_to_seconds(str(found["notAfter"]))
