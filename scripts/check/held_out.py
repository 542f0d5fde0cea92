"""Measures how well a model predicts the documents held out from training, in a unit independent of the tokenizer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import torch
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from scripts.corpus.files import read_documents
from scripts.train.data import VALIDATION_EVERY, part_file

ENGLISH = ("generated", "stories", "books")
WINDOW = 255  # tokens read at once, after the first token of a text
AT_ONCE = 16
MOST = 60_000  # characters per part


def held_out(corpus: Path, name: str) -> list[str]:
    """The held-out documents of a part of the corpus, up to the amount that is measured."""
    texts, kept = read_documents(part_file(corpus, name))[::VALIDATION_EVERY], 0
    for count, text in enumerate(texts):
        kept += len(text)
        if kept > MOST:
            return texts[: count + 1]
    return texts


@torch.no_grad()
def bits_per_byte(model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, texts: Sequence[str]) -> float:
    """The model's loss on these texts in bits per byte of UTF-8, with each text split into independent windows."""
    first = tokenizer.bos_token_id
    ids = [tokenizer(text, add_special_tokens=False)["input_ids"] for text in texts]
    windows = [[first, *one[start : start + WINDOW]] for one in ids for start in range(0, len(one), WINDOW)]
    windows.sort(key=len)
    nats = 0.0
    for start in range(0, len(windows), AT_ONCE):
        batch = windows[start : start + AT_ONCE]
        longest = max(map(len, batch))
        # Filled up on the right: causal attention does not see what comes later, and -100 is not counted.
        read = torch.tensor([one + [first] * (longest - len(one)) for one in batch])
        told = torch.tensor([one[1:] + [-100] * (longest - len(one)) for one in batch])
        logits = model(read).logits[:, :-1].flatten(0, 1)
        nats += float(torch.nn.functional.cross_entropy(logits, told.flatten(), reduction="sum"))
    return nats / math.log(2) / sum(len(text.encode()) for text in texts)
