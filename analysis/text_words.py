"""Descriptions of the input text in files, in English like the rest of their captions."""

from __future__ import annotations

from model_runner.request import CaptureRequest
from model_runner.sound import Sound, rising_tone

LONGEST = 200  # characters of a text


def described_sound(sound: Sound) -> str:
    """Its length and sample rate, and whether it is the built-in tone."""
    made = "a rising tone, made here, of" if sound == rising_tone() else "a sound of"
    return f"{made} {sound.seconds:.2f} s at {sound.rate:,} Hz"


def described_text(request: CaptureRequest) -> str:
    """The text on one line, shortened, and what the model read besides: “The dog” + 3 tokens."""
    line = " ".join(request.text.split())
    shown = line if len(line) <= LONGEST else f"{line[:LONGEST]} … ({len(request.text):,} characters)"
    parts = [f"“{shown}”" if request.sound is None else described_sound(request.sound)]
    if request.chat:
        parts.append("in the chat template")
    if request.continuation:
        count = len(request.continuation)
        parts.append(f"+ {count} generated tokens" if count > 1 else "+ 1 generated token")
    if request.target or (request.target is not None and not request.continuation):
        parts.append(f"with “{request.target[:LONGEST]}” written")
    if request.attention is not None:
        parts.append(f"· {request.attention} attention")
    return " ".join(parts)
