"""Which class reads a configuration, and which configurations are refused."""

from __future__ import annotations

from typing import Any

import pytest
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoModelForSeq2SeqLM, AutoModelForSpeechSeq2Seq

from model_runner.errors import NotCapturable
from model_runner.local.loading import known_families
from model_runner.local.loading.class_of_family import ASSISTS, HEARS, HEARS_ALONG, UNKNOWN, WRITES_SOUND, class_of
from model_runner.local.loading.known_families import can_be_captured, check_family, refusal


@pytest.mark.parametrize(
    "config, chosen",
    [
        ({"model_type": "llama"}, AutoModelForCausalLM),
        ({"model_type": "bert"}, AutoModelForMaskedLM),
        ({"model_type": "bert", "architectures": ["BertLMHeadModel"]}, AutoModelForCausalLM),
        ({"model_type": "t5"}, AutoModelForSeq2SeqLM),
        ({"model_type": "voxtral"}, AutoModelForSeq2SeqLM),  # reads sound too, and texts by themselves
        ({"model_type": "qwen2_audio"}, AutoModelForSeq2SeqLM),
        ({"model_type": "seamless_m4t", "architectures": ["SeamlessM4TModel"]}, AutoModelForSeq2SeqLM),
        ({"model_type": "whisper", "architectures": ["WhisperForCausalLM"]}, AutoModelForCausalLM),
        ({"model_type": "whisper"}, AutoModelForSpeechSeq2Seq),
    ],
)
def test_a_family_is_read_by_the_class_that_reads_its_input(config: dict[str, Any], chosen: object) -> None:
    assert class_of("some/model", config) is chosen


@pytest.mark.parametrize(
    "family, reason",
    [
        ("speech_to_text", HEARS),
        ("voxtral_realtime", HEARS_ALONG),
        ("musicgen", WRITES_SOUND),
        ("gemma4_assistant", ASSISTS),
        ("vit", UNKNOWN),
        ("no_family", UNKNOWN),
        ("fnet", "none of its layers uses transformers' attention interface for softmax attention"),
    ],
)
def test_a_family_that_is_never_captured_is_refused_by_its_name(family: str, reason: str) -> None:
    published = {"is_encoder_decoder": True} if family == "musicgen" else {}
    with pytest.raises(NotCapturable) as refused:
        check_family("some/model", {"model_type": family, **published})
    assert refused.value.values["reason"] == reason


@pytest.mark.parametrize(
    "config, known",
    [
        ({"model_type": "llama"}, True),
        ({"model_type": "mamba"}, True),  # without softmax
        ({"model_type": "albert"}, True),  # whose layers share one module
        ({"model_type": "fnet"}, False),
        ({"model_type": "deberta-v2", "relative_attention": True}, True),
        ({"model_type": "deberta-v2"}, True),
        ({"model_type": "deepseek_v4"}, True),
        ({}, None),
    ],
)
def test_what_is_known_of_a_configuration(config: dict[str, Any], known: bool | None) -> None:
    assert can_be_captured(config) is known
    assert (refusal(config) is not None) == (known is False)


def test_a_family_with_a_part_of_a_library_that_is_not_installed_is_refused_with_that(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = {"model_type": "gemma3n"}
    monkeypatch.setattr(known_families, "find_spec", lambda _library: None)
    assert refusal(config) == "a part of it is in the library timm, which is not installed here"
    assert can_be_captured(config) is False
    monkeypatch.setattr(known_families, "find_spec", lambda library: library == "timm")
    assert refusal(config) is None
    assert can_be_captured(config) is True
