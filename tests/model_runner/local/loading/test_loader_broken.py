"""Broken model folders are refused with one error message that says what is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoModelForSeq2SeqLM, AutoModelForSpeechSeq2Seq

from model_runner.errors import (
    BrokenNumbers,
    ModelFolderMissing,
    ModelIncomplete,
    ModelPickled,
    NoLogits,
    NotCapturable,
    TokenizerMissing,
)
from model_runner.local.loading import loader
from model_runner.request import CaptureRequest
from tests.model_runner.cases import FAMILY
from tests.model_runner.folders import (
    CONFIG,
    WEIGHTS,
    change_config,
    change_weights,
    load,
    refused,
    save,
    touch_nothing,
    write_weights,
)
from tests.model_runner.tiny import byte_tokenizer, tiny

pytestmark = pytest.mark.usefixtures("no_network")


def test_an_unknown_family_is_not_guessed(folder: Path) -> None:
    change_config(folder, model_type="myllama", auto_map={"AutoConfig": "code.Config"})
    (folder / "code.py").write_text("raise SystemExit('ran')")  # code in a folder is never run
    said = refused(folder, NotCapturable)
    assert "(myllama) cannot be captured: it is not a language model that transformers knows." in said


@pytest.mark.parametrize("family", ["clip", "vit"])
def test_a_family_that_is_no_language_model_is_refused(family: str, folder: Path) -> None:
    change_config(folder, model_type=family)
    assert "it is not a language model that transformers knows" in refused(folder, NotCapturable)


def test_a_model_that_hears_is_refused_with_the_reason(tmp_path: Path) -> None:
    sizes = {f"{side}_{what}": 2 for side in ("encoder", "decoder") for what in ("layers", "attention_heads")}
    sizes |= {"d_model": 8, "encoder_ffn_dim": 8, "decoder_ffn_dim": 8, "decoder_start_token_id": 0}
    made = tiny("speech_to_text", AutoModelForSpeechSeq2Seq, **sizes)()
    said = refused(save(tmp_path / "hears", made), NotCapturable)
    assert "(speech_to_text) cannot be captured: its encoder reads sound" in said


@pytest.mark.parametrize("name", ["lm_head.weight", "model.layers.2.mlp.down_proj.weight"])
def test_a_model_whose_numbers_are_none_is_refused(name: str, folder: Path) -> None:
    def damaged(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        key = next(key for key in tensors if key.endswith(name) or ("embed_tokens" in key and name == "lm_head.weight"))
        changed = tensors[key].clone()
        changed[-1, -1] = torch.nan
        return {**tensors, key: changed}

    change_weights(folder, damaged)
    assert "its output is not a number (NaN): its weights are damaged" in refused(folder, NotCapturable)


@pytest.mark.long
@pytest.mark.parametrize("family", ["t5", pytest.param("bart", marks=pytest.mark.long)])
def test_a_translator_whose_one_table_has_four_names_is_whole(family: str, tmp_path: Path) -> None:
    sizes: dict[str, Any] = {"hidden_size": 8, "num_hidden_layers": 1, "decoder_start_token_id": 0}
    sizes |= {"d_kv": 4, "d_ff": 8, "num_heads": 2, "vocab_size": 2000}  # so small that the table is most of it
    for side in ("encoder", "decoder"):
        sizes |= {f"{side}_layers": 1, f"{side}_attention_heads": 2, f"{side}_ffn_dim": 8}
    made = tiny(family, AutoModelForSeq2SeqLM, **sizes, max_position_embeddings=32)()
    assert load(save(tmp_path / family, made), sandboxed=True).attentions


def test_a_translator_whose_numbers_are_none_is_refused(tmp_path: Path) -> None:
    sizes = {"d_model": 8, "d_kv": 4, "d_ff": 8, "num_layers": 2, "num_heads": 2, "decoder_start_token_id": 0}
    model = tiny("t5", AutoModelForSeq2SeqLM, **sizes)()
    model.get_parameter("decoder.final_layer_norm.weight").data[0] = torch.nan
    assert "its output is not a number (NaN)" in refused(save(tmp_path / "t5", model), NotCapturable)


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
def test_a_text_of_which_a_model_makes_no_numbers_is_one_sentence(value: float, folder: Path) -> None:
    """Of others it makes some: what is too large for a number format may come with any token."""
    runner = loader.load_runner(str(folder), device="cpu")
    captured = runner.capture(CaptureRequest(text="hello"))
    token = captured.tokens[-1].id
    runner.engine.model.get_input_embeddings().weight.data[token] = value
    with pytest.raises(BrokenNumbers, match="is not numbers"):
        runner.capture(CaptureRequest(text="o"))


def test_an_encoder_decoder_is_loaded_from_its_folder(tmp_path: Path) -> None:
    sizes = {"d_model": 8, "d_kv": 4, "d_ff": 8, "num_layers": 2, "num_heads": 2, "decoder_start_token_id": 0}
    capture = load(save(tmp_path / "t5", tiny("t5", AutoModelForSeq2SeqLM, **sizes)()))
    assert capture.attentions == ("encoder", "decoder", "cross")


def test_the_decoder_alone_is_one_stack(tmp_path: Path) -> None:
    sizes = {"d_model": 8, "decoder_layers": 3, "decoder_attention_heads": 2, "decoder_ffn_dim": 8}
    capture = load(save(tmp_path / "bart", tiny("bart", AutoModelForCausalLM, **sizes)()))
    assert (capture.n_layers, capture.n_heads) == (3, 2)


def test_a_model_without_softmax_attention_is_refused_with_the_reason(tmp_path: Path) -> None:
    said = refused(save(tmp_path / "fnet", tiny("fnet", AutoModelForMaskedLM)()), NotCapturable)
    assert "(fnet) cannot be captured: " in said


def _lose(prefix: str) -> Callable[[Path], object]:
    return lambda folder: change_weights(
        folder, lambda weights: {name: weight for name, weight in weights.items() if not name.startswith(prefix)}
    )


def _edit_tokenizer(**parts: Any) -> Callable[[Path], object]:
    def change(folder: Path) -> None:
        path = folder / "tokenizer.json"
        path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), **parts}), "utf-8")

    return change


ENTRY = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}

INCOMPLETE: dict[str, tuple[Callable[[Path], object], str]] = {
    "a layer lost": (_lose("model.layers.1."), "9 weights are missing, model.layers.1.self_attn.q_proj.weight first"),
    "embedding lost": (_lose("model.embed_tokens"), "the weight model.embed_tokens.weight is missing"),
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
        "model.safetensors has no readable header",
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
    said = refused(folder, ModelIncomplete)
    assert f"The model in {folder} is not complete: " in said
    assert reason in said


def test_a_lost_output_layer_is_no_random_one(folder: Path) -> None:
    _lose("lm_head")(folder)
    with pytest.raises(NoLogits):
        load(folder).logits(-1)


def test_architectures_that_are_no_list_do_no_harm(folder: Path) -> None:
    change_config(folder, architectures=5)
    assert load(folder).logits(-1).shape == (264,)


def test_a_folder_that_is_not_whole_is_told_before_anything_is_loaded(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    touch_nothing(monkeypatch)
    (folder / WEIGHTS).rename(folder / "pytorch_model.bin")
    assert "are pickled (pytorch_model.bin)" in refused(folder, ModelPickled)
    (folder / CONFIG).unlink()
    refused(folder, ModelFolderMissing)


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
    said = refused(folder, TokenizerMissing)
    assert f"The tokenizer of {folder} cannot be loaded: " in said
    assert reason in said
    assert "The folder needs the tokenizer's files" in said


@pytest.mark.parametrize("family", ["gpt2", "bert"])  # of which transformers makes a tokenizer without any file
def test_a_folder_without_a_tokenizer_is_told_as_such(family: str, tmp_path: Path) -> None:
    save(tmp_path, FAMILY[family].build())
    for file in tmp_path.glob("tokenizer*"):
        file.unlink()
    assert "cannot be loaded: it knows only special tokens." in refused(tmp_path, TokenizerMissing)


def test_a_tokenizer_that_does_not_tell_characters_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = byte_tokenizer()
    monkeypatch.setattr(type(slow), "is_fast", property(lambda _: False))
    said = refused(folder, TokenizerMissing)
    assert "it does not say which characters a token covers" in said
