"""Questions about a model's blocks: the logit lens, the architecture, and what each part adds to the stream."""

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
    """The model's output if its layers ended early; row 0 is before the first, the last row is the model's own.

    ``ids`` and ``probabilities`` are the likeliest tokens, decreasing. ``entropy`` and ``kl``, KL(model ‖ row), are in
    bits. ``final`` is the probability of the model's own likeliest token at this position, ``rank`` the number of
    tokens that are likelier in this row.
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

    Raises NoLogits, and NotSeparable if these two cannot be run separately.
    """

    request: CaptureRequest
    top: int = 5


@dataclass(frozen=True)
class StepName:
    """One addition to the residual stream; ``layer`` None: the embedding, with which it starts.

    ``part``: "embedding", "attention", "cross" (cross-attention), "mixer" (a layer without softmax attention), "ffn",
    "norm" (what a norm in the stream itself changes), "scale" (what a factor on the stream changes), "layer" (all
    parts, if they cannot be separated), or "between": what happens before this layer, if its input is not the previous
    layer's output (HRM-Text's cycles). ``module`` is its name in the model.
    """

    layer: int | None
    part: str
    module: str


@dataclass(frozen=True, eq=False)
class Additions:
    """Everything that is added to the stream, in order; up to a layer's last step it sums to that layer's output.

    ``vectors`` are those of one position, ``lengths`` and ``streams``, the stream after each step, of all. ``parallel``
    are the layers whose second part does not see what the first added.
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

    Raises NotSeparable if the layer's sum cannot be separated into its parts.
    """

    request: CaptureRequest
    layer: int
    part: Literal["attention", "ffn"]


@dataclass(frozen=True, eq=False)
class TokenEmbedding:
    """A token's row of the embedding matrix, as in the model's own lookup, in float32.

    ``nearest`` are the tokens whose rows have the largest ``cosines``, decreasing; ``vectors`` are their rows. ``ids``
    are the token and the adjacent ones in the matrix, with their ``rows``. ``n_rows`` is the size of the matrix.
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
    """A token's row of the matrix in which this request's text is looked up. O(vocab × d_model) time.

    Raises NoSuchPlace for an id outside the matrix, and NotSeparable if the model has no lookup.
    """

    request: CaptureRequest
    token: int
    nearest: int = 10


@dataclass(frozen=True)
class Weight:
    """A parameter of a module: name, shape and dtype."""

    name: str
    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True)
class Part:
    """A module of the model under its own name; ``kind`` is its class name.

    ``role``: "embedding", "positions", "segments", "norm", "attention", "cross", "mixer", "ffn", "head", "other" or
    "own": what a layer holds outside all its modules. ``note``: which norm, as measured. ``n_parameters`` counts those
    that no earlier part has.
    """

    name: str
    kind: str
    role: str
    n_parameters: int
    weights: tuple[Weight, ...]
    note: str = ""


@dataclass(frozen=True)
class Block:
    """A layer: its parts in the order in which they run, and how they are combined, measured with a few tokens.

    ``norms``: "pre" before each part, "post" on the stream itself, "after" on a part's output, "both" before and after,
    "" if unknown. ``width`` is that of the feed-forward network, ``activation`` its function. ``n_parameters`` counts
    those that nothing earlier has.
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
    experts: str = ""  # the module that contains them
    shares: int | None = None  # an earlier layer that is the same module, with these parameters
    origin: LayerOrigin | None = None


@dataclass(frozen=True)
class Architecture:
    """A model's architecture; ``tied``: its output layer shares the embedding matrix.

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
    """The model's own modules, and how they are combined, measured with a few tokens."""


@dataclass(frozen=True, eq=False)
class Units:
    """The units of one layer's feed-forward network at one token, and the share that is active in every layer.

    ``before`` is each unit's pre-activation, ``values`` the input of the last matrix: unit i adds ``values[i]`` times
    its column. ``active`` is the share of units with positive ``before`` in every layer, NaN if unknown. ``top`` are
    the units that add the longest vectors, ``lengths`` their norms in the stream: if a "norm" ``follows``, with its
    divisor fixed; if "unknown", of the column times the value only. ``promoted``: the tokens whose logits each raises
    most on the direct path, by ``logits``; both empty if that path is not proven.
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
    """The units of a layer at one position. Raises NotSeparable for a layer without a known kind of network."""

    request: CaptureRequest
    layer: int
    position: int
    top: int = 8


@dataclass(frozen=True, eq=False)
class UnitSums:
    """The inputs of some units of a feed-forward network at one token, and what they add; float32.

    ``read`` is the input of the first matrix, ``gate`` its columns for these units and ``before`` their
    pre-activations; in a gated network ``up`` are the other matrix's columns and ``raised`` its outputs. ``values`` is
    the input of the last matrix, ``down`` its rows and ``added`` its whole output, of all units. None: no such bias.
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
    """A layer's feed-forward output, with and without a convolution, and the last hidden states with it."""

    before: Float[Tensor, "tokens d_model"]
    after: Float[Tensor, "tokens d_model"]
    hidden: Float[Tensor, "tokens d_model"]


@dataclass(frozen=True)
class ConvolvedFeedForward(Question[Convolved]):
    """A depth-wise convolution between the matrices of a layer's feed-forward network (SANA, arXiv:2410.10629).

    ``kernel`` multiplies three consecutive tokens, the last of them ``ahead`` (0 or 1) of the token itself: 0 in a
    causal model, where (0, 0, 1) is the identity; else 1, where (0, 1, 0) is. Raises NotSeparable for a layer without a
    known kind of network, EditNotPossible unless the kernel is three finite numbers.
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
    """One step of gradient descent on a copy of the model, on this text only.

    ``before`` is the cross-entropy (nats) of each token but the first, given those before it, ``after`` the same after
    every parameter has moved by ``rate`` times the mean's gradient. Norms are of that gradient: for each layer, for
    each head's part of the output projection (NaN if that is not found), and in total. In an encoder-decoder model the
    text is the target, with the token that ends it; layers and heads are those of the request's attention.
    """

    rates: tuple[float, ...]
    before: Float[Tensor, "predicted"]
    after: Float[Tensor, "rates predicted"]
    layers: Float[Tensor, "layers"]
    heads: Float[Tensor, "layers heads"]
    whole: float


@dataclass(frozen=True)
class TrainingStep(Question[Learned]):
    """What one training step would change; the model itself is not modified.

    Raises NoLogits, EditNotPossible, and NotSeparable for a text of one token, or a model too large to be copied.
    """

    request: CaptureRequest
    rates: tuple[float, ...]
