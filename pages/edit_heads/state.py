"""What the page Edit heads holds: the view, the next change of the open head, the token, and what is patched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from jobs.patching import Kind
from ui.state.page_state import current, setting

N_ = str  # marks a text for Babel without translating it here

MOST_PLACES = 10**6  # no layer or head is beyond it
MOST_CHARACTERS = 1500  # of the second text: what an address holds
MOST_TYPED = 500  # of cells to hide, as pairs
SUGGESTED = "\0"  # the second text is the page's own choice, which an emptied box is not

View = Literal["edit", "effects", "patching"]
Change = Literal["zero", "mean", "scale", "sharpen", "block", "swap", "choose"]
Where = Literal["head", "layer", "all"]
Way = Literal["into", "from"]
Compared = Literal["alone", "difference"]


@dataclass(frozen=True)
class EditHeadsState:
    """Each token is an id, or what was typed after a '; nothing: the likeliest.

    ``row`` is the selected layer of the patched map where no page can open it, having no softmax attention.
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
    """What the page holds now."""
    return current(EditHeadsState)
