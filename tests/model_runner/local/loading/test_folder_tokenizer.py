"""The ids are those of tokenizer.json, whatever class of transformers the folder names, here and in a process apart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import TokenizersBackend
from transformers.models.auto.tokenization_auto import TOKENIZER_MAPPING_NAMES, tokenizer_class_from_name

from model_runner.errors import TokenizerMissing
from model_runner.local.loading import folder_tokenizer
from model_runner.local.loading.folder_tokenizer import FILE, info_of
from model_runner.local.loading.known_families import TABLE
from model_runner.local.loading.loader import load_tokenizer
from model_runner.local.loading.sandboxed_tokenizer import SandboxedTokenizer
from model_runner.local.loading.tokenizer_file import heard
from model_runner.local.tokenizing import encode, tokens_of

CORPUS = [
    "The dog chased 12345 squirrels, don't it?", "naïve café, 狗看见了猫，它跑得很快。 3.14", "def f(x):\n\treturn  x",
    "it's 7 + 70   = 77 🙂", "wordPiece ABC abc éàü — «quoted» fi fl full", "100 200 300 4000",
] * 4  # fmt: skip
TEXTS = [
    "The  dog's 12345 tails\n\n\tare 1 2  3   long, naïve ﬁne 狗看见了猫，它",
    " begins with a space 2024",
    "👨\u200d👩\u200d👧🙂 e\u0301 ½ … \r\n x  ",
    "a <s> b</s>c <mask> [MASK] <|eot_id|>d  [SEP]",
]
SPECIAL = ["<s>", "</s>", "<pad>", "<unk>", "[CLS]", "[SEP]", "[PAD]", "[UNK]", "[MASK]", "<|endoftext|>", "<|eot_id|>"]
MASK = AddedToken("<mask>", lstrip=True, special=True)  # as RoBERTa has it
KINDS = {"BPE": "bytes", "WordPiece": "words", "Unigram": "marks", "WordLevel": "words", "None": "marks"}


def _classes() -> dict[str, str]:
    """Every class that a family of the sweep has, or that its published folders name, and one such family."""
    known = json.loads(TABLE.read_text("utf-8"))
    families = sorted({*known["captured"], *known["refused"]})
    found = {str(name): family for family in reversed(families) if (name := TOKENIZER_MAPPING_NAMES.get(family))}
    others = {
        "LlamaTokenizer": "llama",
        "BartTokenizer": "bart",
        "NllbTokenizer": "m2m_100",
        "CodeLlamaTokenizer": "llama",
    }
    found |= others | {"MBart50Tokenizer": "mbart", "GPT2TokenizerFast": "opt", "PreTrainedTokenizerFast": "smollm3"}
    return {name: found[name] for name in sorted(found)}


CLASSES = _classes()
APART = ("BertTokenizer", "GPT2TokenizerFast", "LlamaTokenizer", "M2M100Tokenizer", "RobertaTokenizer", "T5Tokenizer")


def _parts(kind: str) -> tuple[Any, Any, Any, Any]:
    """A model, its trainer, how it cuts words, and its decoder; digits and runs of spaces are cut as no class does."""
    cuts = [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.Split(Regex(" {2,}|e"), "isolated")]
    if kind == "bytes":
        cuts.append(pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False))
        trainer = trainers.BpeTrainer(vocab_size=400, initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
        return models.BPE(), trainer, cuts, decoders.ByteLevel()
    if kind == "words":
        cuts.append(pre_tokenizers.WhitespaceSplit())
        trainer = trainers.WordPieceTrainer(vocab_size=300, special_tokens=SPECIAL)
        return models.WordPiece(unk_token="[UNK]"), trainer, cuts, decoders.WordPiece()
    cuts.append(pre_tokenizers.Metaspace(prepend_scheme="never"))
    trainer = trainers.UnigramTrainer(vocab_size=300, special_tokens=SPECIAL, unk_token="<unk>")
    return models.Unigram(), trainer, cuts, decoders.Metaspace(prepend_scheme="never")


def _backend(kind: str) -> Tokenizer:
    """A tokenizer of its own, with special tokens around a text."""
    model, trainer, cuts, decoder = _parts(kind)
    backend = Tokenizer(model)
    backend.pre_tokenizer = pre_tokenizers.Sequence(cuts)
    backend.decoder = decoder
    backend.train_from_iterator(CORPUS, trainer)
    backend.add_special_tokens([*SPECIAL, MASK])
    around = [(token, backend.token_to_id(token)) for token in ("[CLS]", "[SEP]")]
    backend.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", "[CLS] $A [SEP] $B [SEP]", around)
    return backend


def _folder(folder: Path, backend: Tokenizer, family: str = "llama", **settings: Any) -> Path:
    backend.save(str(folder / FILE))
    (folder / "config.json").write_text(json.dumps({"model_type": family}))
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    return folder


def _by_file(folder: Path, text: str, *, special: bool = True) -> tuple[list[int], list[tuple[int, int]]]:
    found = Tokenizer.from_file(str(folder / FILE)).encode(text, add_special_tokens=special)
    return found.ids, found.offsets


def _kind(name: str) -> str:
    kind: Any = getattr(tokenizer_class_from_name(name), "model", None)
    return KINDS[getattr(kind, "__name__", "None")]


@pytest.fixture(scope="module")
def backends() -> dict[str, Tokenizer]:
    return {kind: _backend(kind) for kind in ("bytes", "words", "marks")}


@pytest.mark.parametrize("name", CLASSES)
def test_the_ids_and_characters_are_those_of_the_file_whatever_the_class(
    name: str, backends: dict[str, Tokenizer], tmp_path: Path
) -> None:
    folder = _folder(tmp_path, backends[_kind(name)], CLASSES[name], tokenizer_class=name)
    tokenizer = load_tokenizer("it", folder)
    for text in TEXTS:
        for special in (True, False):
            found = encode(tokenizer, text, special=special)
            ids, spans = _by_file(folder, text, special=special)
            assert list(found.ids) == ids
            assert list(found.spans) == spans
    assert tokenizer.convert_ids_to_tokens(tokenizer(TEXTS[0])["input_ids"][0]) == "[CLS]"


@pytest.mark.table
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in APART else [pytest.mark.long]) for name in CLASSES]
)
def test_a_process_apart_reads_the_same(name: str, backends: dict[str, Tokenizer], tmp_path: Path) -> None:
    folder = _folder(tmp_path, backends[_kind(name)], CLASSES[name], tokenizer_class=name)
    sandboxed, here = SandboxedTokenizer(folder), load_tokenizer("it", folder)
    try:
        sandboxed.load("it", lambda: None)
        for text in TEXTS:
            found = encode(sandboxed, text)
            assert (list(found.ids), list(found.spans)) == _by_file(folder, text)
            assert tokens_of(sandboxed, found) == tokens_of(here, encode(here, text))
        assert info_of(sandboxed) == info_of(here)
    finally:
        sandboxed.close()


@pytest.mark.parametrize("name", ["GPT2Tokenizer", "BertTokenizer", "T5Tokenizer", "LlamaTokenizer"])
def test_each_token_covers_what_it_writes(name: str, backends: dict[str, Tokenizer], tmp_path: Path) -> None:
    folder = _folder(tmp_path, backends[_kind(name)], CLASSES[name], tokenizer_class=name)
    tokenizer: Any = load_tokenizer("it", folder)
    text = "The dog's 12345 tails, 3 7"
    for token in tokens_of(tokenizer, encode(tokenizer, text)):
        written = "" if token.special else token.text.replace("##", "").replace("·", " ").strip()
        assert text[token.start : token.end].strip() == written


def test_a_file_without_a_space_before_the_first_word_gets_none(tmp_path: Path) -> None:
    backend = _backend("marks")  # LlamaTokenizer would put one there
    tokenizer = load_tokenizer("it", _folder(tmp_path, backend, tokenizer_class="LlamaTokenizer"))
    assert tokenizer.convert_ids_to_tokens(encode(tokenizer, "The", special=False).ids[0]) != "▁"
    assert list(encode(tokenizer, "The").ids) == backend.encode("The").ids


def test_a_class_that_cuts_as_the_file_is_used_and_one_that_does_not_is_named(tmp_path: Path) -> None:
    backend = _backend("bytes")
    other = info_of(load_tokenizer("it", _folder(tmp_path, backend, "gpt2", tokenizer_class="GPT2Tokenizer")))
    assert (other.name, other.file, other.overruled) == ("GPT2Tokenizer", FILE, True)
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    same = info_of(load_tokenizer("it", _folder(tmp_path, backend, "gpt2", tokenizer_class="GPT2Tokenizer")))
    assert (same.name, same.file, same.overruled) == ("GPT2Tokenizer", FILE, False)
    assert same.count == backend.get_vocab_size()


def test_a_file_whose_entries_the_class_was_given_is_not_read_for_them_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = _backend("bytes")
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    folder = _folder(tmp_path, backend, "gpt2", tokenizer_class="GPT2Tokenizer")
    read: list[str] = []
    whole = folder_tokenizer.Backend.from_file

    class Counted:
        """The library's, which notes each file that it reads."""

        @staticmethod
        def from_file(path: str) -> Tokenizer:
            read.append(path)
            return whole(path)

    monkeypatch.setattr(folder_tokenizer, "Backend", Counted)
    tokenizer = load_tokenizer("it", folder)
    assert read == []
    assert [list(encode(tokenizer, text).ids) for text in TEXTS] == [backend.encode(text).ids for text in TEXTS]
    other = _backend("bytes")  # what the class reads says that it is the file for its version of the library
    other.add_tokens(["squirrels"])
    other.save(str(folder / "tokenizer.4.0.0.json"))
    settings = {"tokenizer_class": "GPT2Tokenizer", "fast_tokenizer_files": ["tokenizer.4.0.0.json"]}
    tokenizer = load_tokenizer("it", _folder(folder, backend, "gpt2", **settings))
    assert read == [str(folder / FILE)]
    assert [list(encode(tokenizer, text).ids) for text in TEXTS] == [backend.encode(text).ids for text in TEXTS]


