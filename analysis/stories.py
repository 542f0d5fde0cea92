"""Texts with a visible story: what one token attends to and in which head, or what comes next.

A sentence says *why* only for an embedded model in which that was measured (``scripts/check/story_rule.py``): it reads
``examples.json`` beside the model. For any other model it only says *where* a head attends.
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

LISTED = 5  # likeliest tokens, as many as a page lists
# of the largest weight on a word: among tokens with similar weights, the one that most heads agree on is chosen
ALIKE = 0.9
LONGEST = 40  # characters by which a word and another differ, at most
CHARACTERS = 3  # of a Chinese word that is changed, at most
OPERATORS = frozenset("+-−*/×÷=<>")  # these can replace one another like words
_PIECES = re.compile(r"[A-Za-z0-9]+|\s+|.", re.DOTALL)  # words of letters, and characters of scripts without spaces
CLEAR = 0.5  # of the attention; below it, this model does not show the story
FOLDERS = {"default": "default_model", "encoder": "encoder", "translator": "translator"}  # of the embedded models
FILE = "examples.json"
Place = tuple[int, int]  # layer, head


@dataclass(frozen=True)
class Story:
    """``looked_at`` is a word of the text, its occurrence number ``which``; ``about`` says what it is there.

    ``goes_on`` is the whole next word, if a token is only its start. ``beside`` is another word, to which another head
    attends: the text then shows that attention is no explanation.
    """

    text: str
    looked_at: str
    about: str
    which: int = 0
    goes_on: str = ""
    beside: str = ""

    @property
    def span(self) -> tuple[int, int]:
        """The word's character range in the text; the stop is exclusive."""
        start = -1
        for _ in range(self.which + 1):
            start = self.text.index(self.looked_at, start + 1)
        return start, start + len(self.looked_at)


