"""Sentence templates become sentences; ``grammar/plot.py`` explains the notation."""

from __future__ import annotations

import random
import re

from scripts.corpus.cast import Cast

CHOICE = re.compile(r"\[([^\[\]]*)\]")
REFERENCE = re.compile(r"<(\w)(?:\.(\w+))?>")
ARTICLE = re.compile(r"\b([Aa]) (?=[aeiouAEIOU])(?!(?:uni|use|one |eu|Eu|Uni|u-))")


def fill(template: str, cast: Cast, rng: random.Random) -> str:
    """The template with its choices drawn, innermost first, and its references resolved."""
    while "[" in template:
        template = CHOICE.sub(lambda m: rng.choice(m[1].split("|")), template)

    def resolve(match: re.Match[str]) -> str:
        value = cast[match[1]]
        if isinstance(value, str):
            return value
        return value.get(match[2]) if match[2] else value.name

    return REFERENCE.sub(resolve, template)


def indefinite(text: str) -> str:
    """The text with "a" turned into "an" where a vowel is heard next."""
    return ARTICLE.sub(r"\1n ", text)


def tidy(text: str) -> str:
    """The text with articles, capitals and spacing put right after a template was filled."""
    text = re.sub(r" +", " ", indefinite(text)).replace(" \n", "\n").strip()
    return re.sub(r"(^|[.?!] |\.\" |\n)([a-z])", lambda m: m[1] + m[2].upper(), text)
