"""One capture and one reference per family, device and dtype, made once for all tests that use them."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import pytest
import torch
from torch import Tensor

from model_runner.capture import Capture
from model_runner.local.runner import LocalRunner
from model_runner.request import CaptureRequest
from tests.model_runner.families import FAMILIES, Family
from tests.model_runner.reference import Reference, run_reference
from tests.model_runner.tiny import byte_tokenizer, place

TEXT = "Ünï 日本: the dog chased the dog"
FAMILY = {family.name: family for family in FAMILIES}
GPU = (pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="no cuda device"))
BFLOAT16_ON_CPU = ("llama", "gemma2", "gptj")  # the last makes its q and k float32

Device = Literal["cpu", "cuda"]


@dataclass(frozen=True, eq=False)
class Case:
    """One family on one device in one dtype: what the engine captured, and what transformers says."""

    family: Family
    capture: Capture
    reference: Reference
    exact: Reference  # the same weights in float32; the reference itself where that is already float32

    def apart(self, part: Callable[[Reference], Tensor]) -> float:
        """How far the capture may be from the reference in this part of it.

        float32 on the CPU: 1e-5, the contract. Rounding leaves about 1e-6 here: some 100 operations in a row on values
        of order 1, each off by 6e-8; sdpa and eager differ by that much themselves.
        float32 on cuda: 1e-4, since there different kernels with different summation orders may serve one block of
        queries and all of them (blocked sums of n products are off by up to n times 6e-8, n up to 48, in 3 layers).
        bfloat16: reference and capture both are bfloat16 evaluations of the float32 network, and reach any number by
        other roundings. Each is about as far from the exact number as the other, which is measured here, so the two
        are at most about twice that apart; one more unit (2^-8) of the largest value covers its own last rounding.
        """
        reference = part(self.reference).float()
        if self.exact is self.reference:  # and not by the dtype of q: some make q and k float32 in any model
            return 1e-5 if reference.device.type == "cpu" else 1e-4
        noise = float((reference - part(self.exact).float()).abs().max())
        return 2 * noise + 2**-8 * float(reference.abs().max())


def runner_of(family: Family, device: Device = "cpu", dtype: torch.dtype = torch.float32) -> LocalRunner:
    """A runner around a model of this family that nothing else holds."""
    return LocalRunner(place(family.build(), device, dtype), byte_tokenizer(), name=family.name, device=device)


@functools.cache
def shared_runner(name: str, dtype: torch.dtype = torch.float32) -> LocalRunner:
    """The one runner around a model of this family for all tests of a process that leave both as they are."""
    return runner_of(FAMILY[name], dtype=dtype)


@functools.cache
def case_of(name: str, device: Device = "cpu", dtype: torch.dtype = torch.float32) -> Case:
    """The capture of TEXT and its references, computed at the first call."""
    family = FAMILY[name]
    ids = byte_tokenizer()(TEXT).input_ids
    # The copies come from the builder, not from the runner's model: nothing the engine did to that can reach them.
    model = place(family.build(), device, dtype)
    exact = copy.deepcopy(model).float()
    reference = run_reference(family, model, ids)
    return Case(
        family=family,
        capture=runner_of(family, device, dtype).capture(CaptureRequest(text=TEXT)),
        reference=reference,
        exact=reference if dtype == torch.float32 else run_reference(family, exact, ids),
    )


def settings() -> list[Any]:
    """Arguments of ``case_of``: every family in float32 here, and in float32 and bfloat16 on a GPU."""
    params = [pytest.param((name, "cpu", torch.float32), id=name) for name in FAMILY]
    params += [pytest.param((name, "cpu", torch.bfloat16), id=f"{name}-bfloat16") for name in BFLOAT16_ON_CPU]
    for dtype in (torch.float32, torch.bfloat16):
        label = str(dtype).removeprefix("torch.")
        names = [name for name in FAMILY if dtype == torch.float32 or not FAMILY[name].mixes_dtypes]
        params += [pytest.param((name, "cuda", dtype), id=f"{name}-cuda-{label}", marks=GPU) for name in names]
    return params
