"""The tokens before the text that Whisper writes: the language, the task, and no timestamps.

They are those of transformers' own generation (5.23, ``_retrieve_init_tokens``), from the settings that came with the
model; if no language is set, it is the one that the model detects.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor


def task_tokens(model: Any, given: Mapping[str, Tensor]) -> tuple[int, ...]:
    """The ids after the start token, for the sound in ``given``; empty if the model's settings name none."""
    settings = model.generation_config
    language, task = getattr(settings, "language", None), getattr(settings, "task", None)
    languages, tasks = (getattr(settings, name, None) or {} for name in ("lang_to_id", "task_to_id"))
    forced = getattr(settings, "forced_decoder_ids", None) or getattr(model.config, "forced_decoder_ids", None) or []
    found: list[int | None] = [] if task or language else [token for _, token in forced]
    if language:
        found = [_language(str(language), languages)]
    elif languages and (not found or found[0] is None):
        with torch.no_grad():
            found[:1] = model.detect_language(input_features=given["input_features"]).tolist()
    if task in tasks:
        found.append(tasks[task])
    elif language and "transcribe" in tasks:
        found.append(tasks["transcribe"])
    no_times = getattr(settings, "no_timestamps_token_id", None)
    if no_times is not None and found[-1:] != [no_times] and not getattr(settings, "return_timestamps", False):
        found.append(no_times)
    return tuple(token for token in found if token is not None)


def _language(name: str, languages: Mapping[str, int]) -> int | None:
    """The id for a setting such as "en" or "<

    en

    >"; None if the model does not know it.
    """
    return languages.get(name.lower(), languages.get(f"<|{name.lower()}|>"))
