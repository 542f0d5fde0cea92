"""Two tokenizations of a text, piece by piece, each with both sides' tokens one above the other; as HTML and as SVG.

Independent of tokenizers: its input is labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from viz.svg import FONT, LIGHT, MARGIN, document, element, label, text
from viz.token_text import ems, escaped, shortened

N_ = str

TEXTS: dict[str, str] = {"nothing": N_("no token")}

_WIDTH, _CHIP, _GAP, _LINE = 900.0, 24.0, 5.0, 74.0  # of the SVG: line width, chip height, gap, line height
_LABEL_EMS = 14.0
_FILL = {"same": "#ececf4", "other": "#f8dcb6", "alone": "none"}


@dataclass(frozen=True)
class Match:
    """Labels of both sides' tokens that cover the same characters; empty for a side that lacks them."""

    first: tuple[str, ...]
    second: tuple[str, ...]

    @property
    def kind(self) -> str:
        """Whether both tokenize it alike, differently, or only one side has it."""
        if not self.first or not self.second:
            return "alone"
        return "same" if len(self.first) == len(self.second) == 1 else "other"


def aligned_tokens(blocks: Sequence[Match], *, names: tuple[str, str], label: str, texts: dict[str, str]) -> str:
    """HTML that wraps like text; ``label`` describes it to screen readers. All strings are escaped here."""
    words = TEXTS | texts
    rows = (("first", names[0]), ("second", names[1]))
    parts = []
    for block in blocks:
        sides = (block.first, block.second)
        lines = "".join(
            f'<div class="{side}" title="{escaped(name)}">{_chips(tokens, words)}</div>'
            for (side, name), tokens in zip(rows, sides, strict=True)
        )
        parts.append(f'<li class="{block.kind}">{lines}</li>')
    sides = "".join(f'<div class="{side}">{escaped(name)}</div>' for side, name in rows)
    return (
        f"<style>{_css()}</style>"
        f'<ol class="atlas-aligned" aria-label="{escaped(label)}"><li class="names" aria-hidden="true">{sides}</li>'
        f"{''.join(parts)}</ol>"
    )


def _chips(tokens: Sequence[str], words: dict[str, str]) -> str:
    if not tokens:
        return f'<span class="none" role="img" aria-label="{escaped(words["nothing"])}"></span>'
    return "".join(f"<span><bdi>{escaped(token)}</bdi></span>" for token in tokens)


def aligned_svg(blocks: Sequence[Match], *, names: tuple[str, str], title: str, caption: str) -> str:
    """The same as an SVG file."""
    wide = [_wide(block) for block in blocks]
    left = MARGIN + 12 + FONT * max(ems(shortened(name, _LABEL_EMS)) for name in names)
    x, y = left, MARGIN + 50.0
    body: list[str] = []
    starts = [y]
    for block, width in zip(blocks, wide, strict=True):
        if x > left and x + width > _WIDTH - MARGIN:
            x, y = left, y + _LINE
            starts.append(y)
        body += _block_svg(block, x, y, width)
        x += width + _GAP
    for start in starts:
        for name, down in zip(names, (0.0, _CHIP + 4), strict=True):
            body.append(text(label(name, _LABEL_EMS), "quiet", x=MARGIN, y=start + down + 16))
    width = max(_WIDTH, left + max(wide, default=0.0) + MARGIN)
    return document(body, width=width, below=y + _LINE, title=title, caption=caption)


def _wide(block: Match) -> float:
    return max(sum(_token_width(one) for one in side) for side in (block.first or ("",), block.second or ("",)))


def _token_width(token: str) -> float:
    return 12 + FONT * ems(shortened(token, _LABEL_EMS))


def _block_svg(block: Match, x: float, y: float, width: float) -> list[str]:
    """Both lines of chips, stretched to equal width, on the colour of their kind."""
    drawn: list[str] = []
    for tokens, down in ((block.first, 0.0), (block.second, _CHIP + 4)):
        if not tokens:
            box = {"fill": "none", "stroke": LIGHT.rule, "stroke_dasharray": "3 3"}
            drawn.append(element("rect", x=x, y=y + down, width=width, height=_CHIP, rx=4, **box))
        own = sum(map(_token_width, tokens))
        at = x
        for token in tokens:
            span = _token_width(token) * width / own
            fill = {"fill": _FILL[block.kind], "stroke": LIGHT.rule}
            drawn.append(element("rect", x=at + 0.5, y=y + down, width=span - 1, height=_CHIP, rx=4, **fill))
            drawn.append(text(label(token, _LABEL_EMS), x=at + span / 2, y=y + down + 16, text_anchor="middle"))
            at += span
    return drawn


@cache
def _css() -> str:
    return Path(__file__).with_suffix(".css").read_text(encoding="utf-8")
