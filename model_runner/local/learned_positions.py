"""How many positions a model has learned vectors for, found by watching it look them up.

The number of rows is no answer: RoBERTa leaves two of them unused, LED has other tables for what is read and written.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from model_runner.local.plain_forward import BROKEN, run, text_config

PROBED = 6  # tokens, all the same: rows that are taken in order are those of their positions


class _LookedUp(TorchFunctionMode):
    """Keeps each table of which ``count`` rows were taken in order, with the rows there are from the first of them."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.count, self.found = count, list[tuple[Tensor, int]]()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is nn.functional.embedding and len(args) > 1:
            rows, table = args[0].reshape(-1), args[1]
            rows = rows[: self.count] if rows.numel() == args[0].shape[-1] else rows[:0]  # longer where it pads
            if len(rows) == self.count and bool((rows.diff() == 1).all()):
                self.found.append((table, len(table) - int(rows[0])))
        return func(*args, **(kwargs or {}))


def looked_up(model: Any, forward: Callable[[], Any], count: int) -> list[tuple[Tensor, int]]:
    """The tables that a forward over ``count`` equal tokens looks positions up in, each with how many it has of them.

    None where the model has no table but the one of its tokens; that costs no forward.
    """
    watch = _LookedUp(count)
    with contextlib.suppress(*BROKEN):  # a model without tokens, or one that these tokens are nothing for
        tokens = model.get_input_embeddings()
        if any(one is not tokens for one in model.modules() if isinstance(one, nn.Embedding)):
            with watch, torch.no_grad():
                forward()
    return watch.found


def learned_positions(model: Any) -> Iterator[int]:
    """How many positions each table of a model of one text has."""
    ids = torch.full((1, PROBED), text_config(model).vocab_size // 2, device=model.device)
    yield from (count for _, count in looked_up(model, lambda: run(model, ids), PROBED))
