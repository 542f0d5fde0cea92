"""Folders of SentencePiece files alone: ids as SentencePiece and the slow classes have them, and languages."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import torch
from sentencepiece import SentencePieceProcessor
from transformers import M2M100Tokenizer, MarianTokenizer

from model_runner import CaptureRequest, GenerateRequest, load_runner, wire
from model_runner.errors import NoLanguages, NoSuchLanguage, TokenizerDiffers, TokenizerMissing
from model_runner.local.loading.folder_tokenizer import info_of
from model_runner.local.loading.hub import WANTED
from model_runner.local.loading.loader import load_tokenizer
from model_runner.local.loading.sandboxed_tokenizer import SandboxedTokenizer
from model_runner.local.loading.sentence_pieces import pieces_file
from model_runner.local.tokenizing import encode, tokens_of
from model_runner.python_lines import request_line
from tests.model_runner.folders import change_config
from tests.model_runner.piece_folders import FOLDERS, piece_files, piece_folder

TEXTS = [
    "The dog  chased 1234 squirrels, naïve ﬁne ｆｕｌｌ!",
    " leading and trailing \n two\n\nlines\t3",
    "狗看见了猫，它跑。🙂 👨\u200d👩\u200d👧 ½ e\u0301 ㍿",
    "x",
]
SPACES = "▁ \n\t"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    made = {name: tmp_path_factory.mktemp(name) for name in FOLDERS}
    for name, folder in made.items():
        piece_folder(name, folder)
    return made


def _pieces(folder: Path) -> SentencePieceProcessor:
    return SentencePieceProcessor(model_file=str(pieces_file(folder)))


def _shifted(ids: Sequence[int]) -> list[int]:
    """As fairseq has them: <s> <pad> </s> <unk> first, then the pieces."""
    return [3 if one == 0 else one + 1 for one in ids]


def _own(name: str, folder: Path, text: str) -> list[int]:
    """By SentencePiece's own ids and the published rules, or by the class in Python that transformers still has."""
    ids, size = _pieces(folder).encode(text, return_type=int), _pieces(folder).get_piece_size()
    if name in ("m2m", "marian"):
        with warnings.catch_warnings(action="ignore"):
            slow: Any = {"m2m": M2M100Tokenizer, "marian": MarianTokenizer}[name].from_pretrained(folder)
        assert not slow.is_fast
        return slow(text)["input_ids"]
    return {
        "t5": [*ids, 1],
        "llama": [1, *ids],
        "mbart": [*_shifted(ids), 2, size + 1 + 3],  # en_XX is the fourth language
        "nllb": [size + 1 + 46, *_shifted(ids), 2],  # eng_Latn the 47th
    }[name]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("name", FOLDERS)
def test_ids_are_those_of_sentencepiece(name: str, text: str, folders: dict[str, Path]) -> None:
    tokenizer = load_tokenizer(name, folders[name])
    assert list(encode(tokenizer, text).ids) == _own(name, folders[name], text)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("name", FOLDERS)
def test_every_character_is_covered_in_order_by_the_piece_that_it_makes(
    name: str, text: str, folders: dict[str, Path]
) -> None:
    tokenizer: Any = load_tokenizer(name, folders[name])
    tokens = [token for token in tokens_of(tokenizer, encode(tokenizer, text)) if not token.special]
    covered = {place for token in tokens for place in range(token.start, token.end)}
    assert {place for place, one in enumerate(text) if not one.isspace()} <= covered
    assert [token.start for token in tokens] == sorted(token.start for token in tokens)
    normal = _pieces(folders[name]).normalize
    for token in tokens:
        piece, read = str(tokenizer.convert_ids_to_tokens(token.id)), text[token.start : token.end]
        if piece.startswith("<0x"):
            assert int(piece[3:5], 16) in read.encode()
        elif piece != "<unk>" and not any(one in read for one in "ﬁ½㍿"):  # several letters in one character
            assert normal(read).strip(SPACES) == piece.strip(SPACES)


def test_letters_that_share_a_character_each_cover_it(folders: dict[str, Path]) -> None:
    tokenizer = load_tokenizer("t5", folders["t5"])
    tokens = tokens_of(tokenizer, encode(tokenizer, "a ﬁt", special=False))
    assert next(one for one in tokens if one.start <= 2 < one.end).text.strip("·").startswith("f")
    assert "".join(one.text for one in tokens if one.start <= 2 < one.end).strip("·").startswith("fi")


def test_added_tokens_stand_whole_with_the_spaces_that_they_take(folders: dict[str, Path]) -> None:
    tokenizer = load_tokenizer("mbart", folders["mbart"])
    tokens = tokens_of(tokenizer, encode(tokenizer, "a <mask> dog</s>b", special=False))
    found = {token.text: (token.start, token.end) for token in tokens if token.special or token.hidden}
    assert found == {"⟨mask⟩": (2, 8), "⟨/s⟩": (12, 16)}
    assert [token.hidden for token in tokens].count(True) == 1


