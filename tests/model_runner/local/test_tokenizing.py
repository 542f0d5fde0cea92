"""Tokens cover their text, and anything that a text can contain is shown visibly and harmlessly."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import AutoTokenizer, PreTrainedTokenizerBase, PreTrainedTokenizerFast

from model_runner.errors import EmptyText, NotText
from model_runner.local.loading.model_folder import DEFAULT_FOLDER
from model_runner.local.tokenizing import display, encode, longest_start, tokens_of
from model_runner.tokens import Token, visible
from tests.model_runner.tiny import BOS, byte_tokenizer

TEXTS = [
    "The dog chased the squirrel because it",
    "  two  spaces, a\ttab and\r\na line ",
    "naïve café — 日本語 🙂👨\u200d👩\u200d👧",
    "שלום עולם مرحبا",
    "<script>alert('x')</script> &amp; <b>",
    "\x00 NUL, \x1b escape, \u202e turned",
    "🙂" * 20,
    "<|bos|> typed by hand",
]


@pytest.fixture(scope="module")
def embedded() -> PreTrainedTokenizerBase:
    return AutoTokenizer.from_pretrained(DEFAULT_FOLDER)


@pytest.fixture(scope="module")
def bytewise() -> PreTrainedTokenizerBase:
    return byte_tokenizer()


def _tokens(tokenizer: PreTrainedTokenizerBase, text: str) -> tuple[Token, ...]:
    return tokens_of(tokenizer, encode(tokenizer, text))


def _fast(
    model: Any, *, decoder: Any = None, pre_tokenizer: Any = None, normalizer: Any = None
) -> PreTrainedTokenizerFast:
    backend = Tokenizer(model)
    parts = {"decoder": decoder, "pre_tokenizer": pre_tokenizer, "normalizer": normalizer}
    for name, part in parts.items():
        if part is not None:
            setattr(backend, name, part)
    return PreTrainedTokenizerFast(tokenizer_object=backend)


# -- the characters a token covers ------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("name", ["embedded", "bytewise"])
def test_tokens_cover_every_character_once_and_in_order(text: str, name: str, request: pytest.FixtureRequest) -> None:
    tokens = [token for token in _tokens(request.getfixturevalue(name), text) if token.start < token.end]
    assert tokens[0].start == 0
    assert tokens[-1].end == len(text)
    for before, after in itertools.pairwise(tokens):
        parts_of_one = (before.start, before.end) == (after.start, after.end)  # the bytes of a split character
        assert parts_of_one or after.start == before.end


@pytest.mark.parametrize("text", TEXTS)
def test_ids_are_the_tokenizer_s_own(text: str, embedded: PreTrainedTokenizerBase) -> None:
    encoded = encode(embedded, text)
    assert list(encoded.ids) == embedded(text)["input_ids"]
    assert [token.id for token in tokens_of(embedded, encoded)] == list(encoded.ids)


def test_the_bytes_of_a_split_character_cover_that_character(bytewise: PreTrainedTokenizerBase) -> None:
    tokens = _tokens(bytewise, "aé🙂b")
    assert [(token.start, token.end) for token in tokens] == [(0, 1), (1, 2), (1, 2), *[(2, 3)] * 4, (3, 4)]
    assert [token.text for token in tokens] == ["a", "⟨C3⟩", "⟨A9⟩", "⟨F0⟩", "⟨9F⟩", "⟨99⟩", "⟨82⟩", "b"]


def test_a_token_that_stands_for_no_characters_is_special_and_covers_none(embedded: PreTrainedTokenizerBase) -> None:
    first, second, *_ = _tokens(embedded, "The dog")
    assert (first.text, first.special, first.start, first.end) == ("⟨bos⟩", True, 0, 0)
    assert (second.text, second.special, second.start) == ("The", False, 0)


# -- how a token is drawn ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, shown",
    [
        ("a b", ["a", "·", "b"]),
        ("a\nb\tc\rd", ["a", "⏎", "b", "⇥", "c", "⟨000D⟩", "d"]),
        ("\x00\x07\x1b\x1f", ["⟨0000⟩", "⟨0007⟩", "⟨001B⟩", "⟨001F⟩"]),
        ("\x7fx", ["⟨007F⟩", "x"]),
        ("<b>&", ["<", "b", ">", "&"]),
    ],
)
def test_spaces_and_control_characters_are_made_visible(
    text: str, shown: list[str], bytewise: PreTrainedTokenizerBase
) -> None:
    assert [token.text for token in _tokens(bytewise, text)] == shown


def test_a_leading_space_is_a_dot(embedded: PreTrainedTokenizerBase) -> None:
    assert [token.text for token in _tokens(embedded, "the dog")][1:] == ["the", "·dog"]


@pytest.mark.parametrize(
    "text, shown",
    [
        ("", "⟨⟩"),
        ("dog", "dog"),
        (" dog\n", "·dog⏎"),
        ("<script>", "<script>"),  # text: escaping is the duty of what draws it
        ("日本", "日本"),
        ("שלום", "שלום"),
        ("👨\u200d👩", "👨\u200d👩"),  # joined emoji stay one
        ("e\u0301", "e\u0301"),
        ("\u0301", "◌\u0301"),  # a mark alone has no letter to stand on
        ("\u0301a", "◌\u0301a"),
        ("\u093f", "◌\u093f"),  # a vowel sign of Hindi
        ("\u20e3", "◌\u20e3"),  # the frame of a key
        ("\u200d", "⟨200D⟩"),
        ("❤\ufe0f", "❤\ufe0f"),  # drawn in colour
        ("\ufe0f", "⟨FE0F⟩"),
        ("\u200b", "⟨200B⟩"),  # zero width
        ("\ufeff", "⟨FEFF⟩"),
        ("\u00ad", "⟨00AD⟩"),  # soft hyphen
        ("\u00a0", "⟨00A0⟩"),  # spaces that are not the space
        ("\u3000", "⟨3000⟩"),
        ("\u2028", "⟨2028⟩"),
        ("\x85", "⟨0085⟩"),
        ("\ue000", "⟨E000⟩"),  # private use: no font shows it
        ("\U000e0041", "⟨E0041⟩"),  # a tag: text that nobody sees
    ],
)
def test_what_cannot_be_seen_shows_its_number(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize("number", [0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)])
def test_characters_that_turn_the_direction_of_a_line_do_not_reach_the_screen(number: int) -> None:
    assert visible(f"a{chr(number)}b") == f"a⟨{number:04X}⟩b"


def test_special_tokens_are_in_brackets_of_their_own(
    bytewise: PreTrainedTokenizerBase, embedded: PreTrainedTokenizerBase
) -> None:
    assert display(bytewise, BOS) == "⟨bos⟩"
    assert [display(embedded, token_id) for token_id in range(3)] == ["⟨bos⟩", "⟨eos⟩", "⟨pad⟩"]


def test_special_tokens_of_the_file_are_special_though_no_setting_names_them() -> None:
    tokenizer = byte_tokenizer()
    tokenizer.add_tokens([AddedToken("<|eot_id|>", special=True)])
    assert "<|eot_id|>" not in tokenizer.special_tokens_map.values()
    tokens = _tokens(tokenizer, "a<|eot_id|>")
    assert [(token.text, token.special) for token in tokens] == [("a", False), ("⟨eot_id⟩", True)]
    assert display(tokenizer, tokens[1].id) == "⟨eot_id⟩"


def test_characters_that_are_not_known_are_text() -> None:
    tokenizer = _fast(models.WordLevel({"a": 0, "<unk>": 1}, "<unk>"), pre_tokenizer=pre_tokenizers.Whitespace())
    tokenizer.unk_token = "<unk>"
    tokens = _tokens(tokenizer, "a dog")
    assert [(token.text, token.special, token.start, token.end) for token in tokens] == [
        ("a", False, 0, 1),
        ("⟨unk⟩", False, 2, 5),
    ]


def test_text_that_looks_like_a_special_token_is_not_one(embedded: PreTrainedTokenizerBase) -> None:
    assert not any(token.special for token in _tokens(embedded, "[bos] < |bos| > ⟨bos⟩")[1:])


def test_an_id_beyond_the_tokenizer_shows_its_number(bytewise: PreTrainedTokenizerBase) -> None:
    assert display(bytewise, 99_999) == "⟨99999⟩"  # some models pad their vocabulary


def test_pieces_of_bytes_that_make_no_character_show_as_bytes() -> None:
    tokenizer = _fast(models.BPE({"ðŁĻ": 0, "Ċ": 1, "é": 2}, merges=[]), decoder=decoders.ByteLevel())
    assert [display(tokenizer, i) for i in range(3)] == ["⟨F0 9F 99⟩", "⏎", "⟨E9⟩"]


def test_tokens_added_to_a_byte_level_vocabulary_show_their_own_text() -> None:
    tokenizer = byte_tokenizer()  # GPT-NeoX has runs of spaces such as these
    added = tokenizer.add_tokens([AddedToken("    ", normalized=False), AddedToken("<你>", normalized=False)])
    assert added == 2
    tokens = _tokens(tokenizer, "a    b<你>")
    assert [token.text for token in tokens] == ["a", "····", "b", "<你>"]
    assert not any(token.special for token in tokens)


def test_sentencepiece_s_underscore_is_a_space_and_its_bytes_are_bytes() -> None:
    vocab = {"▁the": 0, "dog": 1, "<0x0A>": 2, "<0xf0>": 3, "▁": 4, "<unk>": 5}
    tokenizer = _fast(models.WordLevel(vocab, unk_token="<unk>"), decoder=decoders.Metaspace())
    assert [display(tokenizer, i) for i in range(5)] == ["·the", "dog", "⟨0A⟩", "⟨F0⟩", "·"]


def test_every_token_of_the_embedded_vocabulary_shows_something_on_one_line(embedded: PreTrainedTokenizerBase) -> None:
    for token_id in range(len(embedded)):
        shown = display(embedded, token_id)
        assert shown.strip()
        assert shown.isprintable()


# -- texts that are none ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", " ", "\n\t \r\n", "\u3000\u00a0"])
def test_a_blank_text_is_refused(text: str, embedded: PreTrainedTokenizerBase) -> None:
    with pytest.raises(EmptyText, match=r"There is no text to look at\. Type a sentence"):
        encode(embedded, text)


def test_a_text_of_which_no_token_is_left_is_refused() -> None:
    tokenizer = _fast(
        models.WordLevel({"a": 0}),
        pre_tokenizer=pre_tokenizers.Whitespace(),
        normalizer=normalizers.Replace("b", ""),
    )
    assert encode(tokenizer, "a b").ids == (0,)
    with pytest.raises(EmptyText):
        encode(tokenizer, "b b")


@pytest.mark.parametrize(
    "text, position, code", [("a\ud83d b", 1, "D83D"), ("\udc00", 0, "DC00"), ("🙂\udfff", 1, "DFFF")]
)
def test_half_a_character_is_refused_with_its_place(
    text: str, position: int, code: str, embedded: PreTrainedTokenizerBase
) -> None:
    with pytest.raises(NotText, match=rf"Character {position} is half of a character \(a lone surrogate, U\+{code}\)"):
        encode(embedded, text)


def test_a_nul_is_a_token_like_any_other(embedded: PreTrainedTokenizerBase) -> None:
    assert [token.text for token in _tokens(embedded, "a\x00b")][1:] == ["a", "⟨0000⟩", "b"]


# -- texts that are too long ------------------------------------------------------------------------------------------

LONG = {
    "words": "Once upon a time there was a squirrelish dog. " * 50,
    "one word": "a" * 3000,
    "emoji": "🙂" * 700,
    "Chinese": "松鼠追狗" * 300,
    "mixed": "naïve 🙂 dog, 日本\n" * 100,
}


def _with_an_end(tokenizer: PreTrainedTokenizerFast) -> PreTrainedTokenizerFast:
    """As BERT does: a special token before the text and two after it."""
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="<bos> $A <eos> <eos>", special_tokens=[("<bos>", 256), ("<eos>", 257)]
    )
    return tokenizer


@pytest.mark.parametrize("limit", [3, 64, 65, 66, 67, 200])
@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
@pytest.mark.parametrize("name", ["embedded", "bytewise", "with an end"])
def test_the_start_of_a_text_that_is_said_to_fit_does_and_little_more_would(
    name: str, text: str, limit: int, embedded: PreTrainedTokenizerBase
) -> None:
    tokenizer = {"embedded": embedded, "bytewise": byte_tokenizer()}.get(name) or _with_an_end(byte_tokenizer())
    encoded = encode(tokenizer, text)
    assert len(encoded.ids) > limit
    characters = longest_start(tokenizer, text, encoded, limit)
    assert 0 <= characters < len(text)
    if characters:
        assert len(encode(tokenizer, text[:characters]).ids) <= limit
    # Not much is given away: a character of four bytes, the two tokens at the end, and a word that falls apart.
    assert len(encode(tokenizer, text[: characters + 12]).ids) > limit
