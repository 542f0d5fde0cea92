"""Texts with something to see in them: what one token looks at and the head that looks there, or what comes next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from analysis.joined import Joined
from analysis.next_token import next_tokens
from analysis.opening import opening_head, opening_query, opening_rows
from model_runner.capture import Capture
from model_runner.errors import NoLogits

N_ = str  # marks a text for Babel without translating it here

CLEAR = 0.5  # of the attention; below it, this model does not tell the story


@dataclass(frozen=True)
class Story:
    """``looked_at`` is a word of the text, of several the one numbered ``which``; ``sentence`` says what to see."""

    text: str
    looked_at: str
    sentence: str
    which: int = 0

    @property
    def span(self) -> tuple[int, int]:
        """Where the word stands in the text, in characters; the end is excluded."""
        start = -1
        for _ in range(self.which + 1):
            start = self.text.index(self.looked_at, start + 1)
        return start, start + len(self.looked_at)


@dataclass(frozen=True)
class Seen:
    """A story as a model tells it: the head, and the share of the attention that it puts on ``key``."""

    story: Story
    layer: int
    head: int
    query: int
    key: int
    weight: float


@dataclass(frozen=True)
class Known:
    """A text that a model goes on with by heart: the next token is the beginning of ``goes_on``."""

    text: str
    goes_on: str


@dataclass(frozen=True)
class Said:
    """The most likely next token of a text known by heart, its probability, and the words that it begins."""

    token: str
    probability: float
    whole: str


PRONOUN = N_("What to see: {query} looks {value} at {key}, the animal it stands for.")
COUNTRY = N_("What to see: {query} looks {value} at {key}, whose capital has to come next.")
AGAIN = N_("What to see: {query} looks {value} at {key}, which came after the same word before and comes next again.")
RECEIVER = N_("What to see: {query} looks {value} at {key}, the one who did not give and so receives.")
ADDEND = N_("What to see: {query} looks {value} at {key}, one of the two numbers to add.")
STORIES = (
    Story("The dog chased the squirrel because it", "dog", PRONOUN),
    Story("The capital of France is", "France", COUNTRY),
    Story("lamp river seven cloud lamp river seven cloud lamp river seven", "cloud", AGAIN),
    Story("When Mary and John went to the store, John gave a drink to", "Mary", RECEIVER),
    Story(
        "3 + 5 = ",
        "3",
        N_("What to see: {query}, the space after “=”, looks {value} at {key}, one of the two numbers to add."),
    ),
    Story(
        "def add(a, b): return a +",
        "b",
        N_("What to see: {query} looks {value} at {key}, the parameter that has to come next."),
    ),
    Story("狗看见了猫，它", "狗", PRONOUN),
    Story("法国的首都是", "法国", COUNTRY),
    Story("春天老师花园医生春天老师花园", "医生", AGAIN),
    Story("小明和小红去了商店，小明把一本书送给了", "小红", RECEIVER),
    Story("3加5等于8。4加2等于", "4", ADDEND),
)
KNOWN = (Known("The Shawshank", " Redemption"), Known("床前明月光，", "疑是地上霜"))
BY_HEART = N_(
    "What to see: after {query} the model gives {next} {value}, the beginning of “{whole}”: it has read this often."
)

AFTER = N_("What to see: {query} looks {value} at {key}, which comes after it: an encoder looks both ways.")
CAPITAL = N_("What to see: {query} looks {value} at {key}, whose capital is hidden.")
# Of texts with a hidden word, which the embedded encoder tells.
OF_HIDDEN_WORDS = (
    Story("Monday, Tuesday, [MASK], Thursday.", "Thursday", AFTER),
    Story("The capital of France is [MASK].", "France", CAPITAL),
    Story("One, two, [MASK], four, five.", "four", AFTER),
    Story("法国的首都是[MASK]。", "法国", CAPITAL),
    Story(
        "小明把书给了小红，[MASK]说谢谢。",
        "小红",
        N_("What to see: {query} looks {value} at {key}, who was given the book and says thank you."),
    ),
    Story("白日依山尽，[MASK]入海流。", "海", AFTER),
)
NEXT = N_("What to see: {query} looks {value} at {key}, whose translation is written next.")
# Of the embedded translator, where what it has written looks at what it reads.
OF_TRANSLATIONS = (
    Story("The dog chased the cat in the garden yesterday.", "garden", NEXT),
    Story("The boy writes the expensive letter every week.", "boy", NEXT),
    Story("The monkey put the peach on the bridge last night.", "peach", NEXT),
    Story("那匹马今早把那首绿色的诗放在了屋顶下面。", "屋顶", NEXT),
    Story("那只松鼠每天在房子里写那本书。", "书", NEXT),
    Story("因为约翰追了亨利，所以一个年轻的女孩借了一面鼓。", "鼓", NEXT),
)


def seen_in(capture: Capture) -> Seen | None:
    """The story of this text where the model tells it clearly; none of other texts, and of none that goes on.

    O(heads × keys).
    """
    request = capture.request
    story = next((one for one in (*STORIES, *OF_HIDDEN_WORDS, *OF_TRANSLATIONS) if one.text == request.text), None)
    if story is None or request.chat or request.continuation or request.attention in ("encoder", "decoder"):
        return None
    start, end = story.span
    keys = [
        i for i, token in enumerate(capture.tokens) if not token.special and token.start < end and token.end > start
    ]
    if len(keys) != 1:  # of tokens that are parts of words nothing is said of the words
        return None
    if isinstance(capture, Joined):
        (layer, head), query = opening_head(capture), opening_query(capture)
        weight = float(capture.weights(layer, head, queries=slice(query, query + 1), shares=True)[0, keys[0]])
        return Seen(story, layer, head, query, keys[0], weight) if weight >= CLEAR else None
    best: Seen | None = None
    for layer, rows in opening_rows(capture):
        weight, head = torch.max(rows[:, keys[0]], 0)
        if float(weight) >= CLEAR and (best is None or float(weight) > best.weight):
            best = Seen(story, layer, int(head), opening_query(capture), keys[0], float(weight))
    return best


def said_in(capture: Capture, token_text: Callable[[int], str]) -> Said | None:
    """What comes next in this text where the model clearly knows it by heart; ``token_text`` is the runner's."""
    request = capture.request
    known = next((one for one in KNOWN if one.text == request.text), None)
    if known is None or request.chat or request.continuation:
        return None
    try:
        found = next_tokens(capture, count=1)
    except NoLogits:
        return None
    said = Said(token_text(found.ids[0]), found.probabilities[0], known.goes_on.strip())
    follows = known.goes_on.startswith(said.token.replace("·", " "))
    return said if follows and said.probability >= CLEAR else None


def first_head(capture: Capture) -> tuple[int, int]:
    """The head that a page opens on when nobody chose one: that of the text's story, or else the most telling one."""
    seen = seen_in(capture)
    return opening_head(capture) if seen is None else (seen.layer, seen.head)
