"""The KV cache of an encoder-decoder, measured on the model: a race with and without it, and its contents.

It has two parts: the target's, which grows by a row per step, and the source's, made at the first step and then fixed.
The encoder runs once in either lane, as in transformers' own generation without a cache.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from model_runner.errors import N_, NotSeparable
from model_runner.kv import CachedLayer
from model_runner.local.answers.kv_race import Lane, Race
from model_runner.local.cache_argument import cache_argument
from model_runner.local.encoder_decoder import EncoderDecoder
from model_runner.local.encoder_input import EncoderInput, growing_caches
from model_runner.local.generation import end_tokens
from model_runner.local.request_tokens import explained
from model_runner.local.tokenizing import Writer
from model_runner.request import CaptureRequest, GenerateRequest


@dataclass(eq=False)
class EncoderDecoderLane(Lane):
    """``read`` is the encoder's input; ``made`` is its output, computed once."""

    read: dict[str, Tensor] = field(default_factory=dict[str, Tensor])
    made: Any = None

    def logits(self) -> Float[Tensor, "vocab"]:
        with torch.no_grad():
            if self.made is None:
                self.made = self.model.get_encoder()(**self.read, return_dict=True)
            written = [token.id for token in self.writer.tokens[self.held :]]
            output = self.model(
                encoder_outputs=self.made,
                decoder_input_ids=torch.tensor([written], device=self.model.device),
                **cache_argument(self.model, self.cache),
                use_cache=self.cache is not None,
                return_dict=True,
            )
        return output.logits[0, -1].float()


def start_encoder_decoder_race(engine: EncoderDecoder, request: GenerateRequest) -> Race:
    """Both lanes before the first step. Raises RunnerError."""
    lanes = [engine.begin(request) for _ in range(2)]
    cached, uncached = (_lane(engine, one.source, one.writer, cached=one is lanes[0]) for one in lanes)
    return Race(engine.info.name, cached, uncached, end_tokens(engine.model), lanes[0].capacity)


def encoder_decoder_cached_layers(engine: EncoderDecoder, request: CaptureRequest) -> tuple[CachedLayer, ...]:
    """The contents of the decoder's cache for one attention, for each layer, after the target was read.

    Raises NotSeparable for the encoder's, and RunnerError.
    """
    if request.attention == "encoder":
        raise NotSeparable(reason=N_("an encoder reads its whole input at once and needs none of it again"))
    capture = engine.capture(request)
    ids = tuple(token.id for token in capture.attention("decoder").tokens[1:])
    written = request.going_on(target="", continuation=ids, edits=(), attention=None)
    lane = _lane(engine, *engine.texts(written), cached=True)
    with explained(engine.info, len(ids)):
        lane.logits()
    cache = lane.cache
    of_one = cache.cross_attention_cache if request.attention == "cross" else cache.self_attention_cache
    return tuple(
        CachedLayer(
            layer=number,
            k_shape=tuple(layer.keys.shape[1:]),
            v_shape=tuple(layer.values.shape[1:]),
            n_bytes=layer.keys.nbytes + layer.values.nbytes,
            window=getattr(layer, "sliding_window", None),
            state_bytes=0,
        )
        for number, layer in enumerate(of_one.layers)
    )


def _lane(engine: EncoderDecoder, source: EncoderInput, writer: Writer, *, cached: bool) -> EncoderDecoderLane:
    cache: Any = growing_caches(engine.model) if cached else None
    return EncoderDecoderLane(engine.model, writer, cache, read=source.given)
