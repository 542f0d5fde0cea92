"""A layer's cache per token under different sharing: keys and values per head, per group, one pair, or a latent."""

from __future__ import annotations

from dataclasses import dataclass

from model_runner.record import LayerRecord


@dataclass(frozen=True)
class LatentBytes:
    """``numbers`` per token in one layer, and their bytes in the model's dtype. ``own``: the model's own sharing."""

    name: str
    numbers: int
    n_bytes: int
    own: bool = False


def kept(record: LayerRecord, rank: int) -> tuple[LatentBytes, ...]:
    """MHA, GQA if the model uses it, MQA, and MLA with its rotated part, in order of size by design.

    By formula: heads · (d_head + d_value) for keys and values; r for a latent, plus d_head / 2 that DeepSeek-V2 caches
    after rotation for all heads together (arXiv:2405.04434, section 2.1.4 and table 1).
    """
    n_heads, n_kv, size = len(record.q), len(record.k), record.k.element_size()
    pair, turned = record.k.shape[-1] + record.v.shape[-1], record.k.shape[-1] // 2
    counts = {"MHA": n_heads * pair, "GQA": n_kv * pair, "MQA": pair, "MLA": rank, "MLA + RoPE": rank + turned}
    own = "MHA" if n_kv == n_heads else "MQA" if n_kv == 1 else "GQA"
    return tuple(
        LatentBytes(name, numbers, numbers * size, name == own)
        for name, numbers in counts.items()
        if name != "GQA" or name == own
    )
