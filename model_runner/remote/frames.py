"""The format of a server's answer: frames that consist of a letter, the length of the content, and the content.

While the question waits, a frame with the number of questions ahead of it is sent twice a second. It shows the user
what is going on, and keeps proxies from closing the connection. The last frame is the answer or the error.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable

WAITING, ANSWER, REFUSAL = b"w", b"a", b"e"
HEAD = struct.Struct("<cQ")
WAITING_EVERY = 0.5  # seconds
FRAMES = "application/x-attention-atlas-frames"  # the content type of an answer in frames
VALUE = "application/x-attention-atlas"  # of one value, as model_runner.wire writes it
VERSION = "x-atlas-format"  # the header in which each side states its version of the wire format
LONGEST_WAIT = "x-atlas-seconds"  # the header with the timeout of the answer
ROUTE = "x-session-id"  # the header by which a proxy routes related requests to one server


def frame(kind: bytes, data: bytes) -> bytes:
    """Encode one frame."""
    return HEAD.pack(kind, len(data)) + data


def last_frame(pieces: Iterable[bytes], waiting: Callable[[int], None]) -> tuple[bytes, bytes]:
    """Kind and content of the last frame; ``waiting`` is called with the number of questions ahead.

    Raises EOFError if the stream is cut, ValueError if it is not made of frames.
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
