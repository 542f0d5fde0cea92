"""The loop of the small models."""

from __future__ import annotations

import contextlib
import dataclasses
from pathlib import Path
from random import Random

import torch

from scripts.train.small import Plan, train_small


def made(seed: int) -> torch.nn.Module:
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))


def loss_of(model: torch.nn.Module, seen: list[float]):
    def loss(rng: Random) -> torch.Tensor:
        x = torch.tensor([[rng.gauss(0, 1) for _ in range(3)] for _ in range(16)])
        seen.append(x[0, 0].item())
        return ((model(x) - x.sum(-1, keepdim=True)) ** 2).mean()

    return loss


def test_a_resumed_run_ends_like_one_that_never_stopped(tmp_path: Path) -> None:
    plan = Plan(work=tmp_path / "whole", steps=40)
    whole, seen = made(0), []
    done = train_small(whole, plan, loss_of(whole, seen), lambda: {"right": 1.0})
    assert done.steps == len(seen) == 40
    assert [entry["right"] for entry in done.history] == [1.0]

    halves, seen_in_halves = made(0), []
    # A run of 20 steps that is stopped and goes on to 40: the rates follow the plan, so the first half says 40, too.
    stopped = dataclasses.replace(plan, work=tmp_path / "halves")
    every_step = dataclasses.replace(stopped, save_minutes=0.0)
    with contextlib.suppress(KeyboardInterrupt):
        train_small(halves, every_step, _stop_at(20, loss_of(halves, seen_in_halves)), dict)
    resumed = made(1)
    train_small(resumed, stopped, loss_of(resumed, seen_in_halves), dict)
    assert seen_in_halves == seen
    for ours, theirs in zip(whole.parameters(), resumed.parameters(), strict=True):
        assert torch.equal(ours, theirs)


def test_it_learns(tmp_path: Path) -> None:
    model = made(0)
    before = loss_of(model, [])(Random(1)).item()
    train_small(model, Plan(work=tmp_path, steps=200, muon_lr=0.05, adam_lr=0.05), loss_of(model, []), dict)
    assert loss_of(model, [])(Random(1)).item() < 0.2 * before
    assert not model.training


def _stop_at(step: int, loss):
    calls = 0

    def stops(rng: Random) -> torch.Tensor:
        nonlocal calls
        calls += 1
        if calls > step:
            raise KeyboardInterrupt
        return loss(rng)

    return stops
