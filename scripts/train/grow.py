"""Adds a second language to a trained model: the vocabulary grows, and what the model knew is unchanged."""

from __future__ import annotations

import json
import re
from pathlib import Path

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

LONGEST_WORD = 9  # bytes: three characters
CHARACTER_COUNT = 100  # how often a common character counts at least, so that it becomes a token
# Characters that stand between words rather than in them; no token joins them to their neighbours.
ALONE = re.compile(r"[\x00-\x7f]+|([的了是在和把给着也很说去来问叫它他她我你这那有不一两三，。！？：；、“”《》])")


def grown_tokenizer(tokenizer: PreTrainedTokenizerFast, documents: list[str], *, vocab: int) -> PreTrainedTokenizerFast:
    """The tokenizer with new entries for ``documents``, up to ``vocab`` in all; old entries keep their ids.

    The new merges only join bytes outside ASCII and come after the old ones, so that English is tokenized as before.
    """
    old = json.loads(tokenizer.backend_tokenizer.to_str())
    known: dict[str, int] = old["model"]["vocab"]
    for left, right in _merges(documents, vocab):
        if len(known) == vocab:
            break
        if left in known and right in known and left + right not in known:
            known[left + right] = len(known)
            old["model"]["merges"].append([left, right])
    grown = PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_str(json.dumps(old)))
    return PreTrainedTokenizerFast(
        tokenizer_object=grown.backend_tokenizer,
        bos_token=tokenizer.bos_token,
        eos_token=tokenizer.eos_token,
        pad_token=tokenizer.pad_token,
        model_max_length=tokenizer.model_max_length,
        clean_up_tokenization_spaces=False,
    )


def _merges(documents: list[str], vocab: int) -> list[list[str]]:
    """Byte-pair merges of the words and characters of ``documents``, ASCII left out, the most common first."""
    pieces = [piece for text in documents for piece in ALONE.sub(r"\n\1\n", text).split("\n") if piece]
    common = sorted({character for text in documents for character in text} & _first_level())
    trainer = trainers.BpeTrainer(
        vocab_size=vocab,  # more than needed: pieces of old merges are skipped
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        max_token_length=LONGEST_WORD,
        show_progress=False,
    )
    learned = Tokenizer(models.BPE())
    learned.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    learned.train_from_iterator([*pieces, *common * CHARACTER_COUNT], trainer)
    return json.loads(learned.to_str())["model"]["merges"]


def _first_level() -> set[str]:
    """The 3,755 most used Chinese characters: the first level of GB 2312."""
    rows = ((row, cell) for row in range(16, 56) for cell in range(1, 95) if not (row == 55 and cell > 89))
    return {bytes([row + 0xA0, cell + 0xA0]).decode("gb2312") for row, cell in rows}


def start_from(model: LlamaForCausalLM, folder: Path, tokenizer: PreTrainedTokenizerFast) -> None:
    """Set ``model`` to the trained weights in ``folder``; a new token starts as the mean of its old pieces."""
    old = LlamaForCausalLM.from_pretrained(folder, local_files_only=True, dtype=torch.float32)
    state = old.state_dict()
    embedding = state["model.embed_tokens.weight"]
    rows = [embedding[ids].mean(0) for ids in _old_pieces(tokenizer, len(embedding))]
    state["model.embed_tokens.weight"] = state["lm_head.weight"] = torch.stack(rows)
    model.load_state_dict(state)


def _old_pieces(tokenizer: PreTrainedTokenizerFast, n_old: int) -> list[list[int]]:
    """For each entry, the old entries it consists of: itself, or those of the two that its merge joined."""
    model = json.loads(tokenizer.backend_tokenizer.to_str())["model"]
    vocabulary: dict[str, int] = model["vocab"]
    pieces = [[i] for i in range(n_old)]
    for left, right in model["merges"]:
        if vocabulary[left + right] == len(pieces):
            pieces.append(pieces[vocabulary[left]] + pieces[vocabulary[right]])
    return pieces
