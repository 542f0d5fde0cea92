"""Who is a teacher: whose verified address is on the host's list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hosting.settings import Settings


def may_teach(hosted: Settings | None, user: Mapping[str, Any]) -> bool:
    """Whether this user, by the claims of an OpenID Connect provider, may open a room.

    On a machine of one's own (``hosted`` None) always. An address that the provider calls unverified is none.
    """
    if hosted is None:
        return True
    address = str(user.get("email") or "").strip().lower()
    if not user.get("is_logged_in") or user.get("email_verified") is False or address.count("@") != 1:
        return False
    _, domain = address.split("@")
    return any(one.strip().lower() in (address, f"@{domain}") for one in hosted.sign_in.teachers)
