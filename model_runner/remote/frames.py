"""How the server answers a question: frames, each a letter, the length of what follows, and that.

Frames that say how many others are answered before come while the question waits, twice a second: they show a reader
what goes on, and whoever stands between that the connection is in use. The last frame is the answer, or the refusal.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable

WAITING, ANSWER, REFUSAL = b"w", b"a", b"e"
HEAD = struct.Struct("<cQ")
WAITING_EVERY = 0.5  # seconds
FRAMES = "application/x-attention-atlas-frames"  # the content type of an answer in frames
VALUE = "application/x-attention-atlas"  # of one value, as model_runner.wire writes it
VERSION = "x-atlas-format"  # the header with which each side says which version of the wire it speaks
LONGEST_WAIT = "x-atlas-seconds"  # the header that says how long the answer is waited for
ROUTE = "x-session-id"  # the header by which a proxy sends what belongs together to one server


def frame(kind: bytes, data: bytes) -> bytes:
    """One frame."""
    return HEAD.pack(kind, len(data)) + data


def last_frame(pieces: Iterable[bytes], waiting: Callable[[int], None]) -> tuple[bytes, bytes]:
    """Kind and content of the last frame; ``waiting`` hears how many others come first. Raises EOFError if it is cut.

    ValueError for what are no frames.
    """
    held, kind, length = bytearray(), b"", -1
    for piece in pieces:
        held += piece
        while True:
            if length < 0 and len(held) >= HEAD.size:
                kind, length = HEAD.unpack_from(held)
                del held[: HEAD.size]
                if kind not in (WAITING, ANSWER, REFUSAL):
                    raise ValueError("no frame")
            if length < 0 or len(held) < length:
                break
            if kind != WAITING:
                return kind, bytes(held)
            waiting(int.from_bytes(held[:length], "little"))
            del held[:length]
            length = -1
    raise EOFError
