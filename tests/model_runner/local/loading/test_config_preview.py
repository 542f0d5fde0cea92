"""What a model is going to be, told before it is loaded, is what it is then; what is not known is not told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from huggingface_hub.errors import StrictDataclassError
from transformers import CONFIG_MAPPING, AutoModelForMaskedLM
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES, MODEL_FOR_MASKED_LM_MAPPING_NAMES

from model_runner import load_runner, memory
from model_runner.errors import NotCapturable
from model_runner.local.loading.config_preview import StoredWeights, preview_config, stored_dtype
from model_runner.local.loading.dtypes import Precision
from model_runner.preview import ModelPreview
from tests.model_runner.families import RECURRENT
from tests.model_runner.tiny import N_HEADS, N_LAYERS, byte_tokenizer, tiny

CPU = torch.device("cpu")
ELSEWHERE = {
    **{(family, "num_attention_heads"): "num_heads" for family in ("mamba2", "xlstm")},
    ("mpt", "max_position_embeddings"): "max_seq_len",
    ("whisper", "max_position_embeddings"): "max_target_positions",  # what it writes, not what it hears
}
COUNTED = {
    "n_layers": "num_hidden_layers",
    "n_heads": "num_attention_heads",
    "n_kv_heads": "num_key_value_heads",
    "max_tokens": "max_position_embeddings",
}
UNTOLD = 12  # counts that some families keep elsewhere: a list of layers, a table of positions


def previewed(
    config: dict[str, Any], weights: StoredWeights | None = None, dtype: torch.dtype = torch.float32, kept: str = ""
):
    numbers = Precision(dtype, kept)
    return preview_config("some/model", config, weights or StoredWeights(4000, 1000), numbers=numbers, device="cpu")


def saved(config: Any) -> dict[str, Any]:
    """As config.json holds it."""
    return json.loads(json.dumps(config.to_dict(), default=str))


@pytest.mark.table
def test_of_every_family_what_is_told_is_what_transformers_makes_of_the_configuration() -> None:
    untold: list[str] = []
    told = 0
    for family in sorted({*MODEL_FOR_CAUSAL_LM_MAPPING_NAMES, *MODEL_FOR_MASKED_LM_MAPPING_NAMES}):
        try:
            config: Any = CONFIG_MAPPING[family]()
            text = config.get_text_config()
        except (StrictDataclassError, ValueError):  # one that cannot be made of nothing; one of two text models
            continue
        preview = previewed(saved(config))
        for field, name in COUNTED.items():
            mine = getattr(preview, field)
            try:
                true = getattr(text, name, None) or getattr(text, ELSEWHERE.get((family, name), ""), None)
            except RuntimeError:  # it differs by layer
                assert mine is None
                continue
            if mine is not None:
                told += 1
                assert mine == true, (family, name)
            elif isinstance(true, int) and true > 0:
                untold.append(f"{family}.{name}")
    assert told > 700
    assert len(untold) <= UNTOLD, untold


@pytest.mark.parametrize("kind", ["llama", "gpt2", "bert"])
def test_a_folder_s_preview_is_what_its_model_turns_out_to_be(kind: str, tmp_path: Path) -> None:
    tiny(kind)().save_pretrained(tmp_path)
    byte_tokenizer().save_pretrained(tmp_path)
    heard: list[ModelPreview] = []
    info = load_runner(str(tmp_path), device="cpu", preview=heard.append).info
    assert len(heard) == 1
    (preview,) = heard
    assert (preview.name, preview.family, preview.dtype, preview.device) == (str(tmp_path), kind, "float32", "cpu")
    assert (preview.n_layers, preview.n_heads) == (info.n_layers, info.n_heads)
    assert preview.n_kv_heads in (None, info.n_kv_heads)
    assert preview.max_tokens == info.max_tokens
    assert preview.needed == 4 * preview.n_parameters
    assert preview.missing == 0
    assert 0 < preview.free <= 1.2 * memory.available(CPU)


def test_what_cannot_be_captured_is_told_what_it_is_and_refused(tmp_path: Path) -> None:
    heard: list[ModelPreview] = []
    tiny("fnet", AutoModelForMaskedLM)().save_pretrained(tmp_path)
    byte_tokenizer().save_pretrained(tmp_path)
    with pytest.raises(NotCapturable):
        load_runner(str(tmp_path), preview=heard.append)
    assert [(one.family, one.n_layers) for one in heard] == [("fnet", 3)]


@pytest.mark.parametrize("family, heads", [("mamba", None), ("rwkv", None), ("mamba2", 8), ("xlstm", 4)])
def test_a_family_without_attention_has_its_own_heads_or_none(family: str, heads: int | None) -> None:
    config = json.loads(RECURRENT[family]().config.to_json_string())
    assert config["num_attention_heads"] == N_HEADS  # which nothing in it reads
    found = previewed(config, StoredWeights(1000, 500))
    assert (found.n_heads, found.n_kv_heads, found.n_layers) == (heads, None, N_LAYERS)


def test_memory_is_that_of_the_dtype_it_will_have() -> None:
    config = {"model_type": "llama", "torch_dtype": "bfloat16"}
    assert previewed(config, StoredWeights(1000, 500)).needed == 2000
    assert previewed(config, StoredWeights(1000, 500), torch.bfloat16).needed == 1000
    assert previewed(config, StoredWeights(1000, 500, missing=700)).missing == 700


def test_quantized_linear_layers_need_less_and_the_embedding_does_not() -> None:
    config = {"model_type": "llama", "vocab_size": 1000, "hidden_size": 100, "tie_word_embeddings": True}
    weights = StoredWeights(2_200_000, 1_100_000)  # a million in linear layers
    assert previewed(config, weights, kept="int8").needed == 4 * 100_000 + 1_000_000
    assert previewed(config, weights, torch.bfloat16, kept="nf4").needed == 2 * 100_000 + 562_500
    two = config | {"tie_word_embeddings": False}  # the output layer is another, and stays too
    assert previewed(two, weights, kept="int8").needed == 4 * 200_000 + 900_000
    assert (previewed(config, weights, kept="int8").dtype, previewed(config, weights).dtype) == ("int8", "float32")


@pytest.mark.parametrize(
    "config, weights",
    [
        ({"quantization_config": {"bits": 4}}, StoredWeights(1000, 900)),  # several in one
        ({}, StoredWeights(1000, None)),
    ],
)
def test_where_the_numbers_are_not_counted_only_the_bytes_are_told(
    config: dict[str, Any], weights: StoredWeights
) -> None:
    preview = previewed({"model_type": "llama", **config}, weights)
    assert (preview.n_parameters, preview.needed) == (None, 1000)


@pytest.mark.parametrize("value", ["many", True, -1, 0, None, [4, 8], 2.5])
def test_a_count_that_is_none_is_not_told(value: object) -> None:
    assert previewed({"model_type": "llama", "num_hidden_layers": value}).n_layers is None


@pytest.mark.parametrize("value", ["torch.float16", "float16"])
def test_a_dtype_is_named_with_or_without_its_library(value: str) -> None:
    assert stored_dtype({"dtype": value}) is torch.float16
    assert stored_dtype({"text_config": {"torch_dtype": value}}) is torch.float16


@pytest.mark.parametrize("value", ["double trouble", "nn", 16, ["float16"], None])
def test_a_dtype_that_is_none_is_the_usual_one(value: object) -> None:
    assert stored_dtype({"dtype": value}) is torch.float32


def test_an_unknown_family_is_told_and_refused(tmp_path: Path) -> None:
    tiny("llama")().save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | {"model_type": "brand-new", "hidden_layers": 3}))
    heard: list[ModelPreview] = []
    with pytest.raises(NotCapturable, match="brand-new"):
        load_runner(str(tmp_path), preview=heard.append)
    assert [(one.family, one.n_heads) for one in heard] == [("brand-new", 4)]
