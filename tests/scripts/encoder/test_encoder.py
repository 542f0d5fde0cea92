"""The encoder's tokenizer, data and measurements, without training it."""

from __future__ import annotations

from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from transformers import PreTrainedTokenizerFast

from model_runner.local.tokenizing import encode, tokens_of
from scripts.check.__main__ import EMBEDDED
from scripts.encoder import check
from scripts.encoder.__main__ import new_model, pretraining_loss
from scripts.encoder.data import IGNORED, LONGEST, Example, Passages, batch, sentences
from scripts.encoder.tokenizer import MASK, encoder_tokenizer

EXAMPLES = [
    Example("The dog was hungry.", "It wanted to eat.", True),
    Example("小狗饿了。", "它想吃东西。", True),
    Example("The dog was hungry.", "Paris is in France.", False),
]


@pytest.fixture(scope="module")
def tokenizer() -> PreTrainedTokenizerFast:
    return encoder_tokenizer(EMBEDDED, longest_text=512)


@pytest.fixture(scope="module")
def passages() -> Passages:
    return Passages(held=True)


def test_it_is_the_default_models_tokenizer_with_three_entries_more(tokenizer: PreTrainedTokenizerFast) -> None:
    old = PreTrainedTokenizerFast.from_pretrained(EMBEDDED, local_files_only=True)
    assert old.get_vocab().items() <= tokenizer.get_vocab().items()
    assert len(tokenizer) == len(old) + 3
    given = tokenizer("The dog", "小狗")
    tokens = tokenizer.convert_ids_to_tokens(given["input_ids"])
    assert [tokens.index("[CLS]"), tokens.count("[SEP]"), tokens[-1]] == [0, 2, "[SEP]"]
    middle = tokens.index("[SEP]") + 1
    assert given["token_type_ids"] == [0] * middle + [1] * (len(tokens) - middle)
    assert tokenizer.decode(given["input_ids"], skip_special_tokens=True) == "The dog小狗"


def test_a_word_is_hidden_with_the_space_before_it(tokenizer: PreTrainedTokenizerFast) -> None:
    shown, hidden = (encode(tokenizer, text) for text in ("a dog ran", f"a {MASK} ran"))
    assert [token.text for token in tokens_of(tokenizer, hidden)] == ["⟨CLS⟩", "a", "⟨MASK⟩", "·ran", "⟨SEP⟩"]
    assert [token.hidden for token in tokens_of(tokenizer, hidden)] == [False, False, True, False, False]
    assert not any(token.hidden for token in tokens_of(tokenizer, shown))


def test_a_text_is_its_sentences_one_after_another() -> None:
    text = 'He said: "It is 3.5." Then he left!\n\n“走吧。”他说。《诗》\n床前明月光，疑是地上霜。'
    found = sentences(text)
    assert "".join(found) == text
    assert [part.strip() for part in found] == [
        'He said: "It is 3.5."', "Then he left!", "“走吧。”", "他说。", "《诗》", "床前明月光，疑是地上霜。",
    ]  # fmt: skip


def test_half_of_the_pairs_follow_in_one_text_the_others_do_not(passages: Passages) -> None:
    rng = Random(4)
    drawn = [passages.draw(rng) for _ in range(300)]
    assert 0.38 < sum(example.follows for example in drawn) / 300 < 0.62  # four standard deviations of 0.029
    assert all(example.first and example.second for example in drawn)
    chinese = sum(not example.first.isascii() for example in drawn)
    assert 90 < chinese < 230
    assert check.held_out(passages, 5) == check.held_out(passages, 5)


def test_held_out_books_are_not_trained_on(passages: Passages) -> None:
    trained = Passages(held=False)
    for part, texts in passages.packed.items():
        shown = {"".join(text) for text in trained.packed[part]}
        assert not shown & {"".join(text) for text in texts}
        assert len(texts) > 0.01 * len(shown)


def test_hidden_tokens_are_the_labels_and_no_special_token_is_hidden(tokenizer: PreTrainedTokenizerFast) -> None:
    given = batch(tokenizer, EXAMPLES * 40, Random(0))
    plain = tokenizer(
        [e.first for e in EXAMPLES * 40], [e.second for e in EXAMPLES * 40], padding=True, return_tensors="pt"
    )["input_ids"]
    hidden = given["labels"] != IGNORED
    assert torch.equal(given["labels"][hidden], plain[hidden])
    assert torch.equal(given["input_ids"][~hidden], plain[~hidden])
    assert not torch.isin(plain[hidden], torch.tensor(tokenizer.all_special_ids)).any()
    words = ~torch.isin(plain, torch.tensor(tokenizer.all_special_ids))
    assert 0.12 < hidden.sum() / words.sum() < 0.18
    masked = torch.eq(given["input_ids"][hidden], tokenizer.mask_token_id)
    assert 0.7 < masked.float().mean() < 0.9
    assert given["next_sentence_label"].tolist() == [0, 0, 1] * 40
    assert given["input_ids"].shape[1] <= LONGEST


def test_the_scores_are_shares_of_what_is_right(tokenizer: PreTrainedTokenizerFast) -> None:
    size = len(tokenizer)

    class Made:
        """Knows every token, hidden or not, in English alone; says of every pair that it follows."""

        def __call__(self, input_ids: torch.Tensor, **_: Any) -> Any:
            truth = tokenizer(
                [e.first for e in EXAMPLES], [e.second for e in EXAMPLES], padding=True, return_tensors="pt"
            )
            logits = torch.nn.functional.one_hot(truth["input_ids"], size).float()
            logits[1] = 0
            logits[1, :, 0] = 1
            return SimpleNamespace(prediction_logits=logits, seq_relationship_logits=torch.tensor([[1.0, 0.0]] * 3))

    made: Any = Made()
    scores = check.accuracy(made, tokenizer, EXAMPLES)
    assert (scores.english, scores.chinese) == (1.0, 0.0)
    assert scores.pairs == pytest.approx(2 / 3)


def test_looks_add_up_what_falls_on_each_kind_of_token(tokenizer: PreTrainedTokenizerFast) -> None:
    class Made:
        """One layer of two heads: all weight on the token before, all weight on the last token, a separator."""

        def __call__(self, input_ids: torch.Tensor, **_: Any) -> Any:
            length = input_ids.shape[1]
            weights = torch.zeros(1, 2, length, length)
            for query in range(length):
                weights[0, 0, query, max(query - 1, 0)] = 1
                weights[0, 1, query, -1] = 1
            return SimpleNamespace(attentions=(weights,))

    made: Any = Made()
    seen = check.looks(made, tokenizer, EXAMPLES[:1])
    by_kind = dict(zip(check.KINDS, seen[:, 0], strict=True))
    assert by_kind["token before"][0] == 1.0
    assert by_kind["separator"][1] == 1.0
    assert by_kind["other passage"].tolist() == [0.0, 0.0]


def test_the_model_fits_its_size_and_learns_from_hidden_tokens_alone(tokenizer: PreTrainedTokenizerFast) -> None:
    torch.manual_seed(0)
    model = new_model(tokenizer)
    grown = (8192 + 3 - len(tokenizer)) * (model.config.hidden_size + 1)  # the vocabulary of the grown tokenizer
    assert 2 * (model.num_parameters() + grown) <= 4e6  # bytes in half precision
    given = batch(tokenizer, EXAMPLES, Random(1))
    ours = pretraining_loss(model, given)
    theirs = model(**given).loss  # computes all logits
    assert ours.item() == pytest.approx(theirs.item(), rel=1e-5)
