"""Bits per byte, against one token at a time."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch

from scripts.check.__main__ import EMBEDDED
from scripts.check.held_out import WINDOW, bits_per_byte, held_out
from scripts.check.loading import load
from scripts.corpus.files import write_documents
from scripts.train.data import CorpusError


def test_it_is_what_one_token_after_the_other_costs_whatever_is_read_beside_it() -> None:
    model, tokenizer = load(EMBEDDED)
    texts = ["The dog chased the squirrel because it was hungry.", "床前明月光，疑是地上霜。", "a " * (WINDOW + 9)]
    nats = 0.0
    for text in texts:
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        for start in range(0, len(ids), WINDOW):
            read = [tokenizer.bos_token_id, *ids[start : start + WINDOW]]
            with torch.no_grad():
                steps = torch.log_softmax(model(torch.tensor([read])).logits[0], dim=-1)
            nats -= sum(float(steps[i, token]) for i, token in enumerate(read[1:]))
    expected = nats / math.log(2) / sum(len(text.encode()) for text in texts)
    assert bits_per_byte(model, tokenizer, texts) == pytest.approx(expected, rel=1e-4)


def test_the_documents_are_those_that_training_left_out(tmp_path: Path) -> None:
    write_documents(tmp_path / "books.txt", iter(f"document {number}" for number in range(120)))
    assert held_out(tmp_path, "books") == ["document 0", "document 50", "document 100"]
    with pytest.raises(CorpusError, match="stories.txt is missing"):
        held_out(tmp_path, "stories")
