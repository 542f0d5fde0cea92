"""The table and the pictures of docs/zoo.md say what the variants in the code say."""

from __future__ import annotations

import re

import numpy as np

from attention.zoo.table import VARIANTS
from scripts.zoo_table import CELL, DOCUMENT, PICTURES, maps, picture, table, with_table


def test_the_document_holds_the_table_of_the_variants():
    assert table() in DOCUMENT.read_text(encoding="utf-8"), "run python -m scripts.zoo_table"


def test_every_variant_has_one_row_with_its_paper_and_all_of_its_numbers():
    rows = table().splitlines()[2:]
    for variant, row in zip(VARIANTS, rows, strict=True):
        cells = [cell.strip() for cell in row.strip("|").split(" | ")]
        assert len(cells) == 13
        assert f"`{variant.name}`" in cells[1]
        assert cells[11:] == [variant.published, variant.source]
        for one in variant.parameters:
            start = f"{one.least} {one.choices[0]}, " if one.choices else f"{one.written(one.least)} to"
            assert f"`{one.name}`: {one.counts} ({start}" in cells[9]


def cells_of(svg: str) -> dict[tuple[int, int], float]:
    """Row and column → how dark its cell is; masked ones are left out."""
    found = re.findall(r'<rect x="(\d+)" y="(\d+)" [^>]*fill-opacity="([\d.]+)"', svg)
    return {(int(y) // CELL, int(x) // CELL): float(dark) for x, y, dark in found}


def test_the_pictures_are_the_maps_of_the_embedded_model():
    drawn = maps()
    assert {path.stem for path in PICTURES.iterdir()} == set(drawn), "run python -m scripts.zoo_table"
    for name, values in drawn.items():
        held = cells_of((PICTURES / f"{name}.svg").read_text(encoding="utf-8"))
        expected = np.abs(values) / np.nanmax(np.abs(values))
        assert set(held) == {place for place, value in np.ndenumerate(values) if value == value}, name
        # two digits are written, and another machine's last digits may round to the next one
        assert all(abs(held[place] - expected[place]) < 0.011 for place in held), f"{name}: run scripts.zoo_table"


def test_a_picture_tells_signs_and_masked_cells_apart():
    svg = picture(np.array([[1.0, np.nan], [-0.5, 0.0]]))
    assert cells_of(svg) == {(0, 0): 1.0, (1, 0): 0.5, (1, 1): 0.0}
    assert 'x="0" y="6" width="6" height="6" fill="#b3261e"' in svg


def test_an_old_table_is_replaced_and_the_rest_stays():
    assert with_table("a\n\n|  | variant | x |\n| old |\n\nb\n") == f"a\n\n{table()}\n\nb\n"
    assert with_table("a\n\n|  | variant |\n") == f"a\n\n{table()}\n"


def test_the_readme_counts_what_there_is():
    assert f"{len(VARIANTS)} rivals of softmax" in (DOCUMENT.parents[1] / "README.md").read_text(encoding="utf-8")