@pytest.mark.parametrize("name", FOLDERS)
def test_a_model_of_pieces_is_captured_and_writes(name: str, folders: dict[str, Path]) -> None:
    runner = load_runner(str(folders[name]), device="cpu")
    capture = runner.capture(CaptureRequest("The dog chased 12 squirrels."))
    assert all(capture.verify(layer).ok for layer in range(capture.n_layers))
    steps = list(runner.generate(GenerateRequest("The dog", max_new_tokens=3)))
    assert steps
    assert runner.info.tokenizer.file == getattr(pieces_file(folders[name]), "name", "")
    assert not runner.info.tokenizer.overruled


@pytest.mark.table
@pytest.mark.parametrize("name", FOLDERS)
def test_a_process_apart_reads_the_same(name: str, folders: dict[str, Path]) -> None:
    sandboxed, here = SandboxedTokenizer(folders[name]), load_tokenizer(name, folders[name])
    try:
        sandboxed.load(name, lambda: None)
        for text in TEXTS:
            for written in (False, True):
                found = encode(sandboxed, text, written=written)
                assert found == encode(here, text, written=written)
                assert tokens_of(sandboxed, found) == tokens_of(here, found)
        assert info_of(sandboxed) == info_of(here)
        assert sandboxed.decode([5, 6, 7]) == here.decode([5, 6, 7])
    finally:
        sandboxed.close()


def test_what_marian_writes_is_cut_by_its_own_file(folders: dict[str, Path]) -> None:
    runner = load_runner(str(folders["marian"]), device="cpu")
    target = "The dog chased squirrels"
    written = runner.capture(CaptureRequest("The dog", target=target)).attention("decoder").tokens
    with warnings.catch_warnings(action="ignore"):
        slow: Any = MarianTokenizer.from_pretrained(folders["marian"])
    own = slow(text_target=target)["input_ids"]
    assert [token.id for token in written[1:]] == own[:-1]
    assert own != slow(target)["input_ids"]


# -- languages --------------------------------------------------------------------------------------------------------

CHOSEN = {"m2m": ("fr", "de"), "nllb": ("fra_Latn", "deu_Latn"), "mbart": ("fr_XX", "de_DE")}
USUAL = {"m2m": ("en", None), "nllb": ("eng_Latn", None), "mbart": ("en_XX", "ro_RO")}
KNOWN = {"m2m": 100, "nllb": 202, "mbart": 25}


def _token(name: str, runner: Any, code: str) -> int:
    return runner.engine.tokenizer.get_vocab()[f"__{code}__" if name == "m2m" else code]


@pytest.mark.parametrize("name", CHOSEN)
def test_languages_are_those_of_the_tokenizer_and_usual_ones_the_folder_s(name: str, folders: dict[str, Path]) -> None:
    about = load_runner(str(folders[name]), device="cpu").info.tokenizer
    assert (about.source, about.target) == USUAL[name]
    assert len(about.languages) == KNOWN[name]
    assert set(CHOSEN[name]) < set(about.languages)


@pytest.mark.parametrize("name", CHOSEN)
def test_chosen_languages_are_read_and_the_first_token_is_forced(name: str, folders: dict[str, Path]) -> None:
    runner = load_runner(str(folders[name]), device="cpu")
    source, target = CHOSEN[name]
    request = CaptureRequest("The dog saw a bird.", source_language=source, target_language=target)
    capture = runner.capture(request)
    own, forced = _token(name, runner, source), _token(name, runner, target)
    usual = _own(name, folders[name], request.text)
    before = _token(name, runner, str(USUAL[name][0]))
    read = [token.id for token in capture.attention("encoder").tokens]
    assert read == [own if one == before else one for one in usual]
    written = [token.id for token in capture.attention("decoder").tokens]
    beginning = [forced] if name == "mbart" else [2, forced]
    assert written[: len(beginning)] == beginning
    model: Any = runner.engine.model
    options = {"decoder_start_token_id": forced} if name == "mbart" else {"forced_bos_token_id": forced}
    free = model.generate(torch.tensor([read]), max_new_tokens=128, num_beams=1, do_sample=False, **options)
    expected = free[0].tolist()
    count = min(len(written), len(expected))
    assert written[:count] == expected[:count]
    assert count >= len(expected) - 1  # without its end
    step = next(runner.generate(request.going_on(target=None, max_new_tokens=1)))
    assert step.token.id == expected[len(beginning)]
    given = runner.capture(replace(request, target="Der Hund")).attention("decoder").tokens
    assert [token.id for token in given][: len(beginning)] == beginning
    assert sum(token.special for token in given) == len(beginning)


def test_a_language_that_the_folder_forces_is_the_usual_one(tmp_path: Path) -> None:
    folder = piece_folder("m2m", tmp_path)
    tokenizer: Any = load_tokenizer("it", folder)
    forced = tokenizer.get_vocab()["__de__"]
    (folder / "generation_config.json").write_text(
        json.dumps({"forced_bos_token_id": forced, "decoder_start_token_id": 2, "eos_token_id": 2, "pad_token_id": 1})
    )
    runner = load_runner(str(folder), device="cpu")
    assert runner.info.tokenizer.target == "de"
    plain = runner.capture(CaptureRequest("a dog"))
    assert plain.attention("decoder").tokens[1].id == forced
    assert plain.request.target_language == "de"
    assert runner.capture(CaptureRequest("a dog", target_language="de")) is plain


