"""Attention in sliding windows, in pieces that a long text is cut into: Longformer's (Beltagy et al. 2020,
arXiv:2004.05150) and that of LED's encoder, by code of their own.

Each token attends to its neighbours on either side, which is softmax attention under a mask. What the three projections
make is kept; that the mask and they give what the module returns is checked, as of every layer. No token is given
global attention, as transformers has it where nobody asks for it; the text is padded to whole windows, and what is of
the padding is left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from torch import Tensor, nn

from attention.masks import Band
from model_runner.errors import N_
from model_runner.local.recording.cannot_record import CannotRecord
from model_runner.local.recording.legacy_call import to_be_recorded
from model_runner.local.recording.recorder import UNKNOWN_MASK, active_recorder
from model_runner.mask_rule import MaskRule
from model_runner.record import LayerRecord

GLOBAL = N_("some of its tokens attend to all others, by projections of their own, and only windows are supported")
PROJECTIONS = ("query", "key", "value")


def windowed(modules: Iterable[nn.Module]) -> list[nn.Module]:
    """The modules whose own code attends in sliding windows."""
    found = [module for one in modules for module in one.modules()]
    return [one for one in found if hasattr(one, "_sliding_chunks_query_key_matmul")]


def rows_of(layers: Iterable[nn.Module], n_tokens: int) -> int:
    """How many rows these layers have for so many tokens; windowed attention pads to whole windows."""
    size = max((2 * one.one_sided_attn_window_size for one in windowed(layers)), default=1)  # type: ignore[operator]  # torch types attributes as Tensor | Module
    return -(-n_tokens // int(size)) * int(size)


def hook_windows(model: nn.Module) -> bool:
    """Record these modules from now on. Returns False if the model has none."""
    every = windowed([model])
    for module in every:
        _watch(module)
    return bool(every)


def _watch(module: Any) -> None:
    made: dict[str, Tensor] = {}
    is_open: list[bool] = []

    def enter(module: nn.Module, *_: Any) -> None:
        if to_be_recorded(module):
            is_open.append(True)

    def project(name: str) -> Any:
        def keep(_module: nn.Module, _: Any, output: Tensor) -> None:
            if is_open:
                made[name] = output.clone()  # its code divides the queries in place

        return keep

    def leave(_module: nn.Module, _: Any, given: dict[str, Any], output: Any) -> None:
        recording = active_recorder()
        if is_open and recording is not None and output is not None:  # None if it ended by an error
            name, _ = recording.enter(recording.names[id(module)])
            if recording.consumer is not None:
                raise CannotRecord(UNKNOWN_MASK)
            recording.take(name, _record(module, made, given, output[0]))
        is_open.clear()
        made.clear()

    for name in PROJECTIONS:
        getattr(module, name).register_forward_hook(project(name))
    module.register_forward_pre_hook(enter)
    module.register_forward_hook(leave, with_kwargs=True, always_call=True)


def _record(module: Any, made: dict[str, Tensor], given: dict[str, Any], output: Tensor) -> LayerRecord:
    """The record for one text: ``made`` are ``[tokens, 1, d_model]``; the output has the batch axis first."""
    if len(output) != 1 or bool(given["is_index_global_attn"].any()):
        raise CannotRecord(GLOBAL)
    n_tokens = int((~given["is_index_masked"][0]).sum())
    if bool(given["is_index_masked"][0, :n_tokens].any()):
        raise CannotRecord(UNKNOWN_MASK)
    q, k, v = (made[name][:n_tokens, 0].unflatten(-1, (module.num_heads, -1)).transpose(0, 1) for name in PROJECTIONS)
    reach = int(module.one_sided_attn_window_size)
    return LayerRecord(
        q=q,
        k=k,
        v=v,
        output=output[0, :n_tokens].unflatten(-1, (module.num_heads, -1)),
        scale=q.shape[-1] ** -0.5,
        softcap=None,
        sinks=None,
        mask=MaskRule(Band(reach)),
        window=reach + 1,
        rotation=None,
        eager=True,
    )
