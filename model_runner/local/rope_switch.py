"""The lengths at which a model begins to turn every token otherwise, those it has already read too.

LongRoPE (Ding et al. 2024, arXiv:2402.13753) has one set of frequencies for texts up to the length of the first
training and another for longer ones. Keys in a cache that were turned by the first are of no use to the second:
transformers (5.23) reads the text anew for Phi-3, and leaves other families their old keys.
"""

from __future__ import annotations

from typing import Any

from model_runner.local.plain_forward import text_config


def rope_switches(model: Any) -> tuple[int, ...]:
    """The largest numbers of tokens that are turned as shorter texts are."""
    own = getattr(text_config(model), "rope_parameters", None) or {}
    kinds = [kind for kind in (own, *own.values()) if isinstance(kind, dict)]  # of the model, or of each kind of layer
    lengths = {kind["original_max_position_embeddings"] for kind in kinds if kind.get("rope_type") == "longrope"}
    return tuple(sorted(lengths))


def crosses(switches: tuple[int, ...], held: int, count: int) -> bool:
    """Whether a text of ``count`` tokens is turned otherwise than its first ``held`` were."""
    return any(0 < held <= length < count for length in switches)
