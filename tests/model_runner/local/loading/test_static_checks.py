"""What needs no process apart is told by files alone: what people publish needs none; what may run on, one."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import CONFIG_MAPPING, AutoModelForCausalLM, AutoModelForMaskedLM
from transformers.models.auto.modeling_auto import MODEL_FOR_MASKED_LM_MAPPING_NAMES

from model_runner.local.loading.checkpoint import inspect_folder
from model_runner.local.loading.model_folder import DEFAULT_FOLDER
from model_runner.local.loading.static_checks import (
    LARGEST,
    MOST,
    PATTERNS,
    PLAIN_FAMILIES,
    is_config_harmless,
    is_tokenizer_harmless,
)
from tests.model_runner.folders import change_config

TOKENIZER, SETTINGS = "tokenizer.json", "tokenizer_config.json"
LONGEST = 2.0  # seconds to make the largest model of a family, of which a tenth is usual


def edit(file: str, **parts: Any) -> Callable[[Path], object]:
    """Replace parts of a JSON file of the folder."""
    return lambda folder: (folder / file).write_text(json.dumps({**json.loads((folder / file).read_text()), **parts}))


def model(**parts: Any) -> Callable[[Path], object]:
    """Replace parts of the tokenizer's model."""

    def apply(folder: Path) -> None:
        held = json.loads((folder / TOKENIZER).read_text("utf-8"))
        held["model"] |= parts
        (folder / TOKENIZER).write_text(json.dumps(held), "utf-8")

    return apply


def made(**steps: Any) -> Callable[[Path], object]:
    """Another tokenizer, its steps as the library writes them."""

    def apply(folder: Path) -> None:
        tokenizer = Tokenizer(models.WordLevel({"a": 0, "[UNK]": 1}, unk_token="[UNK]"))
        for name, step in steps.items():
            setattr(tokenizer, name, step)
        tokenizer.save(str(folder / TOKENIZER))

    return apply


