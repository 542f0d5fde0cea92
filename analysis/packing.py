"""Short documents in windows of one length: one a row, filled up with padding, or several packed into a row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class PackedPiece:
    """So many tokens of a document; one longer than a window is cut into several."""

    document: int
    length: int


@dataclass(frozen=True)
class Windows:
    """Rows of pieces, each at most ``window`` tokens together; what is left of a row is padding."""

    window: int
    rows: tuple[tuple[PackedPiece, ...], ...]

    @property
    def tokens(self) -> int:
        return sum(piece.length for row in self.rows for piece in row)

    @property
    def padding(self) -> float:
        """The share of all places that is padding; 0 without a row."""
        places = self.window * len(self.rows)
        return 1 - self.tokens / places if places else 0.0


def one_a_row(lengths: Sequence[int], window: int) -> Windows:
    """Each document in rows of its own, in their order."""
    return Windows(window, tuple((piece,) for piece in _pieces(lengths, window)))


def packed(lengths: Sequence[int], window: int) -> Windows:
    """The longest first, each into the first row that has room (first-fit decreasing, Johnson 1973).

    At most 11/9 of the fewest rows, plus one. Krell et al. 2021 (arXiv:2107.02027) pack training texts in such ways.
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
