"""The language is the chosen one, else the browser's, else English; catalogs are read as they are written."""

from __future__ import annotations

import ast

import pytest
from babel.messages.pofile import read_po
from streamlit.testing.v1 import AppTest

from ui.wording import i18n
from ui.wording.i18n import LANGUAGES, LOCALES, catalog

PO = """
msgid ""
msgstr "Content-Type: text/plain; charset=UTF-8\\n"

msgid "Text"
msgstr "文本 {name}"

msgid "Model"
msgstr ""

#, fuzzy
msgid "Query"
msgstr "旧的猜测"
"""


@pytest.fixture
def chinese(tmp_path, monkeypatch):
    """A catalog of one translated, one untranslated and one doubtful message, in place of the real ones."""
    (tmp_path / "zh.po").write_text(PO, encoding="utf-8")
    monkeypatch.setattr(i18n, "LOCALES", tmp_path)
    catalog.cache_clear()
    yield catalog("zh")
    catalog.cache_clear()


def languages_of(locale: str, **address: str) -> tuple[str, list[str]]:
    """The language in use and the order of the choices, for a browser and an address."""

    def script() -> None:
        import streamlit as st

        from ui.state import session
        from ui.wording import i18n

        session.begin()
        st.session_state["found"] = (i18n.language(), list(i18n.languages()))

    app = AppTest.from_function(script, default_timeout=60)
    app.context["locale"] = locale
    app.query_params.update(address)
    app.run()
    assert not app.exception
    return app.session_state["found"]


def test_a_translated_message_is_the_translation(chinese):
    assert chinese.gettext("Text") == "文本 {name}"


@pytest.mark.parametrize("message", ["Model", "Query", "never heard of"])
def test_what_is_not_translated_or_only_guessed_stays_english(chinese, message):
    assert chinese.gettext(message) == message


def test_english_needs_no_catalog(monkeypatch, tmp_path):
    monkeypatch.setattr(i18n, "LOCALES", tmp_path)
    assert catalog("en").gettext("Text") == "Text"


def test_every_language_but_english_has_its_catalog():
    assert {path.stem for path in LOCALES.glob("*.po")} == set(LANGUAGES) - {"en"}


@pytest.mark.parametrize("locale", ["en-US", "tlh-001", ""])
def test_a_browser_in_another_language_gets_english(locale):
    assert languages_of(locale) == ("en", list(LANGUAGES))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("locale", ["{}", "{}-CN", "{}-hans"])
def test_a_browser_in_a_language_of_ours_gets_it_and_finds_it_first(language, locale):
    others = [one for one in LANGUAGES if one != language]
    for known in (locale.format(language), locale.format(language).upper()):
        assert languages_of(known) == (language, [language, *others])


@pytest.mark.parametrize("locale, other", [("en-US", "zh"), ("zh-CN", "en")])
def test_the_address_outweighs_the_browser(locale, other):
    assert languages_of(locale, lang=other)[0] == other


@pytest.mark.parametrize("locale, own", [("en-US", "en"), ("zh-CN", "zh")])
def test_an_unknown_language_falls_back_to_the_browsers(locale, own):
    assert languages_of(locale, lang="tlh")[0] == own


def test_every_sentence_in_the_code_is_in_every_catalog():
    """Also those within f-strings, which the collector of messages does not see."""
    root = LOCALES.parents[1]
    folders = ("analysis", "attention", "classroom", "hosting", "inline", "jobs", "model_runner", "pages", "ui", "viz")
    said = {
        node.args[0].value
        for folder in folders
        for path in (root / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("_", "N_")
        if node.args and isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str)
    }
    assert len(said) > 1000
    for language in LANGUAGES:
        if language != "en":
            with (LOCALES / f"{language}.po").open("rb") as source:
                known = {str(message.id) for message in read_po(source)}
            assert sorted(said - known - {""}) == []
