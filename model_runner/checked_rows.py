"""Which rows of a layer are recomputed to check it, and which of them together."""

from __future__ import annotations

EVERY_ROW = 1024  # tokens of a text of which every row is recomputed
RUNS, RUN = 16, 16  # of a longer one so many runs of so many rows are, spread evenly from the first to the last


def rows_checked(n_tokens: int) -> tuple[slice, ...]:
    """The rows that are recomputed: every one, in one piece, or runs of them where that would take too long."""
    if n_tokens <= EVERY_ROW:
        return (slice(0, n_tokens),)
    last = n_tokens - RUN
    return tuple(slice(start, start + RUN) for start in (round(last * run / (RUNS - 1)) for run in range(RUNS)))


def rows_together(n_tokens: int, most: int, joined: int) -> list[list[slice]]:
    """They in blocks of ``most`` rows, in order, and as many blocks together as ``joined`` rows allow, one at least."""
    blocks = [
        slice(start, min(start + most, piece.stop))
        for piece in rows_checked(n_tokens)
        for start in range(piece.start, piece.stop, most)
    ]
    together: list[list[slice]] = []
    left = 0
    for block in blocks:
        n_rows = block.stop - block.start
        if together and n_rows <= left:
            together[-1].append(block)
        else:
            together.append([block])
            left = joined
        left -= n_rows
    return together