replace = {"type": "Replace", "pattern": {"Regex": "."}, "content": "aa"}
TRIED_APART: dict[str, Callable[[Path], object]] = {
    "a pattern": edit(TOKENIZER, pre_tokenizer={"type": "Split", "pattern": {"Regex": "(a|aa)+$b"}}),
    "an empty pattern": made(normalizer=normalizers.Replace("", "aa")),
    "many replacements": made(normalizer=normalizers.Sequence([normalizers.Replace("a", "aa")] * 4)),
    "a replacement of a pattern": edit(TOKENIZER, normalizer=replace),
    "a long replacement": made(normalizer=normalizers.Replace("a", "a" * 10)),
    "a long prefix": made(normalizer=normalizers.Prepend("a" * 10)),
    "a map of characters": edit(TOKENIZER, normalizer={"type": "Precompiled", "precompiled_charsmap": ""}),
    "a pattern that writes": edit(TOKENIZER, decoder={"type": "Sequence", "decoders": [replace]}),
    "a long ending": edit(TOKENIZER, post_processor={"type": "TemplateProcessing", "single": ["a"] * 10_000}),
    "padding": edit(TOKENIZER, padding={"strategy": {"Fixed": 10**9}}),
    "truncation": edit(TOKENIZER, truncation={"max_length": 10**9}),
    "long words": model(type="WordPiece", max_input_chars_per_word=10**9),
    "a long token": model(vocab={"x" * 10_000: 0}),
    "many tokens": model(type="Unigram", vocab=["x"] * 600_001),
    "long marks": model(unk_token="x" * 10_000),
    "another kind of model": model(type="New"),
    "a long added token": edit(TOKENIZER, added_tokens=[{"id": 1, "content": "x" * 10_000}]),
    "many added tokens": edit(TOKENIZER, added_tokens=[{"id": 1, "content": "x"}] * 10_001),
    "no tokenizer": lambda folder: (folder / TOKENIZER).unlink(),
    "a large tokenizer": lambda folder: os.truncate(folder / TOKENIZER, 1 << 30),
    "a large file": lambda folder: ((folder / "vocab.json").touch(), os.truncate(folder / "vocab.json", 1 << 30)),
    "a large template": lambda folder: (folder / "chat_template.jinja").write_text(" " * (1 << 21)),
    "a pipe": lambda folder: os.mkfifo(folder / "merges.txt"),
    "templates in a folder": lambda folder: (folder / "additional_chat_templates").mkdir(),
    "another class": edit(SETTINGS, tokenizer_class="BartTokenizer"),
    "a class of the folder": edit(SETTINGS, auto_map={"AutoTokenizer": ["code.Evil", None]}),
    "a file elsewhere": edit(SETTINGS, tokenizer_file="/etc/passwd"),
    "another library": edit(SETTINGS, backend="mistral"),
    "settings of another kind": lambda folder: (folder / SETTINGS).write_text("[]"),
}
LLAMA2 = made(
    normalizer=normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]),
    decoder=decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(content=" ", left=1)]
    ),
    post_processor=processors.TemplateProcessing("<s> $A", "<s> $A <s> $B", [("<s>", 1)]),
)
BERT = made(
    normalizer=normalizers.BertNormalizer(),
    pre_tokenizer=pre_tokenizers.BertPreTokenizer(),
    decoder=decoders.WordPiece(),
    post_processor=processors.BertProcessing(("[SEP]", 1), ("[CLS]", 0)),
)
LLAMA3 = made(
    pre_tokenizer=pre_tokenizers.Sequence(
        [
            *(pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in sorted(PATTERNS)),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    ),
    decoder=decoders.ByteLevel(),
    normalizer=normalizers.NFC(),
)
HARMLESS: dict[str, Callable[[Path], object]] = {
    "as it is": lambda _: None,
    "Llama 2": LLAMA2,
    "Llama 3 and Qwen": LLAMA3,
    "BERT": BERT,
    "old settings": edit(SETTINGS, tokenizer_class=None, tokenizer_file=None, model_max_length="many"),
}


@pytest.mark.parametrize("change", TRIED_APART.values(), ids=TRIED_APART)
def test_a_tokenizer_that_may_take_more_than_its_text_says_is_tried_apart(
    change: Callable[[Path], object], folder: Path
) -> None:
    change(folder)
    assert not is_tokenizer_harmless(inspect_folder(folder))


@pytest.mark.parametrize("change", HARMLESS.values(), ids=HARMLESS)
def test_tokenizers_as_they_are_published_are_harmless(change: Callable[[Path], object], folder: Path) -> None:
    change(folder)
    assert is_tokenizer_harmless(inspect_folder(folder))


def test_the_embedded_model_is_harmless() -> None:
    checkpoint = inspect_folder(DEFAULT_FOLDER)
    assert is_config_harmless(checkpoint)
    assert is_tokenizer_harmless(checkpoint)


@pytest.mark.parametrize(
    "changes",
    [
        {"model_type": "mixtral"},
        {"num_hidden_layers": 300},
        {"num_hidden_layers": 300.0},
        {"num_attention_heads": 10**6},
        {"vocab_size": 10**9},
        {"rope_scaling": {"short_factor": [1, 10**6]}},
        {"quantization_config": {"quant_method": "gptq"}},
        {"auto_map": {"AutoConfig": "code.Evil"}},
    ],
    ids=str,
)
def test_a_configuration_that_may_take_long_is_tried_apart(changes: dict[str, Any], folder: Path) -> None:
    assert is_config_harmless(inspect_folder(folder))
    change_config(folder, **changes)
    assert not is_config_harmless(inspect_folder(folder))


@pytest.mark.parametrize("family", PLAIN_FAMILIES)
def test_the_largest_model_of_a_plain_family_is_made_at_once(family: str) -> None:
    usual = CONFIG_MAPPING[family]().to_dict()
    sizes = {name for name in usual if name in ("hidden_size", "n_embd", "d_model", "word_embed_proj_dim")}
    large = {name: LARGEST for name in usual if name.startswith(("vocab_size", "max_position", "n_position", "interm"))}
    heads = {name: MOST for name in usual if "head" in name and "dim" not in name and isinstance(usual[name], int)}
    config = CONFIG_MAPPING[family](**large, **heads, **dict.fromkeys(sizes, 1 << 22), pad_token_id=None)
    auto: Any = AutoModelForMaskedLM if family in MODEL_FOR_MASKED_LM_MAPPING_NAMES else AutoModelForCausalLM
    begun = time.monotonic()
    with torch.device("meta"):
        assert auto.from_config(config, dtype=torch.float32).num_parameters() > 1e14
    assert time.monotonic() - begun < LONGEST
