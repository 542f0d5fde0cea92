"""The second stage: a longer vocabulary on top of what the first stage learned."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from scripts.check.__main__ import EMBEDDED
from scripts.corpus.poems import POEMS
from scripts.train import loop
from scripts.train.data import load_data
from scripts.train.grow import grown_tokenizer, start_from
from scripts.train.loop import train
from scripts.train.model import new_model
from scripts.train.settings import BOTH, Settings, Shape
from scripts.train.tokenizer import train_tokenizer

POETRY = ["".join(lines) for _, lines in POEMS]
ENGLISH = "The dog chased the squirrel because it was hungry. It is 3 o'clock - naïve café, isn't it?"


@pytest.fixture(scope="module")
def old() -> PreTrainedTokenizerFast:
    return train_tokenizer([ENGLISH] * 3, vocab=330, longest_text=64)


@pytest.fixture(scope="module")
def grown(old: PreTrainedTokenizerFast) -> PreTrainedTokenizerFast:
    return grown_tokenizer(old, POETRY, vocab=700)


def test_english_splits_as_before_and_every_old_entry_keeps_its_id(old, grown) -> None:
    assert len(grown) == 700
    assert grown(ENGLISH)["input_ids"] == old(ENGLISH)["input_ids"]
    assert old.get_vocab().items() <= grown.get_vocab().items()


def test_chinese_gets_shorter_and_round_trips(old, grown) -> None:
    text = "床前明月光，疑是地上霜。Then 小明 said: 🙂"
    ids = grown(text)["input_ids"]
    assert len(ids) < 0.7 * len(old(text)["input_ids"])
    assert grown.decode(ids, skip_special_tokens=True) == text
    assert ids[0] == grown.bos_token_id == old.bos_token_id


def test_no_new_entry_joins_a_mark_or_a_small_word_to_its_neighbour(old, grown) -> None:
    new = [grown.convert_tokens_to_string([grown.convert_ids_to_tokens(i)]) for i in range(len(old), 700)]
    assert any(len(token) == 1 and "一" <= token <= "龥" for token in new)
    assert not [token for token in new if len(token) > 1 and set(token) & set("，。的是不")]


def test_a_new_token_starts_as_the_mean_of_the_old_ones_it_is_made_of(old, grown, tmp_path: Path) -> None:
    n_old = len(old)  # the text is too short for all 330 entries
    shape = Shape(d_model=16, d_feed_forward=24, layers=2, heads=2, kv_heads=1, longest_text=64)
    first = new_model(shape, old)
    first.save_pretrained(tmp_path)
    second = new_model(shape, grown)
    start_from(second, tmp_path, grown)
    embedding, before = second.get_input_embeddings().weight, first.get_input_embeddings().weight
    assert torch.equal(embedding[:n_old], before)
    for character in "山月风":
        (new,) = grown(character, add_special_tokens=False)["input_ids"]
        bytes_of_it = old(character, add_special_tokens=False)["input_ids"]
        assert new >= n_old
        assert len(bytes_of_it) == 3
        assert torch.allclose(embedding[new], before[bytes_of_it].mean(0))
    ids = torch.tensor([old(ENGLISH)["input_ids"]])
    assert torch.allclose(second(ids).logits[..., :n_old], first(ids).logits, atol=1e-5)


@pytest.mark.long
def test_the_second_stage_goes_on_from_the_export_of_the_first(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "WINDOWS_AT_THE_END", 16)
    train(dataclasses.replace(settings, tokens=2_000))
    start = settings.out
    grown_shape = dataclasses.replace(settings.shape, vocab=500)
    second = dataclasses.replace(
        settings, work=tmp_path / "work 2", out=tmp_path / "out 2", start=start, mix=BOTH, shape=grown_shape, tokens=600
    )
    data, tokenizer = load_data(second)
    assert len(tokenizer) == 500
    assert set(data.train) == set(BOTH)
    assert data.batch(np.random.default_rng(0), 3, 16).shape == (3, 16)
    train(second)
    began, ended = (LlamaForCausalLM.from_pretrained(folder).state_dict() for folder in (start, second.out))
    name = "model.layers.1.mlp.up_proj.weight"
    untrained = new_model(settings.shape, tokenizer).state_dict()[name]
    assert (ended[name] - began[name]).norm() < 0.3 * (untrained - began[name]).norm()


def test_the_tokenizer_that_ships_takes_the_grown_form() -> None:
    tokenizer = PreTrainedTokenizerFast.from_pretrained(EMBEDDED, local_files_only=True)
    grown = grown_tokenizer(tokenizer, POETRY, vocab=len(tokenizer) + 300)
    assert grown(ENGLISH)["input_ids"] == tokenizer(ENGLISH)["input_ids"]
