"""Records layers that mix tokens by a recurrence: its inputs and outputs, from transformers' own functions.

transformers computes each recurrence in one function of the modeling module, or in one module (xLSTM). It is wrapped
once per process, and called as always; while a recorder is active, its inputs are written out as a matrix. A gate and a
skip that the same function applies afterwards are left out by calling it once more without them.
"""

from __future__ import annotations

import contextvars
import inspect
import sys
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from attention.unrolled import DecayedMean, MatrixMemory, StateSpaceChannels, StateSpaceHeads, Unrolled, heads_of
from model_runner.errors import N_
from model_runner.local.recording.cannot_record import CannotRecord
from model_runner.mask_rule import CAUSAL
from model_runner.record import LayerRecord

SEVERAL = N_("it splits one text into a batch of several")
CARRIED_ON = N_("its recurrence goes on from an earlier state, which a capture of one text does not have")
MIXERS = {  # class of a module that only mixes tokens by a recurrence → the function that computes it
    "MambaMixer": "mamba_selective_scan",
    "FalconMambaMixer": "mamba_selective_scan",
    "Mamba2Mixer": "mamba2_chunk_scan",
    "RwkvSelfAttention": "rwkv_linear_attention",
    "xLSTMLayer": "mlstm_backend",
}
INSIDE = ("mlstm_backend",)  # those that are a submodule of the mixer

Arguments = Mapping[str, Any]
Seen = Callable[[nn.Module, LayerRecord], None]
Wanted = Callable[[], bool]
_RUNNING: contextvars.ContextVar[nn.Module | None] = contextvars.ContextVar("attention_atlas_mixer", default=None)


def mixers_of(model: nn.Module) -> dict[str, nn.Module]:
    """The modules, by qualified name, with a recurrence over tokens that can be written out."""
    return {name: module for name, module in model.named_modules() if type(module).__name__ in MIXERS}


def hook_scans(model: nn.Module, wanted: Wanted, take: Seen) -> None:
    """Call ``take`` with the mixer and the record of each recurrence computed while ``wanted()``."""
    for module in mixers_of(model).values():
        scan = MIXERS[type(module).__name__]
        if scan in INSIDE:
            _hook_inside(module, module.get_submodule(scan), wanted, take)
            continue
        modeling = sys.modules[type(module).__module__]
        function = getattr(modeling, scan)
        if not hasattr(function, "watched"):
            setattr(modeling, scan, _watched(function, READ[scan], wanted, take))
        module.register_forward_pre_hook(lambda mixer, _: _run(mixer))
        module.register_forward_hook(lambda *_: _run(None), always_call=True)


def _run(mixer: nn.Module | None) -> None:
    _RUNNING.set(mixer)


def _watched(function: Callable[..., Any], read: Callable[..., LayerRecord], wanted: Wanted, take: Seen) -> Any:
    signature = inspect.signature(function)

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        if (mixer := _RUNNING.get()) is not None and wanted():
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            take(mixer, read(bound.arguments, function, result))
        return result

    wrapper.watched = function  # type: ignore[attr-defined]  # marks it, so that it is never wrapped twice
    return wrapper


