"""The tokenized corpus and the batches drawn from it."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from scripts.corpus.files import read_documents
from scripts.train.data import CorpusError, load_data
from scripts.train.settings import ENGLISH, Settings


def test_every_50th_document_is_held_out_and_the_others_are_trained_on(settings: Settings) -> None:
    data, tokenizer = load_data(settings)
    texts = read_documents(settings.corpus / "books.txt")
    decoded = {
        split: [
            tokenizer.decode(ids, skip_special_tokens=True)
            for ids in np.split(part["books"].tokens, part["books"].starts[1:])
        ]
        for split, part in (("train", data.train), ("valid", data.valid))
    }
    assert decoded["valid"] == texts[::50]
    assert decoded["train"] == [text for i, text in enumerate(texts) if i % 50]


def test_a_second_start_reuses_the_tokens_of_the_first(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    first, _ = load_data(settings)
    monkeypatch.setattr("scripts.train.data.train_tokenizer", None)  # would raise if it were called
    second, _ = load_data(settings)
    assert np.array_equal(first.train["stories"].tokens, second.train["stories"].tokens)


def test_a_working_folder_of_another_corpus_is_refused(settings: Settings) -> None:
    load_data(settings)
    (settings.corpus / "books.txt").write_text("Something else.\n<|end|>\n")
    with pytest.raises(CorpusError, match="was made from another corpus or vocabulary"):
        load_data(settings)


def test_a_part_shorter_than_a_window_is_refused(settings: Settings) -> None:
    (settings.corpus / "books.txt").write_text("Short.\n<|end|>\nShort too.\n<|end|>\n")
    with pytest.raises(CorpusError, match=r"books \(train\) has \d+ tokens, a window needs 64"):
        load_data(settings)


def test_a_packed_part_is_read_like_a_plain_one(settings: Settings, tmp_path: Path) -> None:
    import lzma

    plain, _ = load_data(settings)
    books = settings.corpus / "books.txt"
    books.with_name("books.txt.xz").write_bytes(lzma.compress(books.read_bytes()))
    books.unlink()
    packed, _ = load_data(dataclasses.replace(settings, work=tmp_path / "work 2"))
    assert np.array_equal(plain.train["books"].tokens, packed.train["books"].tokens)


def test_a_batch_mixes_the_parts_by_their_shares(settings: Settings) -> None:
    data, _ = load_data(settings)
    for i, part in enumerate(data.train.values()):
        part.tokens[:] = 100 + i  # every window of a part now says which part it is of
    batch = data.batch(np.random.default_rng(0), 4000, 8).numpy()
    assert batch.shape == (4000, 8)
    assert (batch[:, 0] == data.bos_id).all()
    for i, share in enumerate(ENGLISH.values()):
        # 4000 draws: the standard deviation of a share is below 0.008; four of them
        assert (batch[:, 1] == 100 + i).mean() == pytest.approx(share, abs=0.032)


def test_a_batch_of_another_mix_has_its_parts_alone(settings: Settings) -> None:
    data, _ = load_data(settings)
    batch = data.batch(np.random.default_rng(0), 40, 32, mix={"stories": 1.0})
    stories = data.train["stories"].tokens
    assert all(bytes(window[1:].numpy().astype(np.uint16)) in bytes(stories) for window in batch)


def test_the_repeat_share_decides_how_many_windows_repeat(settings: Settings) -> None:
    data, _ = load_data(settings)
    for part in data.train.values():
        part.tokens[:] = np.arange(len(part.tokens)) % 60000 + 3  # no token comes twice in a window

    def share(repeat_share: float) -> float:
        batch = data.batch(np.random.default_rng(0), 1000, 32, repeat_share).numpy()
        return float(np.mean([len(set(window)) < len(window) for window in batch]))

    assert share(0.0) == 0.0
    assert share(1.0) == 1.0
    assert share(0.25) == pytest.approx(0.25, abs=0.055)  # 1000 draws, four standard deviations of 0.0137
