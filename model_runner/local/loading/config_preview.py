"""Previews a model from its config.json alone, without building any of it and without trusting any of its values."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import torch
from transformers import CONFIG_MAPPING

from model_runner import memory
from model_runner.errors import ModelTooLarge
from model_runner.local.loading.devices import choose_placement
from model_runner.local.loading.dtypes import Precision
from model_runner.local.recording.model_inspection import LENGTHS
from model_runner.model_cache import Device
from model_runner.preview import ModelPreview

# families without attention: the name under which they declare heads, if any, whatever else config.json holds
HEADS = {
    **dict.fromkeys(("mamba", "falcon_mamba", "rwkv"), ""),
    **dict.fromkeys(("mamba2", "xlstm"), "num_heads"),
}
USUAL = "float32"  # the dtype of a configuration that names none


@dataclass(frozen=True)
class StoredWeights:
    """Weights: ``n_bytes`` in the files, ``missing`` of them not on this machine yet; their number of elements, if
    known.
    """

    n_bytes: int
    n_parameters: int | None
    missing: int = 0


def preview_config(
    name: str, config: Mapping[str, Any], weights: StoredWeights, *, numbers: Precision, device: Device
) -> ModelPreview:
    """Preview the model of this configuration with these weights."""
    family, n_parameters = str(config.get("model_type")), weights.n_parameters
    if config.get("quantization_config"):  # packed numbers: several in one, and some are not
        n_parameters = None
    needed = weights.n_bytes if n_parameters is None else numbers.nbytes(n_parameters, unquantized(config))
    place = choose_placement(device, needed)
    return ModelPreview(
        name=name,
        family=family,
        dtype=numbers.name,
        device=place.name,
        n_parameters=n_parameters,
        n_layers=_count(family, config, "num_hidden_layers"),
        n_heads=_count(family, config, HEADS.get(family, "num_attention_heads")),
        n_kv_heads=None if family in HEADS else _count(family, config, "num_key_value_heads"),
        max_tokens=next((count for name in LENGTHS if (count := _count(family, config, name))), None),
        needed=needed,
        free=place.free,
        missing=weights.missing,
    )


def check_room(found: ModelPreview, stored: int) -> None:
    """Raises ModelTooLarge if neither its weights nor the bytes they are ``stored`` in fit in memory.

    Other models may still be evicted for it, so the smaller of the two counts.
    """
    least = min(found.needed, stored)
    if least > found.free:
        raise ModelTooLarge(name=found.name, needed=memory.readable(least), free=memory.readable(found.free))


def unquantized(config: Mapping[str, Any]) -> int:
    """How many weights the embedding and the output layer have, which are never quantized; 0 if unknown."""
    family, inner = str(config.get("model_type")), _text(config)
    size = (_count(family, config, "vocab_size") or 0) * (_count(family, config, "hidden_size") or 0)
    usual = getattr(_class_of(family), "tie_word_embeddings", True)
    tied = config.get("tie_word_embeddings", inner.get("tie_word_embeddings", usual))
    return size if tied else 2 * size


def stored_dtype(config: Mapping[str, Any]) -> torch.dtype:
    """The dtype that a configuration, or that of its text model, declares."""
    for part in (config, _text(config)):
        named = str(part.get("dtype") or part.get("torch_dtype") or "").removeprefix("torch.")
        if isinstance(dtype := getattr(torch, named, None), torch.dtype):
            return dtype
    return getattr(torch, USUAL)


def _text(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """The configuration of the text model if there are several, otherwise an empty mapping."""
    inner = config.get("text_config")
    return inner if isinstance(inner, Mapping) else {}


def _count(family: str, config: Mapping[str, Any], name: str) -> int | None:
    """A count under the name that the family gives it; the family's default if config.json omits it."""
    inner = _text(config)
    whole: Any = _class_of(family)
    text = _class_of(str(inner.get("model_type", ""))) or getattr(whole, "sub_configs", {}).get("text_config")
    for values, known in ((config, whole), (inner, text)):
        own = (getattr(known, "attribute_map", None) or {}).get(name, name)
        found = values.get(own, values.get(name, getattr(known, own, None)))
        if isinstance(found, int) and not isinstance(found, bool) and found > 0:
            return None if _differs_by_layer(values, own) else found
    return None


def _differs_by_layer(config: Mapping[str, Any], name: str) -> bool:
    layers = config.get("per_layer_config")
    return isinstance(layers, Mapping) and any(isinstance(one, Mapping) and name in one for one in layers.values())


def _class_of(family: str) -> Any:
    with suppress(KeyError):
        return CONFIG_MAPPING[family]
    return None
