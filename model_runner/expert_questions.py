"""Questions about a mixture of experts: which experts each token is routed to, and the share of active parameters.

A router scores every expert for each token, and the best few process it, each weighted (Shazeer et al. 2017,
arXiv:1701.06538).
"""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Float, Int
from torch import Tensor

from model_runner.question import Question
from model_runner.request import CaptureRequest


@dataclass(frozen=True)
class DenseModule:
    """A module beside the experts that processes every token: the router, a shared expert. ``kind``: its class."""

    name: str
    kind: str
    n_parameters: int


@dataclass(frozen=True, eq=False)
class Routed:
    """One layer's experts over a text: each token's experts, and the weights of their outputs.

    ``picks`` are each token's experts, ``weights`` the factors of their outputs, as passed to the modules.
    ``n_parameters`` are those of one expert. ``on_input``: the experts' input is multiplied, not their output (Llama
    4).
    """

    layer: int
    module: str
    n_experts: int
    picks: Int[Tensor, "tokens used"]
    weights: Float[Tensor, "tokens used"]
    n_parameters: int
    beside: tuple[DenseModule, ...]
    on_input: bool = False


@dataclass(frozen=True, eq=False)
class Routing:
    """Every layer that has experts; ``n_parameters`` are those of the whole model."""

    layers: tuple[Routed, ...]
    n_parameters: int


@dataclass(frozen=True)
class ExpertRouting(Question[Routing]):
    """The routing of a text's tokens in this model; no layers for a model without experts."""

    request: CaptureRequest


@dataclass(frozen=True)
class RandomRouting(Question[Routing]):
    """The routing of these tokens in a tiny random Mixtral, always the same one; nothing in it is trained."""

    ids: tuple[int, ...]
    n_vocab: int
