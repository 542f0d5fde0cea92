"""Names of heads contain the key/value head only if a group shares it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from analysis.head_names import head_name
from model_runner import CaptureRequest, load_runner
from model_runner.edits import SharedKeys
from tests.model_runner.cases import TEXT, shared_runner


@pytest.mark.parametrize(
    "family, expected",
    [
        ("llama", ["H0 · kv 0", "H1 · kv 0", "H2 · kv 1", "H3 · kv 1"]),
        ("gpt2", ["H0", "H1", "H2", "H3"]),  # each its own
        ("gpt-bigcode", ["H0", "H1", "H2", "H3"]),  # one for all
    ],
)
def test_heads_of_a_group_have_equal_ends(family, expected):
    capture = shared_runner(family).capture(CaptureRequest(text=TEXT))
    assert [head_name(capture, 1, head) for head in range(4)] == expected


def test_heads_that_an_edit_made_share_are_a_group():
    request = CaptureRequest(text="a", edits=(SharedKeys(2),))
    capture = load_runner("default").capture(request)  # eight heads, four of keys and values
    assert [head_name(capture, 0, head) for head in (0, 3, 4)] == ["H0 · kv 0", "H3 · kv 0", "H4 · kv 1"]
    alone = shared_runner("gpt2").capture(replace(request, edits=(SharedKeys(2),)))
    assert [head_name(alone, 0, head) for head in range(4)] == ["H0 · kv 0", "H1 · kv 0", "H2 · kv 1", "H3 · kv 1"]
