"""The characters of tokens that follow a text, in tokenizers of every kind, and the chat template around it."""

from __future__ import annotations

import itertools

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast
from transformers.convert_slow_tokenizer import bytes_to_unicode

from analysis.units import character_units, word_units
from model_runner.errors import ChatTemplateFails, EmptyText, NoChatTemplate
from model_runner.local.runner import LocalRunner
from model_runner.local.tokenizing import Writer, encode
from model_runner.request import CaptureRequest, GenerateRequest
from tests.model_runner.tiny import BOS, EOS, byte_tokenizer, tiny

TEMPLATE = (
    "{% for message in messages %}<bos>{{ message['role'] }}\n{{ message['content'] }}<eos>{% endfor %}"
    "{% if add_generation_prompt %}<bos>model\n{% endif %}"
)


def chat_tokenizer() -> PreTrainedTokenizerFast:
    tokenizer = byte_tokenizer()
    tokenizer.chat_template = TEMPLATE
    return tokenizer


def runner_with(tokenizer: PreTrainedTokenizerFast) -> LocalRunner:
    runner = LocalRunner(tiny("llama", num_key_value_heads=2)(), tokenizer, name="tiny", device="cpu")
    runner.engine.model.generation_config.eos_token_id = None
    return runner


def written(text: str, after: list[int], tokenizer: PreTrainedTokenizerFast | None = None) -> Writer:
    tokenizer = tokenizer or byte_tokenizer()
    writer = Writer(tokenizer, encode(tokenizer, text))
    for token_id in after:
        writer.append(token_id)
    return writer


def spans(writer: Writer, count: int) -> list[tuple[int, int]]:
    return [(token.start, token.end) for token in writer.tokens[-count:]]


def as_bytes(text: str | bytes) -> list[int]:
    """Token ids of the byte tokenizer, whose vocabulary is not in the order of the bytes."""
    raw = text.encode() if isinstance(text, str) else text
    ids = {piece: token for token, piece in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    return [ids[bytes_to_unicode()[byte]] for byte in raw]


# -- characters -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["plain words", "né 日本 😀!", "e\u0301 and 👩‍👩‍👧", "a\nb\tc "])
@pytest.mark.parametrize("cut", [1, 2])
def test_a_text_read_in_two_parts_has_the_characters_of_the_whole(text: str, cut: int) -> None:
    tokenizer = byte_tokenizer()
    whole = encode(tokenizer, text)
    start = encode(tokenizer, text[:cut])
    writer = written(text[:cut], list(whole.ids[len(start.ids) :]))
    assert [(token.start, token.end) for token in writer.tokens] == list(whole.spans)
    assert writer.text_of(len(whole.ids)) == text
    assert writer.continuation(len(whole.ids)) == whole.ids[len(start.ids) :]


def test_the_bytes_of_a_split_character_cover_it_before_it_is_complete() -> None:
    writer = written("ab", as_bytes("😀c"))
    assert spans(writer, 5) == [(2, 3)] * 4 + [(3, 4)]
    assert [writer.text_of(n) for n in range(2, 8)] == ["ab", *["ab\ufffd"] * 3, "ab😀", "ab😀c"]


def test_a_character_that_stays_incomplete_is_one_replacement_character() -> None:
    writer = written("ab", as_bytes(b"\xf0\x9fc"))
    assert spans(writer, 3) == [(2, 3), (2, 3), (3, 4)]
    assert writer.text_of(5) == "ab\ufffdc"
    again = written("ab", as_bytes(b"\xf0\xf0\x9f\x98\x80"))
    assert spans(again, 5) == [(2, 3)] + [(3, 4)] * 4
    assert again.text_of(7) == "ab\ufffd😀"


def test_special_tokens_add_no_characters() -> None:
    writer = written("ab", [EOS, *as_bytes("c"), BOS])
    assert spans(writer, 3) == [(2, 2), (2, 3), (3, 3)]
    assert [token.special for token in writer.tokens[-3:]] == [True, False, True]
    assert writer.text_of(5) == "abc"
    broken = written("ab", [*as_bytes(b"\xf0"), EOS, *as_bytes(b"c")])
    assert broken.text_of(5) == "ab\ufffdc"
    assert spans(broken, 3) == [(2, 3), (3, 3), (3, 4)]


def test_every_byte_after_every_other_keeps_spans_in_order() -> None:
    every = [token for byte in range(0, 256, 5) for token in as_bytes(bytes([byte, 255 - byte]))]
    writer = written("x", every)
    places = spans(writer, len(every))
    text = writer.text_of(len(writer.tokens))
    assert all(start <= end <= len(text) for start, end in places)
    assert all(one[0] <= two[0] and one[1] <= two[1] for one, two in itertools.pairwise(places))
    assert places[-1][1] == len(text)


def sentencepiece() -> PreTrainedTokenizerFast:
    pieces = ["<unk>", "▁the", "▁dog", "s", "▁", *(f"<0x{byte:02X}>" for byte in range(256))]
    tokenizer = Tokenizer(models.BPE({p: i for i, p in enumerate(pieces)}, [], unk_token="<unk>", byte_fallback=True))
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=64)


