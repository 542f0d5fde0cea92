"""The generated part is the same for everybody, and holds what its table says."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from itertools import islice

import pytest

from scripts.corpus import generator
from scripts.corpus.files import END_OF_DOCUMENT
from scripts.corpus.generator import CHINESE, KINDS, PARALLEL, PRACTICE, documents
from scripts.corpus.practice.code import code
from scripts.corpus.writer import Writer

# Of the first megabyte with seed 17, from the script that wrote the corpus of the published weights. A new digest
# means another corpus: then the model card is no longer true either.
PUBLISHED = "d0a8707334589a097b242dd730b3eabdd756aee3bccbd2b0cf76cce81a63ac0a"


def test_the_first_megabyte_is_the_one_the_published_model_was_trained_on() -> None:
    digest, size = hashlib.sha256(), 0
    for document in documents(17):
        text = document + END_OF_DOCUMENT
        digest.update(text.encode())
        size += len(text)
        if size >= 1e6:
            break
    assert digest.hexdigest() == PUBLISHED


def test_another_seed_writes_another_corpus() -> None:
    assert list(islice(documents(1), 20)) == list(islice(documents(1), 20))
    assert list(islice(documents(1), 20)) != list(islice(documents(2), 20))


EVERY_KIND = {kind for _, kind in (*KINDS, *PRACTICE, *CHINESE, *PARALLEL)} - {code}  # code has brackets of its own


def named(kind) -> str:
    """Where it stands: the same in every process."""
    return f"{kind.__module__}.{kind.__name__}"


@pytest.mark.parametrize("kind", sorted(EVERY_KIND, key=named), ids=named)
def test_every_kind_leaves_no_notation_behind(kind) -> None:
    writer = Writer(3)
    for _ in range(50):
        text = kind(writer)
        assert text.strip()
        assert not any(mark in text.replace(" -> ", "").replace(" | ", "") for mark in "[]<>|{}"), text


def test_no_kind_falls_behind_its_share_of_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = [0] * len(KINDS)

    def counted(i: int, kind: Callable[[Writer], str]) -> Callable[[Writer], str]:
        def write(writer: Writer) -> str:
            text = kind(writer)
            sizes[i] += len(text)
            return text

        return write

    table = tuple((weight, counted(i, kind)) for i, (weight, kind) in enumerate(KINDS))
    monkeypatch.setattr(generator, "KINDS", table)
    for _ in islice(documents(17), 3000):
        pass
    # Every second document is of the kind that lags most behind. So no kind falls more than a point behind; the longest
    # kind, stories, gets more than its share, because the other documents are drawn whatever their length.
    total = sum(weight for weight, _ in KINDS)
    ahead = {
        kind.__name__: size / sum(sizes) - weight / total for (weight, kind), size in zip(KINDS, sizes, strict=True)
    }
    assert min(ahead.values()) > -0.01
    assert max(ahead, key=ahead.__getitem__) == "story"
    assert 0.05 < ahead["story"] < 0.1
