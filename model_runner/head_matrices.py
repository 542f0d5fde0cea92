"""The matrices of a layer's heads by their usual names, for local and remote models."""

from __future__ import annotations

from typing import Literal, Protocol, runtime_checkable

from jaxtyping import Float
from torch import Tensor

from model_runner.capture import index
from model_runner.errors import NoSuchMatrix
from model_runner.job import Job
from model_runner.projection_questions import HeadMatrices, LayerMatrices
from model_runner.request import CaptureRequest
from model_runner.runner import ModelInfo

FEW = 16  # tokens with which a layer's matrices are found


@runtime_checkable
class _Answers(Protocol):
    info: ModelInfo

    def submit(self, question: LayerMatrices, /) -> Job[HeadMatrices]: ...


class MatricesOfHeads:
    """Mixin for runners; a remote runner transfers all four matrices of the layer at each call."""

    def W_Q(self: _Answers, layer: int) -> Float[Tensor, "heads d_model d_head"]:  # noqa: N802  the field's name
        """The matrices that make each head's queries from attention's input, float32, on the CPU.

        Found by their outputs for a few tokens, again at each call. Raises NoSuchMatrix if queries are not columns of
        one matrix (latents), NoWeights, NoSuchPlace, OneStackOnly.
        """
        return _matrix(self, "q", layer)

    def W_K(self: _Answers, layer: int) -> Float[Tensor, "kv_heads d_model d_head"]:  # noqa: N802
        """The matrices for keys, one for each key/value head. Raises as :meth:`W_Q`."""
        return _matrix(self, "k", layer)

    def W_V(self: _Answers, layer: int) -> Float[Tensor, "kv_heads d_model d_value"]:  # noqa: N802
        """The matrices for values, one for each key/value head. Raises as :meth:`W_Q`."""
        return _matrix(self, "v", layer)

    def W_O(self: _Answers, layer: int) -> Float[Tensor, "heads d_value d_model"]:  # noqa: N802
        """Each head's rows of the output projection: ``capture.z(layer)`` times these, summed, is its output.

        Without the projection's bias. Raises as :meth:`W_Q`.
        """
        return _matrix(self, "o", layer)


def _matrix(runner: _Answers, name: Literal["q", "k", "v", "o"], layer: int) -> Tensor:
    layer = index("layer", layer, runner.info.n_layers)
    ids = range(min(FEW, runner.info.n_vocab, runner.info.max_tokens))
    found = getattr(runner.submit(LayerMatrices(CaptureRequest(input_ids=ids), layer)).result(), name)
    if found is None:
        raise NoSuchMatrix(layer=layer, name=f"W_{name.upper()}")
    return found
