"""The state of the page Positions: its view, the sliders, and the what-if question with its amount."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

from analysis.added_positions import Order
from analysis.distance_curves import Contents
from ui.state.page_state import change, current, refuse, setting
from ui.wording.i18n import _
from viz.components.rotation.rotation import Span

N_ = str  # marks a text for Babel without translating it here

FARTHEST = 10**9  # upper bound of a position

View = Literal["rotation", "difference", "frequencies", "distance", "what_if", "others", "sinusoid"]
Slider = Literal["at", "m", "n", "delta"]
Sine = Literal["table", "turn", "terms", "shuffled"]
Size = Literal["4", "8", "16", "32", "64", "128", "256", "512"]
Question = Literal["off", "theta", "ntk", "shift", "restart", "documents"]


@dataclass(frozen=True)
class PositionsState:
    """Sliders are None at the token's own position; a what-if's amount is in the field of its name.

    ``restart`` and ``documents`` are tokens at which the text is cut, None for its middle. ``sine`` is what is shown of
    sinusoidal positions, in ``size`` dimensions; ``delta`` is the shift in steps.
    """

    SCOPE: ClassVar[str] = "positions"

    view: View = setting("rotation", N_("view"))
    sets: Literal["query", "key"] = setting("query", N_("a click on the text"))
    at: int | None = setting(None, N_("position"), min=0, max=FARTHEST)
    m: int | None = setting(None, N_("position"), min=0, max=FARTHEST)
    n: int | None = setting(None, N_("position"), min=0, max=FARTHEST)
    span: Span = setting("near", N_("range"))
    lock: bool = setting(True, N_("keep the difference m − n"))
    pair: int | None = setting(None, N_("pair of dimensions"), min=0, max=FARTHEST)
    contents: Contents = setting("text", N_("contents"))
    reach: Literal["64", "256", "2048"] = setting("64", N_("reach"))
    what_if: Question = setting("off", N_("what if"))
    off: Literal["model", "layer", "head"] = setting("model", N_("where"))
    theta: Literal["2", "0.5", "4", "0.25", "8", "0.125"] = setting("2", N_("amount"))
    ntk: Literal["2", "4", "8"] = setting("2", N_("amount"))
    shift: Literal["1", "10", "100", "1000"] = setting("1", N_("amount"))
    restart: int | None = setting(None, N_("token"), min=1, max=FARTHEST)
    documents: int | None = setting(None, N_("token"), min=1, max=FARTHEST)
    sine: Sine = setting("table", N_("sinusoidal positions"))
    size: Size = setting("16", N_("number of dimensions"))
    dim: int = setting(0, N_("dimension"), min=0, max=511)
    delta: int | None = setting(None, N_("steps Δ"), min=0, max=FARTHEST)
    order: Order = setting("reversed", N_("another order"))
    added: bool = setting(False, N_("add positions"))


def state() -> PositionsState:
    """The page's current state."""
    return current(PositionsState)


def place(name: Slider, own: int, count: int) -> int:
    """A slider's value, of ``count`` positions; one beyond its end is reported and dropped."""
    held: int | None = getattr(state(), name)
    if held is not None and held >= count:
        words = _("Position {value} is beyond the slider, which ends at {end}.").format(value=held, end=count - 1)
        refuse(PositionsState, name, words)
        held = None
    return own if held is None else held


def put(name: Slider, own: int) -> Callable[[int], None]:
    """Return a handler that stores a slider's position; the token's own position is not written to the URL."""
    return lambda position: change(PositionsState, **{name: None if position == own else int(position)})


def pinned(count: int) -> int | None:
    """The open pair, of ``count`` rotated ones; an invalid one is reported and dropped."""
    pair = state().pair
    if pair is not None and pair >= count:
        words = _("This head turns {count} pairs of dimensions, numbered from 0: there is no pair {pair}.")
        refuse(PositionsState, "pair", words.format(count=count, pair=pair))
        return None
    return pair


def pin(pair: int | None) -> None:
    """Open another pair, or none."""
    change(PositionsState, pair=pair)


def widen(span: Span) -> None:
    """Change the sliders' range."""
    change(PositionsState, span=span)


def tie(lock: bool) -> None:
    """Link the two sliders or unlink them."""
    change(PositionsState, lock=bool(lock))


def sliders_back() -> None:
    """Reset every slider to its token's own position."""
    change(PositionsState, at=None, m=None, n=None)
