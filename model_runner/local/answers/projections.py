"""The columns of a layer's matrices that make a head's queries, keys and values, found by their outputs for a text.

Nothing is inferred from names: for every matrix inside the attention whose input is as wide as the stream, each
column's output is compared with the head's numbers at all requested positions. If none matches, the same is done for
the outputs of norms inside the attention, and for the matrices that feed these norms.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from model_runner.capture import Capture
from model_runner.errors import NotRecoverable
from model_runner.local.answers.layer_stack import stack_of
from model_runner.local.answers.norm_kind import LAYER, norm_kind
from model_runner.local.engine import Engine
from model_runner.local.loading.dtypes import matrix_of
from model_runner.local.recording.recorder import module_of_call
from model_runner.projection_questions import (
    HeadMatrices,
    HeadProjections,
    LayerMatrices,
    Projected,
    Projections,
)
from model_runner.request import CaptureRequest

NEAR = 1e-4  # of the largest number: after undoing the rotation only rounding differs
FEW = 16  # tokens with which the columns of a whole layer's heads are told apart
ROUNDINGS = 16  # units of the dtype


def projections(engine: Engine, asked: HeadProjections) -> Projections:
    """From one forward of the request. Raises RunnerError."""
    heard = _Heard(engine, asked.request, asked.layer, list(asked.positions))
    kv_head = asked.head // heard.group
    return Projections(heard.of("q", asked.head), heard.of("k", kv_head), heard.of("v", kv_head))


def layer_matrices(engine: Engine, asked: LayerMatrices) -> HeadMatrices:
    """For all heads, from one forward of the request's first tokens. Raises RunnerError."""
    capture = engine.capture(asked.request)
    heard = _Heard(engine, asked.request, asked.layer, list(range(min(len(capture.tokens), FEW))))
    found: dict[str, Tensor | None] = {}
    for name in ("q", "k", "v"):
        count = len(capture.q(asked.layer) if name == "q" else capture.k(asked.layer))
        each = [heard.of(name, head) for head in range(count)]
        held = [one.matrix for one in each if one is not None]
        found[name] = torch.stack(held) if len(held) == count else None
    found["o"] = _output_rows(engine, asked, capture)
    return HeadMatrices(found["q"], found["k"], found["v"], found["o"])


def _output_rows(
    engine: Engine, asked: LayerMatrices, capture: Capture
) -> Float[Tensor, "heads d_value d_model"] | None:
    """The rows of the one matrix in the layer whose input is the heads' output; None if there is none, or several."""
    passed = capture.record(asked.layer).head_output_edited[:FEW]
    given, found = passed.flatten(1).float(), dict[nn.Module, None]()

    def look(module: nn.Module, args: tuple[Any, ...], _: Any) -> None:
        read = args[0].reshape(-1, args[0].shape[-1])[: len(given)].float()
        if read.shape == given.shape and _near(read.to(given.device), given, passed.dtype):
            found[module] = None

    linear = [one for one in engine.structure.layers[asked.layer].modules() if isinstance(one, (nn.Linear, Conv1D))]
    with contextlib.ExitStack() as stack:
        for module in linear:
            stack.callback(module.register_forward_hook(look).remove)
        stack_of(engine, asked.request).forward()
    if len(found) != 1:
        return None
    rows = matrix_of(next(iter(found))).T.float().cpu()
    return rows.reshape(passed.shape[1], passed.shape[2], -1).contiguous()


def _near(one: Tensor, other: Tensor, dtype: torch.dtype) -> bool:
    return float((one - other).abs().max()) <= _allowed(other, dtype)


def _allowed(values: Tensor, dtype: torch.dtype) -> float:
    """Rounding allowed between two ways to compute these numbers."""
    return max(NEAR, ROUNDINGS * torch.finfo(dtype).eps) * float(values.abs().max())


class _Heard:
    """Outputs of every matrix inside a layer's attention for a request's tokens at some positions, in one forward."""

    def __init__(self, engine: Engine, request: CaptureRequest, layer: int, places: list[int]) -> None:
        capture = engine.capture(request)
        record, self._places = capture.record(layer), places
        made: list[tuple[str, nn.Module, Tensor, Tensor]] = []
        self._norms: list[HeadNorm] = []
        module = engine.model.get_submodule(module_of_call(engine.structure.attention[layer]))
        with contextlib.ExitStack() as stack:
            for name, inside in module.named_modules():
                if isinstance(inside, (nn.Linear, Conv1D)):
                    handle = inside.register_forward_hook(_listen(made, name, places))
                    stack.callback(handle.remove)
                elif inside is not module and not list(inside.children()):
                    stack.callback(inside.register_forward_hook(_listen_to_norm(self._norms, name, places)).remove)
            stack_of(engine, request).forward()
        width, self.group = capture.residual(layer).shape[-1], record.group
        self._wide = [one for one in made if one[2].shape[-1] == width]
        try:
            q, k = capture.q_unrotated(layer), capture.k_unrotated(layer)
        except NotRecoverable as error:
            kept = record.rotation is not None or type(error) is NotRecoverable
            q, k = (None, None) if kept else (record.q, record.k)
        self._vectors = {"q": q, "k": k, "v": record.v}

    def of(self, name: str, head: int) -> Projected | None:
        """The columns that make one head's vectors."""
        x = self._vectors[name]
        return None if x is None else _either(self._wide, self._norms, x[head, self._places].float())


