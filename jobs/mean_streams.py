"""What each token's residual stream contributes to the next token, by mean ablation: one job on the model per layer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from jobs.incremental_task import IncrementalTask
from model_runner import CaptureRequest, Runner
from model_runner.job import Job
from model_runner.questions import MeanStream

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class MeanStreams:
    """The streams of this text at these layers, and the token whose probability is measured."""

    request: CaptureRequest
    target: int
    layers: int

    @property
    def order(self) -> tuple[int, ...]:
        """The layers from the last one down, since patching later layers repeats fewer of them."""
        return tuple(reversed(range(self.layers)))

    def map_of(self, found: list[np.ndarray], n_tokens: int) -> np.ndarray:
        """Changes of the log-probability in nats [layers, tokens]; NaN where not computed yet."""
        changes = np.full((self.layers, n_tokens), np.nan)
        for layer, values in zip(self.order, found, strict=False):
            changes[layer] = values
        return changes


def mean_streams(runner: Runner, setting: MeanStreams, name: str) -> IncrementalTask[np.ndarray]:
    """A task for the rows of the map; ``name`` identifies the session at the runner."""

    def submit(index: int) -> Job[Tensor] | None:
        if index == setting.layers:
            return None
        question = MeanStream(setting.request, setting.order[index], setting.target)
        return runner.submit(question, session=name)

    return IncrementalTask(submit, lambda _index, found: found.double().cpu().numpy(), running=True)
