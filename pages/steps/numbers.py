"""The small numbers of the page Step by step: the defaults, and the reader's edits as the URL holds them.

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
    """The valid edits in the URL; invalid ones are reported and dropped."""
    return readable_changes(StepsState, state().numbers, LETTERS)


def numbers_of(n_tokens: int, d_model: int, written: str) -> ExampleNumbers:
    """The default numbers of these sizes with these edits; entries that do not exist at these sizes are ignored."""
    return with_changes(usual_numbers(n_tokens, d_model), written, NAMES, LETTERS)


def row_of(letter: Literal["S", "P"], usual: Any, written: str) -> Any:
    """A view's single row, a tensor, with these edits."""
    row = usual.clone()
    for name, line, column, value in changes_of(written, LETTERS)[0]:
        if name == letter and line == 0 and column < len(row):
            row[column] = value
    return row
