"""The state of the page Step by step: its view, whose numbers, their sizes and edits, and which step is open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from analysis.attention_otherwise import Matrices
from ui.state.page_state import current, setting
from ui.state.session_value import SessionValue
from ui.wording.i18n import _

N_ = str  # marks a text for Babel without translating it here

MOST_TOKENS, SMALLEST_D, LARGEST_D = 6, 3, 8
COLDEST, HOTTEST = 0.25, 4.0  # temperatures
SMALLEST_GAP, LARGEST_GAP = 1.0, 12.0  # between scores
LOWEST, HIGHEST = 1.0, 120.0  # largest scores
COVERED = SessionValue("steps_covered", bool)
LONGEST = 4000  # characters of edited numbers: all five matrices, twice over

View = Literal["steps", "scale", "length", "softmax", "similarity", "others", "gradients", "otherwise", "batch"]
Wide = Literal["2", "4", "8", "16", "32", "64", "128", "256", "512", "1024"]
Dtype = Literal["float16", "bfloat16", "float32"]
Source = Literal["small", "model"]
Otherwise = Literal["dictionary", "typed", "matrices", "rank"]
Softness = Literal["0", "0.1", "0.25", "0.5", "1", "2", "4", "inf"]  # temperatures of a lookup
TYPED = 200  # characters of numbers typed in a row
Softmax = Literal["row", "vocabulary"]
Counted = Literal["text", "book"]
Others = Literal["costs", "reading"]
Batch = Literal["padding", "cached", "packing"]
Window = Literal["128", "256", "512", "1024", "2048"]
Item = Literal["0", "1"]  # texts of a batch
Side = Literal["right", "left"]
Fill = Literal["inf", "1e9"]
Depth = Literal["6", "12", "24", "48"]
Gain = Literal["0.3", "0.5", "0.7", "1", "1.4", "2"]
OTHER_STEPS = (
    "dropout",
    "products",
    "gradient",
    "naive",
    "safe",
    "log",
    "online",
    "shares",
    "dot",
    "cosine",
    "asked",
    "offered",
    "additive",
    "lengths",
)
USUAL = "scores"  # the step with which most views start
STEPS = ("x", "q", "k", "v", "rq", "rk", "scores", "scale", "mask", "softmax", "mix", "concat", "out", *OTHER_STEPS)


@dataclass(frozen=True)
class StepsState:
    """``numbers`` are the edited small numbers in the format of :mod:`pages.steps.numbers`; an empty ``step`` is the
    view's first.
    """

    SCOPE: ClassVar[str] = "steps"

    view: View = setting("steps", N_("view"))
    source: Source = setting("small", N_("numbers"))
    tokens: int = setting(4, N_("number of tokens"), min=1, max=MOST_TOKENS)
    d: int = setting(4, N_("number of dimensions"), min=SMALLEST_D, max=LARGEST_D)
    heads: int = setting(1, N_("number of heads"), min=1, max=LARGEST_D)
    head: int = setting(0, N_("head"), min=0, max=LARGEST_D)
    kv_heads: int | None = setting(None, N_("key/value heads"), min=1, max=LARGEST_D)
    causal: bool = setting(True, N_("mask"))
    scaled: bool = setting(True, N_("division by √d"))
    numbers: str = setting("", N_("changed numbers"), max_length=LONGEST)
    step: str = setting("", N_("step"), options=lambda: ("", *STEPS))
    wide: Wide = setting("64", "d")
    temperature: float = setting(1.0, N_("temperature"), min=COLDEST, max=HOTTEST)
    gap: float = setting(7.0, N_("gap"), min=SMALLEST_GAP, max=LARGEST_GAP)
    largest: float = setting(12.0, N_("largest score"), min=LOWEST, max=HIGHEST)
    dtype: Dtype = setting("float16", N_("dtype"))
    leaf: int = setting(1, N_("token of the tree"), min=0, max=5)
    depth: Depth = setting("24", N_("depth of the stack"))
    gain: Gain = setting("0.7", N_("size of the weights"))
    otherwise: Otherwise = setting("dictionary", N_("attention seen otherwise"))
    softness: Softness = setting("1", N_("temperature of the look-up"))
    weights: str = setting("0.2, 0.1, 0.5, 0.2", N_("weights"), max_length=TYPED)
    values: str = setting("5, 1, 3, 2", N_("values"), max_length=TYPED)
    matrices: Matrices = setting("own", N_("matrices of queries and keys"))
    softmax: Softmax = setting("row", N_("softmax of"))
    counted: Counted = setting("text", N_("frequencies of"))
    frequent: int | None = setting(None, N_("token of the text"), min=0, max=10**9)
    cutoff: int = setting(2048, N_("tokens compared first"), min=1, max=10**7)
    others: Others = setting("costs", N_("self-attention beside others"))
    batch: Batch = setting("padding", N_("batch or cache"))
    window: Window = setting("512", N_("window"))
    short: int = setting(2, N_("tokens of the second text"), min=1, max=MOST_TOKENS)
    item: Item = setting("1", N_("text of the batch"))
    side: Side = setting("right", N_("side of the padding"))
    fill: Fill = setting("inf", N_("in hidden cells"))
    dropout: bool = setting(False, N_("dropout"))
    cached: int = setting(2, N_("tokens in the cache"), min=0, max=MOST_TOKENS)
    ask: bool = setting(False, N_("What comes here?"))


def state() -> StepsState:
    """The page's current state."""
    return current(StepsState)


def open_step(steps: Sequence[str], first: str = USUAL) -> str:
    """Which of a view's steps is open: the URL's, else the default, else the first."""
    return next((step for step in (state().step, first) if step in steps), steps[0])


def cover(ask: bool) -> bool:
    """Return ``ask``, and record whether this run hides results."""
    COVERED.set(ask)
    return ask


def covered() -> str:
    """Why the tables are hidden now; empty if nothing is hidden."""
    words = _("Numbers are hidden. Choose “show all numbers” to reveal them, and the tables.")
    return words if COVERED.get() else ""
