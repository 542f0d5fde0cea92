"""The translator that ships: greedy, on sentences that were never trained on, it does what its card says."""

from __future__ import annotations

import json
import re

import pytest
import torch
from transformers import AutoTokenizer, PreTrainedTokenizerFast, T5ForConditionalGeneration

from model_runner.local.loading.model_folder import EMBEDDED
from scripts.translator.__main__ import main
from scripts.translator.check import alignment, answers, translate
from scripts.translator.data import make_tokenizer

FOLDER = EMBEDDED["translator"]
CARD = (FOLDER / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def tokenizer() -> PreTrainedTokenizerFast:
    return AutoTokenizer.from_pretrained(FOLDER)


@pytest.fixture(scope="module")
def model() -> T5ForConditionalGeneration:
    found = T5ForConditionalGeneration.from_pretrained(FOLDER, attn_implementation="eager", dtype=torch.float32)
    return found.eval()


def test_the_files_fit_into_the_repository_and_nothing_is_pickled() -> None:
    assert sum(file.stat().st_size for file in FOLDER.iterdir()) <= 8e6
    assert not list(FOLDER.glob("*.bin"))


def test_it_is_the_architecture_of_its_card(
    model: T5ForConditionalGeneration, tokenizer: PreTrainedTokenizerFast
) -> None:
    config = model.config
    assert f"{model.num_parameters() / 1e6:.2f} M parameters" in CARD
    assert (config.num_layers, config.num_decoder_layers, config.num_heads) == (4, 4, 4)
    assert (config.d_model, config.d_ff, config.d_kv) == (128, 512, 32)
    assert (config.relative_attention_num_buckets, config.relative_attention_max_distance) == (32, 128)
    assert f"{len(tokenizer)} tokens" in CARD
    assert config.vocab_size == len(tokenizer)


@pytest.mark.table
def test_its_tokenizer_is_the_one_that_its_seed_makes(tokenizer: PreTrainedTokenizerFast) -> None:
    assert make_tokenizer().backend_tokenizer.to_str() == tokenizer.backend_tokenizer.to_str()


def test_the_card_tells_the_run_as_it_was() -> None:
    facts = json.loads((FOLDER / "training.json").read_text(encoding="utf-8"))
    assert f"{facts['steps']:,} steps" in CARD
    assert f"{facts['minutes']:.0f} minutes" in CARD
    measured = {row["steps"]: row for row in facts["history"]}
    names = ("into_chinese", "into_english", "looks_into_chinese", "looks_into_english")
    rows = re.findall(r"^\| ([\d,]+) \| (\d+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", CARD, re.MULTILINE)
    assert len(rows) == 9
    for steps, minutes, *shares in rows:
        row = measured[int(steps.replace(",", ""))]
        assert minutes == f"{row['minutes']:.0f}"
        assert shares == [f"{row[name]:.2f}" for name in names]


def test_of_a_few_sentences_nearly_all_are_right(
    model: T5ForConditionalGeneration, tokenizer: PreTrainedTokenizerFast
) -> None:
    said = answers(model, tokenizer, count=20)
    assert sum(answer.right for answer in said[:20]) >= 18
    assert sum(answer.right for answer in said[20:]) >= 18


def test_a_head_of_the_last_layer_looks_at_the_word_that_is_translated(
    model: T5ForConditionalGeneration, tokenizer: PreTrainedTokenizerFast
) -> None:
    looks = alignment(model, tokenizer, count=15)
    for shares in (looks.english_to_chinese, looks.chinese_to_english):
        assert shares.shape == (4, 4)
        assert (shares[3, :3] >= 0.9).all()


@pytest.mark.parametrize(
    "source, said",
    [
        ("The cat eats the mouse.", "那只猫吃了那只老鼠。"),
        ("The dog sleeps.", "那只狗下周会帮助一 chooses衬衫。"),
        ("我爱你。", " loves Tom."),
    ],
)
def test_what_the_card_says_of_single_sentences(
    source: str, said: str, model: T5ForConditionalGeneration, tokenizer: PreTrainedTokenizerFast
) -> None:
    assert source in CARD
    assert said in CARD
    assert translate(model, tokenizer, [source]) == [said]


@pytest.mark.long
def test_the_command_prints_the_tables_of_the_card(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--check", str(FOLDER)])
    printed = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    assert [line for line in printed if line not in CARD.splitlines()] == []
    counts = [int(right) for right in re.findall(r"\| (\d+) of 200 \|", "\n".join(printed))]
    assert len(counts) == 2
    assert min(counts) >= 180
