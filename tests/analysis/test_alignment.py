"""Aligning the tokens of two texts: against a slow search over all cuts, and invariants of any two texts."""

from __future__ import annotations

import itertools
import random

import pytest

from analysis.alignment import Piece, Side, aligned, same_characters
from model_runner.tokens import Token
from tests.analysis.made import embedded, text_capture
from tests.model_runner.tiny import byte_tokenizer

TEXTS = [
    "The dog chased the squirrel",
    "a 😀 b",
    "狗看见了猫，它",
    "日本go語",
    "x🙂\u200d🙂y",
    "a\n\n  b",
    "cafe\u0301!",
    "aaaa aa",
]


def side(text: str, *cuts: int, before: int = 0, after: int = 0) -> Side:
    """A text cut at these characters, with special tokens before and after it."""
    edges = [0, *cuts, len(text)]
    tokens = [Token(9, "⟨s⟩", 0, 0, special=True)] * before
    tokens += [Token(i, text[i:j].replace(" ", "·"), i, j) for i, j in itertools.pairwise(edges)]
    return Side(text, (*tokens, *[Token(8, "⟨e⟩", 0, 0, special=True)] * after))


def of_bytes(text: str) -> Side:
    capture = text_capture(text, byte_tokenizer())
    return Side(capture.text, capture.tokens)


def of_words(text: str) -> Side:
    """Pieces of the embedded tokenizer, with its ⟨bos⟩."""
    capture = text_capture(text, embedded().engine.tokenizer)
    return Side(capture.text, capture.tokens)


def runs(pieces: tuple[Piece, ...]) -> list[tuple[list[int] | None, list[int] | None]]:
    return [(None if one.a is None else [*one.a], None if one.b is None else [*one.b]) for one in pieces]


def common_edges(a: Side, b: Side) -> list[int]:
    """Slowly: the characters at which both texts may be cut without cutting a token."""

    def free(side: Side, at: int) -> bool:
        return not any(token.start < at < token.end for token in side.tokens)

    return [at for at in range(len(a.text) + 1) if free(a, at) and free(b, at)]


@pytest.mark.parametrize("seed", range(30))
def test_pieces_of_one_text_are_the_shortest_that_cut_no_token(seed):
    chance = random.Random(seed)
    text = "".join(chance.choice("ab c") for _ in range(14))
    a, b = (side(text, *sorted(chance.sample(range(1, len(text)), chance.randrange(0, 10)))) for _ in range(2))
    expected = []
    for start, stop in itertools.pairwise(common_edges(a, b)):
        inside = [[i for i, token in enumerate(one.tokens) if start <= token.start < stop] for one in (a, b)]
        expected.append((inside[0], inside[1]))
    assert runs(aligned(a, b)) == expected


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("cut", [of_bytes, of_words])
def test_the_same_tokenizer_gives_the_identity(text, cut):
    a = cut(text)
    assert runs(aligned(a, a)) == [([i], [i]) for i in range(len(a.tokens))]


@pytest.mark.parametrize("text", TEXTS)
def test_every_token_is_in_one_piece_and_pieces_are_in_order(text):
    for a, b in itertools.permutations((of_bytes(text), of_words(text), of_words(f"well, {text} x")), 2):
        pieces = aligned(a, b)
        for n, run in ((len(a.tokens), [one.a for one in pieces]), (len(b.tokens), [one.b for one in pieces])):
            assert [i for one in run if one is not None for i in one] == list(range(n))
        assert all(piece.a is not None or piece.b is not None for piece in pieces)


@pytest.mark.parametrize("text", TEXTS)
def test_a_shared_piece_stands_for_the_same_characters_on_both_sides(text):
    for a, b in itertools.permutations((of_bytes(text), of_words(text), of_words(f"well, {text} x")), 2):
        for piece in aligned(a, b):
            if piece.a is not None and piece.b is not None and a.tokens[piece.a[0]].end:
                written = [
                    one.text[one.tokens[run[0]].start : one.tokens[run[-1]].end].strip()
                    for one, run in ((a, piece.a), (b, piece.b))
                ]
                assert written[0] == written[1]


