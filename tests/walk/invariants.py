"""What must hold after every step, on every page: no error that the step did not earn, and one story on the screen."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Page

from model_runner.errors import (
    CannotContinue,
    ContextFull,
    EditsContradict,
    EncoderSaysNothing,
    NoSuchAttention,
    NotOneToken,
    NotOverOneText,
    NotSeparable,
    OneStackOnly,
    SequenceTooLong,
)
from model_runner.substitution import NoSoftmax, TextTooLongForMaps
from pages.entries import ENTRIES
from tests.walk.steps import Control, Step, controls
from ui.classroom.questions import CHANGED, TWO_TEXTS
from ui.state import text_in_url
from ui.state.url_state import DEFAULT_TEXT
from ui.wording.i18n import LANGUAGES, catalog

# Sentences in a yellow box that a walk may meet, as the sources have them; anything else in one is a failure. Blue
# boxes inform, red ones are never earned.
EARNED = (
    "“{text}” is {count} tokens: {pieces}.",
    "“{text}” is not a list of pairs of query and key, such as 7, 2; 7, 3",
    "This change cannot be made: {reason}.",
    "There is no {what} {value}: this model and text have {count}, counted from 0.",
    "The tokenizer of this model comes without a chat template.",
    "The text is empty.",
    "A step has a title and words.",
    "This model does not predict a next token.",
    "This text has too many tokens to tap on one of them: choose a shorter one.",
    "Without this head the next token is exactly as likely: choose another head.",
    "No head has a value of “{metric}” on this text.",
    CHANGED,
    TWO_TEXTS,
    OneStackOnly.message,
    EncoderSaysNothing.message,
    CannotContinue.message,
    ContextFull.message,
    EditsContradict.message,
    NoSuchAttention.message,
    NotOneToken.message,
    NotSeparable.message,
    SequenceTooLong.message,
    NoSoftmax.message,
    NotOverOneText.message,
    TextTooLongForMaps.message,
)
# What two controls may not say together: then another choice stands in, or none, and a blue box says so.
TOGETHER = (
    "Both tokens are “{token}”, whose difference is always 0: “{second}” stands in for the second.",
    "{name} is the open head: with itself there is nothing to compare. Choose another.",
)
HEAD = re.compile(r"^L(\d+)H(\d+)(?=$|[:：\s])")
ANY_HEAD = re.compile(r"L\d+H\d+")
NUMBER = re.compile(r"\d+(?:\.\d+)?")

CHAPTER = ("long_texts", "kv_cache")  # pages that show one in place of an example


def address_of(page: Page) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(page.url).query, keep_blank_values=True).items()}


def broken(page: Page, step: Step) -> list[str]:
    """What does not hold, in words."""
    shown = page.evaluate(LOOK)
    parts = address_of(page)
    return [
        *_errors(shown),
        *_titles(page, shown, parts),
        *heads(shown, parts, urlsplit(page.url).path.strip("/")),
        *_shares(shown),
        *(_shows(page, step) if not _told(TOGETHER, shown) else []),
    ]


LOOK = """() => ({
    alerts: walk.alerts(),
    exceptions: walk.exceptions(),
    title: walk.texts(".atlas-title")[0] ?? "",
    languages: walk.checked("choice_lang"),
    text: document.querySelector(".st-key-text_box textarea")?.value,
    heads: [...walk.texts(".atlas-head"), ...walk.labels("canvas[role=img]")],
    strip: walk.strip(),
    tables: walk.rows("table.atlas-next:not(.change)"),
    bars: [walk.labels(".cell-steps [role=option]")],
})"""


def _errors(shown: dict[str, Any]) -> list[str]:
    found = [f"a traceback: {text}" for text in shown["exceptions"]]
    return found + [
        f"{kind} that no step earned: {text}"
        for kind, text in shown["alerts"]
        if kind == "Error" or (kind == "Warning" and not _told(EARNED, {"alerts": [(kind, text)]}))
    ]


def _told(sentences: tuple[str, ...], shown: dict[str, Any]) -> bool:
    """Whether a box says one of these."""
    return any(_said(sentence).search(text) for sentence in sentences for _, text in shown["alerts"])


def _said(sentence: str) -> re.Pattern[str]:
    """In any language, with any values."""
    words = [re.escape(catalog(language).gettext(sentence)) for language in LANGUAGES]
    return re.compile("|".join(re.sub(r"\\{\w+\\}", ".*", one) for one in words))


def _titles(page: Page, shown: dict[str, Any], parts: dict[str, str]) -> list[str]:
    found: list[str] = []
    entry = next((one for one in ENTRIES if one.address == urlsplit(page.url).path.strip("/")), None)
    language = parts.get("lang", "en")
    if entry is not None and not shown["title"].startswith(catalog(language).gettext(entry.title)):
        found.append(f"the title is {shown['title']!r} at {page.url}")
    if shown["languages"] and shown["languages"] != [LANGUAGES[language]]:
        found.append(f"the language chosen is {shown['languages']}, the address says {language}")
    text = text_in_url.text_of(parts) or DEFAULT_TEXT
    if shown["text"] not in (None, text) and text_in_url.parts_of(shown["text"]):
        found.append(f"the box holds {shown['text']!r}, the address {text!r}")
    return found


def heads(shown: dict[str, Any], parts: dict[str, str], page: str) -> list[str]:
    """Captions, pictures, the strip of the model and the address name one head.

    A page that reads a chapter in place of the session's text picks a head for itself until one is chosen.
    """
    of_one = [text for text in shown["heads"] if len(set(ANY_HEAD.findall(text))) == 1]  # not of every head of a layer
    named = {(int(a), int(b)) for a, b in (found.groups() for found in map(HEAD.match, of_one) if found)}
    strip = [tuple(map(int, place.split(","))) for place in shown["strip"]]
    if not named and not strip:
        return []
    if "layer" not in parts or "head" not in parts:
        if page in CHAPTER:
            return []
        return [f"the page shows {sorted(named) or strip}, the address names no head"]
    here = int(parts["layer"]), int(parts["head"])
    if min(here) < 0:  # counted from the end
        return []
    found = [f"the page shows {sorted(named)}, the address says {here}"] if named - {here} else []
    return found + [f"the strip says {place}, the address {here}" for place in strip if place != here]


def _shares(shown: dict[str, Any]) -> list[str]:
    """Rows of a whole distribution add up to 100 %, as far as rounding goes; what is below 0.1 % counts as nothing."""
    found: list[str] = []
    for rows in (*shown["tables"], *shown["bars"]):
        numbers = [float(NUMBER.findall(row)[-1]) for row in rows if "%" in row]
        if numbers and len(numbers) == len(rows) and abs(sum(numbers) - 100) > 0.1 * len(numbers) + 0.3:
            found.append(f"{sum(numbers):.1f} % in all: {rows}")
    return found


def _shows(page: Page, step: Step) -> list[str]:
    """A control shows what was chosen in it."""
    control = step.control
    if control is None or step.shows is None:
        return []
    for one in controls(page):
        if (one.kind, one.key, one.name) == (control.kind, control.key, control.name) and _same_option(one, control):
            value = page.evaluate("index => walk.value(index)", one.index)
            if value is not None and value.split() != step.shows.split():
                return [f"{control} shows {value!r} after {step.words}"]
            break
    return []


def _same_option(one: Control, control: Control) -> bool:
    return control.kind != "choose" or one.option == control.option
