"""The table of docs/masks.md says what the patterns in the code say."""

from __future__ import annotations

from attention.patterns import PATTERNS
from scripts.pattern_table import DOCUMENT, table, with_table


def test_the_document_holds_the_table_of_the_patterns():
    assert table() in DOCUMENT.read_text(encoding="utf-8"), "run python -m scripts.pattern_table"


def test_every_pattern_has_one_row_with_its_paper_and_all_of_its_numbers():
    rows = table().splitlines()[2:]
    for pattern, row in zip(PATTERNS, rows, strict=True):
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        assert len(cells) == 4
        assert f"`{pattern.name}`" in cells[0]
        assert cells[3] == pattern.source
        for parameter in pattern.parameters:
            assert f"`{parameter.name}`: {parameter.counts} ({parameter.default}, {parameter.least})" in cells[2]


def test_an_old_table_is_replaced_and_the_rest_stays():
    assert with_table("a\n\n| pattern | x |\n| old |\n\nb\n") == f"a\n\n{table()}\n\nb\n"
    assert with_table("a\n\n| pattern | x |\n") == f"a\n\n{table()}\n"
