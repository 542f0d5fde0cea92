"""A cached result is returned for the same request, and for no other."""

from __future__ import annotations

from types import SimpleNamespace

from model_runner import CaptureRequest
from model_runner.byte_lru import ByteBudgetCache
from model_runner.rotation_edit import NtkTheta, ScaledTheta
from ui.shared import cached
from ui.state import session


def test_captures_of_two_kinds_of_edit_with_the_same_values_are_not_taken_for_each_other():
    half, ntk = (
        SimpleNamespace(request=CaptureRequest("a", edits=(edit,)), verify=lambda layer, edit=edit: (edit, layer))
        for edit in (ScaledTheta(0.5), NtkTheta(0.5))
    )
    assert cached.check(half, 0) == (ScaledTheta(0.5), 0)
    assert cached.check(ntk, 0) == (NtkTheta(0.5), 0)


def test_what_one_function_made_is_not_given_to_another_that_has_the_same_key(monkeypatch):
    held = ByteBudgetCache(10**6)
    monkeypatch.setattr(session, "kept", lambda: held)
    key = ("vocabulary", "default", "", 8192)

    def a_list() -> list[str]:
        return ["token"]

    def a_table() -> dict[str, int]:
        return {"token": 7}

    assert (cached.made(key, a_list), cached.made(key, a_table)) == (["token"], {"token": 7})
    assert cached.made(key, a_list) is cached.made(key, a_list)
