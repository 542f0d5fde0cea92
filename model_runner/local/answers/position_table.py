"""The learned position vectors of a model, where it has them, found by watching it look them up.

In a forward over a repeated token, the table whose rows are taken one after the other is that of positions. Where its
first row lies says with which row position 0 begins, and so how many positions there are (OPT and RoBERTa leave rows
before it unused). An encoder–decoder may have other tables for what it reads and for what it writes (LED).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from model_runner.local.recording.parity_check import BROKEN, run, text_config

PROBED = 6  # tokens; a table that gives six of its rows in order is not one by chance


class _LookedUp(TorchFunctionMode):
    """Keeps each table of which PROBED rows were taken in order, and how many there are from the first of them on."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[Tensor, int]] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        for table, taken in _rows(func, args):
            rows = taken[:PROBED]  # more where a text is padded (Longformer)
            if len(rows) == PROBED and bool((rows.diff() == 1).all()):
                self.found.append((table, len(table) - int(rows[0])))
        return func(*args, **(kwargs or {}))


def _rows(func: Any, args: Any) -> Iterator[tuple[Tensor, Tensor]]:
    """The table and which of its rows, where ``func`` takes them for one text: the usual look-up, or by an index."""
    if func is nn.functional.embedding and len(args) > 1 and args[0].numel() == args[0].shape[-1]:
        yield args[1], args[0].reshape(-1)
    elif func is Tensor.__getitem__ and isinstance(args[0], nn.Parameter) and args[0].dim() == 2:  # as Whisper writes
        table, index = args
        if isinstance(index, slice) or (torch.is_tensor(index) and index.dtype is torch.long):
            yield table, torch.arange(len(table), device=table.device)[index].reshape(-1)


def looked_up(forward: Callable[[], Any]) -> list[tuple[Tensor, int]]:
    """The tables that a forward over PROBED equal tokens looks positions up in, each with how many it has of them."""
    with _LookedUp() as watch, torch.no_grad():
        forward()
    return watch.found


def looked_up_at_load(model: Any, forward: Callable[[], Any]) -> list[tuple[Tensor, int]]:
    """The same; empty where the forward fails, and without one where no table is there but that of the tokens."""
    with contextlib.suppress(*BROKEN):  # a model without tokens, or one that these tokens are nothing for
        tokens = model.get_input_embeddings()
        if any(one is not tokens for one in model.modules() if isinstance(one, nn.Embedding)):
            return looked_up(forward)
    return []


def learned_lengths(model: Any) -> list[int]:
    """How many positions each table of a model of one text has; costs at most one forward of PROBED tokens."""
    ids = torch.full((1, PROBED), text_config(model).vocab_size // 2, device=model.device)
    return [count for _, count in looked_up_at_load(model, lambda: run(model, ids))]


def position_table(backbone: nn.Module, token_id: int) -> Float[Tensor, "positions d_model"] | None:
    """The vector of every position from 0 on, as it is added to the embeddings; None where no table is learned.

    ``backbone`` is the model without its output layer; ``token_id`` any ordinary token. Costs one forward of PROBED
    tokens, to be run where the model's other forwards run.
    """
    ids = torch.full((1, PROBED), token_id, device=next(backbone.parameters()).device)
    found = looked_up(lambda: backbone(input_ids=ids, use_cache=False, return_dict=True))
    return found[0][0].detach()[-found[0][1] :].float().cpu() if found else None
