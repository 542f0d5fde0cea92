"""The training loop of the two small models; texts are generated as they are needed, so that none is repeated."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

import torch

from scripts.train.checkpoint import Progress, load_checkpoint, save_checkpoint
from scripts.train.model import learning_rate_factor, make_optimizers

SHOW_EVERY = 50  # steps
log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """One run; a second start with the same ``work`` folder resumes from its checkpoint."""

    work: Path
    steps: int
    muon_lr: float = 5e-3
    adam_lr: float = 3e-3
    decay_from: float = 0.6
    measure_every: int = 500  # steps
    save_minutes: float = 5.0
    threads: int = 1
    seed: int = 17


def train_small(
    model: torch.nn.Module,
    plan: Plan,
    loss_of: Callable[[Random], torch.Tensor],
    measure: Callable[[], dict[str, float]],
) -> Progress:
    """Train ``model`` in place. ``loss_of`` draws a batch and returns its loss; ``measure`` is called now and then.

    Every step has a seed of its own, so that a resumed run sees the same texts as an uninterrupted one.
    """
    torch.set_num_threads(plan.threads)
    optimizers = make_optimizers(model, muon_lr=plan.muon_lr, adam_lr=plan.adam_lr)
    checkpoint = plan.work / "checkpoint.pt"
    plan.work.mkdir(parents=True, exist_ok=True)
    done = load_checkpoint(checkpoint, model, optimizers)
    saved = began = time.monotonic()
    earlier, smooth = done.seconds, 0.0
    model.train()
    while done.steps < plan.steps:
        factor = learning_rate_factor(done.steps / plan.steps, decay_from=plan.decay_from)
        for optimizer, rate in zip(optimizers, (plan.muon_lr, plan.adam_lr), strict=True):
            for group in optimizer.param_groups:
                group["lr"] = rate * factor
        loss = loss_of(Random(f"{plan.seed} {done.steps}"))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        done.steps += 1
        done.seconds = earlier + time.monotonic() - began
        smooth = 0.95 * smooth + 0.05 * loss.item() if smooth else loss.item()
        if done.steps % SHOW_EVERY == 0:
            log.info("%d of %d steps, %.0f s, loss %.3f", done.steps, plan.steps, done.seconds, smooth)
        measuring = done.steps % plan.measure_every == 0 or done.steps == plan.steps
        if measuring:
            model.eval()
            measured = measure()
            model.train()
            log.info("%d steps: %s", done.steps, measured)
            done.history = [*done.history, {"steps": done.steps, "minutes": round(done.seconds / 60, 1), **measured}]
        if measuring or time.monotonic() - saved > 60 * plan.save_minutes:
            save_checkpoint(checkpoint, model, optimizers, done)
            saved = time.monotonic()
    model.eval()
    return done
