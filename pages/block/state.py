"""The state of the page The block: its view, and each view's settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from analysis.decoder_sizes import BY_NAME
from ui.state.page_state import current, setting

N_ = str  # marks a text for Babel without translating it here

MOST = 10**6  # layers; upper bound of all numbers
LONGEST = 40  # characters of a typed token
LONGEST_TEXT = 1500  # characters of a second text, which must fit in a URL
SUGGESTED = "\0"  # the page chooses the second text; an empty box means something else

View = Literal[
    "architecture", "embedding", "context", "stream", "streams", "norms", "ffn", "experts", "lens", "learning", "sizes"
]
Blocks = Literal["own", "two"]
Streams = Literal["all", "needed", "cache"]
Links = Literal["all", "head"]
Least = Literal["5", "10", "20", "30", "50"]  # percent of a row
Tokens = Literal["one", "all"]
Rate = Literal["0.001", "0.003", "0.01", "0.03", "0.1", "0.3"]
RATES: tuple[Rate, ...] = get_args(Rate)  # learning rates of one training step
Shade = Literal["probability", "entropy", "kl"]
Source = Literal["own", "random"]
Ffn = Literal["units", "own", "small"]
Activation = Literal["ReLU", "GELU", "SiLU"]
SMALL_ACTIVATIONS: tuple[Activation, ...] = get_args(Activation)
FFN_LETTERS = "XGFBDE"  # small matrices of a feed-forward network, as letters in the URL
FFN_STEPS = (
    "ffn_x", "ffn_gate", "ffn_gate_bias", "ffn_act", "ffn_first", "ffn_first_bias", "ffn_bias", "ffn_times",
    "ffn_second", "ffn_out",
)  # fmt: skip
CHANGED = 2000  # characters of edited numbers: all of them, twice over
SIZES = ("layers", "heads", "kv_heads", "d_model", "d_head", "d_ffn", "vocabulary")  # sizes that can be typed


@dataclass(frozen=True)
class BlockState:
    """``row`` None is the last row of the lens, the model's output; ``block`` and ``layer`` None are the open one;
    ``expert_layer`` None is the first layer with experts.

    Sizes that are None are those of ``like``; an empty one means the open model, or a known model if the formula does
    not give the open one's sizes. The embedding's token is ``token`` by id, or else the typed ``word``, or else the
    text's. ``across`` and ``up`` are the words that span the plane of paths; an empty ``step`` is the view's first.
    """

    SCOPE: ClassVar[str] = "block"

    view: View = setting("architecture", N_("view"))
    block: int | None = setting(None, N_("block"), min=0, max=MOST)
    layer: int | None = setting(None, N_("layer"), min=0, max=MOST)
    experts: Source = setting("own", N_("experts"))
    expert_layer: int | None = setting(None, N_("layer with experts"), min=0, max=MOST)
    tokens: Tokens = setting("one", N_("tokens"))
    blocks: Blocks = setting("own", N_("blocks"))
    streams: Streams = setting("all", N_("streams"))
    links: Links = setting("all", N_("links"))
    least: Least = setting("20", N_("smallest link"))
    shade: Shade = setting("probability", N_("colours of the lens"))
    rate: Rate = setting("0.01", N_("learning rate"))
    row: int | None = setting(None, N_("row of the lens"), min=0, max=MOST)
    like: str = setting("", N_("sizes of"), options=lambda: ("", "own", *BY_NAME))
    layers: int | None = setting(None, N_("number of layers"), min=1, max=10**4)
    heads: int | None = setting(None, N_("number of heads"), min=1, max=10**4)
    kv_heads: int | None = setting(None, N_("key/value heads"), min=1, max=10**4)
    d_model: int | None = setting(None, N_("width d"), min=1, max=10**6)
    d_head: int | None = setting(None, N_("d of a head"), min=1, max=10**5)
    d_ffn: int | None = setting(None, N_("width of the FFN"), min=1, max=10**7)
    vocabulary: int | None = setting(None, N_("vocabulary"), min=1, max=10**8)
    seen: int = setting(8192, N_("tokens in the cache"), min=1, max=10**8)
    ffn: Ffn = setting("units", N_("FFN"))
    activation: Activation = setting("ReLU", N_("activation"))
    gated: bool = setting(False, N_("gated"))
    numbers: str = setting("", N_("changed numbers"), max_length=CHANGED)
    step: str = setting("", N_("step"), options=lambda: ("", *FFN_STEPS))
    ask: bool = setting(False, N_("What comes here?"))
    word: str = setting("", N_("token"), max_length=LONGEST)
    token: int | None = setting(None, N_("token id"), min=0, max=10**9)
    second: str = setting(SUGGESTED, N_("second text"), max_length=LONGEST_TEXT)
    across: str = setting("", N_("word across"), max_length=LONGEST)
    up: str = setting("", N_("word upwards"), max_length=LONGEST)


def state() -> BlockState:
    """The page's current state."""
    return current(BlockState)