@dataclass(frozen=True)
class Evidence:
    """What was measured for a story in an embedded model, with the heads it names and as many others of their layers.

    ``probability`` is that of ``next``, the likeliest token; ``without`` is it with the heads ablated, where
    ``instead`` comes first; ``without_control`` is it with the others ablated. ``other`` is a head of the same layer
    that attends to ``other_key``: two answers.
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
    """A story as a model shows it: the head, and its weight on ``key``.

    ``evidence`` is set for an unedited embedded model.
    """

    story: Story
    layer: int
    head: int
    query: int
    key: int
    weight: float
    evidence: Evidence | None = None


@dataclass(frozen=True)
class KnownText:
    """A text that a model continues by heart: the next token is the start of ``goes_on``."""

    text: str
    goes_on: str


@dataclass(frozen=True)
class RecitedToken:
    """The likeliest next token of a text known by heart, its probability, and the words that it starts."""

    token: str
    probability: float
    whole: str


FIRST_ANIMAL = N_("the animal that is named first")
COUNTRY = N_("its capital has to come next")
AGAIN = N_("it came after the same word before, and comes next again")
GAVE_FIRST = N_("the one who gave it first")
FIRST_NAME = N_(
    "the first name, whoever gives. Swap who gives: the head still looks there, though another name comes next."
)
ADDEND = N_("the first of the two numbers to add")
# For an embedded model in which it was measured, after the story's sentence.
WHY = N_(
    "That is why “{next}” comes next: {before}. Without {heads} it has {after}; without {control} of the same layer "
    "instead, {beside}."
)
WHY_ANOTHER = N_(
    "That is why “{next}” comes next: {before}. Without {heads} it has {after}, and “{instead}” comes first; without "
    "{control} of the same layer instead, {beside}."
)
# For an example with one word changed: the head's attention and the prediction, compared with the original.
VARIED = N_("This is an example with “{old}” changed to “{new}”{at}.")
STILL_THERE = N_("Its head still looks at the same place: {value} at {key}; in the original {before} at {key_before}.")
LESS_THERE = N_(
    "Its head still looks most at the same place, but not clearly: {value} at {key}; in the original {before} at "
    "{key_before}."
)
ELSEWHERE = N_("Its head now looks elsewhere: {value} at {key}; in the original {before} at {key_before}.")
STILL_NEXT = N_("The likeliest token is still {next}: {value}; in the original {before}.")
NOW_NEXT = N_("The likeliest token is now {next}: {value}; in the original {next_before}: {before}.")
STILL_AFTER = N_("After {query} the likeliest token is still {next}: {value}; in the original {before}.")
NOW_AFTER = N_("After {query} the likeliest token is now {next}: {value}; in the original {next_before}: {before}.")
NOT_LISTED = N_("{key}, which the head looks at, is not among the {count} likeliest.")
FURTHER_DOWN = N_("{key}, which the head looks at, has only {value}.")
BEGINS = N_("{next}, the beginning of “{whole}”")
OTHER_HEAD = N_(
    "{other}, in the same layer, puts {value} on {key}; in the original {before} on "
    "{key_before}. Neither was a reason there: without {head} “{next}” had {after} instead of "
    "{probability}."
)
TWO_ANSWERS = N_(
    "Two heads, two answers: {other}, in the same layer, puts {other_value} on {other_key}. "
    "Neither is a reason: without {head} “{next}” has {after} instead of {before}."
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
    KnownText("The Shawshank", " Redemption"),
    KnownText("def add(a, b): return a +", " b"),
    KnownText("床前明月光，", "疑是地上霜"),
)
BY_HEART = N_("After {query} the model gives {next} {value}, the beginning of “{whole}”: it has read this often.")
OFTEN = N_("After {query} the model gives {next} {value}: it has read lines like this one often.")

AFTER = N_("it comes after: an encoder looks both ways")
CAPITAL = N_("its capital is hidden")
# For texts with a masked word, for the embedded encoder.
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
# For the embedded translator's cross-attention.
OF_TRANSLATIONS = (
    Story("The dog chased the cat in the garden yesterday.", "garden", NEXT),
    Story("The boy writes the expensive letter every week.", "boy", NEXT),
    Story("The monkey put the peach on the bridge last night.", "peach", NEXT),
    Story("那匹马今早把那首绿色的诗放在了屋顶下面。", "屋顶", NEXT),
    Story("那只松鼠每天在房子里写那本书。", "书", NEXT),
    Story("因为约翰追了亨利，所以一个年轻的女孩借了一面鼓。", "鼓", NEXT),
)


def seen_in(capture: Capture) -> Seen | None:
    """The story of this text if the model shows it clearly; None for other texts and for continued ones.

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
    if len(keys) != 1:  # for tokens that are parts of words, nothing is said about the words
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
class Variation:
    """An example with one word changed: ``old`` there, ``new`` here, both from the character ``start`` on.

    ``head`` is the example's opening head. ``story`` is None for an example known by heart.
    """

    example: Story | KnownText
    head: Place
    old: str
    new: str
    start: int

    @property
    def story(self) -> Story | None:
        return self.example if isinstance(self.example, Story) else None

    @property
    def twice(self) -> bool:
        """True if the word occurs more than once in one of the two texts."""
        before = self.example.text
        after = before[: self.start] + self.new + before[self.start + len(self.old) :]
        return max(_count(before, self.old), _count(after, self.new)) > 1

    def times(self, word: str) -> int:
        """The number of occurrences of a word in the example."""
        return _count(self.example.text, word)

    @property
    def span(self) -> tuple[int, int]:
        """The range here of the word that the story attends to, or of its replacement, else of the changed word."""
        changed = self.start, self.start + len(self.new)
        if self.story is None:
            return changed
        start, end = self.story.span
        if start < self.start + len(self.old) and end > self.start:
            return changed
        by = len(self.new) - len(self.old) if start > self.start else 0
        return start + by, end + by


@dataclass(frozen=True)
class Look:
    """A head's strongest attention: the token's text, its position, and the weight."""

    token: str
    key: int
    weight: float


@dataclass(frozen=True)
class Next:
    """The likeliest token, and its probability."""

    token: str
    probability: float


