"""The training loop: batches, steps, checkpoints."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tqdm import tqdm
from tqdm.contrib.logging import logging_redirect_tqdm
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from scripts.train.checkpoint import Progress, load_checkpoint, save_checkpoint
from scripts.train.data import Data, load_data
from scripts.train.export import export
from scripts.train.grow import start_from
from scripts.train.loss import loss_of, validate
from scripts.train.model import learning_rate_factor, make_optimizers, new_model
from scripts.train.settings import Settings

LONG_FROM = 2 / 3  # the windows grow to their full length for the last third of the run
WINDOWS_ON_THE_WAY, WINDOWS_AT_THE_END = 64, 512  # held-out windows per part
SHOW_EVERY = 10  # steps: reading the loss waits for a GPU
log = logging.getLogger(__name__)

Loss = Callable[[torch.nn.Module, torch.Tensor], torch.Tensor]


@dataclass(frozen=True, eq=False)
class Run:
    """The state of a run."""

    settings: Settings
    data: Data
    tokenizer: PreTrainedTokenizerFast
    model: LlamaForCausalLM
    optimizers: list[torch.optim.Optimizer]
    loss: Loss

    @property
    def checkpoint(self) -> Path:
        """The file from which a second start resumes."""
        return self.settings.work / "checkpoint.pt"


def train(settings: Settings) -> Progress:
    """Train to the end, afresh or from the checkpoint in ``settings.work``, and return the progress.

    A checkpoint and the exported model are written every ``save_minutes`` and at the end.
    """
    torch.manual_seed(settings.seed)
    torch.set_float32_matmul_precision("high")
    if settings.threads:
        torch.set_num_threads(settings.threads)
    data, tokenizer = load_data(settings)
    with torch.device(settings.device):
        model = new_model(settings.shape, tokenizer)
    if settings.start:
        start_from(model, settings.start, tokenizer)
    optimizers = make_optimizers(model, muon_lr=settings.muon_lr, adam_lr=settings.adam_lr)
    loss = torch.compile(loss_of, dynamic=False) if settings.compile else loss_of
    run = Run(settings, data, tokenizer, model, optimizers, loss)
    done = load_checkpoint(run.checkpoint, model, optimizers)
    if done.steps:
        log.info("Resumed at %.2f M tokens.", done.tokens / 1e6)
    bar = tqdm(total=100.0, initial=_percent(done, settings), bar_format="{l_bar}{bar}| {elapsed} {postfix}")
    with bar, logging_redirect_tqdm():
        _steps(run, done, bar)
        _save(run, done, windows=WINDOWS_AT_THE_END)
    return done


def fraction(done: Progress, settings: Settings) -> float:
    """The fraction of the run that is over, 0 to 1: by tokens or by minutes, whichever is further."""
    by_tokens = done.tokens / settings.tokens
    by_time = done.seconds / 60 / settings.minutes if settings.minutes else 0.0
    return min(1.0, max(by_tokens, by_time))


def _steps(run: Run, done: Progress, bar: tqdm[Any]) -> None:
    settings = run.settings
    rng = np.random.default_rng([settings.seed, done.steps])  # a resumed run does not see the same windows again
    began = saved = time.monotonic()
    earlier, tokens_before = done.seconds, done.tokens
    smooth = None
    while (progress := fraction(done, settings)) < 1.0:
        length = settings.long_context if progress >= LONG_FROM else settings.context
        size = max(1, settings.batch_tokens // length)
        mix = settings.mix_at_end if progress >= settings.end_from else None
        batch = run.data.batch(rng, size, length, settings.repeat_share, mix).to(run.model.device)
        loss = _step(run, batch, learning_rate_factor(progress, decay_from=settings.decay_from))
        done.tokens += batch.numel()
        done.steps += 1
        now = time.monotonic()
        done.seconds = earlier + now - began
        if done.steps % SHOW_EVERY == 0:
            smooth = loss.item() if smooth is None else 0.9 * smooth + 0.1 * loss.item()
            speed = (done.tokens - tokens_before) / (now - began)
            text = f"loss {smooth:.3f}, {done.tokens / 1e6:.2f} M tokens, {speed:,.0f} tokens/s"
            bar.set_postfix_str(text, refresh=False)
            bar.n = _percent(done, settings)
            bar.refresh()
        if now - saved > 60 * settings.save_minutes:
            _save(run, done, windows=WINDOWS_ON_THE_WAY)
            saved = time.monotonic()


def _step(run: Run, batch: torch.Tensor, rate_factor: float) -> torch.Tensor:
    loss = run.loss(run.model, batch)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(run.model.parameters(), 1.0)
    rates = (run.settings.muon_lr, run.settings.adam_lr)
    for optimizer, rate in zip(run.optimizers, rates, strict=True):
        for group in optimizer.param_groups:
            group["lr"] = rate * rate_factor
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    return loss.detach()


def _save(run: Run, done: Progress, *, windows: int) -> None:
    validation = validate(run.model, run.data, windows=windows, length=run.settings.context)
    minutes = round(done.seconds / 60, 1)
    facts = {"tokens": done.tokens, "steps": done.steps, "minutes": minutes, "validation": validation}
    earlier = [entry for entry in done.history if entry["steps"] != done.steps]  # a finished run may be started again
    done.history = [*earlier, facts]
    save_checkpoint(run.checkpoint, run.model, run.optimizers, done)
    export(run.model, run.tokenizer, run.settings.out, facts | {"history": earlier})
    log.info("%.2f M tokens, %.0f min, validation %s", done.tokens / 1e6, minutes, validation)


def _percent(done: Progress, settings: Settings) -> float:
    return round(100 * fraction(done, settings), 2)