def test_bart_s_forced_first_token_stands_before_all_that_is_written() -> None:
    from model_runner.local.runner import LocalRunner
    from tests.model_runner.local.recording.test_encoder_decoders import BART, built
    from tests.model_runner.tiny import EOS, byte_tokenizer

    runner = LocalRunner(built("bart", **BART, forced_bos_token_id=7)(), byte_tokenizer(), name="bart", device="cpu")
    runner.engine.model.generation_config.forced_bos_token_id = 7
    assert runner.engine.model.generation_config.eos_token_id == EOS
    runner = LocalRunner(runner.engine.model, byte_tokenizer(), name="bart", device="cpu")
    request = CaptureRequest("A cat")
    free = runner.capture(request).attention("decoder").tokens
    step = next(runner.generate(request.going_on(max_new_tokens=1)))
    assert [token.id for token in free][1:3] == [7, step.token.id]
    assert [token.id for token in runner.capture(replace(request, target="B")).tokens][1:] == [7, ord("B") - 33]


@pytest.mark.parametrize("name", ["m2m", "t5"])
def test_a_language_that_there_is_not_is_one_sentence(name: str, folders: dict[str, Path]) -> None:
    runner = load_runner(str(folders[name]), device="cpu")
    for request in (CaptureRequest("a", source_language="xx"), CaptureRequest("a", target_language="xx")):
        with pytest.raises(NoSuchLanguage if name == "m2m" else NoLanguages) as raised:
            runner.capture(request)
        assert "“xx”" in str(raised.value)
        assert "\n" not in str(raised.value)
        assert len(str(raised.value)) < 300


def test_languages_are_part_of_the_request_its_bytes_and_its_python_lines(folders: dict[str, Path]) -> None:
    request = CaptureRequest("a dog", source_language="fr", target_language="de")
    assert wire.from_bytes(wire.to_bytes(request)) == request
    assert request_line(request) == "CaptureRequest(text='a dog', source_language='fr', target_language='de')"
    assert request.going_on().target_language == "de"
    assert request.going_on().so_far(()).source_language == "fr"
    runner = load_runner(str(folders["m2m"]), device="cpu")
    first, other = (runner.capture(replace(request, target_language=code)) for code in ("de", "en"))
    assert first.request != other.request
    assert wire.from_bytes(wire.to_bytes(runner.info)) == runner.info


# -- what cannot be read ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("held", [b"", b"\x00" * 100, b"\xff" * 5000, b"\n\x05abc"], ids=["empty", "0", "ff", "cut"])
def test_a_file_that_is_no_sentencepiece_is_said_by_name(held: bytes, tmp_path: Path) -> None:
    piece_files("t5", tmp_path)
    (tmp_path / "spiece.model").write_bytes(held)
    with pytest.raises(TokenizerMissing, match="spiece.model is not a SentencePiece model"):
        load_tokenizer("it", tmp_path)


def test_a_missing_file_of_two_is_said(tmp_path: Path) -> None:
    piece_files("m2m", tmp_path)
    (tmp_path / "vocab.json").unlink()
    change_config(tmp_path, tokenizer_class="M2M100Tokenizer")
    with pytest.raises(TokenizerMissing, match=r"vocab\.json is missing"):
        load_tokenizer("it", tmp_path)


def test_a_token_beyond_the_model_is_told_once_a_text_has_it(tmp_path: Path) -> None:
    folder = piece_folder("m2m", tmp_path)
    known = json.loads((folder / "vocab.json").read_text("utf-8"))
    known["z"] = 100_000
    (folder / "vocab.json").write_text(json.dumps(known))
    runner = load_runner(str(folder), device="cpu")
    assert runner.capture(CaptureRequest("a dog", target="a")).verify(0).ok
    for request in (CaptureRequest("zzz"), CaptureRequest("a", target="zzz")):
        with pytest.raises(TokenizerDiffers, match="makes token 100000 of this text, but the model has"):
            runner.capture(request)


def test_a_model_of_more_tokens_than_its_tokenizer_is_read(tmp_path: Path) -> None:
    count = piece_files("t5", tmp_path)
    runner = load_runner(str(piece_folder("t5", tmp_path, vocab_size=count + 28)), device="cpu")
    assert runner.capture(CaptureRequest("a dog")).verify(0).ok
    assert runner.token_text(count + 5) == f"⟨{count + 5}⟩"


@pytest.mark.parametrize("name", FOLDERS)
def test_a_download_takes_every_file_that_a_tokenizer_needs(name: str, folders: dict[str, Path]) -> None:
    held = {file.name for file in folders[name].iterdir()}
    assert {file for file in held if any(fnmatch(file, pattern) for pattern in WANTED)} == held
