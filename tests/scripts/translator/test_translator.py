"""The translator's data and what its card measures, without training it."""

from __future__ import annotations

from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from transformers import PreTrainedTokenizerFast

from scripts.corpus.parallel.sentences import Pair, content
from scripts.translator import check
from scripts.translator.__main__ import new_model, similar_lengths
from scripts.translator.data import batch, both_ways, held_out, make_tokenizer, sentences

PAIRS = sentences(Random(1), 60, held=True)


@pytest.fixture(scope="module")
def tokenizer() -> PreTrainedTokenizerFast:
    return make_tokenizer()


def test_what_is_held_out_shares_no_combination_with_what_is_trained_on() -> None:
    trained = sentences(Random(2), 2000, held=False)
    assert not {content(pair) for pair in trained} & {content(pair) for pair in PAIRS}
    assert all(map(held_out, PAIRS))


@pytest.mark.table
def test_words_are_tokens_and_any_other_text_round_trips(tokenizer: PreTrainedTokenizerFast) -> None:
    one_each = 0
    for pair in PAIRS:
        split = [tokenizer.decode([i]) for i in tokenizer(pair.chinese_text, add_special_tokens=False)["input_ids"]]
        one_each += split == [word.text for word in pair.chinese]
    assert one_each >= 0.9 * len(PAIRS)  # a few words share bytes with the one before: 老鼠 and 下周
    text = "naïve 🙂 12 饕餮"
    assert tokenizer.decode(tokenizer(text)["input_ids"], skip_special_tokens=True) == text


def test_a_batch_goes_both_ways_and_padding_does_not_count(tokenizer: PreTrainedTokenizerFast) -> None:
    texts = both_ways(PAIRS[:3])
    given = batch(tokenizer, texts)
    assert len(given["input_ids"]) == len(given["labels"]) == 6
    for row, (source, target) in enumerate(texts):
        labels = given["labels"][row]
        assert tokenizer.decode(labels[labels != -100], skip_special_tokens=True) == target
        ids = given["input_ids"][row][given["attention_mask"][row] == 1]
        assert tokenizer.decode(ids, skip_special_tokens=True) == source


def test_sentences_of_a_batch_are_about_as_long() -> None:
    spread = [max(lengths) - min(lengths) for group in similar_lengths(Random(3)) if (lengths := _lengths(group))]
    drawn = _lengths(sentences(Random(3), 32, held=False))
    assert sum(spread) / len(spread) < 0.4 * (max(drawn) - min(drawn))


def test_only_the_right_translation_counts(tokenizer: PreTrainedTokenizerFast, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = dict(both_ways(sentences(Random(check.SEED), 10, held=True)))
    wrong = sorted(answers)[0]
    monkeypatch.setattr(
        check, "translate", lambda model, tokenizer, texts: [answers[t] * (1 + (t == wrong)) for t in texts]
    )
    model: Any = None
    assert sorted(check.exact(model, tokenizer, count=10)) == [9, 10]


def test_a_head_that_looks_at_the_translated_word_scores_one(tokenizer: PreTrainedTokenizerFast) -> None:
    made: Any = Made(tokenizer)
    looks = check.alignment(made, tokenizer, count=20)
    for shares in (looks.english_to_chinese, looks.chinese_to_english):
        assert shares.shape == (1, 2)
        assert shares[0, 0] == 1.0
        assert shares[0, 1] < 0.3  # its head looks at the first word, which is seldom a noun or verb


def test_the_model_has_the_shape_of_its_card(tokenizer: PreTrainedTokenizerFast) -> None:
    model = new_model(tokenizer)
    assert 2 * model.num_parameters() <= 8e6  # bytes in half precision
    given = batch(tokenizer, both_ways(PAIRS[:1]))
    out = model(**given, output_attentions=True)
    assert torch.isfinite(out.loss)
    assert len(out.cross_attentions) == 4
    assert out.cross_attentions[0].shape[1] == 4


class Made:
    """One layer of two heads; the first looks at the word that is being translated, the second at the first token."""

    def __init__(self, tokenizer: PreTrainedTokenizerFast) -> None:
        self.tokenizer = tokenizer
        self.pairs = {pair.english_text: pair for pair in sentences(Random(check.SEED), 20, held=True)}

    def __call__(self, input_ids: torch.Tensor, labels: torch.Tensor, **_: Any) -> Any:
        source, target = (self.tokenizer.decode(ids[0], skip_special_tokens=True) for ids in (input_ids, labels))
        pair = self.pairs[source if source in self.pairs else target]
        sides = (pair.english, pair.chinese) if source == pair.english_text else (pair.chinese, pair.english)
        at = [_first_tokens(self.tokenizer, pair, side is pair.english) for side in sides]
        weights = torch.zeros(1, 2, labels.shape[1], input_ids.shape[1])
        weights[:, 1, :, 0] = 1
        for i, word in enumerate(sides[1]):
            partners = [j for j, other in enumerate(sides[0]) if word.meaning and other.meaning == word.meaning]
            for j in partners:
                weights[:, 0, at[1][i], at[0][j]] = 1 / len(partners)
        return SimpleNamespace(cross_attentions=(weights,))


def _first_tokens(tokenizer: PreTrainedTokenizerFast, pair: Pair, english: bool) -> list[int]:
    """Where each word's first token stands, counted word by word."""
    words = [word.text for word in (pair.english if english else pair.chinese)]
    places, count = [], 0
    for i, word in enumerate(words):
        places.append(count)
        text = word[0].upper() + word[1:] if english and i == 0 else word
        glued = not english or i == 0 or word in ".?,"
        count += len(tokenizer(text if glued else " " + text, add_special_tokens=False)["input_ids"])
    return places


def _lengths(pairs: list[Pair]) -> list[int]:
    return [len(pair.chinese) for pair in pairs]
