"""In which numbers a model is loaded: a dtype of torch, or its linear layers quantized and the rest in such a dtype.

Of what transformers offers, what quantizes weights alone: a token's numbers are then the same whatever stands beside
it. LLM.int8 (bitsandbytes 0.50), which quantizes what goes in too and chooses its columns by all tokens, moved the
logits of the embedded model's first 20 tokens by 0.6 where 20 more followed them: an earlier token saw later ones.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

import torch
from torch import Tensor, nn
from transformers import BitsAndBytesConfig, TorchAoConfig
from transformers.pytorch_utils import Conv1D

from model_runner.errors import N_, RunnerError
from model_runner.model_cache import Dtype

PACKAGES = {"int8": ("torchao",), "nf4": ("bitsandbytes", "accelerate")}  # from requirements-quantized.txt
# bytes per number: itself, and its share of the scale of its row or of its 64 numbers
BYTES = {"int8": 1.0, "nf4": 0.5 + 4 / 64}


class PackageMissing(RunnerError):
    message = N_("“{dtype}” needs Python packages that are not installed here: {packages}.")
    hint = N_("Install them (pip install -r requirements-quantized.txt), or choose another number format.")


class AlreadyQuantized(RunnerError):
    message = N_("The weights of {name} are quantized already, so they cannot be loaded as “{dtype}”.")
    hint = N_("Choose “auto” as the number format.")


class DtypeUnknown(RunnerError):
    message = N_("There is no number format “{dtype}”; there are: {known}.")
    hint = N_("Choose one of them.")


def known_dtype(asked: str) -> Dtype:
    """Return the name if it is a known one. Raises DtypeUnknown."""
    for known in get_args(Dtype):
        if asked == known:
            return known
    raise DtypeUnknown(dtype=asked, known=", ".join(get_args(Dtype)))


@dataclass(frozen=True)
class Precision:
    """``computed``: the dtype of the computation; ``quantized``: how linear layers are stored, empty if they are not
    quantized.
    """

    computed: torch.dtype
    quantized: str = ""

    @property
    def name(self) -> str:
        return self.quantized or str(self.computed).removeprefix("torch.")

    def nbytes(self, n_numbers: int, n_outside: int) -> int:
        """Memory in bytes of so many weights, ``n_outside`` of which are in no quantized linear layer."""
        if not self.quantized:
            return n_numbers * self.computed.itemsize
        outside = min(n_outside, n_numbers)
        return int(outside * self.computed.itemsize + (n_numbers - outside) * BYTES[self.quantized])

    def check(self, name: str, config: Mapping[str, Any]) -> None:
        """Raises PackageMissing, and AlreadyQuantized for a model that is quantized already."""
        if not self.quantized:
            return
        if config.get("quantization_config"):
            raise AlreadyQuantized(name=name, dtype=self.quantized)
        missing = [package for package in PACKAGES[self.quantized] if importlib.util.find_spec(package) is None]
        if missing:
            raise PackageMissing(dtype=self.quantized, packages=", ".join(missing))

    def options(self, place: torch.device) -> dict[str, Any]:
        """The keyword arguments for ``from_pretrained``."""
        if self.quantized == "int8":
            from torchao.quantization import Int8WeightOnlyConfig  # pyright: ignore[reportMissingImports]  # optional

            return {"quantization_config": TorchAoConfig(Int8WeightOnlyConfig())}
        if self.quantized == "nf4":
            how: Any = {"bnb_4bit_quant_type": "nf4", "bnb_4bit_compute_dtype": self.computed}
            # quantized on the device where it will stay: transformers forbids moving it
            return {"quantization_config": BitsAndBytesConfig(load_in_4bit=True, **how), "device_map": {"": str(place)}}
        return {}


def precision_of(model: Any) -> str:
    """Like ``Precision.name``, for a loaded model: the method if its folder says that it is quantized."""
    how = getattr(model.config, "quantization_config", None)
    if isinstance(how, TorchAoConfig):
        return "int8"
    if isinstance(how, BitsAndBytesConfig) and how.load_in_4bit:
        return "nf4"
    return str(model.dtype).removeprefix("torch.")


def is_quantized(model: Any) -> bool:
    return getattr(model.config, "quantization_config", None) is not None


def matrix_of(projection: nn.Module) -> Tensor:
    """The ``[outputs, inputs]`` matrix of a linear layer, as it multiplies.

    For a quantized layer, it is the layer's output for every unit vector, minus its bias, which works for any method.
    No hooks are called.
    """
    weight: Any = projection.weight
    if type(weight) is nn.Parameter and weight.is_floating_point():
        return weight.T if isinstance(projection, Conv1D) else weight
    inputs = int(getattr(projection, "in_features", 0)) or weight.shape[-1]
    bias: Any = getattr(projection, "bias", None)
    with torch.no_grad():
        like: Any = bias if bias is not None else torch.zeros(1, dtype=_dtype_in(projection), device=weight.device)
        columns = projection.forward(torch.eye(inputs, dtype=like.dtype, device=weight.device))
        return (columns if bias is None else columns - bias).T


def _dtype_in(projection: nn.Module) -> torch.dtype:
    """The dtype that a quantized layer computes in: bitsandbytes names it, with torchao it is the weight's."""
    named: Any = getattr(projection, "compute_dtype", None) or projection.weight.dtype
    return named if named.is_floating_point else torch.float32
