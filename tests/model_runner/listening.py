"""A tiny random Whisper that reads three seconds of sound: its model, its feature extractor, and a folder of both."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForSpeechSeq2Seq, PreTrainedModel, WhisperFeatureExtractor

from model_runner.local.runner import LocalRunner
from model_runner.sound import Sound, sound_of
from tests.model_runner.folders import save
from tests.model_runner.tiny import BOS, D_MODEL, EOS, N_HEADS, PAD, byte_tokenizer, place, tiny

FRAMES, RATE = 150, 16_000
ENGLISH, GERMAN, TRANSCRIBE, NO_TIMES, START = 259, 260, 261, 262, 263
SIZES: dict[str, Any] = {
    "d_model": D_MODEL, "num_hidden_layers": 2, "encoder_layers": 2, "decoder_layers": 3,
    "encoder_ffn_dim": 48, "decoder_ffn_dim": 48,
    "encoder_attention_heads": N_HEADS, "decoder_attention_heads": N_HEADS, "num_mel_bins": 16,
    "max_source_positions": FRAMES, "max_target_positions": 64, "decoder_start_token_id": START,
    "bos_token_id": BOS, "eos_token_id": EOS, "pad_token_id": PAD,
}  # fmt: skip  # a size a line would be most of this file


PUBLISHED: dict[str, Any] = {
    "lang_to_id": {"<|en|>": ENGLISH, "<|de|>": GERMAN},
    "task_to_id": {"transcribe": TRANSCRIBE},
    "forced_decoder_ids": [[1, None], [2, TRANSCRIBE]],
    "no_timestamps_token_id": NO_TIMES,
    "is_multilingual": True,
    "suppress_tokens": [5, 6],
    "begin_suppress_tokens": [7, EOS],
    "max_length": 60,
}


def whisper(**settings: Any) -> Callable[[], PreTrainedModel]:
    """A builder; ``settings`` are of its generation, as of a published one unless told otherwise."""

    def build() -> PreTrainedModel:
        model: Any = tiny("whisper", AutoModelForSpeechSeq2Seq, **SIZES)()
        for name, value in (PUBLISHED | settings).items():
            setattr(model.generation_config, name, value)
        return model

    return build


def ears() -> WhisperFeatureExtractor:
    return WhisperFeatureExtractor(feature_size=16, sampling_rate=RATE, hop_length=160, chunk_length=3)


def runner(dtype: torch.dtype = torch.float32, **settings: Any) -> LocalRunner:
    model = place(whisper(**settings)(), "cpu", dtype)
    return LocalRunner(model, byte_tokenizer(), name="whisper", feature_extractor=ears())


def tone(seconds: float = 0.6, rate: int = RATE, pitch: float = 200.0) -> Sound:
    time = torch.arange(int(seconds * rate), dtype=torch.float64) / rate
    return sound_of(0.5 * torch.sin(2 * math.pi * pitch * time * (1 + time)), rate)


def save_whisper(folder: Path, **settings: Any) -> Path:
    """As transformers writes it, with a tokenizer of bytes."""
    save(folder, whisper(**settings)())
    ears().save_pretrained(folder)
    file = folder / "generation_config.json"
    of_all = json.loads(file.read_text("utf-8"))
    del of_all["_from_model_config"]  # with it transformers reads none of the settings that are Whisper's own
    file.write_text(json.dumps(of_all | PUBLISHED | settings), "utf-8")
    return folder