def test_the_bytes_of_a_character_are_one_piece_against_a_whole_character_and_four_against_four():
    whole = side("a😀b", 1, 2)
    assert runs(aligned(of_bytes("a😀b"), whole)) == [([0], [0]), ([1, 2, 3, 4], [1]), ([5], [2])]
    assert runs(aligned(of_bytes("猫狗"), side("猫狗", 1))) == [([0, 1, 2], [0]), ([3, 4, 5], [1])]
    assert runs(aligned(of_bytes("猫"), of_bytes("猫"))) == [([0], [0]), ([1], [1]), ([2], [2])]


def test_bytes_that_are_joined_otherwise_are_one_piece():
    a = of_bytes("😀")
    joined = Side("😀", (Token(0, "⟨F0 9F⟩", 0, 1), Token(1, "⟨98 80⟩", 0, 1)))
    assert runs(aligned(a, joined)) == [([0, 1, 2, 3], [0, 1])]


def test_a_word_in_place_of_another_has_no_counterpart_and_the_rest_has():
    a, b = of_words("The dog chased the squirrel because it"), of_words("The dog chased the book because it")
    pieces = aligned(a, b)
    alone = [[a.tokens[i].text for i in one.a] for one in pieces if one.b is None and one.a is not None]
    other = [[b.tokens[i].text for i in one.b] for one in pieces if one.a is None and one.b is not None]
    assert (alone, other) == ([["·squirrel"]], [["·book"]])
    assert sum(piece.shared for piece in pieces) == len(a.tokens) - 1 == len(b.tokens) - 1


def test_a_word_put_in_shifts_what_comes_after_it():
    assert runs(aligned(side("dog ran", 3), side("big dog ran", 3, 7))) == [
        (None, [0]), ([0], [1]), ([1], [2]),
    ]  # fmt: skip  # a leading space more or less does not keep "dog" from "·dog"


def test_texts_without_a_common_word_share_only_what_stands_before_and_after_them():
    a, b = side("red fox", 3, before=1, after=1), side("blue hen", 4, before=1)
    assert runs(aligned(a, b)) == [([0], [0]), ([1], None), ([2], None), ([3], None), (None, [1]), (None, [2])]
    assert same_characters("red", "blue") == {}


def test_special_tokens_are_aligned_by_their_place_not_by_their_characters():
    a, b = side("ab", 1, before=2), side("ab", 1, before=1, after=2)
    assert runs(aligned(a, b)) == [([0, 1], [0]), ([2], [1]), ([3], [2]), (None, [3]), (None, [4])]


def test_letters_that_happen_to_be_in_both_words_are_no_common_characters():
    assert same_characters("squirrel runs", "squares runs") == {8 + i: 7 + i for i in range(5)}


def test_a_long_text_of_one_letter_is_aligned_in_time():
    text = " ".join(["a"] * 250)
    assert sum(piece.shared for piece in aligned(of_bytes(text), of_bytes(f"b {text}"))) > 480


def test_a_word_left_out_leaves_the_words_beside_it_their_counterparts():
    a, b = side("a b c", 1, 3), side("a c", 1)
    assert runs(aligned(a, b)) == [([0], [0]), ([1], None), ([2], [1])]


def test_a_token_of_a_common_word_and_another_has_no_counterpart_nor_has_what_meets_it():
    a, b = side("of the end", 6), side("of a end", 2, 4)
    assert runs(aligned(a, b)) == [([0], None), (None, [0]), (None, [1]), ([1], [2])]


def test_space_at_the_end_of_both_is_the_same():
    assert runs(aligned(side("x = ", 1, 3), side("y = ", 1, 3))) == [([0], None), (None, [0]), ([1], [1]), ([2], [2])]