def test_settings_stay_where_the_file_overrules_the_class(tmp_path: Path) -> None:
    settings = {"model_max_length": 77, "mask_token": "[MASK]", "chat_template": "<{{ messages[0].content }}>"}
    folder = _folder(tmp_path, _backend("bytes"), "roberta", tokenizer_class="RobertaTokenizer", **settings)
    tokenizer: Any = load_tokenizer("it", folder)
    assert info_of(tokenizer).overruled
    assert tokenizer.model_max_length == 77
    assert tokenizer.mask_token_id == tokenizer.convert_tokens_to_ids("[MASK]")
    assert [token.hidden for token in tokens_of(tokenizer, encode(tokenizer, "a [MASK]", special=False))][-1]
    assert encode(tokenizer, "hi", chat=True).text == "<hi>"
    assert "token_type_ids" not in tokenizer("a", "b")  # as RobertaTokenizer has it


def test_special_tokens_that_only_the_class_names_stay_as_far_as_the_file_has_them(tmp_path: Path) -> None:
    tokenizer: Any = load_tokenizer("it", _folder(tmp_path, _backend("bytes"), "roberta"))  # as roberta-base came
    assert tokenizer.mask_token == "<mask>"
    assert tokens_of(tokenizer, encode(tokenizer, "a <mask>", special=False))[-1].hidden
    assert len(tokenizer) == _backend("bytes").get_vocab_size()


