"""What one row or column of a picture stands for: a token, or a word of several tokens."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from model_runner.capture import Capture
from model_runner.tokens import Token, visible

CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # scripts without spaces: one character is one word
MARKS = "".join(mark for mark in map(chr, range(0x300, 0x10000)) if unicodedata.category(mark).startswith("M"))
JOINERS = "\u200c\u200d"  # inside a word in Hindi or Persian, and between the emoji of a family
# \w alone excludes vowel signs and combining accents
LETTERS = rf"(?![{CJK}])\w(?:(?![{CJK}])[\w{MARKS}{JOINERS}])*"
SIGN = rf"[^\w\s][{MARKS}\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]*"  # with its accents, skin tone or region
EMOJI = rf"[\U0001f1e6-\U0001f1ff]{{2}}|{SIGN}(?:\u200d{SIGN})*"  # a flag is two letters
WORD = re.compile(rf"[{CJK}][{MARKS}]*|{LETTERS}(?:['’]{LETTERS})*|{EMOJI}")


@dataclass(frozen=True)
class Unit:
    """Tokens ``start`` to ``stop`` (exclusive) under one label; ``parts`` are the labels of its tokens."""

    label: str
    start: int
    stop: int
    parts: tuple[str, ...]
    special: bool = False

    @property
    def tokens(self) -> slice:
        return slice(self.start, self.stop)


def token_units(capture: Capture) -> tuple[Unit, ...]:
    """One unit per token."""
    return tuple(Unit(token.text, i, i + 1, (token.text,), token.special) for i, token in enumerate(capture.tokens))


def character_units(capture: Capture) -> tuple[Unit, ...]:
    """One unit per token, with the bytes of a split character joined under that character."""
    return _joined(capture, [_split_character(token) for token in capture.tokens])


def word_units(capture: Capture) -> tuple[Unit, ...]:
    """One unit per word, punctuation mark or special token; a token that covers no word (a line break) is a unit."""
    starts = [match.start() for match in WORD.finditer(capture.text)]
    ends = [match.end() for match in WORD.finditer(capture.text)]
    keys: list[object] = []
    word = 0
    for token in capture.tokens:
        while word < len(ends) and ends[word] <= token.start:
            word += 1
        covers = word < len(ends) and token.end > starts[word] and not token.special and token.end > token.start
        keys.append(word if covers else None)
    return _joined(capture, keys)


def _split_character(token: Token) -> object:
    is_bytes = token.text.startswith("⟨") and not token.special and token.end - token.start == 1
    return (token.start, token.end) if is_bytes else None


def _joined(capture: Capture, keys: list[object]) -> tuple[Unit, ...]:
    """Join runs of tokens with the same key; None never joins."""
    runs: list[list[int]] = []
    for i, key in enumerate(keys):
        if runs and key is not None and keys[i - 1] == key:
            runs[-1].append(i)
        else:
            runs.append([i])
    return tuple(_unit(capture, run) for run in runs)


def _unit(capture: Capture, run: list[int]) -> Unit:
    tokens = [capture.tokens[i] for i in run]
    text = capture.text[tokens[0].start : tokens[-1].end]
    label = tokens[0].text if len(run) == 1 else visible(text)
    return Unit(label, run[0], run[-1] + 1, tuple(token.text for token in tokens), tokens[0].special)
