"""Training windows: stretches of a part of the corpus, and repeated scrambles of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from transformers import PreTrainedTokenizerFast

DOCUMENTS_AT_ONCE = 1000
STARTS_AT_A_DOCUMENT = 0.6  # share of the windows; the others start anywhere


@dataclass(frozen=True, eq=False)
class Part:
    """One part of the corpus as a flat array of token ids; every document starts with BOS and ends with EOS."""

    tokens: np.ndarray  # uint16
    starts: np.ndarray  # the positions of the BOS tokens

    @classmethod
    def encode(cls, documents: list[str], tokenizer: PreTrainedTokenizerFast) -> Part:
        """The documents one after another."""
        pieces: list[np.ndarray] = []
        for first in range(0, len(documents), DOCUMENTS_AT_ONCE):
            for ids in tokenizer(documents[first : first + DOCUMENTS_AT_ONCE], verbose=False)["input_ids"]:
                pieces.append(np.array([*ids, tokenizer.eos_token_id], dtype=np.uint16))
        lengths = [len(piece) for piece in pieces]
        return cls(np.concatenate(pieces), np.cumsum([0, *lengths[:-1]]))

    def window(self, rng: np.random.Generator, length: int, bos_id: int) -> np.ndarray:
        """``length`` token ids that start with BOS: at a document (mostly) or in the middle of one."""
        if rng.random() < STARTS_AT_A_DOCUMENT:
            start = int(self.starts[rng.integers(len(self.starts))])
        else:
            start = int(rng.integers(len(self.tokens)))
        start = min(start, len(self.tokens) - length)
        window = self.tokens[start : start + length].astype(np.int64)
        window[0] = bos_id
        return window


def repeated(rng: np.random.Generator, window: np.ndarray, vocab: int) -> np.ndarray:
    """A few shuffled tokens of a window, repeated after its first token.

    Only attention to earlier tokens predicts them, so that induction heads form. In half of the cases the tokens are
    random ones instead; special tokens (the first three ids) are not among those.
    """
    pool = window[1:] if rng.random() < 0.5 else rng.integers(3, vocab, size=len(window))
    period = int(np.exp(rng.uniform(np.log(5), np.log(len(window) // 2))))
    scramble = rng.permutation(pool)[:period]
    return np.concatenate([window[:1], np.resize(scramble, len(window) - 1)])
