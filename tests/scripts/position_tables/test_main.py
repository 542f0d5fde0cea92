"""A run of a few steps leaves a file with the table and its facts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors import safe_open

from scripts.position_tables import __main__ as script
from scripts.position_tables.__main__ import Settings, gpt2, main, trained

SMALL = Settings(steps=3, windows=2, length=16, layers=1, heads=2, d_model=8)


def test_training_moves_the_table_and_is_repeatable() -> None:
    tokens = torch.arange(400) % 30
    first, loss = trained(SMALL, tokens, vocab=32)
    again, _ = trained(SMALL, tokens, vocab=32)
    torch.manual_seed(SMALL.seed)
    untrained = gpt2(SMALL, 32).wpe.weight
    assert first.shape == (16, 8)
    assert torch.equal(first, again)
    assert not torch.equal(first, untrained)
    assert loss > 0


def test_the_command_writes_table_and_facts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(script, "corpus_tokens", lambda: torch.arange(400) % 30)
    main(["--steps", "2", "--out", str(tmp_path / "tables.safetensors")], SMALL)
    with safe_open(tmp_path / "tables.safetensors", framework="pt") as file:
        facts = json.loads(file.metadata()["facts"])
        assert set(file.keys()) == {"learned"}
    assert (facts["steps"], facts["tokens"]) == (2, 2 * 2 * 16)
    assert {"corpus", "learned loss", "seed"} <= set(facts)
