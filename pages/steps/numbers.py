"""The small numbers of the page Step by step: the usual ones, and those that a reader changed, as the address has them.

``X01_1.5~Q00_-2``: the matrix (X, Q, K, V, O), its row and column, the number. S is the row of scores of the view
softmax, P the row of products of the view why √d.
"""

from __future__ import annotations

from typing import Any, Literal

from attention.small_attention import ExampleNumbers, usual_numbers
from pages.steps.state import StepsState, state
from ui.shared.changed_numbers import changes_of, readable_changes, with_changes

NAMES = {"X": "x", "Q": "w_q", "K": "w_k", "V": "w_v", "O": "w_o"}
LETTERS = "XQKVOSP"


def changed() -> str:
    """The changes of the address as far as they can be read; what cannot is said and dropped."""
    return readable_changes(StepsState, state().numbers, LETTERS)


def numbers_of(n_tokens: int, d_model: int, written: str) -> ExampleNumbers:
    """The usual numbers of these sizes with these changes; those of places that there are not now are passed over."""
    return with_changes(usual_numbers(n_tokens, d_model), written, NAMES, LETTERS)


def row_of(letter: Literal["S", "P"], usual: Any, written: str) -> Any:
    """The one row of a view, a tensor, with these changes."""
    row = usual.clone()
    for name, line, column, value in changes_of(written, LETTERS)[0]:
        if name == letter and line == 0 and column < len(row):
            row[column] = value
    return row
