"""Which rows of a layer are recomputed for verification, and how they are batched."""

from __future__ import annotations

EVERY_ROW = 1024  # tokens of a text of which every row is recomputed
RUNS, RUN = 16, 16  # for longer texts, number and length of the runs of rows, spread evenly


def rows_checked(n_tokens: int) -> tuple[slice, ...]:
    """The rows that are recomputed: all, in one slice, or runs of them if that would take too long."""
    if n_tokens <= EVERY_ROW:
        return (slice(0, n_tokens),)
    last = n_tokens - RUN
    return tuple(slice(start, start + RUN) for start in (round(last * run / (RUNS - 1)) for run in range(RUNS)))


def rows_together(n_tokens: int, most: int, joined: int) -> list[list[slice]]:
    """The rows in blocks of at most ``most``, in order, grouped up to ``joined`` rows, at least one block per group."""
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
