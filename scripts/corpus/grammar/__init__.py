"""The story grammar: plain data, no code paths."""

from scripts.corpus.grammar.events import EVENTS
from scripts.corpus.grammar.plot import ENDINGS, LINKS, OPENINGS, TRAITS
from scripts.corpus.grammar.pronouns import CHASE_TEMPLATES, CHASERS, FIT_TEMPLATES, GIVE_TEMPLATES

__all__ = [
    "CHASERS",
    "CHASE_TEMPLATES",
    "ENDINGS",
    "EVENTS",
    "FIT_TEMPLATES",
    "GIVE_TEMPLATES",
    "LINKS",
    "OPENINGS",
    "TRAITS",
]
