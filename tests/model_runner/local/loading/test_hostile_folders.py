"""Folders that strangers made to hang, end or fill the server: each is one sentence, and another visitor goes on."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from transformers import AutoModelForMaskedLM

from model_runner.byte_lru import ByteBudgetCache
from model_runner.errors import ChatTemplateFails, ModelIncomplete, RunnerError, TokenizerDiffers, TokenizerFails
from model_runner.local import local_models
from model_runner.local.loading import loader, sandboxed_tokenizer
from model_runner.local.loading.loader import load_runner
from model_runner.local.loading.sandboxed_tokenizer import SandboxedTokenizer
from model_runner.local.local_models import LocalModels
from model_runner.local.runner import LocalRunner
from model_runner.request import CaptureRequest
from tests.model_runner.folders import CONFIG, INDEX, WEIGHTS, change_config, change_weights, save, write_weights
from tests.model_runner.piece_folders import piece_folder, pieces
from tests.model_runner.tiny import byte_tokenizer, tiny

pytestmark = pytest.mark.table

MB = 1 << 20
LONGEST_WAIT = 20.0  # seconds for a capture of the other visitor, on a busy machine
MOST_GROWTH = 500 * MB  # of the server's own memory
TOKENIZER = "tokenizer.json"


def edit(name: str, change: Callable[[dict[str, Any]], object]) -> Callable[[Path], object]:
    """Change a JSON file of the folder."""

    def apply(folder: Path) -> None:
        value = json.loads((folder / name).read_text("utf-8"))
        change(value)
        (folder / name).write_text(json.dumps(value), "utf-8")

    return apply


def config(**values: Any) -> Callable[[Path], object]:
    return lambda folder: change_config(folder, **values)


def normalizer(**values: Any) -> Callable[[Path], object]:
    return edit(TOKENIZER, lambda parts: parts.update(normalizer=values))


def doubling(times: int) -> Callable[[Path], object]:
    replace = {"type": "Replace", "pattern": {"Regex": "."}, "content": "aa"}
    return normalizer(type="Sequence", normalizers=[replace] * times)


def backtracking(folder: Path) -> None:
    split = {"type": "Split", "pattern": {"Regex": r"(a|aa|a.?)+$b"}, "behavior": "Isolated", "invert": False}
    edit(TOKENIZER, lambda parts: parts.update(pre_tokenizer=split))(folder)


def a_large_vocabulary(folder: Path) -> None:
    """Written piece by piece: this process is watched too."""
    before, after = (folder / TOKENIZER).read_text("utf-8").split('"vocab": {', 1)
    with (folder / TOKENIZER).open("w", encoding="utf-8") as file:
        file.write(before + '"vocab": {')
        for number in range(700_000):
            file.write(f'"word {number} and more of it": {1000 + number},\n')
        file.write(after)


def a_long_token(folder: Path) -> None:
    edit(TOKENIZER, lambda parts: parts["model"]["vocab"].update({"x" * 10**7: 400}))(folder)


def template(text: str) -> Callable[[Path], object]:
    return lambda folder: (folder / "chat_template.jinja").write_text(text)


def shared_layers(folder: Path) -> None:
    sizes = {"embedding_size": 8, "hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 16}
    save(folder, tiny("albert", AutoModelForMaskedLM, **sizes)())
    change_config(folder, num_hidden_layers=10**9)


def not_a_file(folder: Path) -> None:
    (folder / CONFIG).unlink()
    os.mkfifo(folder / CONFIG)


def only_pieces(held: bytes, size: int | None = None) -> Callable[[Path], object]:
    """A SentencePiece file in the place of tokenizer.json, as long as it says."""

    def apply(folder: Path) -> None:
        (folder / TOKENIZER).unlink()
        (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "LlamaTokenizer"}')
        (folder / "tokenizer.model").write_bytes(held)
        os.truncate(folder / "tokenizer.model", len(held) if size is None else size)

    return apply


REFUSED: dict[str, tuple[Callable[[Path], object], str]] = {
    "a hidden size of 100,000": (config(hidden_size=100_000), "weights have other shapes"),
    "a vocabulary of twenty million": (config(vocab_size=20_000_000), "weights have other shapes"),
    "a vocabulary without weights": (
        lambda folder: (
            change_config(folder, vocab_size=20_000_000),
            change_weights(folder, lambda held: {k: v for k, v in held.items() if "layers" in k}),
        ),
        "config.json declares",
    ),
    "a head size of a million": (config(head_dim=10**6), "weights have other shapes"),
    "a billion layers": (config(num_hidden_layers=10**9), "config.json declares 1,000,000,000 as num_hidden_layers"),
    "twenty thousand layers": (config(num_hidden_layers=20_000), "config.json declares"),
    "a billion layers of one weight": (shared_layers, "config.json declares 1,000,000,000"),
    "a header of nonsense": (lambda folder: write_weights(folder / WEIGHTS, {"a": 5}), "no readable header"),
    "a header beyond the file": (
        lambda folder: (folder / WEIGHTS).write_bytes(b"\xff" * 20), "is cut off",
    ),
    "a header of 30 GB in a sparse file": (
        lambda folder: (
            (folder / WEIGHTS).write_bytes((30 << 30).to_bytes(8, "little")),
            os.truncate(folder / WEIGHTS, 31 << 30),
        ),
        "no readable header",
    ),
    "a tensor of more bytes than there are": (
        lambda folder: write_weights(
            folder / WEIGHTS, {"a": {"dtype": "F32", "shape": [10**12], "data_offsets": [0, 4]}}, b"0000"
        ),
        "no readable header",
    ),
    "a config nested 10,000 deep": (
        lambda folder: (folder / CONFIG).write_text('{"a":' * 10_000 + "1" + "}" * 10_000), "is not readable JSON",
    ),
    "a config of many digits": (
        lambda folder: (folder / CONFIG).write_text('{"model_type": "llama", "vocab_size": ' + "9" * 5000 + "}"),
        "is not readable JSON",
    ),
    "a config that is a pipe": (not_a_file, "holds a model and may be read"),
    "an index to files elsewhere": (
        lambda folder: (
            (folder / WEIGHTS).unlink(),
            (folder / INDEX).write_text('{"weight_map": {"a": "../../x.safetensors"}}'),
        ),
        "names something that is not a file of weights in this folder",
    ),
    "a SentencePiece file of 500 MB": (
        only_pieces(pieces(), 500 * MB), "tokenizer.model is 500 MB, and the limit is 64 MB",
    ),
    "a SentencePiece file of nonsense": (only_pieces(b"\xff" * 5000), "tokenizer.model is not a SentencePiece model"),
    "a SentencePiece file with too much in it": (
        only_pieces(pieces() + b"\x0a\xff\xff\xff\x7f" + b"x" * 99), "tokenizer.model is not a SentencePiece model",
    ),
    "a SentencePiece file that is cut off": (
        only_pieces(pieces()[: len(pieces()) // 2 + 1]), "tokenizer.model is not a SentencePiece model",
    ),
    "a vocabulary that fills memory": (a_large_vocabulary, "needs more than"),
    "a token of ten million characters": (a_long_token, "more than 4096 characters"),
}  # fmt: skip

LOOPS = "".join(f"{{% for {one} in range(9999) %}}" for one in "ijk")
TEXTS: dict[str, tuple[Callable[[Path], object], Callable[[Path], object]]] = {
    "time": (backtracking, template(LOOPS + "{% endfor %}" * 3)),
    "memory": (doubling(40), template("{{ 'x' * 4000000000 }}")),
}


@pytest.fixture(autouse=True)
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """What takes minutes or gigabytes of a process apart takes seconds here; the rules are the same."""
    monkeypatch.setattr(sandboxed_tokenizer, "MEMORY", 400 * MB)
    monkeypatch.setattr(sandboxed_tokenizer, "LOADING", 10.0)
    monkeypatch.setattr(sandboxed_tokenizer, "TEXT", 1.0)
    monkeypatch.setattr(sandboxed_tokenizer, "TEMPLATE", 1.0)
    monkeypatch.setattr(local_models, "PATIENCE", 1000.0)
    monkeypatch.setattr(local_models, "LONGEST", 20.0)


class Visitor(threading.Thread):
    """Somebody else, who reads texts with a model that is there."""

    def __init__(self, runner: LocalRunner) -> None:
        super().__init__(daemon=True)
        self.runner, self.waits, self.largest, self.gone = runner, [0.0], 0, False

    def run(self) -> None:
        """A text after the other, and a look at the memory of the server, until gone."""
        own = psutil.Process()
        while not self.gone:
            begun = time.monotonic()
            self.runner.capture(CaptureRequest(text=f"text {len(self.waits)}"))
            self.waits.append(time.monotonic() - begun)
            self.largest = max(self.largest, own.memory_info().rss)
            time.sleep(0.2)


@pytest.fixture(scope="module")
def visitor() -> Iterator[Visitor]:
    runner = LocalRunner(tiny("llama")(), byte_tokenizer(), name="tiny", device="cpu", kept=ByteBudgetCache(MB))
    visitor = Visitor(runner)
    before = psutil.Process().memory_info().rss
    visitor.start()
    yield visitor
    visitor.gone = True
    visitor.join(LONGEST_WAIT)
    assert not visitor.is_alive()
    assert len(visitor.waits) > 1
    assert max(visitor.waits) < LONGEST_WAIT
    assert visitor.largest - before < MOST_GROWTH


@pytest.mark.parametrize("spoil, words", REFUSED.values(), ids=REFUSED)
def test_no_folder_hangs_ends_or_fills_the_server_for_others(
    spoil: Callable[[Path], object], words: str, visitor: Visitor, folder: Path
) -> None:
    spoil(folder)
    with pytest.raises(RunnerError) as raised:
        LocalModels().open(str(folder)).result()
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


def _runner(folder: Path) -> LocalRunner:
    """A model of ours with the tokenizer of the folder, as it is loaded for a visitor."""
    tokenizer = SandboxedTokenizer(folder)
    tokenizer.load("tiny", lambda: None)
    return LocalRunner(tiny("llama")(), tokenizer, name="tiny", device="cpu")


@pytest.mark.parametrize("spoil_text, spoil_chat", TEXTS.values(), ids=TEXTS)
def test_no_text_hangs_ends_or_fills_the_server_for_others(
    spoil_text: Callable[[Path], object], spoil_chat: Callable[[Path], object], visitor: Visitor, folder: Path
) -> None:
    spoil_text(folder)
    spoil_chat(folder)
    runner = _runner(folder)
    with pytest.raises(ChatTemplateFails, match="needs more than"):
        runner.capture(CaptureRequest(text="hello", chat=True))
    with pytest.raises(TokenizerFails):  # of a process that was started anew; a pattern may also give up by itself
        runner.capture(CaptureRequest(text="a" * 60 + "h"))


def test_a_guarded_model_says_what_it_says_unguarded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    template("<{{ messages[0].content }}>")(folder)
    edit("tokenizer_config.json", lambda parts: parts.update(model_max_length="many", mask_token="q"))(folder)
    harmless = load_runner(str(folder), device="cpu", sandboxed=True)
    monkeypatch.setattr(loader, "is_tokenizer_harmless", lambda _: False)
    apart = load_runner(str(folder), device="cpu", sandboxed=True)
    tokenizer: Any = apart.engine.tokenizer
    process = psutil.Process(tokenizer._process._process.pid)
    plain = load_runner(str(folder), device="cpu")
    for text in ("hello q", "北京 😀 \x00 e\u0301", "a" * 400):
        for chat in (False, True):
            said = [runner.capture(CaptureRequest(text=text, chat=chat)) for runner in (plain, harmless, apart)]
            assert all(one.tokens == said[0].tokens for one in said)
            assert all((one.logits(-1) == said[0].logits(-1)).all() for one in said)
    assert [token.hidden for token in apart.capture(CaptureRequest(text="aq")).tokens] == [False, True]
    assert plain.info == harmless.info == apart.info
    assert plain.ids_of(" word") == apart.ids_of(" word")
    assert [plain.token_text(i) for i in range(300)] == [apart.token_text(i) for i in range(300)]
    tokenizer.close()
    assert not process.is_running()
    assert apart.capture(CaptureRequest(text="again")).verify(0).ok  # by a new one


def test_tokens_that_the_model_does_not_have_are_told(folder: Path) -> None:
    edit(TOKENIZER, lambda parts: parts["model"]["vocab"].update({"h": 9000}))(folder)
    runner = load_runner(str(folder), device="cpu", sandboxed=True)
    with pytest.raises(TokenizerDiffers, match="token 9000 of this text, but the model has 264"):
        runner.capture(CaptureRequest(text="hello"))


@pytest.mark.long
def test_files_of_a_tokenizer_that_disagree_are_read_and_told_where_it_matters(tmp_path: Path) -> None:
    folder = piece_folder("m2m", tmp_path)
    edit("vocab.json", lambda known: known.update({"z": 10**6, "x": -5}))(folder)
    runner = load_runner(str(folder), device="cpu", sandboxed=True)
    try:
        assert runner.capture(CaptureRequest(text="a dog", target="a")).verify(0).ok
        for text in ("zz", "xx"):
            with pytest.raises(TokenizerDiffers, match=r"makes token (1000000|-5) of this text"):
                runner.capture(CaptureRequest(text=text))
    finally:
        tokenizer: Any = runner.engine.tokenizer
        tokenizer.close()


@pytest.mark.long
def test_a_family_that_is_not_known_to_be_harmless_is_made_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandboxed_tokenizer, "MEMORY", 3 << 29)  # torch alone takes more than the limit of these tests
    monkeypatch.setattr(loader, "expected_shapes_here", None)
    folder = save(tmp_path / "mixtral", tiny("mixtral", num_local_experts=2)())
    change_config(folder, num_local_experts=4000)
    with pytest.raises(ModelIncomplete, match="config.json declares|other shapes"):
        load_runner(str(folder), device="cpu", sandboxed=True)
