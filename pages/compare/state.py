"""The state of the page Compare: the second side, B, as far as it differs from the first, and the open view."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ui.state.page_state import current, setting

N_ = str  # marks a text for Babel without translating it here

MOST_CHARACTERS = 1500  # characters of the second text, which must fit in a URL
MOST_OF_A_NAME = 300  # characters of a model's name, which may be a folder's path

SAME = ":same"  # B's model is A's, in the view where the default is another one
SWITCHED = ":switched"  # B's model is A's, with the adapter applied if A's is not, and vice versa

View = Literal["maps", "metrics", "next", "matrices", "tokens"]


@dataclass(frozen=True)
class CompareState:
    """Side B. An empty model or text means A's, or another if A's would show nothing: see ``other.py``.

    ``head`` is a name such as L3H7; if empty, the page picks one. ``layers``: compare the two heads' layers, each as
    the mean of its heads.
    """

    SCOPE: ClassVar[str] = "compare"

    view: View = setting("maps", N_("view"))
    model: str = setting("", N_("model of B"), max_length=MOST_OF_A_NAME)
    text: str = setting("", N_("text of B"), max_length=MOST_CHARACTERS)
    head: str = setting("", N_("head of B"), max_length=16)
    layers: bool = setting(False, N_("whole layers"))


def state() -> CompareState:
    """The page's current state."""
    return current(CompareState)
