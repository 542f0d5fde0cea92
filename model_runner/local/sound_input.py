"""Prepares sounds for an audio encoder: transformers' own log-mel spectrogram, with frames as tokens.

Whisper always reads half a minute; a shorter sound is padded with silence, to which the model attends like to anything
else.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import WhisperFeatureExtractor

from model_runner.errors import N_, ModelIncomplete, Reason
from model_runner.local.encoder_input import EncoderInput
from model_runner.local.loading.class_of_family import LISTENS
from model_runner.local.loading.folder_files import MISSING, read_object
from model_runner.sound import Sound, resampled
from model_runner.sound_errors import SoundTooLong
from model_runner.tokens import Token

ALONE, TOGETHER = "preprocessor_config.json", "processor_config.json"  # in older folders, and since transformers 5
# Settings of the spectrogram; the bounds keep an untrusted folder from exhausting this process.
SETTINGS = {
    "feature_size": (1, 1024), "sampling_rate": (1000, 384_000), "hop_length": (1, 10_000), "n_fft": (2, 16_384),
    "chunk_length": (1, 120),
}  # fmt: skip
OTHER = N_("{file} has {value} as {setting}, which makes no sound of the length that the model reads")
STRIDE = 2  # of the convolutions: rows of the spectrogram per frame of the encoder


class SoundInput:
    """Prepares sounds for one model, ``n_frames`` at a time."""

    def __init__(self, extractor: WhisperFeatureExtractor, n_frames: int, device: torch.device, dtype: Any) -> None:
        self._extractor, self._n_frames, self._device, self._dtype = extractor, n_frames, device, dtype
        self.rate = int(extractor.sampling_rate)
        self.seconds = float(extractor.n_samples / self.rate)

    def hear(self, sound: Sound) -> EncoderInput:
        """The frames of a sound, and of the silence after it. Raises SoundTooLong."""
        if sound.seconds > self.seconds:
            raise SoundTooLong(seconds=f"{sound.seconds:,.1f}", limit=f"{self.seconds:g}")
        found: Any = self._extractor(resampled(sound, self.rate).numpy(), sampling_rate=self.rate, return_tensors="pt")
        return self._read(found["input_features"], sound.seconds)

    def to_try(self) -> EncoderInput:
        """An input to probe a model with at load: not a real sound, with all rows different."""
        shape = 1, self._extractor.feature_size, STRIDE * self._n_frames
        return self._read(torch.linspace(-1, 1, steps=shape[1] * shape[2]).reshape(shape), 0.0)

    def _read(self, features: Tensor, heard: float) -> EncoderInput:
        tokens, text = list[Token](), ""
        for place in range(self._n_frames):
            begins = place * self.seconds / self._n_frames
            label = f"{begins:.2f} s"
            start = len(text) + bool(text)
            text = f"{text} {label}" if text else label
            tokens.append(Token(place, label, start, len(text), silent=begins >= heard))
        return EncoderInput(tuple(tokens), text, {"input_features": features.to(self._device, self._dtype)})


def sound_input_of(model: Any, extractor: WhisperFeatureExtractor) -> SoundInput:
    """The sound input of a loaded model."""
    return SoundInput(extractor, model.config.max_source_positions, model.device, model.dtype)


def extractor_of(name: str, folder: Path, config: Any) -> WhisperFeatureExtractor | None:
    """The feature extractor that the folder's files describe, built here; None for a text model.

    Raises ModelIncomplete if it is missing, or does not fit the model.
    """
    if config.model_type not in LISTENS or not config.is_encoder_decoder:
        return None
    file, settings = _settings(name, folder)
    known: dict[str, int] = {}
    for setting, (least, most) in SETTINGS.items():
        value = settings.get(setting)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise _refused(name, OTHER, file=file, setting=setting, value=str(value)[:40])
        known[setting] = value
    frames = known["chunk_length"] * known["sampling_rate"] // known["hop_length"]
    if frames != STRIDE * config.max_source_positions:
        raise _refused(name, OTHER, file=file, setting="chunk_length", value=known["chunk_length"])
    if known["feature_size"] != config.num_mel_bins:
        raise _refused(name, OTHER, file=file, setting="feature_size", value=known["feature_size"])
    if settings.get("dither"):
        raise _refused(name, N_("{file} adds noise to every sound, different each time"), file=file)
    return WhisperFeatureExtractor(**known)  # type: ignore[arg-type]  # whole numbers all of them


def _settings(name: str, folder: Path) -> tuple[str, dict[str, Any]]:
    """The file, and its settings for sound."""
    for file in (ALONE, TOGETHER):
        if (folder / file).exists():
            found: Any = read_object(folder, file)
            found = found.get("feature_extractor", {}) if file == TOGETHER else found
            with contextlib.suppress(AttributeError):
                if found.get("feature_extractor_type") == WhisperFeatureExtractor.__name__:
                    return file, found
    raise _refused(name, MISSING, file=ALONE)


def _refused(name: str, text: str, **values: Any) -> ModelIncomplete:
    return ModelIncomplete(name=name, reason=Reason(text, values))
