"""From a name to a runner: what can be loaded is, and what cannot is one sentence, never a traceback."""

from __future__ import annotations

import json
import shutil
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModel, AutoModelForCausalLM, AutoModelForMaskedLM, AutoModelForSeq2SeqLM

from model_runner import loading, memory
from model_runner.capture import Capture
from model_runner.errors import (
    HubUnreachable,
    ModelFolderMissing,
    ModelIncomplete,
    ModelNameInvalid,
    ModelPickled,
    ModelTooLarge,
    NoLogits,
    NotCapturable,
    OutOfMemory,
    RunnerError,
    TokenizerMissing,
)
from model_runner.loading import load_runner
from model_runner.request import CaptureRequest
from tests.model_runner.folders import CONFIG, WEIGHTS, change_config, save, write_weights
from tests.model_runner.tiny import byte_tokenizer, tiny

HELLO = CaptureRequest(text="hello")


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any attempt to reach another machine fails the test."""

    def refuse(*_: object) -> NoReturn:
        raise AssertionError("a folder must load without a network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(tmp_path_factory.mktemp("models") / "whole")


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    """A copy that a test may break."""
    return Path(shutil.copytree(whole, tmp_path / "model"))


def _load(folder: Path, **options: Any) -> Capture:
    return load_runner(str(folder), device="cpu", **options).capture(HELLO)


def _refused(folder: Path, error: type[RunnerError]) -> str:
    with pytest.raises(error) as raised:
        _load(folder)
    return str(raised.value)


def _weights(folder: Path, change: Callable[[dict[str, torch.Tensor]], dict[str, torch.Tensor]]) -> None:
    save_file(change(load_file(folder / WEIGHTS)), folder / WEIGHTS, metadata={"format": "pt"})


# -- what can be loaded -----------------------------------------------------------------------------------------------


def test_a_folder_gives_the_logits_of_the_model_in_it(folder: Path) -> None:
    capture = _load(folder)
    model = AutoModelForCausalLM.from_pretrained(folder)
    with torch.no_grad():
        expected = model(torch.tensor([[token.id for token in capture.tokens]])).logits[0, -1]
    torch.testing.assert_close(capture.logits(-1), expected, atol=1e-5, rtol=0)  # float32, as in the family tests


def test_the_facts_of_a_model_are_told(folder: Path) -> None:
    info = load_runner(f"  {folder} ", device="cpu").info  # pasted with spaces around it
    assert (info.name, info.revision, info.family) == (str(folder), None, "llama")
    assert (info.dtype, info.device) == ("float32", "cpu")
    assert (info.n_layers, info.n_heads, info.n_kv_heads) == (3, 4, 2)
    assert (info.n_vocab, info.max_tokens) == (264, 512)
    assert info.n_parameters == tiny("llama", num_key_value_heads=2)().num_parameters()


def test_the_stages_of_loading_are_told_in_order(folder: Path) -> None:
    heard: list[tuple[str, int, int]] = []
    load_runner(str(folder), device="cpu", progress=lambda *stage: heard.append(stage))
    assert heard == [("loading", 0, 0), ("preparing", 0, 0)]


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_weights_in_half_precision_are_computed_in_float32_here_unless_asked_otherwise(
    dtype: str, folder: Path
) -> None:
    number = getattr(torch, dtype)
    _weights(folder, lambda weights: {name: weight.to(number) for name, weight in weights.items()})
    change_config(folder, dtype=dtype)
    assert _load(folder).q(0).dtype == torch.float32
    assert _load(folder, dtype=dtype).q(0).dtype == number


def test_a_folder_in_the_working_directory_needs_no_slash(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.parent)
    assert load_runner("model", device="cpu").info.name == "model"
    assert load_runner("./model", device="cpu").info.name == "./model"


def test_a_home_is_found(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(folder.parent))
    assert load_runner("~/model", device="cpu").info.n_layers == 3


def test_a_hub_id_loads_from_where_the_hub_s_library_put_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str | None]] = []

    def fetch(name: str, revision: str | None, progress: object) -> Path:
        asked.append((name, revision))
        return folder

    monkeypatch.setattr(loading, "fetch", fetch)
    info = load_runner("owner/some-model_1.5", revision="v2", device="cpu").info
    assert asked == [("owner/some-model_1.5", "v2")]
    assert (info.name, info.revision) == ("owner/some-model_1.5", "v2")
    load_runner("gpt2", device="cpu")
    assert asked[1] == ("gpt2", None)


@pytest.mark.parametrize("prefix", ["model.", ""], ids=["as saved by the base model", "without its prefix"])
def test_a_base_model_is_captured_but_predicts_nothing(prefix: str, tmp_path: Path) -> None:
    folder = save(tmp_path / "base", tiny("llama", AutoModel)())
    if not prefix:
        assert not any(name.startswith("model.") for name in load_file(folder / WEIGHTS))
    else:
        _weights(folder, lambda weights: {prefix + name: weight for name, weight in weights.items()})
    capture = _load(folder)
    assert capture.verify(0).ok
    with pytest.raises(NoLogits, match="comes without an output layer, so it predicts no tokens"):
        capture.logits(-1)  # never from a random output layer


def test_a_tied_output_layer_is_no_missing_one(tmp_path: Path) -> None:
    folder = save(tmp_path / "tied", tiny("llama", tie_word_embeddings=True)())
    assert "lm_head.weight" not in load_file(folder / WEIGHTS)
    assert _load(folder).logits(-1).shape == (264,)


def test_an_encoder_is_loaded_with_its_own_output_layer(tmp_path: Path) -> None:
    folder = save(tmp_path / "bert", tiny("bert", AutoModelForMaskedLM)())
    capture = _load(folder)
    assert float(capture.weights(0, 0)[0, -1]) > 0  # it looks ahead
    assert capture.logits(0).shape == (264,)


# -- names ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "",
        "  ",
        "a b",
        "a/b/c",
        "https://huggingface.co/gpt2",
        "gpt2?",
        "a\x00b",
        "\ud800",
        "模型",
        "~no-such-user-here/model",
        "x" * 300,
        "/" + "x" * 300,
    ],
)
def test_a_name_that_is_neither_a_folder_nor_an_id_is_said(name: str) -> None:
    with pytest.raises(ModelNameInvalid) as raised:
        load_runner(name)
    assert f"“{name.strip()}” is neither a folder nor a model id. A model id looks like owner/name" in str(raised.value)


@pytest.mark.parametrize("name", ["/no/such/folder", "./none", "~/none", "../none", "C:\\models\\none"])
def test_a_folder_that_does_not_exist_is_said(name: str) -> None:
    with pytest.raises(ModelFolderMissing, match=r"There is no folder .*none|There is no folder /no/such/folder"):
        load_runner(name)


def test_an_id_that_is_not_here_is_asked_of_the_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    def fetch(name: str, revision: str | None, progress: object) -> NoReturn:
        raise HubUnreachable(name=name)

    monkeypatch.setattr(loading, "fetch", fetch)
    with pytest.raises(HubUnreachable, match="The hub cannot be reached, and owner/name is not on this machine yet"):
        load_runner("owner/name")


# -- folders that make no model ---------------------------------------------------------------------------------------


def test_an_unknown_family_is_not_guessed(folder: Path) -> None:
    change_config(folder, model_type="myllama", auto_map={"AutoConfig": "code.Config"})
    (folder / "code.py").write_text("raise SystemExit('ran')")  # code in a folder is never run
    said = _refused(folder, NotCapturable)
    assert "(myllama) cannot be captured: it is not a language model that transformers knows." in said


@pytest.mark.parametrize("family", ["t5", "clip", "vit"])
def test_a_family_that_is_no_language_model_of_one_stack_is_refused(family: str, folder: Path) -> None:
    change_config(folder, model_type=family)
    assert "it is not a language model that transformers knows" in _refused(folder, NotCapturable)


def test_an_encoder_decoder_is_refused_with_the_reason(tmp_path: Path) -> None:
    sizes = {f"{side}_{what}": 2 for side in ("encoder", "decoder") for what in ("layers", "attention_heads")}
    model = tiny("bart", AutoModelForSeq2SeqLM, **sizes, encoder_ffn_dim=8, decoder_ffn_dim=8)()
    said = _refused(save(tmp_path / "bart", model), NotCapturable)
    assert "(bart) cannot be captured: it is an encoder–decoder" in said


def test_a_model_without_softmax_attention_is_refused_with_the_reason(tmp_path: Path) -> None:
    said = _refused(save(tmp_path / "mamba", tiny("mamba")()), NotCapturable)
    assert "(mamba) cannot be captured: " in said


def _lose(prefix: str) -> Callable[[Path], object]:
    return lambda folder: _weights(
        folder, lambda weights: {name: weight for name, weight in weights.items() if not name.startswith(prefix)}
    )


def _edit_tokenizer(**parts: Any) -> Callable[[Path], object]:
    def change(folder: Path) -> None:
        path = folder / "tokenizer.json"
        path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), **parts}), "utf-8")

    return change


ENTRY = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}

INCOMPLETE: dict[str, tuple[Callable[[Path], object], str]] = {
    "a layer lost": (_lose("model.layers.1."), "9 weights are missing, model.layers.1.input_layernorm.weight first"),
    "embedding lost": (_lose("model.embed_tokens"), "1 weights are missing, model.embed_tokens.weight first"),
    "more layers than weights": (lambda folder: change_config(folder, num_hidden_layers=4), "9 weights are missing"),
    "weights of another model": (
        lambda folder: write_weights(folder / WEIGHTS, {"a": ENTRY}, b"0000"),
        "weights are missing, model.embed_tokens.weight first",
    ),
    "no weight in the file": (lambda folder: write_weights(folder / WEIGHTS, {}), "weights are missing"),
    "another size": (
        lambda folder: change_config(folder, intermediate_size=40),
        "9 weights have other shapes than config.json says, model.layers.0.mlp.down_proj.weight first",
    ),
    "another vocabulary": (
        lambda folder: change_config(folder, vocab_size=300),
        "2 weights have other shapes than config.json says, lm_head.weight first",
    ),
    "a number of an unknown type": (
        lambda folder: write_weights(folder / WEIGHTS, {"a": {**ENTRY, "dtype": "Z9"}}, b"0000"),
        "unknown variant `Z9`",
    ),
    "a shape that is not its bytes": (
        lambda folder: write_weights(folder / WEIGHTS, {"a": {**ENTRY, "shape": [9]}}, b"0000"),
        "invalid shape, data type, or offset for tensor",
    ),
    "a text as size": (
        lambda folder: change_config(folder, hidden_size="big"),
        "config.json: Validation error for field 'hidden_size': TypeError: Field 'hidden_size' expected int, got str",
    ),
    "no head": (lambda folder: change_config(folder, num_attention_heads=0), "config.json: "),
    "an unknown dtype": (lambda folder: change_config(folder, dtype="float99"), "config.json: "),
    "an unknown activation": (lambda folder: change_config(folder, hidden_act="nope"), "nope"),
}


@pytest.mark.parametrize("change, reason", INCOMPLETE.values(), ids=INCOMPLETE)
def test_parts_that_do_not_fit_together_are_told(change: Callable[[Path], object], reason: str, folder: Path) -> None:
    change(folder)
    said = _refused(folder, ModelIncomplete)
    assert f"The model in {folder} is not complete: " in said
    assert reason in said


def test_a_lost_output_layer_is_no_random_one(folder: Path) -> None:
    _lose("lm_head")(folder)
    with pytest.raises(NoLogits):
        _load(folder).logits(-1)


def test_architectures_that_are_no_list_do_no_harm(folder: Path) -> None:
    change_config(folder, architectures=5)
    assert _load(folder).logits(-1).shape == (264,)


def test_a_folder_that_is_not_whole_is_told_before_anything_is_loaded(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _touch_nothing(monkeypatch)
    (folder / WEIGHTS).rename(folder / "pytorch_model.bin")
    assert "are pickled (pytorch_model.bin)" in _refused(folder, ModelPickled)
    (folder / CONFIG).unlink()
    assert "config.json is missing" in _refused(folder, ModelIncomplete)


TOKENIZERS: dict[str, tuple[Callable[[Path], object], str]] = {
    "none": (
        lambda folder: [path.unlink() for path in folder.glob("tokenizer*")],
        "Couldn't instantiate the backend tokenizer",
    ),
    "cut off": (lambda folder: (folder / "tokenizer.json").write_text('{"model"'), "line 1"),
    "empty": (lambda folder: (folder / "tokenizer.json").write_text("{}"), "added_tokens"),
    "of an unknown kind": (_edit_tokenizer(model={"type": "ZZZ"}), "did not match any variant"),
    "without a model": (_edit_tokenizer(model=None), "line 1"),
    "with settings of another kind": (
        lambda folder: (folder / "tokenizer_config.json").write_text("[]"),
        "'list' object has no attribute",
    ),
}


@pytest.mark.parametrize("change, reason", TOKENIZERS.values(), ids=TOKENIZERS)
def test_a_tokenizer_that_cannot_be_loaded_is_told(change: Callable[[Path], object], reason: str, folder: Path) -> None:
    change(folder)
    said = _refused(folder, TokenizerMissing)
    assert f"The tokenizer of {folder} cannot be loaded: " in said
    assert reason in said
    assert "The folder needs the tokenizer's files" in said


def test_a_tokenizer_that_does_not_tell_characters_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = byte_tokenizer()
    monkeypatch.setattr(type(slow), "is_fast", property(lambda _: False))
    said = _refused(folder, TokenizerMissing)
    assert "it does not tell which characters a token covers" in said


# -- memory -----------------------------------------------------------------------------------------------------------


def _touch_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> NoReturn:
        raise AssertionError("nothing may be loaded")

    for auto in (loading.AutoModelForCausalLM, loading.AutoModelForMaskedLM, loading.AutoTokenizer):
        monkeypatch.setattr(auto, "from_pretrained", refuse)


def test_a_model_that_does_not_fit_is_refused_before_its_weights_are_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needed = 4 * tiny("llama", num_key_value_heads=2)().num_parameters()
    monkeypatch.setattr(memory, "available", lambda device: needed)
    _load_only(folder)  # just enough
    _touch_nothing(monkeypatch)
    monkeypatch.setattr(memory, "available", lambda device: needed - 1)
    said = _refused(folder, ModelTooLarge)
    assert f"needs about {memory.readable(needed)} of memory, but only {memory.readable(needed - 1)} are free" in said


def _load_only(folder: Path, **options: Any) -> None:
    load_runner(str(folder), device="cpu", **options)


def test_half_precision_needs_half_the_memory(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needed = 4 * tiny("llama", num_key_value_heads=2)().num_parameters()
    monkeypatch.setattr(memory, "available", lambda device: needed // 2)
    _load_only(folder, dtype="bfloat16")
    assert _refused(folder, ModelTooLarge)


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory: ...")])
def test_memory_that_runs_out_while_weights_are_read_is_a_sentence(
    error: Exception, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> NoReturn:
        raise error

    monkeypatch.setattr(loading.AutoModelForCausalLM, "from_pretrained", fail)
    assert "The memory ran out while loading the weights." in _refused(folder, OutOfMemory)


def test_memory_that_runs_out_while_the_model_is_moved_is_a_sentence(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> NoReturn:
        raise torch.OutOfMemoryError("CUDA out of memory.")

    monkeypatch.setattr(loading, "LocalRunner", fail)
    assert "The memory ran out while moving the model to the device." in _refused(folder, OutOfMemory)
