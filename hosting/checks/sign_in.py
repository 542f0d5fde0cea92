"""Check that teachers can sign in: the provider answers, and only the server can read its secrets."""

from __future__ import annotations

import json
import os
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

from hosting.checks.finding import Findings, error, ok, warning
from hosting.settings import NEAR, Settings

PATIENCE = 10.0  # seconds for the provider to answer
MOST = 1 << 20  # largest answer in bytes
# required metadata of an OpenID Connect provider
NEEDED = ("issuer", "authorization_endpoint", "token_endpoint", "jwks_uri")
SHORTEST = 32  # shortest secret for signing cookies, in characters


def sign_in(settings: Settings) -> Findings:
    """Check metadata, secrets and the list of teachers."""
    held = settings.sign_in
    if not held.metadata:
        yield warning("sign_in", "there is none: nobody can open a room on this server.")
        return
    yield from _metadata(held.metadata)
    yield from _secret("sign_in.client_secret_file", held.client_secret_file, 1)
    if held.cookie_secret_file:
        yield from _secret("sign_in.cookie_secret_file", held.cookie_secret_file, SHORTEST)
    else:
        yield warning("sign_in.cookie_secret_file", "there is none: a restart signs every teacher out.")
    yield from _teachers(held.teachers)


def _metadata(url: str) -> Findings:
    what, parts = "sign_in.metadata", urlsplit(url)
    if parts.scheme != "https" and parts.hostname not in NEAR:
        yield error(what, f"{url} must begin with https://.")
        return
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
            told = json.loads(answer.read(MOST))
    except (OSError, ValueError) as problem:
        yield error(what, f"{url} does not answer as a provider does ({getattr(problem, 'reason', problem)}).")
        return
    missing = [name for name in NEEDED if not isinstance(told, dict) or name not in told]
    if missing:
        yield error(what, f"{url} is no OpenID Connect configuration; it lacks {', '.join(missing)}.")
    else:
        yield ok(what, f"{told['issuer']} answers.")


def _secret(what: str, path: str, least: int) -> Findings:
    file = Path(path)
    try:
        secret = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as problem:
        yield error(what, f"{path} cannot be read: {getattr(problem, 'strerror', None) or 'it is no text'}.")
        return
    if len(secret) < least:
        words = "is empty" if not secret else f"has {len(secret)} characters; it needs {least} random ones"
        yield error(what, f"{path} {words}.")
    elif os.name == "posix" and file.stat().st_mode & 0o007:
        yield error(what, f"everybody on this machine can read {path}; run chmod o= {path}.")
    else:
        yield ok(what, "it is readable, and not by everybody.")


def _teachers(listed: tuple[str, ...]) -> Findings:
    what = "sign_in.teachers"
    wrong = [one for one in listed if one.strip().count("@") != 1 or one.strip().endswith("@")]
    if not listed:
        yield error(what, "the list is empty: nobody could open a room.")
    elif wrong:
        yield error(what, f"“{wrong[0]}” is neither an e-mail address nor a domain such as “@school.org”.")
    else:
        yield ok(what, f"{len(listed)} {'entry' if len(listed) == 1 else 'entries'}.")
