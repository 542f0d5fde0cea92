"""Tokens are joined to the words and characters that a reader sees, in any script."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from analysis.units import Unit, character_units, token_units, word_units
from model_runner import Capture
from tests.analysis.made import embedded, text_capture
from tests.model_runner.tiny import byte_tokenizer


def _byte_capture(text: str) -> Capture:
    return text_capture(text, byte_tokenizer())


def _capture(text: str) -> Capture:
    """With the embedded model's tokenizer: a special token in front, a space belongs to what follows."""
    return text_capture(text, embedded().engine.tokenizer)


def _labels(units: tuple[Unit, ...]) -> list[str]:
    return [unit.label for unit in units]


@pytest.mark.parametrize("read", [_byte_capture, _capture], ids=["bytes", "embedded"])
@pytest.mark.parametrize(
    "text",
    ["a", "  two  spaces ", "don't", "日本語 and 🙂🙂", "שלום עולם", "a\n\n\t", "<script>x</script>", "e\u0301e"],
)
def test_units_hold_every_token_once_in_order(text: str, read: Callable[[str], Capture]) -> None:
    capture = read(text)
    for units in (token_units(capture), character_units(capture), word_units(capture)):
        assert [i for unit in units for i in range(unit.start, unit.stop)] == list(range(len(capture.tokens)))
        for unit in units:
            assert unit.label
            assert unit.tokens == slice(unit.start, unit.stop)
            assert unit.parts == tuple(token.text for token in capture.tokens[unit.tokens])


def test_a_token_unit_is_the_token() -> None:
    capture = _capture("The dog")
    units = token_units(capture)
    assert _labels(units) == [token.text for token in capture.tokens]
    assert [unit.special for unit in units] == [True] + [False] * (len(units) - 1)


@pytest.mark.parametrize(
    "text, words",
    [
        ("the dog", ["the", "·dog"]),
        ("don't", ["don't"]),
        ("don’t", ["don’t"]),
        ("the dogs' bone", ["the", "·dogs", "'", "·bone"]),
        ("no, really!?", ["no", ",", "·really", "!", "?"]),
        ("snake_case x2", ["snake_case", "·x2"]),
        ("3.14", ["3", ".", "14"]),
        ("日本語", ["日", "本", "語"]),
        ("カタカナ", ["カ", "タ", "カ", "ナ"]),
        ("日本go語", ["日", "本", "go", "語"]),
        ("한국어 문장", ["한국어", "·문장"]),
        ("שלום, עולם", ["שלום", ",", "·עולם"]),
        ("مرحبا بالعالم", ["مرحبا", "·بالعالم"]),
        ("हिन्दी में", ["हिन्दी", "·में"]),  # vowel signs are marks, not letters
        ("cafe\u0301 x", ["cafe\u0301", "·x"]),  # so is a combining accent
        ("I ❤\ufe0f you", ["I", "·❤\ufe0f", "·you"]),
        ("🙂🙂", ["🙂", "🙂"]),
        ("a 👨\u200d👩\u200d👧 b", ["a", "·👨\u200d👩\u200d👧", "·b"]),  # a family is one picture
        ("👍🏽!", ["👍🏽", "!"]),  # with its colour
        ("🏃\u200d♂\ufe0f🏳\ufe0f\u200d🌈", ["🏃\u200d♂\ufe0f", "🏳\ufe0f\u200d🌈"]),
        ("🇫🇷🇩🇪", ["🇫🇷", "🇩🇪"]),
        ("क्\u200dष", ["क्\u200dष"]),  # joined letters
        ("می\u200cخواهم", ["می⟨200C⟩خواهم"]),  # letters kept apart in one word
        ("ein Straßenname", ["ein", "·Straßenname"]),
        ("<b>bold</b>", ["<", "b", ">", "bold", "<", "/", "b", ">"]),
    ],
)
def test_words_are_joined_and_punctuation_stands_alone(text: str, words: list[str]) -> None:
    assert _labels(word_units(_byte_capture(text))) == _with_spaces_apart(words)


def _with_spaces_apart(words: list[str]) -> list[str]:
    """With one token a byte a space is a token of its own, part of no word."""
    return [label for word in words for label in (["·", word[1:]] if word.startswith("·") else [word])]


def test_a_leading_space_belongs_to_the_word_whose_token_has_it() -> None:
    assert _labels(word_units(_capture("Lily's squirrelish dog."))) == ["⟨bos⟩", "Lily's", "·squirrelish", "·dog", "."]


def test_the_pieces_of_a_word_are_its_parts() -> None:
    capture = _capture("a squirrelish")
    unit = word_units(capture)[-1]
    assert unit.label == "·squirrelish"
    assert len(unit.parts) > 1
    assert "".join(unit.parts) == "·squirrelish"


def test_what_covers_no_word_stays_a_token() -> None:
    assert _labels(word_units(_byte_capture("a\n\n  b"))) == ["a", "⏎", "⏎", "·", "·", "b"]


def test_two_special_tokens_in_a_row_do_not_join() -> None:
    units = word_units(_byte_capture("<bos><bos>a"))
    assert _labels(units) == ["⟨bos⟩", "⟨bos⟩", "a"]
    assert [unit.special for unit in units] == [True, True, False]


def test_a_special_token_of_letters_is_no_part_of_the_word_before_it() -> None:
    tokenizer = byte_tokenizer()
    tokenizer.add_special_tokens({"additional_special_tokens": ["END"]})
    assert _labels(word_units(text_capture("a dogEND", tokenizer))) == ["a", "·", "dog", "⟨END⟩"]


@pytest.mark.parametrize("text", ["🙂🙂", "é日🙂", "x🙂\u200d🙂y"])
def test_the_bytes_of_a_character_are_joined_under_it(text: str) -> None:
    units = character_units(_byte_capture(text))
    assert [unit.label for unit in units] == [c if c != "\u200d" else "⟨200D⟩" for c in text]
    assert [len(unit.parts) for unit in units] == [len(c.encode()) for c in text]
    for unit in units:
        if len(unit.parts) > 1:
            assert all(part.startswith("⟨") for part in unit.parts)


def test_two_copies_of_a_character_stay_two() -> None:
    assert [(unit.start, unit.stop) for unit in character_units(_byte_capture("🙂🙂"))] == [(0, 4), (4, 8)]


def test_characters_of_one_token_are_not_split_or_joined() -> None:
    capture = _capture("The dog chased")
    assert character_units(capture) == token_units(capture)
