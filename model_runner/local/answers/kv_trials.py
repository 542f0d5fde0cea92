"""The KV cache measured on the model: a race, its size in bytes, and edited caches."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from jaxtyping import Float
from torch import Tensor

from model_runner.errors import ContextFull
from model_runner.kv import CachedLayer
from model_runner.local.answers.kv_race import Lane, Race, forward
from model_runner.local.encoder_decoder import EncoderDecoder
from model_runner.local.engine import Engine
from model_runner.local.generation import end_tokens
from model_runner.local.preallocated_cache import empty_cache
from model_runner.local.recording.recorder import record_with
from model_runner.local.recording.rope_switch import rope_switches
from model_runner.local.request_tokens import explained, write
from model_runner.local.tokenizing import Writer
from model_runner.request import CaptureRequest, GenerateRequest


def start_race(engine: Engine, request: GenerateRequest) -> Race:
    """Both lanes before the first step. Raises NoLogits, CannotContinue, ContextFull, and as ``write``."""
    model, switches = engine.model, rope_switches(engine.model)
    cached, uncached = (_read(engine, request) for _ in range(2))
    count, limit = len(cached.tokens), engine.info.max_tokens
    if count >= limit:
        raise ContextFull(tokens=count, limit=limit)
    last = min(limit, count + request.max_new_tokens)
    lanes = Lane(model, cached, empty_cache(model), switches), Lane(model, uncached, None)
    return Race(engine.info.name, *lanes, end_tokens(model), last)


def cached_layers(engine: Engine, request: CaptureRequest) -> tuple[CachedLayer, ...]:
    """The contents of transformers' own cache for each layer after the text. Raises RunnerError."""
    ids, cache = [token.id for token in _read(engine, request).tokens], empty_cache(engine.model)
    with explained(engine.info, len(ids)):
        forward(engine.model, ids, cache)
    return tuple(_cached_layer(number, layer) for number, layer in enumerate(cache.layers))


def next_logits(engine: Engine | EncoderDecoder, request: CaptureRequest) -> Float[Tensor, "vocab"]:
    """The logits after the text, float32; with one stack nothing else is stored. Raises RunnerError."""
    if isinstance(engine, EncoderDecoder):
        return engine.logits(engine.capture(replace(request, attention="decoder")).hidden[None, -1:])[0, 0]
    engine.check_head()
    tokens = write(engine.tokenizer, request, engine.info).tokens
    recording = engine.structure.recording(keeps=False, edit=engine.edit(request))
    with explained(engine.info, len(tokens)), record_with(recording):
        return forward(engine.model, [token.id for token in tokens], None, **engine.given.types(tokens))


def _read(engine: Engine, request: CaptureRequest | GenerateRequest) -> Writer:
    engine.check_head()
    writer = write(engine.tokenizer, request, engine.info)
    engine.proven_rules()
    return writer


def _cached_layer(number: int, layer: Any) -> CachedLayer:
    """The contents of one of transformers' cache layers; 5.23 has a class for each kind."""
    keys, values = getattr(layer, "keys", None), getattr(layer, "values", None)
    states = [*_tensors(getattr(layer, "conv_states", None)), *_tensors(getattr(layer, "recurrent_states", None))]
    kept = [tensor for tensor in (keys, values) if tensor is not None]
    return CachedLayer(
        layer=number,
        k_shape=None if keys is None else tuple(keys.shape[1:]),
        v_shape=None if values is None else tuple(values.shape[1:]),
        n_bytes=sum(tensor.nbytes for tensor in kept),
        window=getattr(layer, "sliding_window", None),
        state_bytes=sum(tensor.nbytes for tensor in states),
    )


def _tensors(states: dict[int, Tensor | None] | None) -> list[Tensor]:
    return [state for state in (states or {}).values() if state is not None]
