"""What the page Compare holds: the second side, B, as far as it is not the same as the first, and the open view."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ui.state.page_state import current, setting

N_ = str  # marks a text for Babel without translating it here

MOST_CHARACTERS = 1500  # of the second text: what an address holds
MOST_OF_A_NAME = 300  # characters of a model's name, which may be a folder's path

SAME = ":same"  # as the model of B: A's, where another one would stand for no choice
SWITCHED = ":switched"  # as the model of B: A's, with its adapter where A is without, and without where A is with

View = Literal["maps", "metrics", "next", "matrices", "tokens"]


@dataclass(frozen=True)
class CompareState:
    """Of B. "" for the model and the text is A's, or another where A's would show nothing: see ``other.py``.

    ``head`` is a name, as L3H7; for "" the page picks one. ``layers``: not those two heads but their layers, the mean
    of all heads of each.
    """

    SCOPE: ClassVar[str] = "compare"

    view: View = setting("maps", N_("view"))
    model: str = setting("", N_("model of B"), max_length=MOST_OF_A_NAME)
    text: str = setting("", N_("text of B"), max_length=MOST_CHARACTERS)
    head: str = setting("", N_("head of B"), max_length=16)
    layers: bool = setting(False, N_("whole layers"))


def state() -> CompareState:
    """What the page holds now."""
    return current(CompareState)
