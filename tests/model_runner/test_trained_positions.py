"""The embedded position tables come from trained models: they distinguish near from far positions."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import torch
from transformers import AutoTokenizer, T5ForConditionalGeneration

import model_runner
from attention import position_biases as biases
from model_runner.trained_positions import T5_REACH, trained_positions
from scripts.translator.data import sentences

TRANSLATOR = Path(model_runner.__file__ or "").parent / "translator"


def test_the_bias_has_a_row_for_every_bucket_and_differs_between_heads() -> None:
    table = trained_positions().t5_bias
    assert table.shape == (32, 4)
    assert table.isfinite().all()
    assert torch.cdist(table.T, table.T).fill_diagonal_(torch.inf).min() > 0.1


def test_the_bias_is_what_the_translators_decoder_adds_to_its_scores() -> None:
    model: Any = T5ForConditionalGeneration.from_pretrained(TRANSLATOR, dtype=torch.float32)
    attention = model.decoder.block[0].layer[0].SelfAttention
    with torch.no_grad():
        added = attention.compute_bias(T5_REACH, T5_REACH)[0]  # heads, queries, keys
    grid = biases.distance_grid(T5_REACH)
    bias = biases.t5_bias(grid, trained_positions().t5_bias, bidirectional=False)
    before = (grid >= 0).expand_as(bias)
    assert torch.equal(bias[before], added[before])


def test_every_head_has_learned_to_prefer_the_previous_token_to_far_ones() -> None:
    bias = biases.t5_bias(torch.arange(T5_REACH), trained_positions().t5_bias, bidirectional=False)
    assert (bias[:, 1] > bias[:, 16:].amax(dim=1)).all()
    assert (bias[:, 1] - bias[:, 16:].mean(dim=1)).min() > 0.5  # untrained rows differ by about 0.1


def test_the_distances_within_reach_occur_in_the_sentences_of_the_training_and_farther_ones_hardly() -> None:
    tokenizer = AutoTokenizer.from_pretrained(TRANSLATOR)
    pairs = sentences(Random(0), 4000, held=False)
    texts = [text for pair in pairs for text in (pair.english_text, pair.chinese_text)]
    lengths = torch.tensor([len(ids) for ids in tokenizer(texts)["input_ids"]])
    assert T5_REACH <= lengths.max() <= 40
    assert (lengths > T5_REACH).float().mean() < 1e-3


def test_learned_positions_are_more_alike_the_nearer_they_are() -> None:
    table = trained_positions().learned
    assert table.shape == (128, 128)
    unit = torch.nn.functional.normalize(table.double(), dim=-1)
    by_distance = biases.mean_by_distance(unit @ unit.T)
    assert by_distance[1] > by_distance[8] > by_distance[40]


def test_the_facts_of_the_runs_are_kept() -> None:
    facts = trained_positions().facts
    assert facts["corpus"] == ["stories", "books"]
    assert facts["tokens"] == facts["steps"] * facts["windows"] * facts["length"] > 1e6
    assert facts["learned loss"] < 5
