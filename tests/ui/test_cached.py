"""What is computed once of a capture is that capture's own."""

from __future__ import annotations

from types import SimpleNamespace

from model_runner import CaptureRequest
from model_runner.rotation_edit import NtkTheta, ScaledTheta
from ui import cached


def test_captures_of_two_kinds_of_edit_with_the_same_values_are_not_taken_for_each_other():
    half, ntk = (
        SimpleNamespace(request=CaptureRequest("a", edits=(edit,)), verify=lambda layer, edit=edit: (edit, layer))
        for edit in (ScaledTheta(0.5), NtkTheta(0.5))
    )
    assert cached.check(half, 0) == (ScaledTheta(0.5), 0)
    assert cached.check(ntk, 0) == (NtkTheta(0.5), 0)
