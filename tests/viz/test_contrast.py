"""Words are read: every pair of words and ground that meets on the screen, in both themes and on a projector.

Components take their colours from `themeColors` in theme.js, which runs here as it is, with the palette of color.py and
the theme of .streamlit/config.toml; the page's own words are looked up in the style sheets. Contrast is WCAG 2's.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.node import ROOT, run_module
from viz.color import palette
from viz.svg import DARK, LIGHT

CONFIG = tomllib.loads((ROOT / ".streamlit/config.toml").read_text("utf-8"))["theme"]
SETTINGS = [(side, clear) for side in ("light", "dark") for clear in (False, True)]
LEAST = {False: 4.5, True: 7.0}
SHEETS = sorted({ROOT / "ui/shell/frame.css", *(ROOT / "viz").rglob("*.css")})
# Fainter on purpose: controls that cannot be used, of which WCAG asks nothing and this app 3 : 1, and pictures.
UNUSABLE = {
    ".bracketings .play:disabled", ".film .transport button:disabled", ".flash-film .keys button:disabled",
    ".long-map button:disabled", ".head-map .zoom button:disabled", ".sampling-bench button:disabled",
    ".step-by-step .bar button:disabled",
}  # fmt: skip  # in few lines
NO_WORDS = UNUSABLE | {
    ".token-lines svg .all.dimmed", ".head-groups .ways path", ".head-groups figure .head :is(.q, .k, .v)",
    ".head-groups figure .head:hover :is(.q, .k, .v)", ".head-groups figure path", ".head-bars .bar",
    ".step-by-step .line .ahead canvas", ".sampling-bench .rest .lane .final",
}  # fmt: skip

Rgb = tuple[float, ...]


def rgb(text: str) -> Rgb:
    digits = text.lstrip("#")
    return tuple(bytes.fromhex("".join(2 * digit for digit in digits) if len(digits) == 3 else digits))


def mixed(ground: Rgb, color: Rgb, share: float) -> Rgb:
    return tuple(a + (b - a) * share for a, b in zip(ground, color, strict=True))


def luminance(color: Rgb) -> float:
    red, green, blue = ((c / 255) / 12.92 if c <= 10.3 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in color)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(a: Rgb, b: Rgb) -> float:
    dim, bright = sorted((luminance(a), luminance(b)))
    return (bright + 0.05) / (dim + 0.05)


def page(side: str, clear: bool) -> dict[str, Rgb]:
    """The page's ground, its second one and its words; a projector's are black and white, see frame.css."""
    theme = CONFIG[side]
    found = {name: rgb(theme[f"{name}Color"]) for name in ("background", "secondaryBackground", "text", "primary")}
    if clear:
        white = (255, 255, 255), (0, 0, 0)
        found["background"], found["text"] = white if side == "light" else white[::-1]
    return found


@pytest.fixture(scope="module")
def inks() -> dict[tuple[str, bool], dict[str, Any]]:
    """What theme.js makes of each page, and its answers to the questions of a component."""
    given = [
        [{"secondary": found.pop("secondaryBackground"), **found}, clear]
        for side, clear in SETTINGS
        for found in [page(side, clear)]
    ]
    code = """
        import { themeColors, inkOn, mix, rampColor, readable } from "./viz/components/shared/theme.js"
        import { lineColor } from "./viz/components/shared/hatch.js"
        answer(given.pages.map(([page, clear]) => {
          const theme = themeColors(page, given.palette, clear)
          const ramps = {}
          for (const name of ["sequential", "diverging"]) {
            const colors = Array.from({ length: 256 }, (_, i) => rampColor(theme[name], i / 255))
            ramps[name] = colors.map((color) => [color, inkOn(color)])
          }
          const tints = ["query", "key"].flatMap((name) => [0, 0.14, 0.3].map((deep) => {
            const ground = mix(theme.background, theme[name], deep)
            return [ground, readable(theme[name], ground, theme.text, theme.least)]
          }))
          return { theme, ramps, tints, leftOut: lineColor(theme, "leftOut") }
        }))
    """
    return dict(zip(SETTINGS, run_module(code, {"pages": given, "palette": palette()}), strict=True))


@pytest.mark.parametrize("side, clear", SETTINGS)
@pytest.mark.parametrize("name", ["text", "quiet", "primary", "query", "key", "valueWords", "compare"])
def test_words_of_a_component_are_read_on_its_ground(inks, side, clear, name):
    theme = inks[side, clear]["theme"]
    assert contrast(theme[name], theme["background"]) >= LEAST[clear]


@pytest.mark.parametrize("side, clear", SETTINGS)
@pytest.mark.parametrize("name", ["text", "quiet", "primary"])
def test_words_of_a_control_are_read_on_the_second_ground(inks, side, clear, name):
    theme = inks[side, clear]["theme"]
    assert contrast(theme[name], theme["secondary"]) >= 4.5


@pytest.mark.parametrize("side, clear", SETTINGS)
def test_numbers_are_read_on_every_colour_of_a_scale(inks, side, clear):
    for pairs in inks[side, clear]["ramps"].values():
        assert min(contrast(ink, color) for color, ink in pairs) >= 4.5


@pytest.mark.parametrize("side, clear", SETTINGS)
def test_a_token_is_read_on_its_tint(inks, side, clear):
    assert min(contrast(ink, ground) for ground, ink in inks[side, clear]["tints"]) >= LEAST[clear]
    theme = inks[side, clear]["theme"]
    for name in ("query", "key"):  # the words of the page's own colour, on as much tint as one that is looked at has
        assert contrast(theme["text"], mixed(theme["background"], theme[name], 0.3)) >= LEAST[clear]


@pytest.mark.parametrize("side, clear", SETTINGS)
def test_the_place_of_a_token_is_read_on_its_chip(inks, side, clear):
    (share,) = (share for _, selector, share in FADED if selector == ".token-strip .chip .place")
    deepest = round(255 * 0.45)  # DEEPEST_TINT of token_strip.js
    pairs = inks[side, clear]["ramps"]["sequential"][: deepest + 1]
    assert min(contrast(mixed(color, ink, share), color) for color, ink in pairs) >= 4.5


@pytest.mark.parametrize("side", ["light", "dark"])
def test_words_are_read_on_a_button_of_the_page_s_own_colour(side):
    (pair,) = (pair for _, selector, *pair in GIVEN if "BaseButton-primary" in selector)
    assert contrast(rgb(pair[side == "dark"]), page(side, False)["primary"]) >= 4.5


@pytest.mark.parametrize("side, clear", SETTINGS)
def test_a_key_that_was_not_chosen_is_told_from_paper_and_from_what_is_masked(inks, side, clear):
    found = inks[side, clear]
    assert contrast(found["leftOut"], found["theme"]["background"]) >= 3  # WCAG's for what is no words
    assert contrast(found["leftOut"], found["theme"]["masked"]) >= 2


@pytest.mark.parametrize("ink, ground", [(ink.text, ink.background) for ink in (LIGHT, DARK)])
def test_words_of_a_file_are_read(ink, ground):
    assert contrast(rgb(ink), rgb(ground)) >= 4.5


@pytest.mark.parametrize("ink", [LIGHT, DARK])
def test_quiet_words_of_a_file_are_read(ink):
    assert contrast(rgb(ink.quiet), rgb(ink.background)) >= 4.5


# ---- the page's own words -------------------------------------------------------------------------------------------


def rules(sheet: Path) -> Iterator[tuple[str, str]]:
    """Every selector of a style sheet with its declarations; the ones inside of @media too."""
    text = re.sub(r"/\*.*?\*/", "", sheet.read_text("utf-8"), flags=re.S)
    for selector, body in re.findall(r"([^{};]+)\{([^{}]*)\}", text):
        yield " ".join(selector.split()), body


COLOR = r"(?<![-\w])color:\s*"
RULES = [(sheet.name, selector, body) for sheet in SHEETS for selector, body in rules(sheet)]
FADED = [
    (name, selector, float(share))
    for name, selector, body in RULES
    for share in re.findall(r"(?<![-\w])opacity:\s*(0?\.\d+)", body)
    if selector not in NO_WORDS
]
MIXED = [
    (name, selector, color, int(share))
    for name, selector, body in RULES
    for color, share in re.findall(COLOR + r"color-mix\(in srgb, (\S+) (\d+)%, (?:currentColor|transparent)\)", body)
]
GIVEN = [
    (name, selector, *pair)
    for name, selector, body in RULES
    for pair in re.findall(COLOR + r"light-dark\((#\w+), (#\w+)\)", body)
    if "background" not in body
]


def test_the_style_sheets_are_found():
    assert len(FADED) > 8
    assert len(MIXED) > 10
    assert len(GIVEN) >= 2
    assert {selector for _, selector, _ in RULES} >= NO_WORDS


@pytest.mark.parametrize("side, clear", SETTINGS)
@pytest.mark.parametrize("sheet, selector, share", FADED)
def test_what_is_fainter_than_the_page_is_read(sheet, selector, share, side, clear):
    found = page(side, clear)
    for ground in ("background", "secondaryBackground") if not clear else ("background",):
        assert contrast(mixed(found[ground], found["text"], share), found[ground]) >= LEAST[clear], (sheet, selector)


@pytest.mark.parametrize("side, clear", SETTINGS)
@pytest.mark.parametrize("selector", sorted(UNUSABLE))
def test_a_control_that_cannot_be_used_is_seen(inks, selector, side, clear):
    (body,) = (body for _, one, body in RULES if one == selector)
    (share,) = re.findall(r"opacity:\s*(0?\.\d+)", body)
    theme = inks[side, clear]["theme"]
    for ground in (theme["background"], theme["secondary"]):
        assert contrast(mixed(ground, theme["text"], float(share)), ground) >= 3
    # the sign on a button of the page's own colour, which fades with it
    assert contrast(mixed(theme["background"], theme["primary"], float(share)), theme["background"]) >= 3


@pytest.mark.parametrize("selector", sorted(UNUSABLE))
def test_a_control_that_cannot_be_used_fades_from_the_colour_of_words(selector):
    (body,) = (body for _, one, body in RULES if one == selector)
    assert "--aa-quiet" not in body
    if selector.split()[0] in (".long-map", ".head-map", ".sampling-bench"):  # quiet where they can be used
        assert "color: var(--aa-text)" in body


@pytest.mark.parametrize("side, clear", SETTINGS)
@pytest.mark.parametrize("sheet, selector, color, share", MIXED)
def test_coloured_words_of_the_page_are_read(sheet, selector, color, share, side, clear):
    found, large = page(side, clear), selector.startswith("html[data-projector]")
    there = any(other == f"html[data-projector] {selector}" for _, other, *_ in MIXED)
    if (large and not clear) or (clear and there):
        pytest.skip("of the other of the two ways to show the page")
    ink = rgb(color) if color.startswith("#") else found["text"]
    base = found["text"] if color.startswith("#") else found["background"]
    assert contrast(mixed(base, ink, share / 100), found["background"]) >= LEAST[clear], (sheet, selector)


@pytest.mark.parametrize("sheet, selector, light, dark", [one for one in GIVEN if "BaseButton" not in one[1]])
def test_colours_given_for_each_theme_are_read(sheet, selector, light, dark):
    for side, color in (("light", light), ("dark", dark)):
        assert contrast(rgb(color), page(side, False)["background"]) >= 4.5, (sheet, selector)
