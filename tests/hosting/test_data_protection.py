"""The times in the data protection sheet match the program, in both languages."""

from __future__ import annotations

import re

import pytest
from streamlit.web.server.starlette.starlette_server_config import AUTH_COOKIE_MAX_AGE_SECONDS

from classroom.devices import Devices
from classroom.room import STAYS
from hosting.settings import Limits
from tests.browser import ROOT

TIMES = {
    "en": ("30 minutes unless set otherwise", "ten minutes after the teacher left", "six hours", "at most 30 days"),
    "zh": ("默认三十分钟", "老师离开十分钟后", "六小时", "最多三十天"),
}


def sheet(language: str) -> str:
    name = "data-protection.md" if language == "en" else f"data-protection.{language}.md"
    return " ".join((ROOT / "docs" / name).read_text(encoding="utf-8").split())


@pytest.mark.parametrize("language", TIMES)
def test_its_times_are_those_of_the_program(language: str):
    forget, stays, phone, signed = TIMES[language]
    text = sheet(language)
    assert (Limits().forget, forget in text) == (30 * 60, True)
    assert (STAYS, stays in text) == (600, True)
    found = re.search(r"Max-Age=(\d+)", Devices().header("x", "", secure=True), re.IGNORECASE)
    assert (int(found[1]), phone in text) == (6 * 3600, True)
    assert (AUTH_COOKIE_MAX_AGE_SECONDS, signed in text) == (30 * 24 * 3600, True)


def test_both_languages_have_the_same_parts_rows_and_fields_to_fill_in():
    for found in (r"## ", r"\|", r"- \[ \]", r"- ", r"SQLite", r"limits\.forget"):
        counts = {language: len(re.findall(found, sheet(language))) for language in TIMES}
        assert counts["en"] == counts["zh"], found
