"""The default model's tokenizer with [CLS], [SEP] and [MASK]: ``[CLS] first [SEP] second [SEP]``."""

from __future__ import annotations

from pathlib import Path

from tokenizers import AddedToken, processors
from transformers import PreTrainedTokenizerFast

CLS, SEP, MASK = "[CLS]", "[SEP]", "[MASK]"


def encoder_tokenizer(folder: Path, *, longest_text: int) -> PreTrainedTokenizerFast:
    """The tokenizer in ``folder``; the old entries keep their ids, the three new ones, if it has none, come last."""
    old = PreTrainedTokenizerFast.from_pretrained(folder, local_files_only=True)
    inner = old.backend_tokenizer
    inner.add_special_tokens([CLS, SEP, AddedToken(MASK, special=True, lstrip=True)])  # a word is hidden with its space
    template = processors.TemplateProcessing(
        single=f"{CLS} $A {SEP}",
        pair=f"{CLS} $A {SEP} $B:1 {SEP}:1",
        special_tokens=[(token, inner.token_to_id(token)) for token in (CLS, SEP)],
    )
    inner.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), template])
    return PreTrainedTokenizerFast(
        tokenizer_object=inner,
        cls_token=CLS,
        sep_token=SEP,
        mask_token=MASK,
        pad_token=old.pad_token,
        model_max_length=longest_text,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
        clean_up_tokenization_spaces=False,
    )
