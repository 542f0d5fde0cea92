"""Example texts by topic, each chosen because some head does something with it that can be seen."""

from __future__ import annotations

from dataclasses import dataclass

N_ = str  # marks a text for Babel without translating it here


@dataclass(frozen=True)
class Example:
    topic: str
    text: str


EXAMPLES = (
    Example(N_("pronoun"), "The dog chased the squirrel because it"),
    Example(N_("fact"), "The capital of France is"),
    Example(N_("memory"), "The Shawshank"),
    Example(N_("induction"), "lamp river seven cloud lamp river seven cloud lamp river seven"),
    Example(N_("names"), "When Mary and John went to the store, John gave a drink to"),
    Example(N_("Chinese"), "北京是中国的首都，上海是中国最大的城市。"),
    Example(N_("code"), "def add(a, b):\n    return a + b"),
)