def test_pieces_with_a_visible_space_and_single_bytes() -> None:
    tokenizer = sentencepiece()
    ids = tokenizer.convert_tokens_to_ids(["▁the", "▁dog", "s", "<0xC3>", "<0xA9>"])
    writer = written("s", ids, tokenizer)
    assert writer.text_of(6) == "s the dogsé"
    assert spans(writer, 5) == [(1, 5), (5, 9), (9, 10), (10, 11), (10, 11)]


def test_word_pieces_are_joined_as_their_decoder_joins_them() -> None:
    vocabulary = {"[UNK]": 0, "the": 1, "dog": 2, "##s": 3}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.decoder = decoders.WordPiece()
    writer = written("the", [2, 3], PreTrainedTokenizerFast(tokenizer_object=tokenizer))
    assert writer.text_of(3) == "the dogs"
    assert spans(writer, 2) == [(3, 7), (7, 8)]


def test_an_id_beyond_the_tokenizer_adds_nothing() -> None:
    writer = written("ab", [263])
    assert writer.text_of(3) == "ab"
    assert spans(writer, 1) == [(2, 2)]
    assert writer.tokens[-1].text == "⟨263⟩"


# -- in requests ------------------------------------------------------------------------------------------------------


def test_a_continuation_is_read_as_the_tokens_it_names() -> None:
    runner = runner_with(byte_tokenizer())
    whole = runner.capture(CaptureRequest("the dög"))
    parts = runner.capture(CaptureRequest("the d", continuation=tuple(as_bytes("ög"))))
    assert parts.tokens == whole.tokens
    assert parts.text == "the dög"
    assert parts.request.text == "the d"
    assert (parts.hidden - whole.hidden).abs().max() == 0


def test_words_and_characters_reach_into_the_continuation() -> None:
    capture = runner_with(byte_tokenizer()).capture(CaptureRequest("a d", continuation=tuple(as_bytes("ög 日"))))
    assert [unit.label for unit in word_units(capture)][-1] == "日"
    assert "dög" in [unit.label for unit in word_units(capture)]
    assert "ö" in [unit.label for unit in character_units(capture)]


# -- chat -------------------------------------------------------------------------------------------------------------


def test_with_chat_the_text_is_a_turn_of_the_user_in_the_models_template() -> None:
    runner = runner_with(chat_tokenizer())
    capture = runner.capture(CaptureRequest("hi", chat=True))
    assert capture.text == "<bos>user\nhi<eos><bos>model\n"
    assert [token.id for token in capture.tokens] == [
        BOS,
        *as_bytes("user\nhi"),
        EOS,
        BOS,
        *as_bytes("model\n"),
    ]
    assert [token.text for token in capture.tokens if token.special] == ["⟨bos⟩", "⟨eos⟩", "⟨bos⟩"]
    assert capture.text[capture.tokens[6].start : capture.tokens[7].end] == "hi"
    assert runner.capture(CaptureRequest("hi")).text == "hi"


def test_an_answer_follows_the_template() -> None:
    runner = runner_with(chat_tokenizer())
    steps = list(runner.generate(GenerateRequest("hi", max_new_tokens=3, chat=True)))
    capture = steps[-1].capture
    assert capture.request.chat
    assert capture.text.startswith("<bos>user\nhi<eos><bos>model\n")
    whole = runner.capture(capture.request)
    assert (whole.tokens, whole.text) == (capture.tokens, capture.text)
    assert steps[0].token.start == len("<bos>user\nhi<eos><bos>model\n")


def test_a_tokenizer_without_a_template_says_so() -> None:
    with pytest.raises(NoChatTemplate, match="comes without a chat template"):
        runner_with(byte_tokenizer()).capture(CaptureRequest("hi", chat=True))


def test_a_template_that_refuses_the_text_is_quoted() -> None:
    tokenizer = byte_tokenizer()
    tokenizer.chat_template = "{{ raise_exception('A system turn has to come first.') }}"
    with pytest.raises(ChatTemplateFails, match=r"rejects the text: A system turn has to come first\. "):
        runner_with(tokenizer).capture(CaptureRequest("hi", chat=True))


def test_an_empty_turn_is_an_empty_text() -> None:
    with pytest.raises(EmptyText):
        runner_with(chat_tokenizer()).capture(CaptureRequest("  ", chat=True))
