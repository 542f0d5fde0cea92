"""Measures which heads attend to the previous token, and which continue a repeated sequence (induction).

Olsson et al. 2022, "In-context Learning and Induction Heads" (arXiv:2209.11895), on repeated random tokens.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from transformers import LlamaForCausalLM

N_BYTES_AND_SPECIAL = 259  # ids below are special tokens and single bytes; the sequences use whole words and pieces


@dataclass(frozen=True, eq=False)
class HeadScores:
    """Mean attention over the queries and sequences, 0..1, each of shape (layers, heads)."""

    previous_token: torch.Tensor  # to the token before
    induction: torch.Tensor  # to the token after the previous occurrence of the current one


@torch.no_grad()
def head_scores(model: LlamaForCausalLM, bos_id: int, *, length: int = 50, sequences: int = 8) -> HeadScores:
    """Scores measured on random tokens that are repeated once: BOS, x1 ... xn, x1 ... xn with n = ``length``."""
    generator = torch.Generator().manual_seed(0)
    half = torch.randint(N_BYTES_AND_SPECIAL, model.config.vocab_size, (sequences, length), generator=generator)
    ids = torch.cat([torch.full((sequences, 1), bos_id), half, half], dim=1)
    attentions = model(ids, output_attentions=True).attentions
    weights = torch.stack(attentions).mean(dim=1)  # (layers, heads, queries, keys)
    second = torch.arange(length + 1, 2 * length)  # queries in the repeated half; the key sits one after the match
    return HeadScores(
        previous_token=weights.diagonal(offset=-1, dim1=-2, dim2=-1).mean(-1),
        induction=weights[:, :, second, second - length + 1].mean(-1),
    )


def strongest(scores: torch.Tensor, count: int = 6) -> list[tuple[str, float]]:
    """The names (``L3H7``) and scores of the ``count`` heads that score highest."""
    flat = scores.flatten()
    places = [(*divmod(i, scores.shape[1]), float(flat[i])) for i in flat.argsort(descending=True)[:count].tolist()]
    return [(f"L{layer}H{head}", score) for layer, head, score in places]
