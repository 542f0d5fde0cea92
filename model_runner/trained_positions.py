"""What two small models learned about positions, to be shown beside a model that represents them differently.

T5's biases are those of the embedded translation model, read from its weights. The table is that of its decoder, which
attends to earlier tokens only, like the picture (its encoder has another, for both directions). The learned vectors are
those of a GPT-2 with four layers, trained by ``python -m scripts.position_tables`` on the committed texts of the
corpus; nothing else of it is kept. Both are real, but of models that never see the user's text.
"""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jaxtyping import Float
from safetensors import safe_open
from torch import Tensor

FILE = Path(__file__).with_name("position_tables.safetensors")
TRANSLATOR = Path(__file__).with_name("translator") / "model.safetensors"
T5_BIAS = "decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"  # shared by all layers
T5_REACH = 32  # tokens; about one in a thousand of its training sentences is longer


@dataclass(frozen=True, eq=False)
class TrainedPositions:
    """The two tables, float32, and the facts of the GPT-2's training: corpus, tokens, loss in nats per token, sizes."""

    # causal; buckets of distances from T5_REACH on are hardly trained, or not at all
    t5_bias: Float[Tensor, "buckets heads"]
    learned: Float[Tensor, "positions d_model"]
    facts: dict[str, Any]


@functools.cache
def trained_positions() -> TrainedPositions:
    """Read once from the files beside this module."""
    with safe_open(TRANSLATOR, framework="pt") as weights, safe_open(FILE, framework="pt") as file:
        facts = json.loads(file.metadata()["facts"])
        return TrainedPositions(weights.get_tensor(T5_BIAS).float(), file.get_tensor("learned"), facts)
