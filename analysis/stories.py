"""Texts with something to see in them: what one token looks at and the head that looks there, or what comes next.

A sentence says *why* only of an embedded model in which that was measured (``scripts/check/story_rule.py``): it reads
``examples.json`` beside the model. In every other model it says *where* a head looks, and no more.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

import torch

from analysis.joined import Joined
from analysis.next_token import next_tokens
from analysis.opening import Rule, opening_head, opening_query, opening_rows, opening_rule
from model_runner.capture import Capture
from model_runner.errors import NoLogits

N_ = str  # marks a text for Babel without translating it here

CHARACTERS = 3  # of a Chinese word that is changed, at most
_PIECES = re.compile(r"[A-Za-z0-9]+|\s+|.", re.DOTALL)  # words of letters, and characters of what has no spaces
CLEAR = 0.5  # of the attention; below it, this model does not tell the story
FOLDERS = {"default": "default_model", "encoder": "encoder", "translator": "translator"}  # of the embedded models
FILE = "examples.json"
Place = tuple[int, int]  # layer, head


@dataclass(frozen=True)
class Story:
    """``looked_at`` is a word of the text, of several the one numbered ``which``; ``about`` says what it is there.

    ``goes_on`` is the whole word that comes next, where a token is only its beginning. ``beside`` is another word, at
    which another head looks: the text is then shown because a look is no reason.
    """

    text: str
    looked_at: str
    about: str
    which: int = 0
    goes_on: str = ""
    beside: str = ""

    @property
    def span(self) -> tuple[int, int]:
        """Where the word stands in the text, in characters; the end is excluded."""
        start = -1
        for _ in range(self.which + 1):
            start = self.text.index(self.looked_at, start + 1)
        return start, start + len(self.looked_at)


@dataclass(frozen=True)
class Evidence:
    """What was measured of a story in an embedded model, with the heads it names and as many others of their layers.

    ``probability`` is that of ``next``, the likeliest token; ``without`` what is left of it without the heads, where
    ``instead`` comes first; ``without_control`` the same without the others. ``other`` is a head of the same layer that
    looks at ``other_key``: two answers.
    """

    told: Literal["why", "where", "two"]
    heads: tuple[Place, ...]
    control: tuple[Place, ...] = ()
    next: str = ""
    probability: float = 0.0
    without: float = 0.0
    instead: str = ""
    without_control: float = 0.0
    other: Place | None = None
    other_key: int = 0
    other_weight: float = 0.0


@dataclass(frozen=True)
class Seen:
    """A story as a model tells it: the head, and the share of the attention that it puts on ``key``.

    ``evidence`` is there in an embedded model that nothing was changed in.
    """

    story: Story
    layer: int
    head: int
    query: int
    key: int
    weight: float
    evidence: Evidence | None = None


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


FIRST_ANIMAL = N_("the animal that is named first")
COUNTRY = N_("its capital has to come next")
AGAIN = N_("it came after the same word before, and comes next again")
GAVE_FIRST = N_("the one who gave it first")
FIRST_NAME = N_(
    "the name that stands first, whoever gives. Let the other one give: the head looks there all the same, though "
    "another name comes next."
)
ADDEND = N_("the first of the two numbers to add")
# Told of an embedded model in which it was measured, after the sentence of the story.
WHY = N_(
    "That is why “{next}” comes next: {before}. Without {heads} it has {after}; without {control} of the same layer "
    "instead, {beside}."
)
WHY_ANOTHER = N_(
    "That is why “{next}” comes next: {before}. Without {heads} it has {after}, and “{instead}” comes first; without "
    "{control} of the same layer instead, {beside}."
)
VARIED = N_(
    "This is an example with “{old}” changed to “{new}”. In the original, this head looks at "
    "“{key}”, and {next} comes next ({before})."
)
TWO_ANSWERS = N_(
    "Two heads, two answers: {other}, of the same layer, looks {other_value} at {other_key}. Neither look is a reason: "
    "without {head} “{next}” has {after} instead of {before}."
)
STORIES = (
    Story("The pig is behind the dog. It", "pig", FIRST_ANIMAL, goes_on="oinks"),
    Story("The dog chased the squirrel because it", "dog", "", beside="squirrel"),
    Story("The capital of Italy is Rome. The capital of France is", "France", COUNTRY),
    Story("king bell ball lion king bell ball", "lion", AGAIN),
    Story("John gave the book to Anna. Anna gave the book back to", "John", GAVE_FIRST),
    Story("When Mary and John went to the store, John gave a drink to", "Mary", FIRST_NAME),
    Story(
        "3 + 5 = ",
        "3",
        N_("from the space after “=” to the first of the two numbers to add"),
    ),
    Story("猫看见了狗，它", "猫", FIRST_ANIMAL, goes_on="喵喵叫"),
    Story("狮子帮助了青蛙，因为它", "狮子", "", beside="青蛙"),
    Story("意大利的首都是罗马。法国的首都是", "法国", COUNTRY),
    Story("火车，春天，学校，医生，火车，春天，学校，", "医生", AGAIN),
    Story("小丽把花给了小芳，小芳又把它还给了", "小丽", GAVE_FIRST),
    Story("小明和小红去了商店，小红把一本书送给了", "小明", FIRST_NAME),
    Story("8加9等于17。2加4等于", "2", ADDEND),
)
KNOWN = (
    Known("The Shawshank", " Redemption"),
    Known("def add(a, b): return a +", " b"),
    Known("床前明月光，", "疑是地上霜"),
)
BY_HEART = N_("After {query} the model gives {next} {value}, the beginning of “{whole}”: it has read this often.")

AFTER = N_("it comes after: an encoder looks both ways")
CAPITAL = N_("its capital is hidden")
# Of texts with a hidden word, which the embedded encoder tells.
OF_HIDDEN_WORDS = (
    Story("Monday, Tuesday, [MASK], Thursday.", "Thursday", AFTER),
    Story("The capital of France is [MASK].", "France", CAPITAL),
    Story("One, two, [MASK], four, five.", "four", AFTER),
    Story("法国的首都是[MASK]。", "法国", CAPITAL),
    Story(
        "小明把书给了小红，[MASK]说谢谢。",
        "小红",
        N_("the one who was given the book says thank you"),
    ),
    Story("狗看见了猫，它[MASK]叫。", "狗", FIRST_ANIMAL),
)
NEXT = N_("its translation is written next")
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
    evidence = None if request.edits or request.revision else evidence_of(request.model or "", story.text)
    if isinstance(capture, Joined) or evidence is not None:
        layer, head = opening_head(capture) if evidence is None else evidence.heads[0]
        query = opening_query(capture)
        weight = float(capture.weights(layer, head, queries=slice(query, query + 1), shares=True)[0, keys[0]])
        return Seen(story, layer, head, query, keys[0], weight, evidence) if weight >= CLEAR else None
    best: Seen | None = None
    for layer, rows in opening_rows(capture):
        weight, head = torch.max(rows[:, keys[0]], 0)
        if float(weight) >= CLEAR and (best is None or float(weight) > best.weight):
            best = Seen(story, layer, int(head), opening_query(capture), keys[0], float(weight))
    return best


@dataclass(frozen=True)
class Varied:
    """The story of an example whose text is this one but for a word: ``old`` there, ``new`` here."""

    story: Story
    evidence: Evidence
    old: str
    new: str


def varied_in(capture: Capture) -> Varied | None:
    """The example that this text varies by one word, of those that say why or show why not; None of any other text."""
    request = capture.request
    if request.edits or request.revision or request.chat or request.continuation:
        return None
    for story in STORIES:
        evidence = evidence_of(request.model or "", story.text)
        words = None if evidence is None or evidence.told == "where" else one_word_changed(story.text, request.text)
        if evidence is not None and words is not None:
            return Varied(story, evidence, *words)
    return None


def one_word_changed(before: str, after: str) -> tuple[str, str] | None:
    """The one word (or three characters of Chinese at most) of each of two texts that differ in no more."""
    old, new = _PIECES.findall(before), _PIECES.findall(after)
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    end = 0
    while end < min(len(old), len(new)) - same and old[-1 - end] == new[-1 - end]:
        end += 1
    changed = [pieces[same : len(pieces) - end] for pieces in (old, new)]
    for pieces in changed:
        most = 1 if "".join(pieces).isascii() else CHARACTERS
        if not 0 < len(pieces) <= most or not all(map(str.isalnum, pieces)):
            return None
    return "".join(changed[0]), "".join(changed[1])


@functools.cache
def evidence_of(model: str, text: str) -> Evidence | None:
    """What was measured of the story of this text in an embedded model, by its name; None of any other."""
    if model not in FOLDERS:
        return None
    written: list[dict[str, Any]] = json.loads(example_file(model).read_text(encoding="utf-8"))
    row = next((one for one in written if one["text"] == text and "told" in one), None)
    if row is None:
        return None
    shown: dict[str, Any] = {field.name: row[field.name] for field in fields(Evidence) if field.name in row}
    for name in ("heads", "control"):
        shown[name] = tuple((layer, head) for layer, head in row.get(name, ()))
    if "other" in row:
        shown["other"] = (row["other"][0], row["other"][1])
    return Evidence(**shown)


def example_file(model: str) -> Path:
    """Where it is written what the examples of an embedded model show."""
    return Path(__file__).parents[1] / "model_runner" / FOLDERS[model] / FILE


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
    return why_first(capture)[0]


def why_first(capture: Capture) -> tuple[tuple[int, int], Rule | Literal["story", "varied"]]:
    """That head, and why it is the one. An example with one word changed opens on the example's own head."""
    seen = seen_in(capture)
    if seen is not None:
        return (seen.layer, seen.head), "story"
    varied = varied_in(capture)
    if varied is not None:
        return varied.evidence.heads[0], "varied"
    return opening_head(capture), opening_rule(capture)
