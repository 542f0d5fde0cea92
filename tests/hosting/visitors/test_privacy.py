"""The privacy page shows its whole source, in the language of the URL, of the browser, or in English."""

from __future__ import annotations

from html import unescape

import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient

from hosting.visitors.privacy import privacy
from tests.browser import ROOT

SOURCES = {"en": "privacy.md", "zh": "privacy.zh.md"}


@pytest.fixture
def client() -> TestClient:
    return TestClient(Starlette(routes=[Route("/privacy", privacy)]))


def lines(language: str) -> list[str]:
    """Title, paragraphs and items of the source."""
    blocks = (ROOT / "docs" / SOURCES[language]).read_text(encoding="utf-8").strip().split("\n\n")
    split = [block.splitlines() if block.startswith("- ") else [" ".join(block.splitlines())] for block in blocks]
    return [line.removeprefix("# ").removeprefix("- ") for block in split for line in block]


@pytest.mark.parametrize(
    "address, browser, language",
    [
        ("/privacy?lang=zh", "en-GB", "zh"),
        ("/privacy?lang=en", "zh-CN", "en"),
        ("/privacy", "zh-CN,zh;q=0.9", "zh"),
        ("/privacy", "fr", "en"),
        ("/privacy?lang=../../secret", "zh-CN", "en"),
    ],
)
def test_the_whole_source_is_on_the_page_in_the_language_asked_for(client, address, browser, language):
    answer = client.get(address, headers={"accept-language": browser})
    assert answer.status_code == 200
    page, other = unescape(answer.text), "en" if language == "zh" else "zh"
    assert f"<html lang='{language}'>" in page
    assert len(lines(language)) > 9
    assert [line for line in lines(language) if line not in page] == []
    assert [line for line in lines(other) if line in page] == []
    assert f"href='?lang={other}'" in page  # and the way to the other one


def test_both_languages_say_as_many_things():
    assert len(lines("en")) == len(lines("zh"))
