"""Addresses that people have, and what they show: addresses.txt, which stays as it is whatever the code becomes.

A line of the table that begins with = is what controls are set to, with ! a box that says something, with ~ an array
that a picture gets (its name, its shape, its fingerprint); any other line is words that are shown. For another default
model ``python -m tests.pages.test_addresses`` writes the fingerprints anew; words are changed by hand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.entries import ENTRIES
from tests.pages.shown import complete, drawn, fingerprint, rounding, settings, words
from tests.ui.driving import open_app, sentences
from ui.wording.i18n import LANGUAGES

TABLE = Path(__file__).with_name("addresses.txt")
FIRST = 5  # of a page, whose addresses are opened in every run of the tests


@dataclass(frozen=True)
class Row:
    """One address with the lines of its paragraph."""

    address: str
    lines: tuple[str, ...]

    def marked(self, mark: str) -> list[str]:
        return [line.removeprefix(mark).strip() for line in self.lines if line.startswith(mark)]

    @property
    def words(self) -> list[str]:
        return [line for line in self.lines if line[0] not in "=!~"]

    @property
    def page(self) -> str:
        return urlsplit(self.address).path.strip("/")

    @property
    def parameters(self) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self.address).query, keep_blank_values=True))

    def opened(self) -> AppTest:
        files = {entry.address: entry.file for entry in ENTRIES}
        return complete(open_app(page=files[self.page], **self.parameters))


def rows() -> list[Row]:
    paragraphs = TABLE.read_text("utf-8").strip().split("\n\n")
    return [Row(address, tuple(map(str.strip, lines))) for address, *lines in map(str.splitlines, paragraphs)]


def often(found: list[Row]) -> list[Any]:
    """The first addresses of each page in every run of the tests, the others by make long."""
    seen = Counter[str]()
    marked = []
    for row in found:
        seen[row.page] += 1
        marked.append(pytest.param(row, marks=[] if seen[row.page] <= FIRST else [pytest.mark.long]))
    return marked


def pictures(app: AppTest, name: str, shape: str) -> Iterator[np.ndarray]:
    yield from (array for one, array in drawn(app) if one == name and "×".join(map(str, array.shape)) == shape)


@pytest.mark.table
@pytest.mark.usefixtures("whole_texts")
@pytest.mark.parametrize("row", often(rows()), ids=lambda row: row.address)
def test_an_address_shows_what_it_showed(row):
    app = row.opened()
    assert sentences(app) == row.marked("!")
    shown, set_to = words(app), settings(app)
    for line in row.words:
        assert line in shown
    for choice in (choice for line in row.marked("=") for choice in line.split(" | ")):
        assert choice in set_to
    for line in row.marked("~"):
        name, shape, number = line.rsplit(" ", 2)
        found = list(pictures(app, name, shape))
        assert any(abs(fingerprint(one) - float(number)) <= rounding(one) for one in found), (
            line,
            [fingerprint(one) for one in found],
        )


def test_the_table_has_every_page_in_english_and_translated_and_each_address_once():
    table = rows()
    assert len({row.address for row in table}) == len(table) >= 60
    for entry in ENTRIES:
        of_page = [row.parameters.get("lang", "en") for row in table if row.page == entry.address]
        assert set(LANGUAGES) >= set(of_page) > {"en"}, entry.file


def _write_fingerprints() -> None:
    """Each row keeps the array whose fingerprint was nearest before."""
    paragraphs: list[str] = []
    for row in rows():
        app, lines = row.opened(), [row.address]
        for line in row.lines:
            if line.startswith("~"):
                name, shape, number = line.removeprefix("~").strip().rsplit(" ", 2)
                found = [fingerprint(one) for one in pictures(app, name, shape)]
                line = f"~ {name} {shape} {min(found, key=lambda one: abs(one - float(number))):.6g}"
            lines.append(f"  {line}")
        paragraphs.append("\n".join(lines))
    TABLE.write_text("\n\n".join(paragraphs) + "\n", "utf-8")


if __name__ == "__main__":
    _write_fingerprints()