@dataclass(frozen=True)
class Varied:
    """The results for an example with one word changed: ``looks`` and ``next`` here, and both ``before``.

    ``at`` is the position of the changed word if it occurs more than once. ``there``: the head attends most to the
    story's word, or its replacement. ``copies``: that word came next in the original; ``listed`` is its probability
    here, None if it is not among the first ``LISTED``. ``other`` is what the other head of two answers does, here and
    in the original.
    """

    variation: Variation
    query: int
    at: int | None
    next: Next
    next_before: Next
    looks: Look | None = None
    looks_before: Look | None = None
    there: bool = False
    copies: bool = False
    listed: float | None = None
    other: tuple[Look, Look] | None = None


def variation_of(capture: Capture) -> Variation | None:
    """The example of which this text is a variation by one word; None for any other text, and with an edited model."""
    request = capture.request
    if request.edits or request.revision or request.chat or request.continuation or request.target:
        return None
    if request.model not in FOLDERS or request.attention in ("encoder", "decoder"):
        return None
    for example in (*STORIES, *OF_HIDDEN_WORDS, *OF_TRANSLATIONS, *KNOWN):
        row = _written(request.model).get(example.text)
        if row is None or abs(len(request.text) - len(example.text)) > LONGEST:
            continue
        words = one_word_changed(example.text, request.text)
        if words is None or ("[MASK]" in example.text and not any(token.hidden for token in capture.tokens)):
            continue
        start = _first_other(example.text, request.text, *words)
        return _widened(capture, Variation(example, (row["layer"], row["head"]), *words, start))
    return None


def _first_other(before: str, after: str, old: str, new: str) -> int:
    """The first character at which ``old`` and ``new`` differ."""
    starts = (at.start() for at in _PIECES.finditer(before))
    return next(
        at for at in starts if before[at:].startswith(old) and before[:at] + new + before[at + len(old) :] == after
    )


def _widened(capture: Capture, one: Variation) -> Variation:
    """Extend the change to whole words of characters: not 法 in 法国 to 德, but 法国 to 德国."""
    if one.new.isascii() and one.old.isascii():
        return one
    covered = [capture.tokens[i] for i in _tokens_in(capture, one.start, one.start + len(one.new))]
    first = min(one.start, *(token.start for token in covered)) if covered else one.start
    last = max(one.start + len(one.new), *(token.end for token in covered)) if covered else one.start + len(one.new)
    text = capture.request.text
    head, tail = text[first : one.start], text[one.start + len(one.new) : last]
    if not (head + tail).isalnum():
        return one
    return Variation(one.example, one.head, head + one.old + tail, head + one.new + tail, first)


def _tokens_in(capture: Capture, start: int, end: int) -> list[int]:
    """The tokens of these characters of the text."""
    return [
        i for i, token in enumerate(capture.tokens) if not token.special and token.start < end and token.end > start
    ]


def _count(text: str, word: str) -> int:
    return _PIECES.findall(text).count(word) if word.isascii() else text.count(word)


def told_query(capture: Capture) -> int:
    """The token that the text is about: the opening query or, for a translation with a changed word, the story's."""
    one = variation_of(capture) if isinstance(capture, Joined) else None
    if one is None or not isinstance(capture, Joined):
        return opening_query(capture)
    written, keys = slice(capture.n_read, len(capture.tokens)), _tokens_in(capture, *one.span)
    here = capture.weights(*one.head, queries=written, shares=True)[:, keys].sum(-1)
    every = [layer for layer in range(capture.n_layers) if capture.has_weights(layer)]
    agreed = sum(capture.layer_weights(layer, written, shares=True)[..., keys].sum(-1).mean(0) for layer in every)
    return capture.n_read + int(torch.where(here >= ALIKE * here.max(), agreed, -1.0).argmax())


def varied_in(capture: Capture, token_text: Callable[[int], str]) -> Varied | None:
    """The results for a variation of an example by one word; ``token_text`` is the runner's. O(keys + vocab)."""
    one = variation_of(capture)
    if one is None:
        return None
    row, query = _written(capture.request.model or "")[one.example.text], told_query(capture)
    found = next_tokens(capture, query, count=LISTED)
    likeliest = [Next(token_text(i), p) for i, p in zip(found.ids, found.probabilities, strict=True)]
    at = next(iter(_tokens_in(capture, one.start, one.start + len(one.new))), None) if one.twice else None
    both = likeliest[0], Next(row["next"], row["probability"])
    if one.story is None:
        return Varied(one, query, at, *both)
    looks, before = _look(capture, one.head, query), Look(row["looks_at"], row["key"], row["weight"])
    evidence, other = evidence_of(capture.request.model or "", one.story.text), None
    if evidence is not None and evidence.other is not None:
        word = Look(one.story.beside, evidence.other_key, evidence.other_weight)
        other = _look(capture, evidence.other, query), word
    return Varied(
        one,
        query,
        at,
        *both,
        looks,
        before,
        there=looks.key in _tokens_in(capture, *one.span),
        copies=_bare(row["next"]) == _bare(row["looks_at"]),
        listed=next((item.probability for item in likeliest if _bare(item.token) == _bare(looks.token)), None),
        other=other,
    )


