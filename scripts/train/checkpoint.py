"""Checkpoints of a run: a second start resumes from them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch


@dataclass
class Progress:
    """What a checkpoint holds besides the weights; the training loop updates it."""

    tokens: int = 0
    steps: int = 0
    seconds: float = 0.0
    history: list[dict[str, Any]] = field(default_factory=list)  # one entry per checkpoint, see training.json


def save_checkpoint(
    file: Path, model: torch.nn.Module, optimizers: list[torch.optim.Optimizer], done: Progress
) -> None:
    """Write everything that is needed to resume; the old checkpoint stays until the new one is complete."""
    state = {"model": model.state_dict(), "optimizers": [o.state_dict() for o in optimizers], "progress": asdict(done)}
    partial = file.with_suffix(".partial")
    torch.save(state, partial)
    partial.replace(file)


def load_checkpoint(file: Path, model: torch.nn.Module, optimizers: list[torch.optim.Optimizer]) -> Progress:
    """Load the progress, and set ``model`` and ``optimizers`` to it. Without a checkpoint, start afresh."""
    if not file.exists():
        return Progress()
    device = next(model.parameters()).device
    state = torch.load(file, map_location=device, weights_only=True)
    model.load_state_dict(state["model"])
    for optimizer, saved in zip(optimizers, state["optimizers"], strict=True):
        optimizer.load_state_dict(saved)
    return Progress(**state["progress"])
