"""What two small models learned about positions, to be shown beside a model that knows them in another way.

Made by ``python -m scripts.position_tables``: a causal T5 and a GPT-2 of four layers, trained on the committed texts of
the corpus. Only their tables of positions are kept. They are real, but of models that never see the user's text.
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


@dataclass(frozen=True, eq=False)
class TrainedPositions:
    """The two tables, float32, and the facts of the runs: corpus, tokens, losses in nats per token, sizes."""

    t5_bias: Float[Tensor, "buckets heads"]  # causal; the last bucket begins near distance 128
    learned: Float[Tensor, "positions d_model"]
    facts: dict[str, Any]


@functools.cache
def trained_positions() -> TrainedPositions:
    """Read once from the file beside this module."""
    with safe_open(FILE, framework="pt") as file:
        facts = json.loads(file.metadata()["facts"])
        return TrainedPositions(file.get_tensor("t5_bias"), file.get_tensor("learned"), facts)
