"""Which transformers class loads a family, and which families have no class that models text."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from transformers import (
    CONFIG_MAPPING,
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoModelForSeq2SeqLM,
    AutoModelForSequenceClassification,
    AutoModelForSpeechSeq2Seq,
    AutoModelForTextEncoding,
)
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES,
    MODEL_FOR_SPEECH_SEQ_2_SEQ_MAPPING_NAMES,
    MODEL_FOR_TEXT_ENCODING_MAPPING_NAMES,
)

from model_runner.errors import N_, NotCapturable

HEARS = N_("its encoder reads sound, and of such models only Whisper can be looked at so far")
LISTENS = ("whisper",)  # families whose sound `sound_input.py` prepares
UNKNOWN = N_("it is not a language model that transformers knows")
WRITES_SOUND = N_("what it writes is sound, in several rows of codes at once, and only texts can be looked at so far")
ASSISTS = N_("it reads the keys and values of another model, for which it drafts tokens, and no text of its own")
HEARS_ALONG = N_("it adds a piece of sound to every token, and only texts can be looked at so far")
NO_TEXT = {  # these families read or write something other than text, whatever their sizes
    "musicgen": WRITES_SOUND,
    "musicgen_melody": WRITES_SOUND,
    "gemma4_assistant": ASSISTS,
    "gemma4_unified_assistant": ASSISTS,
    "voxtral_realtime": HEARS_ALONG,
}


def class_of(name: str, config: Mapping[str, Any], held: Collection[str] = ()) -> Any:
    """The class for models of this configuration; ``name`` is for the error message. Raises NotCapturable.

    ``held`` are the names of the weights, where they are known.
    """
    family, listed = str(config.get("model_type")), config.get("architectures")
    if family not in CONFIG_MAPPING:
        raise NotCapturable(name=name, family=family, reason=UNKNOWN)
    if family in NO_TEXT:
        raise NotCapturable(name=name, family=family, reason=NO_TEXT[family])
    usual = getattr(CONFIG_MAPPING[family], "is_encoder_decoder", False)
    architectures = [str(item) for item in listed] if isinstance(listed, list) else []
    scores = any(item.endswith("ForSequenceClassification") for item in architectures)
    if scores and family in MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES:
        return AutoModelForSequenceClassification
    causal = any("ForCausalLM" in item or "LMHead" in item for item in architectures)
    if usual and _encodes_only(family, config, architectures, held):
        return AutoModelForTextEncoding
    # The causal class of an encoder–decoder would load the decoder alone.
    if config.get("is_encoder_decoder", usual) and not causal:
        if family in MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES:  # SeamlessM4T reads either
            return AutoModelForSeq2SeqLM
        if family in LISTENS:
            return AutoModelForSpeechSeq2Seq
        hears = family in MODEL_FOR_SPEECH_SEQ_2_SEQ_MAPPING_NAMES
        raise NotCapturable(name=name, family=family, reason=HEARS if hears else UNKNOWN)
    if family in MODEL_FOR_MASKED_LM_MAPPING_NAMES and not (causal and family in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES):
        return AutoModelForMaskedLM
    if family in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES:
        return AutoModelForCausalLM
    if family in MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES:  # Voxtral: a decoder that takes a text, or sound too
        return AutoModelForSeq2SeqLM
    raise NotCapturable(name=name, family=family, reason=UNKNOWN)


def _encodes_only(
    family: str, config: Mapping[str, Any], architectures: Collection[str], held: Collection[str]
) -> bool:
    """Whether it is only the encoder of an encoder–decoder, by its settings or because the files hold no decoder.

    Text encoders of image generators are published with the settings of the whole model.
    """
    if family not in MODEL_FOR_TEXT_ENCODING_MAPPING_NAMES:
        return False
    without = bool(held) and not any("decoder" in name.split(".") for name in held)
    named = MODEL_FOR_TEXT_ENCODING_MAPPING_NAMES[family] in architectures
    return named or not config.get("is_encoder_decoder", True) or without


def as_read(config: Any, auto: Any) -> Any:
    """The configuration for this class; that of an encoder alone mentions no decoder."""
    if auto is AutoModelForTextEncoding:
        config.is_encoder_decoder = False
    return config
