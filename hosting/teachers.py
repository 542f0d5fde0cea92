"""Teachers: users whose verified email address is on the host's list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hosting.settings import Settings


def may_teach(hosted: Settings | None, user: Mapping[str, Any]) -> bool:
    """Return True if this user, by the claims of an OpenID Connect provider, may open a room.

    In single-user mode (``hosted`` None) always. An address that the provider marks as unverified does not count.
    """
    if hosted is None:
        return True
    address = str(user.get("email") or "").strip().lower()
    if not user.get("is_logged_in") or user.get("email_verified") is False or address.count("@") != 1:
        return False
    _, domain = address.split("@")
    return any(one.strip().lower() in (address, f"@{domain}") for one in hosted.sign_in.teachers)
