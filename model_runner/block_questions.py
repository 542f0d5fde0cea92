"""What can be asked of a model's block: what it would say after each layer, its parts, and what each part adds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from jaxtyping import Float, Int
from torch import Tensor

from model_runner.errors import N_, EditNotPossible
from model_runner.layer_origin import LayerOrigin
from model_runner.question import Question
from model_runner.request import CaptureRequest


@dataclass(frozen=True, eq=False)
class Lens:
    """What the model's own output would be if its layers ended early; row 0 before the first, the last is the model's.

    ``ids`` and ``probabilities`` are the likeliest tokens, falling. ``entropy`` and ``kl``, KL(model ‖ row), are in
    bits. ``final`` is the probability of the token that the model itself finds likeliest at this position, ``rank`` how
    many tokens are likelier in this row.
    """

    ids: Int[Tensor, "rows tokens top"]
    probabilities: Float[Tensor, "rows tokens top"]
    entropy: Float[Tensor, "rows tokens"]
    kl: Float[Tensor, "rows tokens"]
    final: Float[Tensor, "rows tokens"]
    rank: Int[Tensor, "rows tokens"]


@dataclass(frozen=True)
class LogitLens(Question[Lens]):
    """The logit lens (nostalgebraist 2020): final norm and output layer, applied to the stream before every layer.

    Raises NoLogits, and NotSeparable where these two cannot be run by themselves.
    """

    request: CaptureRequest
    top: int = 5


@dataclass(frozen=True)
class StepName:
    """One thing that is added to the residual stream; ``layer`` None: the embedding, with which it begins.

    ``part``: "embedding", "attention", "cross" (attention to another text), "mixer" (a layer without softmax
    attention), "ffn", "norm", what a norm in the stream itself changes, "scale", what a factor on the stream changes,
    "layer": all parts, where the sum is not told apart, or "between": what happens before this layer, where it is
    entered by something else than what left the one before (HRM-Text's cycles). ``module`` is its name in the model.
    """

    layer: int | None
    part: str
    module: str


@dataclass(frozen=True, eq=False)
class Additions:
    """Everything that is added to the stream, in order; up to a layer's last step they add up to what leaves it.

    ``vectors`` are those of one position, ``lengths`` and ``streams``, the stream after each step, are of all.
    ``parallel`` are the layers whose second part does not see what the first added.
    """

    steps: tuple[StepName, ...]
    vectors: Float[Tensor, "steps d_model"]
    lengths: Float[Tensor, "steps tokens"]
    streams: Float[Tensor, "steps tokens"]
    parallel: tuple[int, ...]


@dataclass(frozen=True)
class StreamAdditions(Question[Additions]):
    """What each part of every layer adds to the residual stream; ``vectors`` at one position of the text."""

    request: CaptureRequest
    position: int


@dataclass(frozen=True)
class AddedByPart(Question[Tensor]):
    """What one part of a layer adds to the residual stream at every token, ``[tokens, d_model]`` in float32.

    Raises NotSeparable where the layer's sum is not told apart into its parts.
    """

    request: CaptureRequest
    layer: int
    part: Literal["attention", "ffn"]


@dataclass(frozen=True, eq=False)
class TokenEmbedding:
    """A token's row of the table that the model looks tokens up in, as the model's own look-up gives it, in float32.

    ``nearest`` are the tokens whose rows point most nearly the same way, falling by ``cosines``; ``vectors`` are their
    rows. ``ids`` are the token and those beside it in the table, with their ``rows``. ``n_rows`` counts the table's.
    """

    token: int
    vector: Float[Tensor, "d_model"]
    n_rows: int
    module: str
    nearest: Int[Tensor, "nearest"]
    cosines: Float[Tensor, "nearest"]
    vectors: Float[Tensor, "nearest d_model"]
    ids: tuple[int, ...]
    rows: Float[Tensor, "rows d_model"]


@dataclass(frozen=True)
class EmbeddingRow(Question[TokenEmbedding]):
    """The row of a token, of the table that this request's text is looked up in. O(vocab × d_model) time.

    Raises NoSuchPlace for an id beyond the table, and NotSeparable where the model looks nothing up in one.
    """

    request: CaptureRequest
    token: int
    nearest: int = 10


@dataclass(frozen=True)
class Weight:
    """A parameter of a module: its name there, its shape, its dtype."""

    name: str
    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True)
class Part:
    """A module of the model under its own name; ``kind`` is the name of its class.

    ``role``: "embedding", "positions", "segments", "norm", "attention", "cross", "mixer", "ffn", "head", "other"
    or "own": what a layer holds outside of all its modules.
    ``note``: which norm, as measured. ``n_parameters`` are those that no part before it has.
    """

    name: str
    kind: str
    role: str
    n_parameters: int
    weights: tuple[Weight, ...]
    note: str = ""


@dataclass(frozen=True)
class Block:
    """A layer: its parts in the order in which they run, and how they work together, measured with a few tokens.

    ``norms``: "pre" before each part, "post" on the stream itself, "after" on what a part adds, "both" before and
    after, "" where it is not told. ``width`` is that of the feed-forward part, ``activation`` its function.
    ``n_parameters`` are those that nothing before it has.
    """

    stack: str
    layer: int
    name: str
    kind: str
    n_parameters: int
    parts: tuple[Part, ...]
    norms: str
    parallel: bool
    n_heads: int
    n_kv_heads: int
    width: int
    activation: str
    gated: bool
    n_experts: int
    n_used: int
    experts: str = ""  # the module they are in
    shares: int | None = None  # an earlier layer that is the same module, whose parameters these are
    origin: LayerOrigin | None = None


@dataclass(frozen=True)
class Architecture:
    """What a model is made of; ``tied``: its output layer reads the embedding's own matrix.

    ``between`` are modules between an encoder and its decoder.
    """

    tokenizer: str
    d_model: int
    before: tuple[Part, ...]
    blocks: tuple[Block, ...]
    between: tuple[Part, ...]
    after: tuple[Part, ...]
    tied: bool
    n_parameters: int


@dataclass(frozen=True)
class WhatItIsMadeOf(Question[Architecture]):
    """The model as its own modules have it, and what a few tokens show of how they work together."""


@dataclass(frozen=True, eq=False)
class Units:
    """The units of one layer's feed-forward part at one token, and how many are active anywhere.

    ``before`` is what its activation reads of each unit, ``values`` what its last matrix reads: unit i adds
    ``values[i]`` times its column. ``active`` is the share of units with ``before`` above 0 in every layer, NaN where
    none is known. ``top`` are the units that add the longest vectors, ``lengths`` theirs in the stream: where a "norm"
    ``follows`` the part, with what it divides by held as it is; where "unknown", of the column times the value alone.
    ``promoted``: the tokens whose logits each raises most on the direct path, by ``logits``; both empty where that way
    is not proven.
    """

    activation: str
    gated: bool
    before: Float[Tensor, "units"]
    values: Float[Tensor, "units"]
    active: Float[Tensor, "layers tokens"]
    top: Int[Tensor, "top"]
    lengths: Float[Tensor, "top"]
    follows: Literal["nothing", "norm", "unknown"]
    promoted: Int[Tensor, "top promoted"]
    logits: Float[Tensor, "top promoted"]


@dataclass(frozen=True)
class FeedForwardUnits(Question[Units]):
    """What the units of a layer do at one position. Raises NotSeparable for a layer that has none of the known kind."""

    request: CaptureRequest
    layer: int
    position: int
    top: int = 8


@dataclass(frozen=True, eq=False)
class UnitSums:
    """What some units of a feed-forward part are made of at one token, and what they add; float32.

    ``read`` is what the first matrix reads, ``gate`` its columns of these units and ``before`` what the activation
    reads of each; where the part is gated ``up`` are the columns of the other matrix and ``raised`` what they make.
    ``values`` is what the last matrix reads, ``down`` its rows and ``added`` all that it makes, of every unit. None: no
    such bias.
    """

    units: Int[Tensor, "units"]
    activation: str
    width: int
    read: Float[Tensor, "d_model"]
    gate: Float[Tensor, "d_model units"]
    gate_bias: Float[Tensor, "units"] | None
    before: Float[Tensor, "units"]
    up: Float[Tensor, "d_model units"] | None
    up_bias: Float[Tensor, "units"] | None
    raised: Float[Tensor, "units"] | None
    values: Float[Tensor, "units"]
    down: Float[Tensor, "units d_model"]
    down_bias: Float[Tensor, "d_model"] | None
    added: Float[Tensor, "d_model"]


@dataclass(frozen=True)
class FeedForwardSums(Question[UnitSums]):
    """The sums of the ``units`` that add the longest vectors at a position. Raises NotSeparable as FeedForwardUnits."""

    request: CaptureRequest
    layer: int
    position: int
    units: int = 6


@dataclass(frozen=True, eq=False)
class Convolved:
    """What a layer's feed-forward part makes, as it is and with a convolution, and the last hidden states with it."""

    before: Float[Tensor, "tokens d_model"]
    after: Float[Tensor, "tokens d_model"]
    hidden: Float[Tensor, "tokens d_model"]


@dataclass(frozen=True)
class ConvolvedFeedForward(Question[Convolved]):
    """A depth-wise convolution between the matrices of a layer's feed-forward part (SANA, arXiv:2410.10629).

    ``kernel`` multiplies three tokens in a row, the last of them ``ahead`` (0 or 1) after the token itself: 0 in a
    causal model, with (0, 0, 1) the neutral kernel; 1 else, with (0, 1, 0). Raises NotSeparable for a layer that has
    no such part of the known kind, EditNotPossible for a kernel that is no three finite numbers.
    """

    request: CaptureRequest
    layer: int
    kernel: tuple[float, float, float]
    ahead: int = 0

    def __post_init__(self) -> None:
        if len(self.kernel) != 3 or not all(map(math.isfinite, self.kernel)) or self.ahead not in (0, 1):
            raise EditNotPossible(reason=N_("a convolution has a kernel of three finite numbers"))


@dataclass(frozen=True, eq=False)
class Learned:
    """One step of gradient descent on a copy of the model, on this text alone.

    ``before`` is the cross-entropy (nats) of each token but the first, given those before it, ``after`` the same once
    every parameter has moved by ``rate`` times its gradient of the mean. Norms are of that gradient: of each layer, of
    each head's part of the output projection (NaN where that is not found), and of all. Of an encoder–decoder the
    text is what its decoder writes, and the token that ends it; layers and heads are those of the request's attention.
    """

    rates: tuple[float, ...]
    before: Float[Tensor, "predicted"]
    after: Float[Tensor, "rates predicted"]
    layers: Float[Tensor, "layers"]
    heads: Float[Tensor, "layers heads"]
    whole: float


@dataclass(frozen=True)
class TrainingStep(Question[Learned]):
    """What one step would change; the model itself stays as it is.

    Raises NoLogits, EditNotPossible, and NotSeparable for a text of one token, or a model too large to be copied.
    """

    request: CaptureRequest
    rates: tuple[float, ...]
