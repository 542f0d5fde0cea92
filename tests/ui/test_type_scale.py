"""Five font sizes: every size in a style sheet is one of them, in pixels or relative to the root's 15."""

from __future__ import annotations

import re

import pytest

from tests.browser import ROOT

SCALE = (11, 12, 13, 15, 21)  # pixels
SHEETS = sorted(path for room in ("ui", "viz", "pages") for path in (ROOT / room).rglob("*.css"))
LARGE = (
    "atlas-huge",
    "atlas-large",
    "atlas-question",
    "atlas-quoted",
    "atlas-answered",
    "input.code",
)  # seen from the last row


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda path: path.stem)
def test_a_style_sheet_has_no_other_size(sheet):
    text = re.sub(r"/\*.*?\*/", "", sheet.read_text("utf-8"), flags=re.S)
    for rule in re.finditer(r"([^{}]*)\{([^{}]*)\}", text):
        for size, unit in re.findall(r"font-size: ([\d.]+)(px|rem|em)", rule[2]):
            if rule[1].strip().startswith("html"):  # the root, on which the others depend: a projector's is larger
                continue
            assert unit != "em", rule[0]
            if any(name in rule[1] for name in LARGE):
                continue
            assert round(float(size) * (15 if unit == "rem" else 1), 1) in [float(one) for one in SCALE], rule[0]
        assert "font-size: clamp" not in rule[2] or any(name in rule[1] for name in LARGE), rule[0]
