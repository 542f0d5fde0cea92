"""KV caches of well-known models, by their published configurations (config.json on the hub, as of 2026)."""

from __future__ import annotations

from dataclasses import dataclass

KIND_OF_SHARING = ("MHA", "GQA", "MQA", "MLA")
HALF = 2  # bytes per number in float16 or bfloat16


@dataclass(frozen=True)
class Published:
    """``window``: ``windowed`` of the layers attend to this many tokens only. ``latent``: numbers per token instead.

    A latent (MLA, DeepSeek-AI 2024, arXiv:2405.04434) is one compressed vector for all heads, keys and values together.
    """

    hub_id: str
    layers: int
    heads: int
    kv_heads: int
    d_head: int
    context: int
    window: int | None = None
    windowed: int = 0
    latent: int | None = None

    @property
    def sharing(self) -> str:
        if self.latent is not None:
            return "MLA"
        return "MHA" if self.kv_heads == self.heads else "MQA" if self.kv_heads == 1 else "GQA"

    @property
    def numbers(self) -> int:
        """Numbers per token and layer: a key and a value for each key/value head, or the latent."""
        return self.latent if self.latent is not None else 2 * self.kv_heads * self.d_head

    def n_bytes(self, tokens: int, number_bytes: int = HALF) -> int:
        """Bytes of the cache for this many tokens; layers with a window store no more than that."""
        kept = tokens if self.window is None else min(tokens, self.window)
        rows = (self.layers - self.windowed) * tokens + self.windowed * kept
        return rows * self.numbers * number_bytes


PUBLISHED: tuple[Published, ...] = (
    Published("openai-community/gpt2", 12, 12, 12, 64, context=1024),
    Published("microsoft/Phi-3-mini-4k-instruct", 32, 32, 32, 96, context=4096, window=2047, windowed=32),
    Published("meta-llama/Llama-2-7b-hf", 32, 32, 32, 128, context=4096),
    Published("google/gemma-2-9b", 42, 16, 8, 256, context=8192, window=4096, windowed=21),
    Published("meta-llama/Llama-3.1-8B", 32, 32, 8, 128, context=131_072),
    Published("mistralai/Mistral-7B-v0.1", 32, 32, 8, 128, context=32_768, window=4096, windowed=32),
    Published("Qwen/Qwen2.5-7B", 28, 28, 4, 128, context=131_072),
    Published("tiiuae/falcon-7b", 32, 71, 1, 64, context=2048),
    Published("deepseek-ai/DeepSeek-V3", 61, 128, 128, 128, context=163_840, latent=512 + 64),
)
"""DeepSeek-V3's latent: kv_lora_rank 512 and the 64 dimensions that RoPE rotates (qk_rope_head_dim)."""