@dataclass(frozen=True, eq=False)
class HeadNorm:
    """Input and output of a possible norm of heads, one row per position, and its input's mean square."""

    name: str
    module: nn.Module
    width: int
    read: Float[Tensor, "positions d_out"]
    mean: Float[Tensor, "positions d_out"]
    made: Float[Tensor, "positions d_out"]


def _listen_to_norm(norms: list[HeadNorm], name: str, places: list[int]) -> Any:
    def hook(module: nn.Module, args: tuple[Any, ...], output: Any) -> None:
        x = args[0] if args else None
        if not torch.is_tensor(x) or not torch.is_tensor(output) or x.shape != output.shape or x.dim() not in (3, 4):
            return
        whole = x, x.mean(dim=-1, keepdim=True).expand_as(x), output
        for turned in (False, True) if x.dim() == 4 else (False,):  # (batch, tokens, heads, d_head), or heads first
            rows = [(one.transpose(1, 2) if turned else one)[0].flatten(1) for one in whole]
            if x.shape[0] == 1 and len(rows[0]) > max(places):
                norms.append(
                    HeadNorm(name, module, x.shape[-1], *(one[places].detach().float().clone() for one in rows))
                )

    return hook


def _either(
    wide: list[tuple[str, nn.Module, Tensor, Tensor]], norms: list[HeadNorm], values: Float[Tensor, "positions d_head"]
) -> Projected | None:
    """Columns of a matrix, or of one followed by a norm."""
    found = _found(wide, values)
    if found is not None:
        return found
    for norm in norms:
        columns = _columns(norm.made, values, values.dtype)
        inner = None if columns is None else _found(wide, norm.read[:, columns])
        if columns is None or inner is None or getattr(norm.module, "bias", None) is not None:
            continue
        kind = norm_kind(norm.module, norm.width)
        if kind is None:
            continue
        less = norm.mean[:, columns] if kind == LAYER else torch.zeros_like(inner.made)
        between = norm.read[:, columns] - less.to(norm.read.device)
        factor = torch.where(between == 0, 0.0, norm.made[:, columns] / between)
        return replace(inner, norm=norm.name, less=less.cpu(), factor=factor.cpu())
    return None


def _columns(rows: Tensor, values: Tensor, dtype: torch.dtype) -> Tensor | None:
    """The columns of these rows with the values, one for each; None if there are none."""
    apart = (rows.float()[:, :, None] - values[:, None, :]).abs().amax(0)  # (d_out, d_head)
    least = apart.min(dim=0)
    columns = least.indices
    return (
        columns
        if float(least.values.max()) <= _allowed(values, dtype) and len(columns.unique()) == len(columns)
        else None
    )


def _listen(made: list[tuple[str, nn.Module, Tensor, Tensor]], name: str, places: list[int]) -> Any:
    def hook(module: nn.Module, args: tuple[Any, ...], output: Any) -> None:
        read, rows = (x.reshape(-1, x.shape[-1])[places].detach().clone() for x in (args[0], output))
        made.append((name, module, read, rows))

    return hook


def _found(
    wide: list[tuple[str, nn.Module, Tensor, Tensor]], values: Float[Tensor, "positions d_head"]
) -> Projected | None:
    """The matrix with a column for every number of the head."""
    for name, module, read, rows in wide:
        columns = _columns(rows, values, rows.dtype)
        if columns is None:
            continue
        made = rows[:, columns].float().cpu()
        matrix = matrix_of(module)[columns].T
        bias: Any = getattr(module, "bias", None)
        none = torch.zeros(len(columns), device=matrix.device)
        return Projected(
            module=name,
            read=read.float().cpu(),
            matrix=matrix.float().cpu().contiguous(),
            bias=(none if bias is None else bias[columns]).float().cpu(),
            made=made,
            norm="",
            less=torch.zeros_like(made),
            factor=torch.ones_like(made),
        )
    return None
