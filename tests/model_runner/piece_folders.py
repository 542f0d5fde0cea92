"""Folders of translators and others with SentencePiece files alone, as they are published, made small by script."""

from __future__ import annotations

import io
import json
from functools import cache
from pathlib import Path
from typing import Any

from sentencepiece import SentencePieceProcessor, SentencePieceTrainer
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, PreTrainedModel

from tests.model_runner.tiny import tiny

CORPUS = [
    "The dog chased 12345 squirrels, because they were quick and it was not.", "The girl saw a bird in the tree.",
    "Das ist ein kleiner Hund, und der läuft schnell durch den Wald.", "Le chien court après l'écureuil, naïf café.",
    "狗看见了猫，它跑得很快。", "a b c d e f g h i j k l m n o p q r s t u v w x y z 0 1 2 3 4 5 6 7 8 9 . ! ?",
]  # fmt: skip


@cache
def pieces(model_type: str = "unigram", size: int = 120, **options: Any) -> bytes:
    """A trained SentencePiece model; ``size`` is the number of its pieces, at most."""
    made = io.BytesIO()
    SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS * 3),
        model_writer=made,
        model_type=model_type,
        vocab_size=size,
        hard_vocab_limit=False,
        minloglevel=2,
        **options,
    )
    return made.getvalue()


def words(model: bytes) -> list[str]:
    """The pieces of a model by id."""
    loaded = SentencePieceProcessor(model_proto=model)
    return [loaded.id_to_piece(place) for place in range(loaded.get_piece_size())]


def _write(folder: Path, name: str, value: Any) -> None:
    (folder / name).write_text(json.dumps(value, ensure_ascii=False), "utf-8")


def _t5(folder: Path) -> int:
    (folder / "spiece.model").write_bytes(made := pieces(pad_id=0, eos_id=1, unk_id=2, bos_id=-1))
    return len(words(made)) + 100


def _llama(folder: Path) -> int:
    own = {"byte_fallback": True, "split_digits": True, "normalization_rule_name": "identity"}
    plain = {"remove_extra_whitespaces": False, "allow_whitespace_only_pieces": True}
    (folder / "tokenizer.model").write_bytes(made := pieces("bpe", 380, **own, **plain))
    settings = {"tokenizer_class": "LlamaTokenizer", "add_bos_token": True, "bos_token": "<s>", "eos_token": "</s>"}
    _write(folder, "tokenizer_config.json", {**settings, "unk_token": "<unk>"})
    return len(words(made))


def _mbart(folder: Path) -> int:
    (folder / "sentencepiece.bpe.model").write_bytes(made := pieces())
    return len(words(made)) + 1 + 25 + 1  # one place further than the pieces, then 25 languages and the mask


def _nllb(folder: Path) -> int:
    (folder / "sentencepiece.bpe.model").write_bytes(made := pieces("bpe"))
    _write(folder, "tokenizer_config.json", {"tokenizer_class": "NllbTokenizer"})
    return len(words(made)) + 1 + 202 + 1


def _m2m(folder: Path) -> int:
    (folder / "sentencepiece.bpe.model").write_bytes(made := pieces("bpe"))
    _write(
        folder, "vocab.json", {word: i for i, word in enumerate(["<s>", "<pad>", "</s>", "<unk>", *words(made)[3:]])}
    )
    return len(words(made)) + 1 + 100


def _marian(folder: Path) -> int:
    (folder / "source.spm").write_bytes(source := pieces())
    (folder / "target.spm").write_bytes(target := pieces("bpe", 100))
    known = dict.fromkeys(["</s>", "<unk>", *words(source)[3:], *words(target)[3:], "<pad>"])
    _write(folder, "vocab.json", {word: place for place, word in enumerate(known)})
    _write(folder, "tokenizer_config.json", {"source_lang": "en", "target_lang": "de"})
    return len(known)


# name → the family of its model, and what writes its files and tells how many tokens there are
FOLDERS = {
    "t5": ("t5", _t5),
    "llama": ("llama", _llama),
    "mbart": ("mbart", _mbart),
    "nllb": ("m2m_100", _nllb),
    "m2m": ("m2m_100", _m2m),
    "marian": ("marian", _marian),
}
D_MODEL, LAYERS, HEADS = 32, 2, 4
TWO = {
    "d_model": D_MODEL, "encoder_layers": LAYERS, "decoder_layers": LAYERS, "encoder_attention_heads": HEADS,
    "decoder_attention_heads": HEADS, "encoder_ffn_dim": 48, "decoder_ffn_dim": 48,
}  # fmt: skip
T5 = {"d_model": D_MODEL, "d_kv": 8, "d_ff": 48, "num_layers": LAYERS, "num_heads": HEADS}
STARTS = {  # as the published ones have them
    "t5": {"decoder_start_token_id": 0, "pad_token_id": 0, "eos_token_id": 1},
    "llama": {"bos_token_id": 1, "eos_token_id": 2},
    "mbart": {"pad_token_id": 1, "eos_token_id": 2, "bos_token_id": 0},
    "nllb": {"decoder_start_token_id": 2, "pad_token_id": 1, "eos_token_id": 2, "bos_token_id": 0},
    "m2m": {"decoder_start_token_id": 2, "pad_token_id": 1, "eos_token_id": 2, "bos_token_id": 0},
    "marian": {"eos_token_id": 0},
}


def piece_files(name: str, folder: Path) -> int:
    """Those of its tokenizer and its config.json, and how many tokens there are."""
    family, write = FOLDERS[name]
    _write(folder, "config.json", {"model_type": family})
    return write(folder)


def piece_folder(name: str, folder: Path, **config: Any) -> Path:
    """A small random model with such a tokenizer; ``config`` is written over its own."""
    count = piece_files(name, folder)
    family, sizes = FOLDERS[name][0], {"t5": T5, "llama": {}}.get(name, TWO)
    own: dict[str, Any] = {**sizes, "vocab_size": count, **STARTS[name]}
    if name == "mbart":  # which begins with the language that it writes: Romanian
        own["decoder_start_token_id"] = count - 26 + 19
    if name == "marian":
        own |= {"pad_token_id": count - 1, "decoder_start_token_id": count - 1, "decoder_vocab_size": count}
    auto: Any = AutoModelForCausalLM if name == "llama" else AutoModelForSeq2SeqLM
    model: PreTrainedModel = tiny(family, auto, **{**own, **config})()
    model.save_pretrained(folder)
    return folder