def _look(capture: Capture, place: Place, query: int) -> Look:
    row = capture.weights(*place, queries=slice(query, query + 1), shares=True)[0]
    key = int(row.argmax())
    return Look(capture.tokens[key].text, key, float(row[key]))


def _bare(token: str) -> str:
    return token.strip("·")


def one_word_changed(before: str, after: str) -> tuple[str, str] | None:
    """The only word (or up to three Chinese characters, or an operator) in which two texts differ; else None."""
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
        words = all(map(str.isalnum, pieces)) or (len(pieces) == 1 and pieces[0] in OPERATORS)
        if not 0 < len(pieces) <= most or not words:
            return None
    return "".join(changed[0]), "".join(changed[1])


@functools.cache
def _written(model: str) -> dict[str, dict[str, Any]]:
    """The measurements for the examples of an embedded model, by text."""
    written: list[dict[str, Any]] = json.loads(example_file(model).read_text(encoding="utf-8"))
    return {one["text"]: one for one in written}


@functools.cache
def evidence_of(model: str, text: str) -> Evidence | None:
    """The measurements for this text's story in an embedded model, by its name; None for any other."""
    row = _written(model).get(text) if model in FOLDERS else None
    if row is None or "told" not in row:
        return None
    shown: dict[str, Any] = {field.name: row[field.name] for field in fields(Evidence) if field.name in row}
    for name in ("heads", "control"):
        shown[name] = tuple((layer, head) for layer, head in row.get(name, ()))
    if "other" in row:
        shown["other"] = (row["other"][0], row["other"][1])
    return Evidence(**shown)


def whole_word(capture: Capture, token: str) -> str:
    """The word that the next token of a story begins, as measured for an embedded model; "" for any other text."""
    request = capture.request
    story = next((one for one in STORIES if one.text == request.text and one.goes_on), None)
    evidence = None if story is None or request.revision else evidence_of(request.model or "", story.text)
    if story is None or evidence is None or request.chat or request.continuation:
        return ""
    return story.goes_on if token == evidence.next and story.goes_on != _bare(token) else ""


def example_file(model: str) -> Path:
    """The file with the measurements for an embedded model's examples."""
    return Path(__file__).parents[1] / "model_runner" / FOLDERS[model] / FILE


def said_in(capture: Capture, token_text: Callable[[int], str]) -> RecitedToken | None:
    """The next token of this text if the model clearly knows it by heart; ``token_text`` is the runner's."""
    request = capture.request
    known = next((one for one in KNOWN if one.text == request.text), None)
    if known is None or request.chat or request.continuation:
        return None
    try:
        found = next_tokens(capture, count=1)
    except NoLogits:
        return None
    said = RecitedToken(token_text(found.ids[0]), found.probabilities[0], known.goes_on.strip())
    follows = known.goes_on.startswith(said.token.replace("·", " "))
    return said if follows and said.probability >= CLEAR else None


def first_head(capture: Capture) -> tuple[int, int]:
    """The default head of a page: that of the text's story, or else the most informative one."""
    return why_first(capture)[0]


def why_first(capture: Capture) -> tuple[tuple[int, int], Rule | Literal["story", "varied"]]:
    """That head, and why it was chosen. A variation of an example opens on the example's head."""
    seen = seen_in(capture)
    if seen is not None:
        return (seen.layer, seen.head), "story"
    variation = variation_of(capture)
    if variation is not None:
        return variation.head, "varied"
    return opening_head(capture), opening_rule(capture)