def _hook_inside(mixer: nn.Module, inner: nn.Module, wanted: Wanted, take: Seen) -> None:
    def hook(_: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        if wanted():
            take(mixer, _matrix_memory(inner, kwargs, result))

    inner.register_forward_hook(hook, with_kwargs=True)


def _record(unrolled: Unrolled, q: Tensor, k: Tensor, x: Tensor, output: Tensor) -> LayerRecord:
    """``q``, ``k`` and ``x`` are heads × tokens × numbers, ``output`` is tokens × heads × numbers."""
    return LayerRecord(
        q=q, k=k, v=x, output=output,
        scale=1.0, softcap=None, sinks=None, mask=CAUSAL, window=None, rotation=None, eager=False, unrolled=unrolled,
    )  # fmt: skip  # a line for what belongs together


def _step(dt: Tensor, bias: Tensor | None, softplus: bool) -> Tensor:
    """The step sizes, batch and tokens first, in the dtype in which the scan computes them."""
    dt = dt if bias is None else dt + bias.to(dt.dtype)
    return functional.softplus(dt) if softplus else dt


def _with(given: Arguments, **changed: Any) -> dict[str, Any]:
    """The arguments of a call, including keyword arguments, with some replaced."""
    return {**{name: value for name, value in given.items() if name != "kwargs"}, **given.get("kwargs", {}), **changed}


def _one(x: Tensor) -> Tensor:
    """The one text of a batch."""
    if len(x) != 1:
        raise CannotRecord(SEVERAL)
    return x[0]


def _of_channels(given: Arguments, scan: Callable[..., Any], _: Any) -> LayerRecord:
    x, bias = _one(given["hidden_states"]), given["delta_bias"]  # (channels, tokens)
    bare = _with(given, D=None, z=None, return_last_state=False)
    output = _one(scan(**bare)).T  # before the gate, without the skip
    step = _step(_one(given["dt"]).T, bias, given["delta_softplus"]).T
    q, k = (_one(given[name]).T.float().contiguous() for name in ("C", "B"))
    unrolled = StateSpaceChannels(q, k, given["A"].float(), step.float().contiguous())
    n_heads = heads_of(len(x))
    gathered = x.reshape(n_heads, -1, x.shape[1]).transpose(1, 2)
    q, k = q.expand(n_heads, -1, -1), k.expand(n_heads, -1, -1)
    return _record(unrolled, q, k, gathered, _by_heads(output, n_heads))


def _of_heads(given: Arguments, scan: Callable[..., Any], _: Any) -> LayerRecord:
    if given["initial_states"] is not None:
        raise CannotRecord(CARRIED_ON)
    x, rates = _one(given["hidden_states"]), given["A"].float()  # (tokens, heads, d_head)
    output = _one(scan(**_with(given, D=None, z=None, return_final_states=False)))
    step = _step(_one(given["dt"]), given["dt_bias"], given["dt_softplus"]).clamp(*given["dt_limit"]).float().T
    n_heads = x.shape[1]
    q, k = (
        _one(given[name]).float().repeat_interleave(n_heads // given[name].shape[2], dim=1).transpose(0, 1).contiguous()
        for name in ("C", "B")
    )
    unrolled = StateSpaceHeads(q, k, rates[:, None] * step, step.contiguous())
    return _record(unrolled, q, k, x.transpose(0, 1), output)


def _weighted_mean(given: Arguments, _: Callable[..., Any], result: Any) -> LayerRecord:
    if given["state"] is not None:
        raise CannotRecord(CARRIED_ON)
    k, v, output = (_one(one) for one in (given["key"], given["value"], result[0]))  # (tokens, channels)
    decay, bonus = given["time_decay"].float().exp(), given["time_first"].float()
    unrolled = DecayedMean(k.float().T.contiguous(), decay, bonus)
    n_heads = heads_of(k.shape[1])
    values = _by_heads(v, n_heads).transpose(0, 1)
    none = values[..., :0]  # it has no queries, and one number per channel as keys, see DecayedMean
    return _record(unrolled, none, none, values, _by_heads(output, n_heads))


def _matrix_memory(inner: nn.Module, given: Arguments, result: Any) -> LayerRecord:
    if any(given.get(name) is not None for name in ("c_initial", "n_initial", "m_initial")):
        raise CannotRecord(CARRIED_ON)
    q, k, v = (_one(given[name]) for name in ("query", "key", "value"))
    keep = functional.logsigmoid(_one(given["fgate"]).float())
    eps = float(inner.config.eps)  # type: ignore[union-attr, arg-type]  # of the module's own configuration
    unrolled = MatrixMemory(q.float(), k.float(), keep, _one(given["igate"]).float(), eps)
    output = _one(result if torch.is_tensor(result) else result[0])
    return _record(unrolled, q, k, v, output.transpose(0, 1))


def _by_heads(flat: Tensor, n_heads: int) -> Tensor:
    return flat.reshape(len(flat), n_heads, -1)


READ = {
    "mamba_selective_scan": _of_channels,
    "mamba2_chunk_scan": _of_heads,
    "rwkv_linear_attention": _weighted_mean,
}
