"""What the generated part of the corpus teaches: plain data, no code paths."""

from scripts.corpus.facts.animals import ANIMALS, COLOUR_FACTS
from scripts.corpus.facts.categories import CATEGORIES, DAYS, MASS_NOUNS, MONTHS, PLANETS, SEASONS
from scripts.corpus.facts.geography import CAPITALS_BY_CONTINENT, COMMON_COUNTRIES, LANDMARKS, LANGUAGES
from scripts.corpus.facts.jobs import JOBS, USES
from scripts.corpus.facts.sayings import GENERAL_FACTS, RHYMES, WORKS
from scripts.corpus.facts.vocabulary import ALPHABET, COLOURS, NUMBER_WORDS, OPPOSITES, ORDINALS, PASTS, PLURALS

__all__ = [
    "ALPHABET",
    "ANIMALS",
    "CAPITALS_BY_CONTINENT",
    "CATEGORIES",
    "COLOURS",
    "COLOUR_FACTS",
    "COMMON_COUNTRIES",
    "DAYS",
    "GENERAL_FACTS",
    "JOBS",
    "LANDMARKS",
    "LANGUAGES",
    "MASS_NOUNS",
    "MONTHS",
    "NUMBER_WORDS",
    "OPPOSITES",
    "ORDINALS",
    "PASTS",
    "PLANETS",
    "PLURALS",
    "RHYMES",
    "SEASONS",
    "USES",
    "WORKS",
]
