"""The trained model as a folder that ``AutoModelForCausalLM`` and ``AutoTokenizer`` load."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

from transformers import LlamaForCausalLM, PreTrainedModel, PreTrainedTokenizerFast

from scripts.train.tokenizer import special_ids


def export(model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, folder: Path, facts: dict[str, Any]) -> None:
    """Write half-precision weights (loaded back as float32), configuration, tokenizer and ``training.json``."""
    model.generation_config.max_new_tokens = 60
    model.generation_config.update(**special_ids(tokenizer))
    write_folder(model, tokenizer, folder, facts)


def write_folder(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, folder: Path, facts: dict[str, Any]
) -> None:
    """The same for a model of any family."""
    folder.mkdir(parents=True, exist_ok=True)
    half = copy.deepcopy(model).half()
    half.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    rules = json.loads((folder / "tokenizer.json").read_text("utf-8"))  # half the bytes, as in the repository
    (folder / "tokenizer.json").write_text(json.dumps(rules, ensure_ascii=False, separators=(",", ":")), "utf-8")
    (folder / "model.safetensors").chmod(0o644)
    _adjust(folder / "config.json", {"dtype": "float32"})  # small enough to compute in full precision everywhere
    # The class name that every transformers version knows, and nothing about the machine that wrote the file.
    _adjust(
        folder / "tokenizer_config.json",
        {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "is_local": None,
            "local_files_only": None,
            "backend": None,
            "model_input_names": list(tokenizer.model_input_names),
        },
    )
    (folder / "training.json").write_text(json.dumps(facts, indent=2) + "\n")


def _adjust(file: Path, changes: dict[str, Any]) -> None:
    """Set keys of a JSON file; a value of None removes the key."""
    merged = json.loads(file.read_text()) | changes
    file.write_text(json.dumps({key: value for key, value in merged.items() if value is not None}, indent=2) + "\n")
