"""The tokenized corpus: read once, cached in the working folder, and sampled in batches."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from transformers import PreTrainedTokenizerFast

from scripts.corpus.files import read_documents
from scripts.train.grow import grown_tokenizer
from scripts.train.settings import Settings
from scripts.train.tokenizer import special_ids, train_tokenizer
from scripts.train.windows import Part, repeated

VALIDATION_EVERY = 50  # every 50th document (2 %) is held out
SPLITS = ("train", "valid")
log = logging.getLogger(__name__)


class CorpusError(ValueError):
    """The corpus is missing, too small, or not the one that the working folder was made from."""


@dataclass(frozen=True, eq=False)
class Data:
    """Training and held-out documents of every part."""

    train: dict[str, Part]
    valid: dict[str, Part]
    vocab: int
    bos_id: int
    mix: Mapping[str, float]  # share of the training tokens per part

    def batch(
        self,
        rng: np.random.Generator,
        size: int,
        length: int,
        repeat_share: float = 0.0,
        mix: Mapping[str, float] | None = None,
    ) -> torch.Tensor:
        """``size`` windows drawn according to ``mix``; ``repeat_share`` of them become a repeated scramble."""
        shares = mix or self.mix
        names = list(shares)
        chosen = rng.choice(len(names), size=size, p=list(shares.values()))
        windows = [self.train[names[i]].window(rng, length, self.bos_id) for i in chosen]
        for i in np.flatnonzero(rng.random(size) < repeat_share):
            windows[i] = repeated(rng, windows[i], self.vocab)
        return torch.from_numpy(np.stack(windows))


def load_data(settings: Settings) -> tuple[Data, PreTrainedTokenizerFast]:
    """The tokenized corpus and its tokenizer, both made on the first start and reused after that.

    Raises CorpusError if a part is missing or shorter than a window, or if the working folder belongs to another
    corpus, since its checkpoint has another vocabulary.
    """
    files = {name: part_file(settings.corpus, name) for name in settings.mix}
    source = {"vocab": settings.shape.vocab} | {name: _digest(file) for name, file in files.items()}
    made_from = settings.work / "corpus.json"
    if not made_from.exists():
        _tokenize(files, settings)
        made_from.write_text(json.dumps(source, indent=2) + "\n")
    elif json.loads(made_from.read_text()) != source:
        hint = "delete it to start afresh, or choose another with --work"
        raise CorpusError(f"{settings.work} was made from another corpus or vocabulary: {hint}.")
    tokenizer = PreTrainedTokenizerFast.from_pretrained(settings.work / "tokenizer")
    parts = {(split, name): _load(settings.work, split, name) for split in SPLITS for name in settings.mix}
    for (split, name), part in parts.items():
        longest = max(settings.context, settings.long_context) if split == "train" else settings.context
        if len(part.tokens) < longest:
            raise CorpusError(f"{name} ({split}) has {len(part.tokens)} tokens, a window needs {longest}.")
        log.info("  %-10s %s  %6.2f M tokens", name, split, len(part.tokens) / 1e6)
    train, valid = ({name: parts[split, name] for name in settings.mix} for split in SPLITS)
    return Data(train, valid, len(tokenizer), special_ids(tokenizer)["bos_token_id"], settings.mix), tokenizer


def part_file(corpus: Path, name: str) -> Path:
    """The path of a part of the corpus. Raises CorpusError."""
    for file in (corpus / f"{name}.txt", corpus / f"{name}.txt.xz"):
        if file.exists():
            return file
    raise CorpusError(f"{corpus / name}.txt is missing: write the corpus with `python -m scripts.corpus`.")


def _digest(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _tokenize(files: dict[str, Path], settings: Settings) -> None:
    documents = {name: read_documents(file) for name, file in files.items()}
    tokenizer = _tokenizer(documents, settings)
    settings.work.mkdir(parents=True, exist_ok=True)
    tokenizer.save_pretrained(settings.work / "tokenizer")
    for name, texts in documents.items():
        kept = [text for i, text in enumerate(texts) if i % VALIDATION_EVERY]
        for split, chosen in (("train", kept), ("valid", texts[::VALIDATION_EVERY])):
            part = Part.encode(chosen, tokenizer)
            np.savez(settings.work / f"{name}.{split}.npz", tokens=part.tokens, starts=part.starts)


def _tokenizer(documents: dict[str, list[str]], settings: Settings) -> PreTrainedTokenizerFast:
    shape = settings.shape
    if settings.start:
        old = PreTrainedTokenizerFast.from_pretrained(settings.start, local_files_only=True)
        # A quarter of what is generated is enough: its sentences repeat.
        added = [documents[name][:: 1 if name == "classics" else 4] for name in ("chinese", "classics", "parallel")]
        return grown_tokenizer(old, [text for texts in added for text in texts], vocab=shape.vocab)
    sample = [text for name, texts in documents.items() for text in (texts[::2] if name == "generated" else texts)]
    log.info("Training the tokenizer on %.0f MB of text ...", sum(map(len, sample)) / 1e6)
    return train_tokenizer(sample, vocab=shape.vocab, longest_text=shape.longest_text)


def _load(work: Path, split: str, name: str) -> Part:
    with np.load(work / f"{name}.{split}.npz") as arrays:
        return Part(arrays["tokens"], arrays["starts"])
