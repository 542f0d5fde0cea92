"""The model, its optimizers and the learning rate."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from scripts.check.__main__ import EMBEDDED
from scripts.train.checkpoint import load_checkpoint, save_checkpoint
from scripts.train.model import learning_rate_factor, make_optimizers, new_model
from scripts.train.settings import GROWN_VOCAB, Shape
from scripts.train.tokenizer import train_tokenizer

TINY = Shape(vocab=300, d_model=16, d_feed_forward=24, layers=2, heads=2, kv_heads=1, longest_text=32)


def tiny(seed: int):
    torch.manual_seed(seed)
    model = new_model(TINY, train_tokenizer(["a text"], vocab=TINY.vocab, longest_text=32))
    return model, make_optimizers(model, muon_lr=1e-2, adam_lr=1e-2)


def step(model, optimizers) -> None:
    ids = torch.tensor([[0, 5, 6, 7, 8]])
    model(ids, labels=ids).loss.backward()
    for optimizer in optimizers:
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)


def test_the_default_shape_is_the_one_of_the_embedded_model() -> None:
    published = json.loads((EMBEDDED / "config.json").read_text())
    tokenizer = train_tokenizer(["a text"], vocab=300, longest_text=2048)
    config = new_model(Shape(), tokenizer).config.to_dict()
    named = set(published) - {"vocab_size", "dtype", "architectures", "transformers_version"}
    assert {key: config[key] for key in named} == {key: published[key] for key in named}
    assert published["vocab_size"] == GROWN_VOCAB


def test_muon_gets_the_matrices_of_the_layers_and_adam_everything_else() -> None:
    model, (muon, adam) = tiny(0)
    sizes = [sum(p.numel() for group in o.param_groups for p in group["params"]) for o in (muon, adam)]
    layer_matrices = sum(p.numel() for p in model.model.layers.parameters() if p.ndim == 2)
    assert sizes == [layer_matrices, model.num_parameters() - layer_matrices]


def test_the_learning_rate_rises_then_falls_to_its_floor() -> None:
    values = [learning_rate_factor(i / 1000) for i in range(1001)]
    top = values.index(max(values))
    assert top == 20  # the end of the warm-up, 2 % of the run
    assert max(values) == 1.0
    assert values[: top + 1] == sorted(values[: top + 1])
    assert values[top:] == sorted(values[top:], reverse=True)
    assert values[0] > 0
    assert values[-1] == pytest.approx(0.01)


def test_a_resumed_run_takes_the_same_next_step_as_one_that_never_stopped(tmp_path: Path) -> None:
    from scripts.train.checkpoint import Progress

    model, optimizers = tiny(0)
    step(model, optimizers)
    history = [{"tokens": 5, "validation": {"mix": 1.5}}]
    save_checkpoint(tmp_path / "checkpoint.pt", model, optimizers, Progress(5, 1, 2.5, history))

    other, other_optimizers = tiny(1)
    done = load_checkpoint(tmp_path / "checkpoint.pt", other, other_optimizers)
    assert done == Progress(5, 1, 2.5, history)
    step(model, optimizers)
    step(other, other_optimizers)
    for ours, theirs in zip(model.parameters(), other.parameters(), strict=True):
        assert torch.equal(ours, theirs)


def test_without_a_checkpoint_a_run_starts_at_zero(tmp_path: Path) -> None:
    model, optimizers = tiny(0)
    assert load_checkpoint(tmp_path / "checkpoint.pt", model, optimizers).tokens == 0
