"""The learned position vectors of a model, where it has them, found by watching it work.

In one forward over a repeated token, the embedding whose rows come out one after the other is the table of positions;
where its first row lies says with which row position 0 begins (OPT and RoBERTa leave rows before it unused).
"""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

PROBED = 4  # tokens; a table that gives four of its rows in order is not one by chance


def position_table(trunk: nn.Module, token_id: int) -> Float[Tensor, "positions d_model"] | None:
    """The vector of every position from 0 on, as it is added to the embeddings; None where no table is learned.

    ``trunk`` is the model without its output layer; ``token_id`` any ordinary token. Costs one forward of PROBED
    tokens, to be run where the model's other forwards run.
    """
    found: list[Tensor] = []

    def watch(module: nn.Module, _: Any, output: Any) -> None:
        if isinstance(module, nn.Embedding) and torch.is_tensor(output) and output.dim() >= 2:
            rows, table = output.detach().reshape(-1, output.shape[-1]), module.weight.detach()
            starts = (table[: len(table) - PROBED + 1] == rows[0]).all(dim=-1).nonzero()[:, 0].tolist()
            if len(rows) == PROBED:
                found.extend(table[at:] for at in starts if torch.equal(table[at : at + PROBED], rows))

    hooks = [module.register_forward_hook(watch) for module in trunk.modules() if isinstance(module, nn.Embedding)]
    try:
        with torch.no_grad():
            ids = torch.full((1, PROBED), token_id, device=next(trunk.parameters()).device)
            trunk(input_ids=ids, use_cache=False, return_dict=True)
    finally:
        for hook in hooks:
            hook.remove()
    moving = [
        table for table in found if not torch.equal(table[0], table[1])
    ]  # equal rows: a token's, not a position's
    return moving[0].float().cpu() if moving else None
