"""Where a run is, on disk: a second start goes on from there."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch


@dataclass
class Progress:
    """What a checkpoint remembers besides the weights; the training loop counts it up."""

    tokens: int = 0
    steps: int = 0
    seconds: float = 0.0
    history: list[dict[str, Any]] = field(default_factory=list)  # one entry per checkpoint, see training.json


def save_checkpoint(
    file: Path, model: torch.nn.Module, optimizers: list[torch.optim.Optimizer], done: Progress
) -> None:
    """Write everything the run needs to go on; the old checkpoint stays until the new one is complete."""
    state = {"model": model.state_dict(), "optimizers": [o.state_dict() for o in optimizers], "progress": asdict(done)}
    partial = file.with_suffix(".partial")
    torch.save(state, partial)
    partial.replace(file)


def load_checkpoint(file: Path, model: torch.nn.Module, optimizers: list[torch.optim.Optimizer]) -> Progress:
    """How far the run had come; ``model`` and ``optimizers`` are set to that point. Nothing yet: a fresh start."""
    if not file.exists():
        return Progress()
    device = next(model.parameters()).device
    state = torch.load(file, map_location=device, weights_only=True)
    model.load_state_dict(state["model"])
    for optimizer, saved in zip(optimizers, state["optimizers"], strict=True):
        optimizer.load_state_dict(saved)
    return Progress(**state["progress"])
