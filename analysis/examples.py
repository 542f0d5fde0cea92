"""Example texts, each chosen because the model shows a visible behaviour on it; see ``analysis/stories.py``."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True)
class Example:
    """``topic`` is its displayed name, in the text's language; ``model`` opens with it, empty for the current one.

    ``beside`` is a nearly identical text for comparison.
    """

    topic: str
    text: str
    model: str = ""
    beside: str = ""


EXAMPLES = (
    Example("pronoun", "The pig is behind the dog. It", beside="The dog is behind the pig. It"),
    Example("two answers", "The dog chased the squirrel because it", beside="The dog helped the squirrel because it"),
    Example(
        "fact",
        "The capital of Italy is Rome. The capital of France is",
        beside="The capital of Italy is Rome. The capital of Germany is",
    ),
    Example("memory", "The Shawshank", beside="The red"),
    Example("induction", "king bell ball lion king bell ball", beside="lion king bell ball lion king bell"),
    Example(
        "names",
        "John gave the book to Anna. Anna gave the book back to",
        beside="Tom gave the book to Anna. Anna gave the book back to",
    ),
    Example(
        "first name",
        "When Mary and John went to the store, John gave a drink to",
        beside="When Mary and John went to the store, Mary gave a drink to",
    ),
    Example("sum", "3 + 5 = ", beside="3 + 4 = "),
    Example("code", "def add(a, b): return a +", beside="def add(b, a): return b +"),
    Example("代词", "猫看见了狗，它", beside="狗看见了猫，它"),
    Example("两个答案", "狮子帮助了青蛙，因为它", beside="狮子追赶青蛙，因为它"),
    Example("常识", "意大利的首都是罗马。法国的首都是", beside="意大利的首都是罗马。德国的首都是"),
    Example("背诵", "床前明月光，", beside="窗前明月光，"),
    Example("归纳", "火车，春天，学校，医生，火车，春天，学校，", beside="学校，火车，春天，医生，学校，火车，春天，"),
    Example("人名", "小丽把花给了小芳，小芳又把它还给了", beside="小明把花给了小芳，小芳又把它还给了"),
    Example("第一个名字", "小明和小红去了商店，小红把一本书送给了", beside="小明和小红去了商店，小明把一本书送给了"),
    Example("加法", "8加9等于17。2加4等于", beside="8加9等于17。2加5等于"),
)
# Sentences as used in courses, after which the default model finds several words likely; none of them tells a story.
CHOICES = (
    Example("several words", "The student eats an"),
    Example("explorer", "The brave explorer walked into the"),
    Example("几个候选", "学生吃了一个"),
    Example("大家一起", "我们大家一起"),
)
# For the default model, with an uncertain next word: sampling pages need that, and start with it. In most examples,
# including the first ones, one word is nearly certain.
OPEN = {"en": "The little girl saw a", "zh": "小女孩看见了一只"}
SAMPLING = ("next_token", "film")  # pages about it
SURE = 0.8  # probability of the likeliest token from which on there is not much to sample

# For models that do not continue a text.
OF_MODEL = {
    "encoder": (
        Example("weekday", "Monday, Tuesday, [MASK], Thursday."),
        Example("fact", "The capital of France is [MASK]."),
        Example("counting", "One, two, [MASK], four, five."),
        Example("常识", "法国的首都是[MASK]。"),
        Example("人名", "小明把书给了小红，[MASK]说谢谢。"),
        Example("代词", "狗看见了猫，它[MASK]叫。"),
    ),
    "translator": (
        Example("time and place", "The dog chased the cat in the garden yesterday."),
        Example("habit", "The boy writes the expensive letter every week."),
        Example("word order", "The monkey put the peach on the bridge last night."),
        Example("习惯", "那只松鼠每天在房子里写那本书。"),
        Example("词序", "那匹马今早把那首绿色的诗放在了屋顶下面。"),
        Example("原因", "因为约翰追了亨利，所以一个年轻的女孩借了一面鼓。"),
    ),
}

# What this model cannot do and another embedded one can; the second example leads back.
OF_ANOTHER = {
    "default": (
        Example("translation", "The dog chased the cat in the garden yesterday.", "translator"),
        Example("翻译", "那匹马今早把那首绿色的诗放在了屋顶下面。", "translator"),
    ),
    "translator": (
        Example("next word", EXAMPLES[0].text, "default"),
        Example("接着写", "猫看见了狗，它", "default"),
    ),
}


def first_text(page: str, language: str) -> str:
    """The text with which a session of the default model starts on this page."""
    return OPEN.get(language, OPEN["en"]) if page in SAMPLING else examples_of("", language)[0].text


def is_example(text: str) -> bool:
    """True if some page offers this text, in any model and language; otherwise the reader wrote it."""
    more = (one for examples in (OF_MODEL, OF_ANOTHER) for group in examples.values() for one in group)
    return text in OPEN.values() or text in [one.text for one in (*EXAMPLES, *CHOICES, *more)]


def text_beside(text: str) -> str:
    """A nearly identical text to compare an example with; empty for any other text."""
    return next((one.beside for one in EXAMPLES if one.text == text), "")


def open_text(text: str, largest: float, language: str) -> str:
    """A text with an uncertain next word, if an example's likeliest token has at least this probability; else empty."""
    return OPEN.get(language, OPEN["en"]) if largest > SURE and text in [one.text for one in EXAMPLES] else ""


def examples_of(model: str, language: str) -> tuple[Example, ...]:
    """The examples of this model, those in the reader's language first."""
    return _readers_first(OF_MODEL.get(model, EXAMPLES), language)


def examples_offered(model: str, language: str, models: Collection[str]) -> tuple[Example, ...]:
    """Also those with an uncertain next word and, in the reader's language, those that open another of ``models``."""
    others = (example for example in OF_ANOTHER.get(model, ()) if example.text.isascii() == (language != "zh"))
    shown = (example for example in others if example.model in models)
    return _readers_first((*OF_MODEL.get(model, (*EXAMPLES, *CHOICES)), *shown), language)


def _readers_first(examples: tuple[Example, ...], language: str) -> tuple[Example, ...]:
    return tuple(sorted(examples, key=lambda example: example.text.isascii() == (language == "zh")))


def suited(text: str, before: str, now: str, language: str) -> str:
    """The text for another model: an example of the previous one is replaced by one of its own, other texts stay."""
    own = [example.text for example in examples_of(now, language)]
    left = text in [example.text for example in examples_of(before, language)] and text not in own
    return own[0] if left else text
