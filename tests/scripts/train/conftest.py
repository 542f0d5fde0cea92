"""A corpus of a few hundred short documents, and a model that trains on it in seconds."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from scripts.corpus.files import write_documents
from scripts.corpus.generator import CHINESE, KINDS, documents
from scripts.train.settings import BOTH, Settings, Shape

TINY = Shape(vocab=320, d_model=32, d_feed_forward=48, layers=2, heads=4, kv_heads=2, longest_text=64)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings of a run of about forty steps; nothing of it lies outside ``tmp_path``."""
    for seed, name in enumerate(BOTH):
        texts = documents(seed, CHINESE if name in ("chinese", "classics") else KINDS)
        write_documents(tmp_path / "corpus" / f"{name}.txt", islice(texts, 150))
    return Settings(
        corpus=tmp_path / "corpus",
        work=tmp_path / "work",
        out=tmp_path / "out",
        tokens=20_000,
        context=32,
        long_context=64,
        batch_tokens=512,
        shape=TINY,
    )
