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
# Of models that read a text otherwise than to go on with it.
OF_MODEL = {
    "encoder": (
        Example(N_("weekday"), "Monday, Tuesday, [MASK], Thursday."),
        Example(N_("fact"), "The capital of France is [MASK]."),
        Example(N_("counting"), "One, two, [MASK], four, five."),
        Example(N_("Chinese fact"), "法国的首都是[MASK]。"),
        Example(N_("Chinese name"), "小明把书给了小红，[MASK]说谢谢。"),
        Example(N_("Chinese poem"), "白日依山尽，[MASK]入海流。"),
    ),
    "translator": (
        Example(N_("time and place"), "The dog chased the cat in the garden yesterday."),
        Example(N_("habit"), "The boy writes the expensive letter every week."),
        Example(N_("word order"), "The monkey put the peach on the bridge last night."),
        Example(N_("Chinese habit"), "那只松鼠每天在房子里写那本书。"),
        Example(N_("Chinese word order"), "那匹马今早把那首绿色的诗放在了屋顶下面。"),
        Example(N_("Chinese reason"), "因为约翰追了亨利，所以一个年轻的女孩借了一面鼓。"),
    ),
}


def examples_of(model: str, language: str) -> tuple[Example, ...]:
    """The texts that this model has something to show of; of one that reads several languages, the reader's first."""
    if model not in OF_MODEL:
        return EXAMPLES
    return tuple(sorted(OF_MODEL[model], key=lambda example: example.text.isascii() == (language == "zh")))


def suited(text: str, before: str, now: str, language: str) -> str:
    """The text for another model: an example of the one before becomes one of its own, any other text stays."""
    own = [example.text for example in examples_of(now, language)]
    left = text in [example.text for example in examples_of(before, language)] and text not in own
    return own[0] if left else text
