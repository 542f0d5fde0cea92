"""The text on the screen: no English remains in other languages, and JavaScript contains no text of its own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.message import Message
from streamlit.proto.BidiComponent_pb2 import BidiComponent
from streamlit.testing.v1 import AppTest

from tests.ui.driving import html, open_app
from tests.ui.wording.test_catalogs import ROOT, TRANSLATED, translations
from tests.viz.components.test_packing import unpacked
from ui.wording.i18n import LOCALES

PAGES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "pages").glob("*/page.py"))
# Where JavaScript puts words: these names, given a literal that holds a word.
SHOWN = re.compile(
    r"""(?:\b(?:textContent|innerText|title|placeholder|alt)\s*[:=]|["']aria-label["']\s*[:,])\s*"""
    r"""(?:"[^"]*[A-Za-z]{2}|'[^']*[A-Za-z]{2}|`(?:[^`$]|\$\{[^}]*\})*?[A-Za-z]{2}(?![^{]*\}))"""
    r"""|\b(?:fillText|strokeText|announce|alert|createTextNode)\(\s*["'`][^"'`$]*[A-Za-z]{2}"""
)


def strings(message: Message) -> Iterator[str]:
    """Every text in a message from the server to the browser."""
    for field, value in message.ListFields():
        for part in value if field.is_repeated else [value]:
            if isinstance(part, Message):
                yield from strings(part)
            elif isinstance(part, str):
                yield part


def on_screen(app: AppTest) -> list[str]:
    """Every text the page sent: labels, hints, HTML and what the components were given."""

    def walk(node: Any) -> Iterator[str]:
        proto = getattr(node, "proto", None)
        if isinstance(proto, Message) and not isinstance(
            proto, BidiComponent
        ):  # its code and packed bytes are not text
            yield from strings(proto)
        for child in getattr(node, "children", {}).values():
            yield from walk(child)

    packed = [unpacked(element.proto.bytes)[0] for element in app.get("bidi_component")]
    for term in (term for meta in packed for term in meta.get("terms", [])):
        del term["names"][1:]  # spellings that the glossary looks for; the first one is shown
    return [*walk(app._tree), *(json.dumps(meta, ensure_ascii=False) for meta in packed)]


@pytest.mark.parametrize("language", TRANSLATED)
@pytest.mark.parametrize("file", PAGES)
def test_a_page_in_another_language_shows_no_message_in_english(file: str, language: str):
    app = open_app(page=file, lang=language)
    assert "atlas-badge ok" in html(app)
    shown = "\n".join(on_screen(app))
    translated = translations(LOCALES / f"{language}.po")
    assert translated["Read this picture"] in shown
    whole = {text for text, theirs in translated.items() if " " in text and "{" not in text and text not in theirs}
    assert len(whole) > 100
    assert {text for text in whole if text in shown} == set()


@pytest.mark.parametrize(
    "path", sorted((ROOT / "viz").rglob("*.js")), ids=lambda path: f"{path.parent.name}/{path.stem}"
)
def test_javascript_brings_no_words_of_its_own(path: Path):
    """Every word comes with the payload's texts, or it could not be translated."""
    code = re.sub(r"\bexp\(", "(", path.read_text(encoding="utf-8"))  # a formula says exp in every language
    assert SHOWN.findall(code) == []


def test_the_search_for_words_in_javascript_finds_them():
    assert SHOWN.search('button.textContent = "zoom in"')
    assert SHOWN.search('element("p", { "aria-label": `the map of ${head}` })')
    assert SHOWN.search('context.fillText("masked", 3, 4)')
    assert not SHOWN.search('node.textContent = texts.masked ?? ""')
    assert not SHOWN.search('name.textContent = "q × k"')
    assert not SHOWN.search("context.fillText(`H${head}`, x, y)")
