"""A file's description of its text: all of it on one line, or its beginning, and any other inputs."""

from __future__ import annotations

import pytest

from analysis.text_words import LONGEST, described_text
from model_runner import CaptureRequest


@pytest.mark.parametrize(
    "request_, said",
    [
        (CaptureRequest(text="The dog"), "“The dog”"),
        (CaptureRequest(text="a\n b\t c "), "“a b c”"),
        (CaptureRequest(text="x" * LONGEST), f"“{'x' * LONGEST}”"),
        (CaptureRequest(text="x" * 1201), f"“{'x' * LONGEST} … (1,201 characters)”"),
        (CaptureRequest(text="a", chat=True, continuation=(1, 2)), "“a” in the chat template + 2 generated tokens"),
    ],
)
def test_a_text_is_one_line_with_what_was_read_besides(request_, said):
    assert described_text(request_) == said
