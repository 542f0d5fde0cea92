"""docs/coverage.md: every address in it opens as it says, without a warning."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest

from pages.entries import ENTRIES
from tests.pages.shown import complete
from tests.ui.driving import open_app, sentences
from ui.state.url_state import DEFAULT_TEXT

DOC = Path(__file__).resolve().parents[2] / "docs" / "coverage.md"
LINKS = list(dict.fromkeys(re.findall(r"\]\(http://localhost:8501(/[^)]*)\)", DOC.read_text("utf-8"))))
FILES = {entry.address: entry.file for entry in ENTRIES}


@pytest.mark.table
@pytest.mark.parametrize("link", LINKS)
def test_an_address_of_the_document_opens_without_a_word(link: str):
    parts = urlsplit(link)
    given = dict(parse_qsl(parts.query, keep_blank_values=True))
    app = complete(open_app(page=FILES[parts.path.strip("/")], **{"text": DEFAULT_TEXT, **given}))
    assert not sentences(app)
    for name, value in given.items():
        assert app.query_params.get(name) == value, (name, value)  # none was replaced, none is the default


def test_it_has_an_address_of_nearly_every_page():
    pages = {urlsplit(link).path.strip("/") for link in LINKS}
    assert len(LINKS) > 60
    assert {entry.address for entry in ENTRIES} - pages <= {"", "compare", "long_texts"}
