"""A token's row of the model's embedding matrix, and the rows with the largest cosine similarity."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from model_runner.block_questions import TokenEmbedding
from model_runner.capture import index
from model_runner.errors import N_, NotSeparable
from model_runner.local.cancellation import pause
from model_runner.local.encoder_decoder import EncoderDecoder
from model_runner.local.engine import Engine
from model_runner.request import CaptureRequest

NO_TABLE = N_("this model does not look its tokens up in a table")
CHUNK = 8192  # rows at a time
BESIDE = 2  # adjacent rows of the matrix on each side


def embedding_row(engine: Engine | EncoderDecoder, request: CaptureRequest, token: int, nearest: int) -> TokenEmbedding:
    """By the model's own lookup of all ids. Raises NoSuchPlace, NotSeparable."""
    table = _table(engine, request)
    count = table.num_embeddings
    token = index("token id", token, count)
    with torch.no_grad():
        row = _rows(table, torch.tensor([token]))[0]
        direction = row / row.norm()
        cosines = torch.cat([_cosines(table, start, direction) for start in range(0, count, CHUNK)])
        cosines = cosines.where(cosines.isfinite(), -torch.inf)
        cosines[token] = -torch.inf
        best = cosines.topk(min(nearest, count - 1))
        known = best.values > -torch.inf  # a zero row has no direction
        ids = range(max(0, token - BESIDE), min(count, token + BESIDE + 1))
        return TokenEmbedding(
            token=token,
            vector=row.cpu(),
            n_rows=count,
            module=next((name for name, module in engine.model.named_modules() if module is table), ""),
            nearest=best.indices[known].cpu(),
            cosines=best.values[known].cpu(),
            vectors=_rows(table, best.indices[known]).cpu(),
            ids=tuple(ids),
            rows=_rows(table, torch.tensor(ids)).cpu(),
        )


def _table(engine: Engine | EncoderDecoder, request: CaptureRequest) -> nn.Embedding:
    """The source's tokens are looked up in the encoder's matrix, the target's in the decoder's."""
    model: Any = engine.model
    if isinstance(engine, EncoderDecoder) and request.attention != "encoder":
        model = model.get_decoder()
    elif request.sound is not None:
        raise NotSeparable(reason=NO_TABLE)
    table = model.get_input_embeddings()
    if not isinstance(table, nn.Embedding):
        raise NotSeparable(reason=NO_TABLE)
    return table


def _rows(table: nn.Embedding, ids: Tensor) -> Tensor:
    return table(ids.to(table.weight.device)).float()


def _cosines(table: nn.Embedding, start: int, direction: Tensor) -> Tensor:
    pause()
    rows = _rows(table, torch.arange(start, min(start + CHUNK, table.num_embeddings)))
    return (rows @ direction) / rows.norm(dim=-1)
