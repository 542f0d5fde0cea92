"""The text lengths at which a model begins to rotate every token differently, including those it has already read.

LongRoPE (Ding et al. 2024, arXiv:2402.13753) has one set of frequencies for texts up to the length of the original
training and another for longer ones; dynamic NTK scaling has a new set for every length beyond it. Cached keys rotated
with the first set are useless with the second: transformers (5.23) recomputes the text for Phi-3, and leaves other
families their old keys.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Any

from torch import nn

from model_runner.local.recording.parity_check import text_config

FURTHEST = 1 << 31  # tokens, whatever a configuration says


def rope_switches(model: Any) -> Sequence[int]:
    """The largest text lengths whose tokens are rotated as in shorter texts, ascending."""
    config = text_config(model)
    lengths = {kind["original_max_position_embeddings"] for kind in _kinds(config) if _type(kind) == "longrope"}
    reach = dynamic_reach(config)
    return tuple(sorted(lengths)) if reach is None else range(config.max_position_embeddings, reach)


def crosses(switches: Sequence[int], held: int, count: int) -> bool:
    """Whether a text of ``count`` tokens is rotated differently than its first ``held`` tokens were."""
    after = bisect_left(switches, held)
    return held > 0 and after < len(switches) and switches[after] < count


def dynamic_reach(config: Any) -> int | None:
    """How many tokens a rotation that stretches with the text was made for; None for any other rotation.

    transformers (5.23) describes ``factor`` as a multiple of the original training length.
    """
    kinds = [kind for kind in _kinds(config) if "dynamic" in _type(kind)]
    if not kinds:
        return None
    factor = min(max(1.0, float(kind["factor"])) for kind in kinds)
    return int(min(FURTHEST, factor * config.max_position_embeddings))


def forget_lengths(model: nn.Module) -> None:
    """Have each forward stretch the rotation for its own text, as a newly loaded model does.

    transformers (5.23) keeps the frequencies of the longest text until one comes that is as short as those of the
    original training: the output for a text would depend on the texts before it.
    """
    for module in model.modules():
        if hasattr(module, "original_max_seq_len") and "dynamic" in str(getattr(module, "rope_type", "")):
            module.register_forward_pre_hook(_forget)


def _forget(rotary: Any, _: Any) -> None:
    kinds = rotary.rope_type if isinstance(rotary.rope_type, dict) else {"": rotary.rope_type}
    for layer_type, rope_type in kinds.items():
        prefix = f"{layer_type}_" if layer_type else ""
        if "dynamic" in rope_type:
            setattr(rotary, f"{prefix}max_seq_len_cached", rotary.original_max_seq_len)
            setattr(rotary, f"{prefix}inv_freq", getattr(rotary, f"{prefix}original_inv_freq"))


def _kinds(config: Any) -> Iterator[dict[str, Any]]:
    """The rotation settings, of all layers or of each kind of layer."""
    own = getattr(config, "rope_parameters", None) or {}
    return (kind for kind in (own, *own.values()) if isinstance(kind, dict))


def _type(kind: dict[str, Any]) -> str:
    return str(kind.get("rope_type", ""))
