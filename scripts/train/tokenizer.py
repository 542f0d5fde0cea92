"""The tokenizer: byte-level BPE, so that any UTF-8 text round-trips."""

from __future__ import annotations

from typing import TypedDict

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

BOS, EOS, PAD = "<|bos|>", "<|eos|>", "<|pad|>"


class SpecialIds(TypedDict):
    """Keyword arguments of a model's and of a generation configuration."""

    bos_token_id: int
    eos_token_id: int
    pad_token_id: int


def train_tokenizer(documents: list[str], *, vocab: int, longest_text: int) -> PreTrainedTokenizerFast:
    """A tokenizer of ``vocab`` entries that splits numbers into digits and puts ``<|bos|>`` before every text."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab,
        special_tokens=[BOS, EOS, PAD],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(documents, trainer)
    bos = (BOS, tokenizer.token_to_id(BOS))
    starts_with_bos = processors.TemplateProcessing(single=f"{BOS} $A", pair=f"{BOS} $A {BOS} $B", special_tokens=[bos])
    tokenizer.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), starts_with_bos])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token=BOS,
        eos_token=EOS,
        pad_token=PAD,
        model_max_length=longest_text,
        clean_up_tokenization_spaces=False,
    )


def special_ids(tokenizer: PreTrainedTokenizerFast) -> SpecialIds:
    """The ids of BOS, EOS and PAD under the names that transformers' configurations give them."""
    vocabulary = tokenizer.get_vocab()
    return SpecialIds(bos_token_id=vocabulary[BOS], eos_token_id=vocabulary[EOS], pad_token_id=vocabulary[PAD])