def test_a_token_that_settings_add_comes_after_those_of_the_file(tmp_path: Path) -> None:
    backend = _backend("bytes")
    new = {str(backend.get_vocab_size()): {"content": "<new>", "special": True}}
    folder = _folder(tmp_path, backend, "gpt2", tokenizer_class="GPT2Tokenizer", added_tokens_decoder=new)
    tokenizer = load_tokenizer("it", folder)
    assert encode(tokenizer, "a<new>", special=False).ids == (backend.token_to_id("a"), backend.get_vocab_size())


@pytest.mark.parametrize("said", [True, False])
def test_what_stands_around_a_text_is_for_the_file_to_say(said: bool, tmp_path: Path) -> None:
    backend = _backend("bytes")
    folder = _folder(tmp_path, backend, "gpt2", add_bos_token=said, bos_token="<s>", tokenizer_class="GPT2Tokenizer")
    assert list(encode(load_tokenizer("it", folder), "a").ids) == backend.encode("a").ids
    backend.post_processor = processors.ByteLevel()  # pyright: ignore[reportAttributeAccessIssue]
    backend.save(str(folder / FILE))
    assert list(encode(load_tokenizer("it", folder), "a").ids) == [backend.token_to_id("a")]


def test_the_place_of_a_language_is_the_class_s(tmp_path: Path) -> None:
    """Published NLLB files put it behind the text, as the class did when they were written."""
    backend = _backend("marks")
    backend.add_special_tokens(["fra_Latn", "eng_Latn"])
    around = [(token, backend.token_to_id(token)) for token in ("</s>", "eng_Latn")]
    backend.post_processor = processors.TemplateProcessing("$A </s> eng_Latn", special_tokens=around)
    languages = {"additional_special_tokens": ["fra_Latn", "eng_Latn"], "tokenizer_class": "NllbTokenizer"}
    tokenizer = load_tokenizer("it", _folder(tmp_path, backend, "m2m_100", **languages))
    pieces = backend.encode("a dog", add_special_tokens=False).ids
    assert list(encode(tokenizer, "a dog").ids) == [around[1][1], *pieces, around[0][1]]


def test_what_no_library_reads_is_refused_in_a_sentence(tmp_path: Path) -> None:
    folder = _folder(tmp_path, _backend("bytes"))
    (folder / FILE).write_text("{}")
    with pytest.raises(TokenizerMissing, match="The tokenizer of it cannot be loaded"):
        load_tokenizer("it", folder)


def test_transformers_own_classes_are_changed_only_while_a_folder_is_read():
    own = vars(TokenizersBackend)["convert_to_native_format"]
    with heard(), heard():
        assert vars(TokenizersBackend)["convert_to_native_format"] is not own
    assert vars(TokenizersBackend)["convert_to_native_format"] is own
