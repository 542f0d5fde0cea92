"""Sentences for the translation model: which are held out, its tokenizer, its batches."""

from __future__ import annotations

import zlib
from random import Random

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

from scripts.corpus.parallel.sentences import Pair, content, sentence

PAD, END = "<pad>", "</s>"
VOCAB = 2048
ONE_IN = 20  # combinations of nouns and verbs that are held out
LONGEST = 64  # tokens


def held_out(pair: Pair) -> bool:
    """Whether the combination of nouns and verbs of this sentence is never trained on."""
    return zlib.crc32(content(pair).encode()) % ONE_IN == 0


def sentences(rng: Random, count: int, *, held: bool) -> list[Pair]:
    """``count`` random sentences, all for training or all held out."""
    found: list[Pair] = []
    while len(found) < count:
        pair = sentence(rng)
        if held_out(pair) == held:
            found.append(pair)
    return found


def make_tokenizer(seed: int = 17) -> PreTrainedTokenizerFast:
    """Byte-level BPE: every word of the sentences is one token, and any other text round-trips."""
    rng = Random(seed)
    texts: list[str] = []
    for pair in sentences(rng, 20_000, held=False):
        texts += [pair.english_text, *(word.text for word in pair.chinese)]  # Chinese words one by one
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCAB,
        special_tokens=[PAD, END],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    end = (END, tokenizer.token_to_id(END))
    ends = processors.TemplateProcessing(single=f"$A {END}", pair=f"$A {END} $B {END}", special_tokens=[end])
    tokenizer.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), ends])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=PAD,
        eos_token=END,
        model_max_length=512,
        clean_up_tokenization_spaces=False,
    )


def both_ways(pairs: list[Pair]) -> list[tuple[str, str]]:
    """(source, target) of every pair in both directions; the source's language tells which one."""
    english = [(pair.english_text, pair.chinese_text) for pair in pairs]
    return english + [(target, source) for source, target in english]


def batch(tokenizer: PreTrainedTokenizerFast, texts: list[tuple[str, str]]) -> dict[str, torch.Tensor]:
    """Padded sources with their mask, and labels in which padding is ignored."""
    sources = tokenizer([source for source, _ in texts], padding=True, return_tensors="pt")
    targets = tokenizer([target for _, target in texts], padding=True, return_tensors="pt")
    labels = targets["input_ids"].masked_fill(targets["attention_mask"] == 0, -100)
    return {"input_ids": sources["input_ids"], "attention_mask": sources["attention_mask"], "labels": labels}
