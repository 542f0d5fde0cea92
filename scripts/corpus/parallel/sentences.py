"""A sentence in English and in Chinese at once, word by word, with the words that mean the same.

English puts place and time last, Chinese before the verb; a relative clause follows its noun in English and precedes
it in Chinese; a known object moves before the verb with 把. Every sentence has one translation, so that a translator
can be marked right or wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

from scripts.corpus.parallel import words as w

Kind = Literal["noun", "verb", "other"]


@dataclass(frozen=True)
class Word:
    """One word, or a few that go together; ``meaning`` is shared with the word of the other language."""

    text: str
    meaning: str = ""  # "" for words that have no partner, such as "the" and 了
    kind: Kind = "other"


@dataclass(frozen=True)
class Pair:
    """The same sentence twice."""

    english: tuple[Word, ...]
    chinese: tuple[Word, ...]

    @property
    def english_text(self) -> str:
        """The English sentence as it is written."""
        text = " ".join(word.text for word in self.english)
        return text[0].upper() + text[1:].replace(" .", ".").replace(" ?", "?").replace(" ,", ",")

    @property
    def chinese_text(self) -> str:
        """The Chinese sentence as it is written."""
        return "".join(word.text for word in self.chinese)


@dataclass(frozen=True)
class _Phrase:
    """A part of a sentence in both languages; each keeps its own order."""

    english: tuple[Word, ...]
    chinese: tuple[Word, ...]


def sentence(rng: Random) -> Pair:
    """A random sentence: a statement about the past, habit or future, a question, or two joined by "because"."""
    style = rng.random()
    if style < 0.12:
        first, second = _clause(rng, short=True), _clause(rng, short=True)
        english = (*first.english, Word("because", "because"), *second.english, Word("."))
        chinese = (Word("因为", "because"), *second.chinese, Word("，"), Word("所以"), *first.chinese, Word("。"))
        return Pair(english, chinese)
    if style < 0.2:
        return _question(rng)
    clause = _clause(rng)
    return Pair((*clause.english, Word(".")), (*clause.chinese, Word("。")))


def content(pair: Pair) -> str:
    """What a sentence is about: its nouns and verbs in English order; decides whether it is held out."""
    return " ".join(word.meaning for word in pair.english if word.kind != "other")


def _clause(rng: Random, *, short: bool = False) -> _Phrase:
    style = rng.random()
    if style < 0.1:
        return _quality(rng)
    if style < 0.3:
        return _put_or_give(rng, short=short)
    subject = _being(rng, clause=not short and rng.random() < 0.3)
    if style < 0.4:
        state = rng.choice(w.STATES)
        return _join(subject, _verb(state.third, state.chinese), _object(rng))
    verb, obj = _action(rng)
    return _act(rng, subject, verb, obj, short=short)


def _act(rng: Random, subject: _Phrase, verb: w.Verb, obj: _Phrase, *, short: bool) -> _Phrase:
    place = _place(rng) if not short and rng.random() < 0.5 else _Phrase((), ())
    tense = rng.choice(["past", "past", "coming", "usual", "not"])
    if short and tense == "not":
        tense = "past"
    times = {"coming": w.COMING_TIMES, "usual": w.USUAL_TIMES}.get(tense, w.PAST_TIMES)
    time = _time(rng.choice(times)) if not short or tense != "past" else _Phrase((), ())
    forms: dict[str, tuple[list[Word], list[Word], list[Word]]] = {
        "past": ([Word(verb.past, verb.chinese, "verb")], [], [Word("了")]),
        "coming": ([Word("will"), Word(verb.base, verb.chinese, "verb")], [Word("会")], []),
        "usual": ([Word(verb.third, verb.chinese, "verb")], [], []),
        "not": ([Word("did"), Word("not"), Word(verb.base, verb.chinese, "verb")], [Word("没有")], []),
    }
    said, before, after = forms[tense]
    spoken = Word(verb.chinese, verb.chinese, "verb")
    return _Phrase(
        (*subject.english, *said, *obj.english, *place.english, *time.english),
        (*subject.chinese, *time.chinese, *before, *place.chinese, spoken, *after, *obj.chinese),
    )


def _put_or_give(rng: Random, *, short: bool) -> _Phrase:
    subject, known = _being(rng), rng.random() < 0.6
    coming = rng.random() < 0.4
    time = _time(rng.choice(w.COMING_TIMES if coming else w.PAST_TIMES)) if not short else _Phrase((), ())
    will, may = ((Word("will"),), (Word("会"),)) if coming else ((), ())
    done = () if coming else (Word("了"),)
    thing = rng.choice(w.THINGS + w.READABLE + w.EDIBLE)
    if known and rng.random() < 0.5:
        obj, place = _thing(rng, thing, known=True), _on(rng)
        return _Phrase(
            (*subject.english, *will, Word("put", "放", "verb"), *obj.english, *place.english, *time.english),
            (
                *subject.chinese,
                *time.chinese,
                *may,
                Word("把"),
                *obj.chinese,
                Word("放", "放", "verb"),
                Word("在"),
                *done,
                *place.chinese,
            ),
        )
    obj, receiver = _thing(rng, thing, known=known), _being(rng)
    verb = rng.choice(w.GIVE)
    said = Word(verb.base if coming else verb.past, verb.chinese, "verb")
    spoken = (Word(verb.chinese, verb.chinese, "verb"), *done)
    order = (
        (Word("把"), *obj.chinese, *spoken, *receiver.chinese) if known else (*spoken, *receiver.chinese, *obj.chinese)
    )
    return _Phrase(
        (*subject.english, *will, said, *obj.english, Word("to"), *receiver.english, *time.english),
        (*subject.chinese, *time.chinese, *may, *order),
    )


def _quality(rng: Random) -> _Phrase:
    being = rng.random() < 0.6
    subject = _being(rng) if being else _thing(rng, rng.choice(w.THINGS + w.EDIBLE), known=True)
    english, chinese = rng.choice(w.BEING_QUALITIES if being else w.THING_QUALITIES[6:21])
    return _join(
        subject,
        _Phrase((Word("is"), Word("very")), (Word("很"),)),
        _Phrase((Word(english, chinese),), (Word(chinese, chinese),)),
    )


def _question(rng: Random) -> Pair:
    if rng.random() < 0.3:
        thing = _thing(rng, rng.choice(w.THINGS), known=True)
        where = Word("where", "哪里"), Word("哪里", "哪里")
        return Pair(
            (where[0], Word("is"), *thing.english, Word("?")), (*thing.chinese, Word("在"), where[1], Word("？"))
        )
    subject, (verb, obj), time = _being(rng), _action(rng), _time(rng.choice(w.PAST_TIMES))
    english = (
        Word("did"),
        *subject.english,
        Word(verb.base, verb.chinese, "verb"),
        *obj.english,
        *time.english,
        Word("?"),
    )
    spoken = Word(verb.chinese, verb.chinese, "verb")
    return Pair(english, (*subject.chinese, *time.chinese, spoken, Word("了"), *obj.chinese, Word("吗"), Word("？")))


def _action(rng: Random) -> tuple[w.Verb, _Phrase]:
    kind = rng.random()
    if kind < 0.35:
        return rng.choice(w.WITH_BEING), _being(rng)
    if kind < 0.5:
        return rng.choice(w.WITH_READABLE), _thing(rng, rng.choice(w.READABLE))
    if kind < 0.65:
        return rng.choice(w.WITH_EDIBLE), _thing(rng, rng.choice(w.EDIBLE))
    return rng.choice(w.WITH_THING), _thing(rng, rng.choice(w.THINGS))


def _object(rng: Random) -> _Phrase:
    return _being(rng) if rng.random() < 0.4 else _thing(rng, rng.choice(w.THINGS + w.EDIBLE + w.READABLE))


def _being(rng: Random, *, clause: bool = False) -> _Phrase:
    """Somebody; with ``clause`` somebody who does something, which stands after the noun or before it."""
    if not clause and rng.random() < 0.2:
        name = rng.choice(w.NAMES)
        return _Phrase((Word(name.english, name.chinese, "noun"),), (Word(name.chinese, name.chinese, "noun"),))
    noun = rng.choice(w.PEOPLE + w.ANIMALS)
    if not clause:
        quality = rng.choice(w.BEING_QUALITIES) if rng.random() < 0.25 else None
        return _counted(noun, quality, known=rng.random() < 0.7)
    if rng.random() < 0.5:
        state, obj = rng.choice(w.STATES), _object(rng)
        said, spoken = (Word(state.third, state.chinese, "verb"),), (Word(state.chinese, state.chinese, "verb"),)
    else:
        verb, obj = _action(rng)
        said, spoken = (Word(verb.past, verb.chinese, "verb"),), (Word(verb.chinese, verb.chinese, "verb"), Word("了"))
    named = Word(noun.english, noun.chinese, "noun"), Word(noun.chinese, noun.chinese, "noun")
    return _Phrase(
        (Word("the"), named[0], Word("who"), *said, *obj.english),
        (Word("那"), Word(noun.measure), *spoken, *obj.chinese, Word("的"), named[1]),
    )


def _thing(rng: Random, noun: w.Noun, *, known: bool | None = None) -> _Phrase:
    quality = rng.choice(w.THING_QUALITIES) if rng.random() < 0.4 else None
    return _counted(noun, quality, known=rng.random() < 0.5 if known is None else known)


def _counted(noun: w.Noun, quality: Sequence[str] | None, *, known: bool) -> _Phrase:
    described = (Word(quality[0], quality[1]),) if quality else ()
    first = described[0].text if described else noun.english
    article = (
        "the" if known else "an" if (first[0] in "aeiou" and not first.startswith("u")) or first == "umbrella" else "a"
    )
    return _Phrase(
        (Word(article), *described, Word(noun.english, noun.chinese, "noun")),
        (
            Word("那" if known else "一"),
            Word(noun.measure),
            *((Word(quality[1], quality[1]), Word("的")) if quality else ()),
            Word(noun.chinese, noun.chinese, "noun"),
        ),
    )


def _place(rng: Random) -> _Phrase:
    place = rng.choice(w.PLACES)
    english = (Word("in"), Word("the"), Word(place.english, place.chinese, "noun"))
    return _Phrase(english, (Word("在"), Word(place.chinese, place.chinese, "noun"), Word("里")))


def _on(rng: Random) -> _Phrase:
    place, (english, chinese) = rng.choice(w.SURFACES), rng.choice(w.SIDES)
    said = (Word(english, chinese), Word("the"), Word(place.english, place.chinese, "noun"))
    return _Phrase(said, (Word(place.chinese, place.chinese, "noun"), Word(chinese, chinese)))


def _time(time: tuple[str, str]) -> _Phrase:
    return _Phrase((Word(time[0], time[1]),), (Word(time[1], time[1]),))


def _verb(english: str, chinese: str) -> _Phrase:
    return _Phrase((Word(english, chinese, "verb"),), (Word(chinese, chinese, "verb"),))


def _join(*phrases: _Phrase) -> _Phrase:
    english = tuple(word for phrase in phrases for word in phrase.english)
    return _Phrase(english, tuple(word for phrase in phrases for word in phrase.chinese))
