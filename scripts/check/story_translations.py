"""Sentences like the translation model's examples, with words swapped, up to where the word attended to is written."""

from __future__ import annotations

from random import Random

from scripts.check.story_reader import Sentence
from scripts.check.story_templates import Trial, at
from scripts.corpus.parallel import words as w

FEW = [noun for noun in w.PEOPLE if noun.measure == "个"]
THINGS = [noun for noun in w.THINGS if noun.english[0] not in "aeiou"]  # so that the article is "a"
QUALITIES = [quality for quality in w.BEING_QUALITIES if quality[0][0] not in "aeiou"]


def that(noun: w.Noun) -> str:
    """The noun with its measure word: 那只狗."""
    return f"那{noun.measure}{noun.chinese}"


def place(rng: Random) -> Trial:
    """Where somebody did something, into Chinese; to whom should not matter."""
    subject, being, other = rng.sample(w.ANIMALS, 3)
    (where, new), verb = rng.sample(w.PLACES, 2), rng.choice(w.WITH_BEING)

    def sentence(being: w.Noun, where: w.Noun) -> Sentence:
        text = f"The {subject.english} {verb.past} the {being.english} in the {where.english} yesterday."
        return at(text, where.english, where.chinese, -1, f"{that(subject)}昨天在")

    return Trial(sentence(being, where), sentence(being, new), sentence(other, where))


def subject(rng: Random) -> Trial:
    """Who does something every week, into Chinese; with what should not matter."""
    (person, new), (thing, other) = rng.sample(w.PEOPLE, 2), rng.sample(w.READABLE, 2)
    verb, quality = rng.choice(w.WITH_READABLE), rng.choice(w.THING_QUALITIES)

    def sentence(person: w.Noun, thing: w.Noun) -> Sentence:
        text = f"The {person.english} {verb.third} the {quality[0]} {thing.english} every week."
        return at(text, person.english, person.chinese, 0, f"那{person.measure}")

    return Trial(sentence(person, thing), sentence(new, thing), sentence(person, other))


def what_was_put(rng: Random) -> Trial:
    """What somebody put somewhere, into Chinese; who did should not matter."""
    (being, other), (thing, new) = rng.sample(w.ANIMALS, 2), rng.sample(w.EDIBLE, 2)
    where = rng.choice(w.SURFACES)

    def sentence(being: w.Noun, thing: w.Noun) -> Sentence:
        text = f"The {being.english} put the {thing.english} on the {where.english} last night."
        return at(text, thing.english, thing.chinese, 0, f"{that(being)}昨晚把那{thing.measure}")

    return Trial(sentence(being, thing), sentence(being, new), sentence(other, thing))


def what_is_written(rng: Random) -> Trial:
    """What somebody writes or reads every day, into English; who does should not matter."""
    (being, other), (thing, new) = rng.sample(w.ANIMALS, 2), rng.sample(w.READABLE, 2)
    where, verb = rng.choice(w.PLACES), rng.choice(w.WITH_READABLE)

    def sentence(being: w.Noun, thing: w.Noun) -> Sentence:
        text = f"{that(being)}每天在{where.chinese}里{verb.chinese}{that(thing)}。"
        return at(text, thing.chinese, f" {thing.english}", -1, f"The {being.english} {verb.third} the")

    return Trial(sentence(being, thing), sentence(being, new), sentence(other, thing))


def under_what(rng: Random) -> Trial:
    """Under what somebody put something, into English; who did should not matter."""
    (being, other), (where, new) = rng.sample(w.ANIMALS, 2), rng.sample(w.SURFACES, 2)
    thing, quality = rng.choice(w.READABLE), rng.choice(w.THING_QUALITIES)

    def sentence(being: w.Noun, where: w.Noun) -> Sentence:
        text = f"{that(being)}今早把那{thing.measure}{quality[1]}的{thing.chinese}放在了{where.chinese}下面。"
        written = f"The {being.english} put the {quality[0]} {thing.english} under the"
        return at(text, where.chinese, f" {where.english}", -1, written)

    return Trial(sentence(being, where), sentence(being, new), sentence(other, where))


def borrowed(rng: Random) -> Trial:
    """What somebody borrowed because of others, into English; who the other was should not matter."""
    chaser, chased, other = rng.sample(w.NAMES, 3)
    person, quality, (thing, new) = rng.choice(FEW), rng.choice(QUALITIES), rng.sample(THINGS, 2)

    def sentence(chased: w.Noun, thing: w.Noun) -> Sentence:
        because = f"因为{chaser.chinese}追了{chased.chinese}，"
        text = f"{because}所以一{person.measure}{quality[1]}的{person.chinese}借了一{thing.measure}{thing.chinese}。"
        return at(text, thing.chinese, f" {thing.english}", -1, f"A {quality[0]} {person.english} borrowed a")

    return Trial(sentence(chased, thing), sentence(chased, new), sentence(other, thing))
