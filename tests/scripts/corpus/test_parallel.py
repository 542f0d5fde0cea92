"""The parallel sentences say the same in both languages, each in its own order."""

from __future__ import annotations

from collections import Counter
from random import Random

from scripts.corpus.parallel.sentences import content, sentence


def test_a_sentence_has_the_same_nouns_and_verbs_in_both_languages() -> None:
    rng = Random(0)
    for _ in range(2000):
        pair = sentence(rng)
        english, chinese = (
            Counter(word.meaning for word in side if word.kind != "other") for side in (pair.english, pair.chinese)
        )
        assert english == chinese, pair.english_text
        assert len(content(pair).split()) == english.total()


def test_the_words_stand_in_the_text_in_their_order() -> None:
    rng = Random(1)
    for _ in range(500):
        pair = sentence(rng)
        assert "".join(word.text for word in pair.chinese) == pair.chinese_text
        spaced = " ".join(word.text for word in pair.english).replace(" .", ".").replace(" ?", "?")
        assert pair.english_text.lower() == spaced.lower()
        assert pair.english_text[0].isupper()


def test_one_english_sentence_has_one_translation_and_the_other_way_round() -> None:
    rng = Random(2)
    into_chinese: dict[str, str] = {}
    into_english: dict[str, str] = {}
    for _ in range(20_000):
        pair = sentence(rng)
        assert into_chinese.setdefault(pair.english_text, pair.chinese_text) == pair.chinese_text
        assert into_english.setdefault(pair.chinese_text, pair.english_text) == pair.english_text


def test_chinese_puts_time_before_the_verb_the_clause_before_its_noun_and_a_known_object_behind_ba() -> None:
    rng = Random(3)
    pairs = {pair.english_text: pair.chinese_text for pair in (sentence(rng) for _ in range(20_000))}
    timed = [(english, chinese) for english, chinese in pairs.items() if english.endswith(" yesterday.")]
    assert len(timed) > 300
    assert not any(chinese.endswith("昨天。") for _, chinese in timed)
    clauses = [chinese for english, chinese in pairs.items() if " who " in english]
    assert len(clauses) > 300
    assert all("的" in chinese for chinese in clauses)
    put = [chinese for english, chinese in pairs.items() if " put the " in english and "because" not in english]
    assert len(put) > 100
    assert all(0 < chinese.index("把") < chinese.index("放在") for chinese in put)


def test_there_are_some_four_hundred_words() -> None:
    rng = Random(4)
    words = {word.text.lower() for _ in range(20_000) for word in sentence(rng).english}
    assert 330 < len(words) < 450
