"""The block of 2017 and one of today at the same sizes: parameters of each part, and the cache, by formula.

2017: encoder and decoder, post-norm, LayerNorm, ReLU, every head its own keys and values, biases in every matrix as
torch's ``nn.Transformer`` has them (Vaswani et al. 2017, arXiv:1706.03762). Today: a decoder, pre-norm, RMSNorm,
SwiGLU, rotated queries and keys, grouped-query attention, no biases (as Llama 3, arXiv:2407.21783).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from analysis.decoder_sizes import HALF, DecoderSizes

PARTS = ("embedding", "attention", "cross", "ffn", "norms")


@dataclass(frozen=True)
class Original:
    """An encoder and a decoder of so many layers each; one embedding serves both and the output (section 3.4)."""

    layers: int
    heads: int
    d_model: int
    d_ffn: int
    vocabulary: int

    def block(self, *, decoder: bool) -> dict[str, int]:
        """Parameters of one layer by PARTS, without the embedding."""
        attention = 4 * (self.d_model + 1) * self.d_model
        ffn = 2 * self.d_model * self.d_ffn + self.d_ffn + self.d_model
        norms = (3 if decoder else 2) * 2 * self.d_model
        return {"attention": attention, "cross": attention if decoder else 0, "ffn": ffn, "norms": norms}

    def parameters(self) -> dict[str, int]:
        """Of the whole model by PARTS."""
        both = [self.block(decoder=decoder) for decoder in (False, True)]
        found = {part: self.layers * sum(one[part] for one in both) for part in PARTS[1:]}
        return {"embedding": self.vocabulary * self.d_model} | found

    def cache_bytes(self) -> int:
        """Of one token that is written: the decoder's keys and values, every head its own."""
        return 2 * self.layers * self.d_model * HALF


def original_of(shape: DecoderSizes) -> Original:
    """At this width, with as many heads and layers in each stack; the FFN four times as wide."""
    return Original(shape.layers, shape.heads, shape.d_model, 4 * shape.d_model, shape.vocabulary)


def modern_of(shape: DecoderSizes) -> DecoderSizes:
    """The same sizes built as today; the FFN 8/3 as wide where the shape has none that is gated.

    Four query heads share a key and value head, where the shape has one for each and they can.
    """
    shared = shape.heads // 4 if shape.kv_heads == shape.heads and shape.heads % 4 == 0 else shape.kv_heads
    wide = shape.d_ffn if shape.gated else round(8 * shape.d_model / 3)
    return replace(
        shape, kv_heads=shared, d_ffn=wide, gated=True, learned=False, biases="none", norm_vectors=1, qk_norm=False,
        final_norm=True,
    )  # fmt: skip  # what is built otherwise in two lines


def modern_parts(shape: DecoderSizes) -> dict[str, int]:
    """Of a decoder by PARTS, the final norm with the norms and an output layer of its own with the embedding."""
    own = shape.parameters()
    return {
        "embedding": own["embedding"] + own["output"] + own["positions"],
        "attention": own["q"] + own["kv"] + own["o"],
        "cross": 0,
        "ffn": own["ffn"],
        "norms": own["norms"],
    }
