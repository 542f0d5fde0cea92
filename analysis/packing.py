"""Short documents in windows of one length: one per row with padding, or several packed into a row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class PackedPiece:
    """Tokens of a document; one longer than a window is split."""

    document: int
    length: int


@dataclass(frozen=True)
class Windows:
    """Rows of pieces, each with at most ``window`` tokens in total; the remainder of a row is padding."""

    window: int
    rows: tuple[tuple[PackedPiece, ...], ...]

    @property
    def tokens(self) -> int:
        return sum(piece.length for row in self.rows for piece in row)

    @property
    def padding(self) -> float:
        """The share of padding; 0 without rows."""
        places = self.window * len(self.rows)
        return 1 - self.tokens / places if places else 0.0


def one_a_row(lengths: Sequence[int], window: int) -> Windows:
    """Each document in rows of its own, in order."""
    return Windows(window, tuple((piece,) for piece in _pieces(lengths, window)))


def packed(lengths: Sequence[int], window: int) -> Windows:
    """The longest first, each into the first row that has room (first-fit decreasing, Johnson 1973).

    Uses at most 11/9 of the optimal number of rows, plus one. Krell et al. 2021 (arXiv:2107.02027) pack training texts
    like this.
    """
    rows: list[list[PackedPiece]] = []
    free: list[int] = []
    for piece in sorted(_pieces(lengths, window), key=lambda one: -one.length):
        place = next((at for at, room in enumerate(free) if room >= piece.length), None)
        if place is None:
            rows.append([piece])
            free.append(window - piece.length)
        else:
            rows[place].append(piece)
            free[place] -= piece.length
    return Windows(window, tuple(map(tuple, rows)))


def _pieces(lengths: Sequence[int], window: int) -> list[PackedPiece]:
    return [
        PackedPiece(document, min(window, length - start))
        for document, length in enumerate(lengths)
        for start in range(0, length, window)
    ]
