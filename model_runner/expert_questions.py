"""What can be asked of a mixture of experts: which of them each token goes to, and what share of the parameters works.

A router scores every expert for a token and the best few work on it, each weighted (Shazeer et al. 2017,
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
    """A module beside the experts that works on every token: the router, a shared expert. ``kind``: of its class."""

    name: str
    kind: str
    n_parameters: int


@dataclass(frozen=True, eq=False)
class Routed:
    """One layer's experts over a text: whom each token is sent to, and how much of each expert's output counts.

    ``picks`` are the experts that a token goes to, ``weights`` what their outputs are multiplied by before they are
    added, as the modules are told both. ``n_parameters`` are those of one expert. ``on_input``: what the experts
    read is multiplied, not what they make (Llama 4).
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
    """Where the routers of this model send the tokens of a text; no layers for a model without experts."""

    request: CaptureRequest


@dataclass(frozen=True)
class RandomRouting(Question[Routing]):
    """The same of a tiny Mixtral of random numbers, always the same ones, on these tokens; nothing in it is trained."""

    ids: tuple[int, ...]
    n_vocab: int
