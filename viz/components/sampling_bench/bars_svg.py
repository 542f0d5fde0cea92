"""The bars of the sampling bench as self-contained SVG, one panel per setting.

For files and prints; on the screen the sampling_bench component draws the same numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from viz.color import palette
from viz.share_text import exact_digits
from viz.svg import LIGHT, MARGIN, document, element, label, rgb, text

_ROW, _LABEL, _NUMBERS = 22, 140, 110
_LANE = {1: 420, 2: 250}  # px of the longest bar, by number of panels
_LABEL_EMS = 10.5


@dataclass(frozen=True)
class Panel:
    """One setting's result for the tokens shown: probabilities, 0 if removed, and how often each was drawn.

    ``rest`` and ``rest_drawn`` are those of all other tokens together. ``drawn`` is empty if nothing was drawn.
    """

    name: str
    final: Sequence[float]
    rest: float
    drawn: Sequence[int] = ()
    rest_drawn: int = 0


def bars_svg(
    labels: Sequence[str],
    own: Sequence[float],
    panels: Sequence[Panel],
    *,
    rest: tuple[int, float],
    title: str,
    caption: str,
    texts: Mapping[str, str],
) -> str:
    """The figure as SVG text: `own` are the model's own probabilities.

    `rest` is the number of tokens that are not shown and their probability. Strings are escaped here.
    """
    for panel in panels:
        if not len(labels) == len(own) == len(panel.final) or len(panel.drawn) not in (0, len(labels)):
            raise ValueError(f"{len(labels)} labels for {len(own)} and {len(panel.final)} probabilities")
    lane = _LANE[len(panels)]
    pitch = lane + _NUMBERS + 20
    top = MARGIN + 62
    width = 2 * MARGIN + _LABEL + pitch * len(panels)
    rows = [*labels, texts["rest"].format(count=f"{rest[0]:,}")]
    below = top + _ROW * len(rows) + 18
    shares = [count / max(1, sum(panel.drawn) + panel.rest_drawn) for panel in panels for count in _counts(panel)]
    scale = max(1e-9, *own, rest[1], *shares, *(p for panel in panels for p in (*panel.final, panel.rest)))
    body: list[str] = []
    for i, name in enumerate(rows):
        removed = all(([*panel.final, panel.rest])[i] == 0 for panel in panels)
        kind = "removed" if removed else "quiet" if i == len(labels) else ""
        x, y = MARGIN + _LABEL - 10, top + _ROW * i
        body.append(text(label(name, _LABEL_EMS), kind, x=x, y=y + 4, text_anchor="end"))
    for number, panel in enumerate(panels):
        left = MARGIN + _LABEL + pitch * number
        body += _panel(
            panel, [*own, rest[1]], left, top, lane, scale, color=("primary", "compare")[number], texts=texts
        )
    said = f"{texts['numbers']} · {texts['outlines']}\n{caption}"
    return document(body, width=width, below=below, title=title, caption=said, room=MARGIN / 2)


def _panel(
    panel: Panel,
    own: Sequence[float],
    left: int,
    top: int,
    lane: int,
    scale: float,
    *,
    color: str,
    texts: Mapping[str, str],
) -> list[str]:
    fill = "rgb(86,84,170)" if color == "primary" else rgb(palette()["compare"]["light"])
    body = [text(panel.name, "quiet", x=left, y=top - 18)]
    drawn = _counts(panel)
    total = max(1, sum(drawn))
    for i, (model, final) in enumerate(zip(own, [*panel.final, panel.rest], strict=True)):
        y = top + _ROW * i
        outline = "none" if final else "#ecece5"
        body += [
            element("rect", x=left, y=y - 5, width=final / scale * lane, height=10, fill=fill),
            element(
                "rect", x=left, y=y - 7, width=model / scale * lane, height=14, fill=outline,
                stroke=LIGHT.quiet, stroke_width=0.8,
            ),
            text(_percent(final, texts["percent"]), "" if final else "removed", x=left + lane + 10, y=y + 4),
        ]  # fmt: skip
        if drawn and drawn[i]:
            x, ink = left + drawn[i] / total / scale * lane, LIGHT
            times = texts["times"].format(count=f"{drawn[i]:,}")
            body.append(element("circle", cx=x, cy=y, r=4, fill=ink.text, stroke=ink.background, stroke_width=1.5))
            body.append(text(times, "quiet", x=left + lane + _NUMBERS, y=y + 4, text_anchor="end"))
    return body


def _counts(panel: Panel) -> list[int]:
    return [*panel.drawn, panel.rest_drawn] if panel.drawn else []


def _percent(probability: float, template: str) -> str:
    return template.format(number=exact_digits(probability))
