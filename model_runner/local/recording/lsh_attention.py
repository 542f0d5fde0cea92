"""Reformer (Kitaev et al. 2020, arXiv:2001.04451): a head's queries and keys are one projection, and hashing decides
which keys a query sees.

In each round a head turns its vectors by random rotations, which give each token a bucket; sorted by bucket and cut
into chunks, a token sees those of its own chunk and of the chunks next to it. The rounds are one softmax in which a key
counts as often as it is seen. Where the configuration names no seed for the rotations, transformers draws others for
every text; here the seed is 0, so that a text is hashed in the same way each time. Layers that see the chunks of the
text as it stands ("local") are read here too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import torch
from jaxtyping import Bool, Int
from torch import Tensor, nn

from attention.masks import SortedChunks
from model_runner.errors import N_
from model_runner.local.recording.cannot_record import CannotRecord
from model_runner.local.recording.legacy_projections import Call, by_head, hook_projections
from model_runner.local.recording.recorder import UNKNOWN_MASK
from model_runner.mask_rule import CAUSAL, FULL, MaskRule
from model_runner.record import LayerRecord
from model_runner.repeated_keys import RepeatedKeys

HASHED, IN_CHUNKS = "LSHSelfAttention", "LocalSelfAttention"
SEED = 0
COARSE = N_("in this number format its code rounds the sum of every row, and only float32 can be checked")


def settle_hashes(model: nn.Module) -> None:
    """Hash each text as if it were the first one, with rotations from a fixed seed, from now on."""
    for module in _of(model.modules(), HASHED):
        if module.hash_seed is None:
            module.hash_seed = SEED
        if module.num_buckets is None:  # its code derives the number from the first text, for all later ones
            module.register_forward_pre_hook(_forget_buckets)


def hook_lsh(model: nn.Module) -> bool:
    """Record these modules from now on. Returns False if the model has none. Raises CannotRecord."""
    hashed, in_chunks = _of(model.modules(), HASHED), _of(model.modules(), IN_CHUNKS)
    if any(module.value.weight.dtype != torch.float32 for module in (*hashed, *in_chunks)):
        raise CannotRecord(COARSE)
    for module in hashed:
        hook_projections(module, ("query_key", "value"), lambda call, module=module: _hashed(module, call))
    for module in in_chunks:
        hook_projections(module, ("query", "key", "value"), lambda call, module=module: _in_chunks(module, call))
    return bool(hashed or in_chunks)


def hashed_rows(layers: Iterable[nn.Module], n_tokens: int) -> int:
    """How many rows these layers have for so many tokens: beyond one chunk, whole chunks of every length."""
    found = _of((module for layer in layers for module in layer.modules()), HASHED, IN_CHUNKS)
    lengths = {int(module.chunk_length) for module in found}
    multiple = math.lcm(*lengths) if lengths and n_tokens > min(lengths) else 1
    return -(-n_tokens // multiple) * multiple


def _of(modules: Iterable[nn.Module], *names: str) -> list[Any]:
    return [module for module in modules if type(module).__name__ in names]


def _forget_buckets(module: Any, _: Any) -> None:
    module.num_buckets = None


def _hashed(module: Any, call: Call) -> LayerRecord:
    present, n_heads = _present(call), int(module.num_attention_heads)
    n_rows, n_tokens = len(present), int(present.sum())
    q, v = (by_head(call.only(name)[:, :n_tokens], n_heads) for name in ("query_key", "value"))
    k = module._len_and_dim_norm(q, math.sqrt(q.shape[-1]))  # unit vectors
    before, after, buckets = 0, 0, None
    if n_rows <= module.chunk_length:  # a text of one chunk is not hashed
        size, order = n_rows, torch.arange(n_rows, device=q.device).expand(n_heads, 1, n_rows)
    else:
        size, before, after = int(module.chunk_length), int(module.num_chunks_before), int(module.num_chunks_after)
        numbered = call.output.buckets[0]  # numbering continues from one round to the next
        order = numbered.flatten(1).argsort(dim=-1, stable=True).argsort(dim=-1).view_as(numbered)
        many = module.num_buckets if isinstance(module.num_buckets, int) else math.prod(module.num_buckets)
        buckets = numbered % (many + int(n_rows > n_tokens))  # padding has a bucket of its own
    chunks, n_chunks = order // size, order.shape[1] * n_rows // size
    itself = _alone(chunks, present, n_chunks, range(-before, after + 1), causal=bool(module.is_decoder))
    rule = SortedChunks(
        places=order[:, :, :n_tokens].int(),
        itself=itself[:, :n_tokens],
        size=size,
        n_chunks=n_chunks,
        before=before,
        after=after,
        causal=bool(module.is_decoder),
        buckets=None if buckets is None else buckets[:, :, :n_tokens].int(),
    )
    alone = float(module.self_mask_value_float32)
    return _record(q, k, v, call, 1.0, MaskRule(rule), RepeatedKeys(rule, alone) if rule.most > 1 else None)


def _in_chunks(module: Any, call: Call) -> LayerRecord:
    present, n_heads = _present(call), int(module.num_attention_heads)
    n_rows, n_tokens = len(present), int(present.sum())
    q, k, v = (by_head(call.only(name)[:, :n_tokens], n_heads) for name in ("query", "key", "value"))
    causal, size = bool(module.is_decoder), int(module.chunk_length)
    scale = q.shape[-1] ** -0.5
    if n_rows <= size:
        return _record(q, k, v, call, scale, CAUSAL if causal else FULL, None)
    rule = SortedChunks(
        places=torch.arange(n_tokens, device=q.device).int().expand(n_heads, 1, n_tokens),
        itself=torch.ones(n_heads, n_tokens, dtype=torch.bool, device=q.device),
        size=size,
        n_chunks=n_rows // size,
        before=int(module.num_chunks_before),
        after=int(module.num_chunks_after),
        causal=causal,
    )
    return _record(q, k, v, call, scale, MaskRule(rule), RepeatedKeys(rule) if rule.most > 1 else None)


def _present(call: Call) -> Bool[Tensor, "rows"]:
    """Which rows belong to the text rather than to the padding at the end."""
    mask = call.kwargs["attention_mask"]
    rows = call.output.hidden_states.shape[1]
    present = torch.ones(rows, dtype=torch.bool) if mask is None else mask[0].bool()
    if not bool(present[: int(present.sum())].all()):
        raise CannotRecord(UNKNOWN_MASK)
    return present.to(call.output.hidden_states.device)


def _alone(
    chunks: Int[Tensor, "heads rounds rows"], present: Bool[Tensor, "rows"], n_chunks: int, near: range, *, causal: bool
) -> Bool[Tensor, "heads rows"]:
    """The tokens that attend only to themselves in every round, by the first and the last token of each chunk."""
    n_heads, rounds, rows = chunks.shape
    token = torch.arange(rows, device=chunks.device).expand(n_heads, rounds, rows)
    ends: list[Tensor] = []
    for missing, kind in ((rows, "amin"), (-1, "amax")):
        known = torch.where(present, token, missing).flatten(1)
        of_chunk = known.new_full((n_heads, n_chunks), missing).scatter_reduce(1, chunks.flatten(1), known, kind)
        seen = torch.stack([of_chunk.roll(-step, dims=1) for step in near])
        seen = seen.amin(dim=0) if kind == "amin" else seen.amax(dim=0)
        of_token = seen.gather(1, chunks.flatten(1)).view_as(chunks)
        ends.append(of_token.amin(dim=1) if kind == "amin" else of_token.amax(dim=1))
    first, last = ends
    return (first == token[:, 0]) & (causal | (last == token[:, 0]))


def _record(
    q: Tensor, k: Tensor, v: Tensor, call: Call, scale: float, mask: MaskRule, bias: RepeatedKeys | None
) -> LayerRecord:
    return LayerRecord(
        q=q,
        k=k,
        v=v,
        output=call.output.hidden_states[0, : q.shape[1]].unflatten(-1, (len(q), -1)),
        scale=scale,
        softcap=None,
        sinks=None,
        mask=mask,
        window=None,
        rotation=None,
        eager=True,
        bias=bias,
    )
