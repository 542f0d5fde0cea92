"""A model's learned position embeddings, if it has any, found by observing their lookup.

In a forward over a repeated token, the table whose rows are taken in sequence is that of positions. Its first row tells
which row belongs to position 0, and so how many positions there are (OPT and RoBERTa have unused rows before it). An
encoder-decoder model may have separate tables for source and target (LED).
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

PROBED = 6  # tokens; a table of which six rows are taken in order is not so by chance


class _LookedUp(TorchFunctionMode):
    """Stores each table of which PROBED rows were taken in order, and the number of rows from the first of them on."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[Tensor, int]] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        for table, taken in _rows(func, args):
            rows = taken[:PROBED]  # more if a text is padded (Longformer)
            if len(rows) == PROBED and bool((rows.diff() == 1).all()):
                self.found.append((table, len(table) - int(rows[0])))
        return func(*args, **(kwargs or {}))


def _rows(func: Any, args: Any) -> Iterator[tuple[Tensor, Tensor]]:
    """The table and its rows, if ``func`` takes them for one text: the usual lookup, or by an index."""
    if func is nn.functional.embedding and len(args) > 1 and args[0].numel() == args[0].shape[-1]:
        yield args[1], args[0].reshape(-1)
    elif func is Tensor.__getitem__ and isinstance(args[0], nn.Parameter) and args[0].dim() == 2:  # as in Whisper
        table, index = args
        if isinstance(index, slice) or (torch.is_tensor(index) and index.dtype is torch.long):
            yield table, torch.arange(len(table), device=table.device)[index].reshape(-1)


def looked_up(forward: Callable[[], Any]) -> list[tuple[Tensor, int]]:
    """The tables in which a forward over PROBED equal tokens looks up positions, each with its number of positions."""
    with _LookedUp() as watch, torch.no_grad():
        forward()
    return watch.found


def looked_up_at_load(model: Any, forward: Callable[[], Any]) -> list[tuple[Tensor, int]]:
    """The same; empty if the forward fails, and without a forward if the only table is that of the tokens."""
    with contextlib.suppress(*BROKEN):  # a model without tokens, or one that cannot read these
        tokens = model.get_input_embeddings()
        if any(one is not tokens for one in model.modules() if isinstance(one, nn.Embedding)):
            return looked_up(forward)
    return []


def learned_lengths(model: Any) -> list[int]:
    """The number of positions in each table of a model of one text; costs at most one forward of PROBED tokens."""
    ids = torch.full((1, PROBED), text_config(model).vocab_size // 2, device=model.device)
    return [count for _, count in looked_up_at_load(model, lambda: run(model, ids))]


def position_table(backbone: nn.Module, token_id: int) -> Float[Tensor, "positions d_model"] | None:
    """The vector of every position from 0 on, as added to the embeddings; None if no table is learned.

    ``backbone`` is the model without its output layer; ``token_id`` is any ordinary token. Costs one forward of PROBED
    tokens, to be run where the model's other forwards run.
    """
    ids = torch.full((1, PROBED), token_id, device=next(backbone.parameters()).device)
    found = looked_up(lambda: backbone(input_ids=ids, use_cache=False, return_dict=True))
    return found[0][0].detach()[-found[0][1] :].float().cpu() if found else None
