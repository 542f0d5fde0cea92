"""The encoder that ships: on passages that were never trained on, it does what its card says."""

from __future__ import annotations

import functools
import json
import re
from random import Random

import pytest
import torch
from transformers import AutoTokenizer, BertForPreTraining, PreTrainedTokenizerFast

from analysis.examples import examples_of
from analysis.next_token import next_tokens
from analysis.opening import opening_query
from analysis.stories import seen_in
from model_runner import CaptureRequest, load_runner
from model_runner.local.loading.model_folder import EMBEDDED
from model_runner.local.runner import LocalRunner
from scripts.encoder.__main__ import main
from scripts.encoder.check import accuracy, held_out, looks
from scripts.encoder.data import Passages, batch
from scripts.encoder.tokenizer import encoder_tokenizer

FOLDER = EMBEDDED["encoder"]
CARD = (FOLDER / "README.md").read_text(encoding="utf-8")

pytestmark = pytest.mark.table  # it reads the books that are held out


@pytest.fixture(scope="module")
def tokenizer() -> PreTrainedTokenizerFast:
    return AutoTokenizer.from_pretrained(FOLDER)


@pytest.fixture(scope="module")
def model() -> BertForPreTraining:
    found = BertForPreTraining.from_pretrained(FOLDER, attn_implementation="eager", dtype=torch.float32)
    return found.eval()


@pytest.fixture(scope="module")
def passages() -> Passages:
    return Passages(held=True)


@functools.cache
def runner() -> LocalRunner:
    return load_runner("encoder", device="cpu")


def guess(text: str) -> str:
    """The likeliest token in the place of the first [MASK]."""
    capture = runner().capture(CaptureRequest(text=text))
    return runner().token_text(next_tokens(capture, opening_query(capture), count=1).ids[0])


def test_the_files_fit_into_the_repository_and_nothing_is_pickled() -> None:
    assert sum(file.stat().st_size for file in FOLDER.iterdir()) <= 4 << 20
    assert not list(FOLDER.glob("*.bin"))


def test_it_is_the_architecture_of_its_card(model: BertForPreTraining, tokenizer: PreTrainedTokenizerFast) -> None:
    config = model.config
    assert f"{model.num_parameters() / 1e6:.2f} M parameters" in CARD
    assert (config.num_hidden_layers, config.num_attention_heads, config.hidden_size) == (4, 4, 128)
    assert (config.intermediate_size, config.max_position_embeddings) == (512, 512)
    assert f"{len(tokenizer):,} tokens" in CARD
    assert config.vocab_size == len(tokenizer)


def test_its_tokenizer_is_made_of_itself_again_and_of_the_default_models(tokenizer: PreTrainedTokenizerFast) -> None:
    again = encoder_tokenizer(FOLDER, longest_text=512)
    assert again.backend_tokenizer.to_str() == tokenizer.backend_tokenizer.to_str()
    default = AutoTokenizer.from_pretrained(EMBEDDED["default"])
    assert default.get_vocab().items() <= tokenizer.get_vocab().items()
    text = "床前明月光，疑是地上霜。举头望明月，低头思故乡。白日依山尽，黄河入海流。欲穷千里目，更上一层楼。"
    assert len(tokenizer.tokenize(text)) <= len(text)  # 48 characters
    assert tokenizer.decode(tokenizer(text)["input_ids"], skip_special_tokens=True) == text


def test_the_card_tells_the_run_as_it_was() -> None:
    facts = json.loads((FOLDER / "training.json").read_text(encoding="utf-8"))
    assert f"{facts['steps']:,} steps" in CARD
    assert f"{facts['minutes']:.0f} minutes" in CARD
    measured = {row["steps"]: row for row in facts["history"]}
    rows = re.findall(r"^\| ([\d,]+) \| (\d+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", CARD, re.MULTILINE)
    assert len(rows) >= 8
    for steps, minutes, *shares in rows:
        row = measured[int(steps.replace(",", ""))]
        assert minutes == f"{row['minutes']:.0f}"
        assert shares == [f"{row[name]:.2f}" for name in ("english", "chinese", "pairs")]


def test_of_some_held_out_passages_it_guesses_and_judges_what_its_card_says(
    model: BertForPreTraining, tokenizer: PreTrainedTokenizerFast, passages: Passages
) -> None:
    scores = accuracy(model, tokenizer, held_out(passages, 300))
    rows = re.findall(r"^\| (?:hidden words|does the second).*\| ([\d.]+) ?% \|$", CARD, re.MULTILINE)
    for found, told in zip((scores.english, scores.chinese, scores.pairs), rows, strict=True):
        assert abs(100 * found - float(told)) < 6  # of 300 passages instead of 1,000
    assert float(rows[2]) >= 90


def test_the_heads_of_the_card_look_where_it_says(
    model: BertForPreTraining, tokenizer: PreTrainedTokenizerFast, passages: Passages
) -> None:
    seen = looks(model, tokenizer, held_out(passages, 30))
    rows = re.findall(r"^\| the (?:separator|other passage|token \w+) \| L(\d)H(\d) ([\d.]+)", CARD, re.MULTILINE)
    assert len(rows) == len(seen) == 4
    for weights, (layer, head, told) in zip(seen, rows, strict=True):
        assert float(weights[int(layer), int(head)]) == pytest.approx(float(told), abs=0.06)


@pytest.mark.parametrize(
    "text, word", re.findall(r"^\| `(.*\[MASK\].*)` \| (\S+) \|$", CARD, re.MULTILINE), ids=lambda value: value
)
def test_what_the_card_says_of_single_texts(text: str, word: str) -> None:
    assert guess(text).strip("·") == word


def test_its_examples_are_on_the_card_and_open_at_their_hidden_word() -> None:
    for example in examples_of("encoder", "en"):
        assert f"`{example.text}`" in CARD
        capture = runner().capture(CaptureRequest(text=example.text))
        assert capture.tokens[opening_query(capture)].hidden
        seen = seen_in(capture)
        assert seen is not None, example.text  # which the page says of it
        assert seen.query == opening_query(capture)
        assert capture.tokens[seen.key].text.strip("·") == seen.story.looked_at


def test_a_hidden_word_changes_with_its_text(tokenizer: PreTrainedTokenizerFast, passages: Passages) -> None:
    """A picture of the hidden word is one of this text: with other words around it the guess is another."""
    first, second = guess("The capital of France is [MASK]."), guess("The capital of Japan is [MASK].")
    assert first != second
    assert batch(tokenizer, held_out(passages, 4), Random(0))["token_type_ids"].any()  # the second passage's are 1


@pytest.mark.long
def test_the_command_prints_the_tables_of_the_card(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--check", str(FOLDER)])
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) > 8
    assert all(line in CARD.splitlines() for line in printed if line)
