"""Compares what config.json declares with what the weight files hold, before any memory is allocated for it here."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from transformers import PreTrainedConfig

from model_runner.errors import N_, ModelIncomplete, Reason
from model_runner.local.loading.checkpoint import Checkpoint
from model_runner.local.loading.sandboxed_process import SandboxedProcess, SandboxLimitReached
from model_runner.local.loading.sandboxed_tokenizer import too_much
from model_runner.local.loading.subprocess_probe import shapes_in

SECONDS = 60.0  # to build a model without memory for its weights; importing its code takes most of the time
OTHER_SHAPES = N_("{count} weights have other shapes than config.json says, {first} first")
MAKES_NONE = N_("making the model of config.json needs more than {seconds} seconds or {memory} of memory")
FEWER = N_("config.json declares {declared} numbers, but the files of weights hold {stored}")
PACKED = 8  # numbers packed in one, where weights are quantized

Shapes = Mapping[str, tuple[int, ...]]


@dataclass(frozen=True)
class ExpectedShapes:
    """Shapes by name: of the weights, and of other tensors in a layer.

    ``prefix``: what a base model omits from names.
    """

    weights: Shapes
    buffers: Shapes
    prefix: str

    @property
    def n_numbers(self) -> int:
        return sum(map(math.prod, (*self.weights.values(), *self.buffers.values())))


def expected_shapes(
    name: str, checkpoint: Checkpoint, process: SandboxedProcess, auto: Any, check: Callable[[], None]
) -> ExpectedShapes:
    """The shapes of the model of this configuration. Raises ModelIncomplete, and what ``check`` raises."""
    try:
        told = process.ask({"auto": auto.__name__}, SECONDS, check)
    except SandboxLimitReached as error:
        raise ModelIncomplete(name=name, reason=Reason(MAKES_NONE, too_much(process, SECONDS).values)) from error
    if "error" in told:
        raise ModelIncomplete(name=name, reason=told["error"])
    return _compared(name, told, checkpoint)


def expected_shapes_here(name: str, checkpoint: Checkpoint, config: PreTrainedConfig, auto: Any) -> ExpectedShapes:
    """The same for a configuration that is safe to build in this process. Raises ModelIncomplete.

    New tensors are float32 anyway: transformers would set the configuration's dtype as the default of every thread.
    """
    with torch.device("meta"):
        model = auto.from_config(config, dtype=torch.float32)
    return _compared(name, shapes_in(model), checkpoint)


def _compared(name: str, told: Mapping[str, Any], checkpoint: Checkpoint) -> ExpectedShapes:
    weights, buffers = ({key: tuple(one) for key, one in told[kind].items()} for kind in ("weights", "buffers"))
    found = ExpectedShapes(weights, buffers, f"{told['prefix']}.")
    compare_shapes(name, found, checkpoint)
    return found


def compare_shapes(name: str, found: ExpectedShapes, checkpoint: Checkpoint) -> None:
    """Raises ModelIncomplete if the weights cannot be those of the configuration.

    A weight named by both must have the same number of elements, not the same shape, since transformers (5.23)
    transposes some while loading and checks them exactly afterwards. It merges others under new names, so only the
    total of the rest is compared; an output layer may be missing, and is no larger than everything in the files.
    """
    wanted = {key.removeprefix(found.prefix): (key, math.prod(shape)) for key, shape in found.weights.items()}
    held = {key.removeprefix(found.prefix): math.prod(shape) for key, shape in checkpoint.shapes.items()}
    common = wanted.keys() & held.keys()
    other = sorted(wanted[key][0] for key in common if wanted[key][1] != held[key])
    if other:
        raise ModelIncomplete(name=name, reason=Reason(OTHER_SHAPES, {"count": len(other), "first": other[0]}))
    packed = PACKED if checkpoint.config.get("quantization_config") else 1
    missing = sum(size for key, (_, size) in wanted.items() if key not in common)
    spare = packed * sum(size for key, size in held.items() if key not in common) + sum(held[key] for key in common)
    if missing > spare:
        values = {"declared": f"{found.n_numbers:,}", "stored": f"{checkpoint.n_parameters:,}"}
        raise ModelIncomplete(name=name, reason=Reason(FEWER, values))
