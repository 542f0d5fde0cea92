"""What a file says of the text that was read; in English, as all that files say of their numbers."""

from __future__ import annotations

from model_runner.request import CaptureRequest

LONGEST = 200  # characters of a text


def described_text(request: CaptureRequest) -> str:
    """The text on one line, its beginning where it is long, and what the model read besides: “The dog” + 3 tokens."""
    line = " ".join(request.text.split())
    shown = line if len(line) <= LONGEST else f"{line[:LONGEST]} … ({len(request.text):,} characters)"
    parts = [f"“{shown}”"]
    if request.chat:
        parts.append("in the chat template")
    if request.continuation:
        count = len(request.continuation)
        parts.append(f"+ {count} generated tokens" if count > 1 else "+ 1 generated token")
    if request.target is not None:
        parts.append(f"with “{request.target[:LONGEST]}” written")
    if request.attention is not None:
        parts.append(f"· {request.attention} attention")
    return " ".join(parts)
