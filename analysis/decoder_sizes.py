"""The cost of a decoder of given sizes: parameters by part, cache size, operations. By formula, for any sizes.

Published sizes are from config.json on the hub (as of 2026), GPT-3's from its paper (Brown et al. 2020, table 2.1,
arXiv:2005.14165).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

from model_runner.block_questions import Architecture

Biases = Literal["all", "qkv", "none"]
HALF = 2  # bytes per number in bfloat16
PARTS = ("embedding", "positions", "q", "kv", "o", "ffn", "norms", "output")
WORK = ("projections", "scores", "ffn", "output")


@dataclass(frozen=True)
class DecoderSizes:
    """``gated``: three FFN matrices instead of two. ``learned``: an embedding for each of ``context`` positions.

    ``norm_vectors`` is 2 for LayerNorm (gain and bias) and 1 for RMSNorm; ``qk_norm``: queries and keys have one each.
    ``tied``: the output layer shares the embedding matrix.
    """

    name: str
    layers: int
    heads: int
    kv_heads: int
    d_model: int
    d_head: int
    d_ffn: int
    vocabulary: int
    context: int
    gated: bool = True
    learned: bool = False
    tied: bool = False
    biases: Biases = "none"
    norm_vectors: int = 1
    qk_norm: bool = False
    final_norm: bool = True

    @property
    def sharing(self) -> str:
        return "MHA" if self.kv_heads == self.heads else "MQA" if self.kv_heads == 1 else "GQA"

    def parameters(self) -> dict[str, int]:
        """Parameters by PARTS, over all layers; biases count with their matrices."""
        width, kv_width = self.heads * self.d_head, self.kv_heads * self.d_head
        qkv, rest = int(self.biases != "none"), int(self.biases == "all")
        ffn = (3 if self.gated else 2) * self.d_model * self.d_ffn
        ffn += rest * ((2 if self.gated else 1) * self.d_ffn + self.d_model)
        norms = 2 * self.d_model * self.norm_vectors + 2 * self.d_head * self.qk_norm
        return {
            "embedding": self.vocabulary * self.d_model,
            "positions": self.context * self.d_model if self.learned else 0,
            "q": self.layers * (self.d_model + qkv) * width,
            "kv": self.layers * 2 * (self.d_model + qkv) * kv_width,
            "o": self.layers * (width + rest) * self.d_model,
            "ffn": self.layers * ffn,
            "norms": self.layers * norms + self.final_norm * self.d_model * self.norm_vectors,
            "output": 0 if self.tied else self.vocabulary * self.d_model,
        }

    @property
    def total(self) -> int:
        return sum(self.parameters().values())

    def cache_bytes(self, tokens: int, number_bytes: int = HALF) -> int:
        """Bytes of keys and values: 2 · layers · kv heads · d_head · tokens · bytes."""
        return 2 * self.layers * self.kv_heads * self.d_head * tokens * number_bytes

    def work(self, seen: int) -> dict[str, int]:
        """FLOPs of one more token that attends to ``seen`` tokens, itself included, by WORK; a multiply-add counts as
        two.
        """
        width, kv_width = self.heads * self.d_head, self.kv_heads * self.d_head
        return {
            "projections": 2 * self.layers * self.d_model * (2 * width + 2 * kv_width),
            "scores": 2 * self.layers * 2 * width * seen,
            "ffn": 2 * self.layers * (3 if self.gated else 2) * self.d_model * self.d_ffn,
            "output": 2 * self.vocabulary * self.d_model,
        }


def _gpt(name: str, layers: int, heads: int, d_model: int, vocabulary: int, context: int, **more: bool) -> DecoderSizes:
    """Like GPT-2: LayerNorm, biases everywhere, learned positions, an FFN four times as wide, a tied output layer."""
    return DecoderSizes(
        name, layers, heads, heads, d_model, d_model // heads, 4 * d_model, vocabulary, context, gated=False,
        learned=True, tied=True, biases="all", norm_vectors=2, **more,
    )  # fmt: skip  # its many sizes in two lines


KNOWN_SHAPES = (
    _gpt("GPT-1", 12, 12, 768, 40_478, 512, final_norm=False),
    _gpt("GPT-2", 12, 12, 768, 50_257, 1024),
    _gpt("GPT-2 XL", 48, 25, 1600, 50_257, 1024),
    _gpt("GPT-3 175B", 96, 96, 12_288, 50_257, 2048),
    DecoderSizes("Llama 1 7B", 32, 32, 32, 4096, 128, 11_008, 32_000, 2048),
    DecoderSizes("Llama 2 70B", 80, 64, 8, 8192, 128, 28_672, 32_000, 4096),
    DecoderSizes("Llama 3 8B", 32, 32, 8, 4096, 128, 14_336, 128_256, 8192),
    DecoderSizes("Llama 3 70B", 80, 64, 8, 8192, 128, 28_672, 128_256, 8192),
    DecoderSizes("Llama 3.1 405B", 126, 128, 8, 16_384, 128, 53_248, 128_256, 131_072),
    DecoderSizes("Mistral 7B", 32, 32, 8, 4096, 128, 14_336, 32_000, 32_768),
    DecoderSizes("Qwen2 7B", 28, 28, 4, 3584, 128, 18_944, 152_064, 131_072, biases="qkv"),
    DecoderSizes("Qwen2 72B", 80, 64, 8, 8192, 128, 29_568, 152_064, 131_072, biases="qkv"),
    DecoderSizes("Qwen3 8B", 36, 32, 8, 4096, 128, 12_288, 151_936, 40_960, qk_norm=True),
)
BY_NAME = {one.name: one for one in KNOWN_SHAPES}


def shape_of(made: Architecture, name: str, *, d_head: int, vocabulary: int, context: int) -> DecoderSizes | None:
    """A loaded model's sizes, if its blocks are equal and the formula gives its exact parameter count; else None."""
    blocks = made.blocks
    kinds = {(one.n_heads, one.n_kv_heads, one.width, one.gated, one.n_experts, one.stack) for one in blocks}
    if len(kinds) != 1 or not vocabulary or any(one.shares is not None for one in blocks):
        return None
    heads, kv_heads, d_ffn, gated, n_experts, stack = kinds.pop()
    if n_experts or stack or not d_ffn or not kv_heads:
        return None
    learned = [part.weights[0].shape[0] for part in made.before if part.role == "positions" and part.weights]
    rows = [part.weights[0].shape[0] for part in made.before if part.role == "embedding" and part.weights]
    first = DecoderSizes(
        name, len(blocks), heads, kv_heads, made.d_model, d_head, d_ffn, rows[0] if rows else vocabulary,
        learned[0] if learned else context, gated=gated, learned=bool(learned), tied=made.tied,
    )  # fmt: skip  # its many sizes in two lines
    return next((one for one in _builds(first) if one.total == made.n_parameters), None)


def _builds(shape: DecoderSizes) -> Iterator[DecoderSizes]:
    biases: tuple[Biases, ...] = ("none", "qkv", "all")
    for bias, vectors, qk_norm, final in product(biases, (1, 2), (False, True), (True, False)):
        yield replace(shape, biases=bias, norm_vectors=vectors, qk_norm=qk_norm, final_norm=final)
