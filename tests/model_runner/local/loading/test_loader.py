"""From a name to a runner: what can be loaded is loaded, and anything else gives one error message."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any, NoReturn

import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoConfig, AutoModel, AutoModelForCausalLM, AutoModelForMaskedLM

from model_runner import memory
from model_runner.errors import (
    HubUnreachable,
    ModelFolderMissing,
    ModelNameInvalid,
    ModelTooLarge,
    NoAttribution,
    NoLogits,
    OutOfMemory,
)
from model_runner.local.loading import loader, model_folder
from model_runner.local.loading.loader import load_runner
from tests.model_runner.folders import WEIGHTS, change_config, change_weights, load, refused, save, touch_nothing
from tests.model_runner.tiny import tiny

pytestmark = pytest.mark.usefixtures("no_network")


# -- what can be loaded -----------------------------------------------------------------------------------------------


def test_a_folder_gives_the_logits_of_the_model_in_it(folder: Path) -> None:
    capture = load(folder)
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
    change_weights(folder, lambda weights: {name: weight.to(number) for name, weight in weights.items()})
    change_config(folder, dtype=dtype)
    assert load(folder).q(0).dtype == torch.float32
    assert load(folder, dtype=dtype).q(0).dtype == number


def test_a_folder_in_the_working_directory_needs_no_slash(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.parent)
    assert load_runner("model", device="cpu").info.name == "model"
    assert load_runner("./model", device="cpu").info.name == "./model"


def test_a_home_is_found(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(folder.parent))
    assert load_runner("~/model", device="cpu").info.n_layers == 3


def test_a_hub_id_loads_from_where_the_hub_s_library_put_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str | None]] = []

    def fetch(name: str, revision: str | None, *_: object, **__: object) -> Path:
        asked.append((name, revision))
        return folder

    monkeypatch.setattr(model_folder, "fetch", fetch)
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
        change_weights(folder, lambda weights: {prefix + name: weight for name, weight in weights.items()})
    capture = load(folder)
    assert capture.verify(0).ok
    with pytest.raises(NoLogits, match="comes without an output layer, so it predicts no tokens"):
        capture.logits(-1)  # never from a random output layer


def test_a_tied_output_layer_is_no_missing_one(tmp_path: Path) -> None:
    folder = save(tmp_path / "tied", tiny("llama", tie_word_embeddings=True)())
    assert "lm_head.weight" not in load_file(folder / WEIGHTS)
    assert load(folder).logits(-1).shape == (264,)


@pytest.mark.parametrize("family", ["gemma3", "fuyu"])
def test_of_a_model_of_texts_and_pictures_the_part_for_texts_is_captured(family: str, tmp_path: Path) -> None:
    text = {"vocab_size": 264, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 3}
    text |= {"num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8, "max_position_embeddings": 99}
    seen = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 8}
    parts = {"text_config": text | {"model_type": "gemma3_text" if family == "gemma3" else "llama"}}
    config = AutoConfig.for_model(family, **parts, **({"vision_config": seen} if family == "gemma3" else {}))
    folder = save(tmp_path / family, AutoModelForCausalLM.from_config(config))
    info = load_runner(str(folder), device="cpu").info
    assert (info.family, info.n_layers, info.n_heads, info.n_vocab, info.max_tokens) == (family, 3, 4, 264, 99)
    capture = load(folder)
    assert capture.verify(0).ok
    assert capture.logits(-1).shape == (264,)
    with contextlib.suppress(NoAttribution):  # norms stand in its way in Gemma 3: a sentence
        assert capture.direct_logits(0, 0, -1).shape == (264,)


def test_a_model_of_fewer_positions_than_are_tried_at_load_is_loaded(tmp_path: Path) -> None:
    folder = save(tmp_path / "few", tiny("gpt2", max_position_embeddings=6)())
    assert load(folder).logits(-1).shape == (264,)


def test_an_encoder_is_loaded_with_its_own_output_layer(tmp_path: Path) -> None:
    folder = save(tmp_path / "bert", tiny("bert", AutoModelForMaskedLM)())
    capture = load(folder)
    assert float(capture.weights(0, 0)[0, -1]) > 0  # it looks ahead
    assert capture.logits(0).shape == (264,)


# -- names ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "",
        "  ",
        "a b",
        "https://huggingface.co/gpt2",
        "gpt2?",
        "a\x00b",
        "\ud800",
        "模型",
        "x" * 300,
    ],
)
def test_a_name_that_is_neither_a_folder_nor_an_id_is_said(name: str) -> None:
    with pytest.raises(ModelNameInvalid) as raised:
        load_runner(name)
    assert f"“{name.strip()}” is neither a folder nor a model id. A model id looks like owner/name" in str(raised.value)


@pytest.mark.parametrize(
    "name",
    ["/no/such/folder", "/etc", "/proc/1/root", "~root", "~no-such-user-here", "./none", "../none", "C:\\models\\none",
     "/etc/passwd", "/" + "x" * 300],
)  # fmt: skip
def test_a_folder_that_is_no_model_is_said_in_the_same_words_whether_there_is_one_or_not(name: str) -> None:
    with pytest.raises(ModelFolderMissing) as raised:
        load_runner(name)
    assert str(raised.value).startswith(f"There is no folder {name} that holds a model and may be read. Give the full")


def test_a_folder_that_may_not_be_read_is_said_in_these_words_too(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)  # taking the permission away does not stop root
    assert f"There is no folder {folder} that holds a model and may be read." in refused(folder, ModelFolderMissing)


def test_code_and_files_that_a_configuration_names_are_not_used(folder: Path) -> None:
    change_config(
        folder,
        attn_implementation="evil/kernel",
        _attn_implementation="evil/kernel",
        transformers_weights="other.safetensors",
    )
    assert load(folder).logits(-1).shape == (264,)


def test_an_id_that_is_not_here_is_asked_of_the_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    def fetch(name: str, revision: str | None, *_: object, **__: object) -> NoReturn:
        raise HubUnreachable(name=name)

    monkeypatch.setattr(model_folder, "fetch", fetch)
    with pytest.raises(HubUnreachable, match="The hub cannot be reached, and owner/name is not on this machine yet"):
        load_runner("owner/name")


# -- memory -----------------------------------------------------------------------------------------------------------


def test_a_model_that_does_not_fit_is_refused_before_its_weights_are_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needed = 4 * tiny("llama", num_key_value_heads=2)().num_parameters()
    monkeypatch.setattr(memory, "available", lambda device: needed)
    _load_only(folder)  # just enough
    touch_nothing(monkeypatch)
    monkeypatch.setattr(memory, "available", lambda device: needed - 1)
    said = refused(folder, ModelTooLarge)
    assert f"needs about {memory.readable(needed)} of memory, but only {memory.readable(needed - 1)} are free" in said


def _load_only(folder: Path, **options: Any) -> None:
    load_runner(str(folder), device="cpu", **options)


def test_half_precision_needs_half_the_memory(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needed = 4 * tiny("llama", num_key_value_heads=2)().num_parameters()
    monkeypatch.setattr(memory, "available", lambda device: needed // 2)
    _load_only(folder, dtype="bfloat16")
    assert refused(folder, ModelTooLarge)


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory: ...")])
def test_memory_that_runs_out_while_weights_are_read_is_a_sentence(
    error: Exception, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> NoReturn:
        raise error

    monkeypatch.setattr(AutoModelForCausalLM, "from_pretrained", fail)
    assert "The memory ran out while loading the weights." in refused(folder, OutOfMemory)


def test_memory_that_runs_out_while_the_model_is_moved_is_a_sentence(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> NoReturn:
        raise torch.OutOfMemoryError("CUDA out of memory.")

    monkeypatch.setattr(loader, "LocalRunner", fail)
    assert "The memory ran out while moving the model to the device." in refused(folder, OutOfMemory)
