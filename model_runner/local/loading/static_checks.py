"""Recognizes folders that are plainly harmless from their files alone, and thus need no subprocess.

The rules err on the safe side: a folder that they do not cover is not called harmful, only tried in a subprocess.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from model_runner.errors import RunnerError
from model_runner.local.loading.checkpoint import Checkpoint
from model_runner.local.loading.folder_files import MOST_JSON, numbers, read_object

# Families built of repeated layers only: their sizes are just the sizes of tensors (transformers 5.23).
PLAIN_FAMILIES = (
    "bert", "bloom", "cohere", "cohere2", "falcon", "gemma", "gemma2", "gpt2", "gpt_bigcode", "gpt_neo", "gpt_neox",
    "granite", "llama", "mistral", "modernbert", "olmo", "olmo2", "opt", "phi", "phi3", "qwen2", "qwen3", "roberta",
    "smollm3", "stablelm", "starcoder2", "xlm-roberta",
)  # fmt: skip
SIZES = re.compile(  # settings that are sizes of tensors, or only used in comparisons and arithmetic
    r"(vocab|hidden|intermediate|embedding|embed_proj|model|head)_(size|dim)|d_model|n_embd|n_inner|ffn_dim|head_dim"
    r"|(original_)?max_position_embeddings|n_positions|n_ctx|seq_length|.*_token_id|.*window(_size)?|.*theta|factor"
)
LARGEST, MOST, MOST_LAYERS = 1 << 25, 4096, 256  # limits of sizes, of other numbers, and of layers

CLASSES = re.compile(r"(PreTrained|TokenizersBackend|Llama|GPT2|Qwen2|GPTNeoX|Bert|Roberta|Cohere)(Tokenizer(Fast)?)?")
ELSEWHERE = re.compile(r".*_file|.*_object|auto_map|vocab|merges")  # settings that name something else to read
MOST_TOKENS, MOST_ADDED, LONGEST_TOKEN = 600_000, 10_000, 512
SMALL = 1 << 20  # bytes of the files beside tokenizer.json
LONGEST_STEP = 10_000  # characters of a part of tokenizer.json, apart from its vocabulary
MOST_GROWING, LONGEST_INSERTED = 3, 3  # steps that make a text longer, and characters that they insert
PARTS = {
    "normalizer": "Sequence NFC NFD NFKC NFKD Lowercase StripAccents BertNormalizer Strip Replace Prepend",
    "pre_tokenizer": "Sequence ByteLevel Whitespace WhitespaceSplit BertPreTokenizer Metaspace Punctuation Digits "
    "Split",
    "post_processor": "Sequence ByteLevel BertProcessing RobertaProcessing TemplateProcessing",
    "decoder": "Sequence ByteLevel WordPiece Metaspace BPEDecoder ByteFallback Fuse Strip Replace",
}
# Patterns of published tokenizers; none of them backtracks.
ENGLISH = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|"
REST = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
PATTERNS = {f"{ENGLISH}{digits}{REST}" for digits in (r"\p{N}", r"\p{N}{1,3}")} | {" {2,}", "[0-9][0-9][0-9]", r"\s+"}


def is_config_harmless(checkpoint: Checkpoint) -> bool:
    """Whether a model of this configuration is built quickly, not counting the time to fill it."""
    config = checkpoint.config
    if config["model_type"] not in PLAIN_FAMILIES or config.get("quantization_config") or "auto_map" in config:
        return False
    for name, number in numbers(config):
        most = LARGEST if SIZES.fullmatch(name) else MOST_LAYERS if "layer" in name else MOST
        if abs(number) > most and (isinstance(number, int) or "layer" in name):
            return False
    return True


def is_tokenizer_harmless(checkpoint: Checkpoint) -> bool:
    """Whether the tokenizer reads any text in time and memory linear in its length. The template is not checked."""
    with suppress(RunnerError, OSError, LookupError, TypeError, ValueError, AttributeError):
        return _small_files(checkpoint.folder) and _known_class(checkpoint) and _plain_tokenizer(checkpoint.folder)
    return False


def _small_files(folder: Path) -> bool:
    """All files but the weights, with nothing that is neither a file nor a folder."""
    for path in folder.iterdir():
        most = SMALL if path.suffix in (".json", ".jinja") and path.stem not in ("tokenizer", "vocab") else MOST_JSON
        known = path.suffix == ".safetensors" or path.name.endswith(".safetensors.index.json")
        read = path.is_file() and (known or path.stat().st_size <= most)
        if not (read or (path.is_dir() and path.name != "additional_chat_templates")):
            return False
    return True


def _known_class(checkpoint: Checkpoint) -> bool:
    path = checkpoint.folder / "tokenizer_config.json"
    settings = read_object(checkpoint.folder, path.name) if path.exists() else {}
    own = settings.get("tokenizer_class") or checkpoint.config.get("tokenizer_class")
    known = checkpoint.config["model_type"] in PLAIN_FAMILIES if own is None else CLASSES.fullmatch(own)
    elsewhere = [name for name in settings if ELSEWHERE.fullmatch(name) and settings[name] is not None]
    own_backend = settings.get("backend", "tokenizers") == "tokenizers"
    return bool(known) and own_backend and not elsewhere and len(settings.get("added_tokens_decoder", ())) <= MOST_ADDED


def _plain_tokenizer(folder: Path) -> bool:
    parts = read_object(folder, "tokenizer.json")
    added = [one["content"] for one in parts.get("added_tokens", ())]
    return (
        len(added) <= MOST_ADDED
        and max(map(len, added), default=0) <= LONGEST_TOKEN
        and parts.get("truncation") is None
        and parts.get("padding") is None
        and _plain_vocabulary(parts["model"])
        and all(_plain_part(parts.get(name), kinds.split()) for name, kinds in PARTS.items())
    )


def _plain_vocabulary(model: dict[str, Any]) -> bool:
    pieces = [one if isinstance(one, str) else one[0] for one in model["vocab"]]  # Unigram pieces come with a score
    rest = {name: value for name, value in model.items() if name not in ("vocab", "merges")}
    return (
        model.get("type", "BPE") in ("BPE", "WordPiece", "WordLevel", "Unigram")
        and len(pieces) <= MOST_TOKENS
        and max(map(len, pieces), default=0) <= LONGEST_TOKEN
        and model.get("max_input_chars_per_word", 0) <= MOST
        and len(json.dumps(rest)) <= MOST
    )


def _plain_part(part: Any, kinds: list[str]) -> bool:
    text = json.dumps(part)
    if len(text) > LONGEST_STEP:
        return False
    steps = list(_steps(part))
    inserted = [str(step.get("content", step.get("prepend", ""))) for step in steps]
    return (
        all(step["type"] in kinds for step in steps)
        and all(_plain_pattern(step["pattern"]) for step in steps if "pattern" in step)
        and max(map(len, inserted), default=0) <= LONGEST_INSERTED
        and sum(map(bool, inserted)) <= MOST_GROWING
    )


def _plain_pattern(pattern: dict[str, str]) -> bool:
    return pattern["Regex"] in PATTERNS if "Regex" in pattern else bool(pattern["String"])


def _steps(part: Any) -> Iterator[dict[str, Any]]:
    """The steps of a part in order, however they are nested."""
    if isinstance(part, dict):
        if "type" in part:
            yield part
        part = list(part.values())
    if isinstance(part, list):
        for one in part:
            yield from _steps(one)
