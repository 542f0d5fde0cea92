"""The state of the page Edit heads: the view, the next edit of the open head, the target, and what is patched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from jobs.patching import Kind
from ui.state.page_state import current, setting

N_ = str  # marks a text for Babel without translating it here

MOST_PLACES = 10**6  # larger than any layer or head
MOST_CHARACTERS = 1500  # characters of the second text, which must fit in a URL
MOST_TYPED = 500  # characters of cells to hide, typed as pairs
SUGGESTED = "\0"  # the page chooses the second text; an empty box means something else

View = Literal["edit", "effects", "patching"]
Change = Literal["zero", "mean", "scale", "sharpen", "block", "swap", "choose"]
Where = Literal["head", "layer", "all"]
Way = Literal["into", "from"]
Compared = Literal["alone", "difference"]


@dataclass(frozen=True)
class EditHeadsState:
    """Tokens are ids, or typed text after a '; empty: the likeliest.

    ``row`` is the selected layer of the patched map if it has no softmax attention, so that no page can open it.
    """

    SCOPE: ClassVar[str] = "edit_heads"

    view: View = setting("edit", N_("view"))
    change: Change = setting("zero", N_("change"))
    factor: float = setting(2.0, N_("factor"), min=-1.0, max=3.0)
    temperature: float = setting(0.5, N_("temperature"), min=0.1, max=4.0)
    other: int | None = setting(None, N_("head"), min=0, max=MOST_PLACES)
    top_k: int = setting(0, N_("chosen keys"), min=0, max=MOST_PLACES)  # 0: every key
    where: Where = setting("head", N_("where"))
    cells: str = setting("", N_("Cells"), max_length=MOST_TYPED)
    token: str = setting("", N_("token"))
    compared: Compared = setting("alone", N_("what is compared"))
    against: str = setting("", N_("the other token"))
    patched: Kind = setting("residual", N_("what is patched"))
    way: Way = setting("into", N_("from where to where"))
    text: str = setting(SUGGESTED, N_("second text"), max_length=MOST_CHARACTERS)
    first: str = setting("", N_("first token"))
    second: str = setting("", N_("second token"))
    row: int | None = setting(None, N_("layer"), min=0, max=MOST_PLACES)


def state() -> EditHeadsState:
    """The page's current state."""
    return current(EditHeadsState)
