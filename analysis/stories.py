"""Texts with something to see in them: what one token looks at, and the head of this model that looks there."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from analysis.joined import Joined
from analysis.opening import opening_head, opening_query, opening_rows
from model_runner.capture import Capture

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


STORIES = (
    Story(
        "The dog chased the squirrel because it",
        "dog",
        N_("What to see: {query} looks {value} at {key}, the animal it stands for."),
    ),
    Story(
        "The capital of France is",
        "France",
        N_("What to see: {query} looks {value} at {key}, whose capital has to come next."),
    ),
    Story(
        "lamp river seven cloud lamp river seven cloud lamp river seven",
        "cloud",
        N_("What to see: {query} looks {value} at {key}, which came after the same word before and comes next again."),
    ),
    Story(
        "When Mary and John went to the store, John gave a drink to",
        "Mary",
        N_("What to see: {query} looks {value} at {key}, the one who did not give and so receives."),
    ),
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
        weight = float(capture.weights(layer, head, queries=slice(query, query + 1))[0, keys[0]])
        return Seen(story, layer, head, query, keys[0], weight) if weight >= CLEAR else None
    best: Seen | None = None
    for layer, rows in opening_rows(capture):
        weight, head = torch.max(rows[:, keys[0]], 0)
        if float(weight) >= CLEAR and (best is None or float(weight) > best.weight):
            best = Seen(story, layer, int(head), opening_query(capture), keys[0], float(weight))
    return best


def first_head(capture: Capture) -> tuple[int, int]:
    """The head that a page opens on when nobody chose one: that of the text's story, or else the most telling one."""
    seen = seen_in(capture)
    return opening_head(capture) if seen is None else (seen.layer, seen.head)
