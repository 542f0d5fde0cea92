"""The columns of a layer's matrices that make a head's queries, keys and values, found by what they make of a text.

Nothing is read from names: of every matrix inside the attention that reads vectors as wide as the stream, each column's
output is compared with the head's numbers at all positions asked for.
"""

from __future__ import annotations

import contextlib
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from model_runner.errors import NotRecoverable
from model_runner.local.engine import Engine
from model_runner.local.layer_stack import stack_of
from model_runner.local.numbers import matrix_of
from model_runner.projection_questions import HeadProjections, Projected, Projections

NEAR = 1e-4  # of the largest number: what is turned back differs by rounding alone
ROUNDINGS = 16  # units of the dtype


def projections(engine: Engine, asked: HeadProjections) -> Projections:
    """Over one forward of the request. Raises RunnerError."""
    capture = engine.capture(asked.request)
    record, places = capture.record(asked.layer), list(asked.positions)
    made: list[tuple[str, nn.Module, Tensor, Tensor]] = []
    module = engine.model.get_submodule(engine.anatomy.attention[asked.layer])
    with contextlib.ExitStack() as stack:
        for name, inside in module.named_modules():
            if isinstance(inside, (nn.Linear, Conv1D)):
                handle = inside.register_forward_hook(_listen(made, name, places))
                stack.callback(handle.remove)
        stack_of(engine, asked.request).forward()
    width, kv_head = capture.residual(asked.layer).shape[-1], asked.head // record.group
    wide = [one for one in made if one[2].shape[-1] == width]
    try:
        q, k = capture.q_unrotated(asked.layer), capture.k_unrotated(asked.layer)
    except NotRecoverable as error:
        q, k = (None, None) if record.rotation is not None or type(error) is NotRecoverable else (record.q, record.k)
    wanted = (q, asked.head), (k, kv_head), (record.v, kv_head)
    return Projections(*(None if x is None else _found(wide, x[head, places].float()) for x, head in wanted))


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
        apart = (rows.float()[:, :, None] - values[:, None, :]).abs().amax(0)  # (d_out, d_head)
        least = apart.min(dim=0)
        allowed = max(NEAR, ROUNDINGS * torch.finfo(rows.dtype).eps) * float(values.abs().max())
        columns = least.indices
        if float(least.values.max()) > allowed or len(columns.unique()) < len(columns):
            continue
        matrix = matrix_of(module)[columns].T
        bias: Any = getattr(module, "bias", None)
        none = torch.zeros(len(columns), device=matrix.device)
        return Projected(
            module=name,
            read=read.float().cpu(),
            matrix=matrix.float().cpu().contiguous(),
            bias=(none if bias is None else bias[columns]).float().cpu(),
            made=rows[:, columns].float().cpu(),
        )
    return None
