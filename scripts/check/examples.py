"""Measures which heads each example's story is about in a model, and whether it holds: ``examples.json``."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from analysis.examples import OF_MODEL, Example, examples_of
from analysis.joined import as_square
from analysis.next_token import next_tokens
from analysis.opening import opening_head, opening_query
from analysis.stories import FILE, OF_HIDDEN_WORDS, OF_TRANSLATIONS, STORIES, Story, said_in
from model_runner import Capture, CaptureRequest, Runner, load_runner
from scripts.check.story_claims import BESIDE, CLAIMS
from scripts.check.story_reader import Ids, Reader
from scripts.check.story_rule import SENTENCES, STILL, Claim, Measured, measure, trials

DIGITS = 5  # of a share: 0.9997 must not be rounded to 1


class StoryBroken(ValueError):
    """Raised for an example whose head does not attend as its story says; the story must not be told."""


def write_examples(folder: Path, *, count: int = SENTENCES) -> list[dict[str, Any]]:
    """Write the file for the model in this folder, and return its contents. Raises StoryBroken."""
    found = measured(load_runner(str(folder)), folder, count=count)
    lines = ",\n  ".join(json.dumps(one, ensure_ascii=False) for one in found)
    (folder / FILE).write_text(f"[\n  {lines}\n]\n", encoding="utf-8")
    return found


def measured(runner: Runner, folder: Path, *, count: int = SENTENCES) -> list[dict[str, Any]]:
    """For every example, the measurements behind its story, or the next token.

    The folder's name is that of an embedded model; for any other model, the default model's examples are used.
    ``count`` is the number of held-out sentences on which the rule is measured. Raises StoryBroken.
    """
    of = folder.name if folder.name in OF_MODEL else "default"
    reader = Reader(folder)
    return [row(runner, reader, of, example, count=count) for example in examples_of(of, "en")]


def row(runner: Runner, reader: Reader, model: str, example: Example, *, count: int = SENTENCES) -> dict[str, Any]:
    """The file's entry for one example. Raises StoryBroken with the sentence and the value."""
    attention = "cross" if runner.info.attentions else None
    capture = as_square(runner.capture(CaptureRequest(example.text, attention=attention)))
    found: dict[str, Any] = {"topic": example.topic, "text": example.text, "page": "heads"}
    said = said_in(capture, runner.token_text)
    if said is not None:
        found |= {"next": said.token, "probability": round(said.probability, DIGITS)}
    claim = CLAIMS[model].get(example.text)
    if claim is None:
        if said is None:
            raise StoryBroken(f"“{example.text}” has no story, and is not known by heart")
        layer, head = opening_head(capture)
        return found | {"layer": layer, "head": head}
    told, facts = evidence(reader, example.text, claim, count=count)
    layer, head = claim.heads[0]
    key, weight = looked_at(capture, story_of(example.text), claim.heads[0])
    found |= {"layer": layer, "head": head, "query": opening_query(capture), "key": key}
    found |= {"looks_at": capture.tokens[key].text, "weight": round(weight, DIGITS), "told": told}
    found |= {"heads": [list(place) for place in claim.heads], "held_out": facts}
    likeliest = next_tokens(capture, opening_query(capture), count=1)
    found |= {"next": runner.token_text(likeliest.ids[0]), "probability": round(likeliest.probabilities[0], DIGITS)}
    if told in ("why", "two"):
        found |= _taken_out(runner, reader, capture, claim)
    if told == "two":
        other = BESIDE[example.text]
        key, weight = looked_at(capture, story_of(example.text), other.heads[0], beside=True)
        found |= {"other": list(other.heads[0]), "other_key": key, "other_weight": round(weight, DIGITS)}
    return found


def evidence(reader: Reader, text: str, claim: Claim, *, count: int) -> tuple[str, dict[str, Any]]:
    """How a story may be told, and the numbers of the rule. Raises StoryBroken if it may not be told."""
    facts = measure(reader, claim, trials(reader, claim.template, text, count=count))
    if text in BESIDE:
        beside = BESIDE[text]
        facts_beside = measure(reader, beside, trials(reader, beside.template, text, count=count))
        for one in (facts, facts_beside):
            if one.hangs > STILL or abs(one.fall) > STILL:
                raise StoryBroken(f"“{text}” shows looks that are no reason, but without one: {one.rounded()}")
        return "two", facts.rounded() | {"beside": facts_beside.rounded()}
    if facts.told == "not":
        raise StoryBroken(f"“{text}”: {claim.heads[0]} looks at its word in {facts.looks:.0%} of {count} sentences")
    return facts.told, facts.rounded()


def story_of(text: str) -> Story:
    """The story of an example."""
    return next(story for story in (*STORIES, *OF_HIDDEN_WORDS, *OF_TRANSLATIONS) if story.text == text)


def looked_at(capture: Capture, story: Story, place: tuple[int, int], *, beside: bool = False) -> tuple[int, float]:
    """The token of the story's word, or of the one beside it, and the weight that this head puts on it in the opening
    row.
    """
    start, end = story.span
    if beside:
        start = story.text.index(story.beside)
        end = start + len(story.beside)
    words = (
        i for i, token in enumerate(capture.tokens) if not token.special and token.start < end and token.end > start
    )
    key = next(words)
    query = opening_query(capture)
    return key, float(capture.weights(*place, queries=slice(query, query + 1), shares=True)[0, key])


def _taken_out(runner: Runner, reader: Reader, capture: Capture, claim: Claim) -> dict[str, Any]:
    """The probability of the example's likeliest token with the heads, without them, and without the control heads."""
    ids = Ids(tuple(token.id for token in capture.tokens), opening_query(capture), (0,), 0)
    best = int(reader.read([ids]).likeliest[0])
    ids = Ids(ids.read, ids.query, ids.keys, best)
    plain, without, control = (reader.read([ids], off) for off in ((), claim.heads, claim.control))
    probabilities = [1 / (1 + math.exp(-float(one.log_odds[0]))) for one in (plain, without, control)]
    names = ("probability", "without", "without_control")
    found: dict[str, Any] = {"control": [list(place) for place in claim.control], "next": runner.token_text(best)}
    found |= {name: round(value, DIGITS) for name, value in zip(names, probabilities, strict=True)}
    instead = int(without.likeliest[0])
    return found if instead == best else found | {"instead": runner.token_text(instead)}


def summary(found: list[dict[str, Any]]) -> list[str]:
    """One line per example: how it may be told, and the numbers of the rule."""
    names = tuple(Measured.__dataclass_fields__)
    lines: list[str] = []
    for one in found:
        numbers = ", ".join(f"{name} {one['held_out'][name]}" for name in names) if "held_out" in one else ""
        lines.append(f"{one.get('told', 'by heart'):8} {one['text']}  {numbers}")
    return lines
