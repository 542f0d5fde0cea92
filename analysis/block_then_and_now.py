"""The block of 2017 and a current one at the same sizes: parameters of each part, and the cache, by formula.

2017: encoder and decoder, post-norm, LayerNorm, ReLU, separate keys and values for every head, biases in every matrix
as in torch's ``nn.Transformer`` (Vaswani et al. 2017, arXiv:1706.03762). Now: a decoder, pre-norm, RMSNorm, SwiGLU,
rotary positions, grouped-query attention, no biases (as Llama 3, arXiv:2407.21783).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from analysis.decoder_sizes import HALF, DecoderSizes

PARTS = ("embedding", "attention", "cross", "ffn", "norms")


@dataclass(frozen=True)
class Original:
    """An encoder and a decoder with this many layers each; one embedding serves both and the output (section 3.4)."""

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
        """Parameters of the whole model by PARTS."""
        both = [self.block(decoder=decoder) for decoder in (False, True)]
        found = {part: self.layers * sum(one[part] for one in both) for part in PARTS[1:]}
        return {"embedding": self.vocabulary * self.d_model} | found

    def cache_bytes(self) -> int:
        """Bytes per generated token: the decoder's keys and values, separate for every head."""
        return 2 * self.layers * self.d_model * HALF


def original_of(shape: DecoderSizes) -> Original:
    """At this width, with as many heads and layers in each stack; the FFN is four times as wide."""
    return Original(shape.layers, shape.heads, shape.d_model, 4 * shape.d_model, shape.vocabulary)


def modern_of(shape: DecoderSizes) -> DecoderSizes:
    """The same sizes in a current architecture; the FFN is 8/3 as wide unless the shape has a gated one.

    Four query heads share a key/value head, if the shape has one per head and 4 divides them.
    """
    shared = shape.heads // 4 if shape.kv_heads == shape.heads and shape.heads % 4 == 0 else shape.kv_heads
    wide = shape.d_ffn if shape.gated else round(8 * shape.d_model / 3)
    return replace(
        shape, kv_heads=shared, d_ffn=wide, gated=True, learned=False, biases="none", norm_vectors=1, qk_norm=False,
        final_norm=True,
    )  # fmt: skip  # what is built otherwise in two lines


def modern_parts(shape: DecoderSizes) -> dict[str, int]:
    """Parameters of a decoder by PARTS; the final norm counts as a norm, an output layer of its own as embedding."""
    own = shape.parameters()
    return {
        "embedding": own["embedding"] + own["output"] + own["positions"],
        "attention": own["q"] + own["kv"] + own["o"],
        "cross": 0,
        "ffn": own["ffn"],
        "norms": own["norms"],
    }
