"""The bars of the sampling bench as a self-contained SVG, one panel a setting.

For files and prints; on the screen the sampling_bench component draws the same numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from viz.color import palette
from viz.token_text import escaped, shortened, wrapped

_MARGIN, _ROW, _LABEL, _NUMBERS = 24, 22, 140, 110
_LANE = {1: 420, 2: 250}  # pixels of the longest bar, by the number of panels
_LABEL_EMS = 10.5


@dataclass(frozen=True)
class Panel:
    """What one setting makes of the tokens shown: probabilities, 0 where removed, and how often each was drawn.

    ``rest`` and ``rest_drawn`` are those of all other tokens together. ``drawn`` is empty where nothing was drawn.
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

    `rest` is how many tokens are not shown, and the model's probability of all of them. Every string is escaped here.
    """
    for panel in panels:
        if not len(labels) == len(own) == len(panel.final) or len(panel.drawn) not in (0, len(labels)):
            raise ValueError(f"{len(labels)} labels for {len(own)} and {len(panel.final)} probabilities")
    lane = _LANE[len(panels)]
    pitch = lane + _NUMBERS + 20
    top = _MARGIN + 62
    width = 2 * _MARGIN + _LABEL + pitch * len(panels)
    rows = [*labels, texts["rest"].format(count=f"{rest[0]:,}")]
    captions = wrapped(caption, (width - 2 * _MARGIN) / 11)
    below = top + _ROW * len(rows) + 18
    shares = [count / max(1, sum(panel.drawn) + panel.rest_drawn) for panel in panels for count in _counts(panel)]
    scale = max(1e-9, *own, rest[1], *shares, *(p for panel in panels for p in (*panel.final, panel.rest)))
    body = [f'<text class="title" x="{_MARGIN}" y="{_MARGIN + 14}">{escaped(title)}</text>']
    for i, label in enumerate(rows):
        removed = all(([*panel.final, panel.rest])[i] == 0 for panel in panels)
        kind = "removed" if removed else "quiet" if i == len(labels) else ""
        x, y = _MARGIN + _LABEL - 10, top + _ROW * i
        words = f"\u2068{escaped(shortened(label, _LABEL_EMS))}\u2069"
        body.append(f'<text class="{kind}" x="{x}" y="{y + 4}" text-anchor="end">{words}</text>')
    for number, panel in enumerate(panels):
        left = _MARGIN + _LABEL + pitch * number
        body += _panel(
            panel, [*own, rest[1]], left, top, lane, scale, color=("primary", "compare")[number], texts=texts
        )
    body += [
        f'<text class="quiet" x="{_MARGIN}" y="{below + 16 * i}">{escaped(line)}</text>'
        for i, line in enumerate(captions)
    ]
    return _document(body, width, below + 16 * len(captions) + _MARGIN / 2, title, caption)


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
    fill = "rgb(86,84,170)" if color == "primary" else f"rgb{tuple(palette()['compare']['light'])}"
    body = [f'<text class="quiet" x="{left}" y="{top - 18}">{escaped(panel.name)}</text>']
    drawn = _counts(panel)
    total = max(1, sum(drawn))
    for i, (model, final) in enumerate(zip(own, [*panel.final, panel.rest], strict=True)):
        y = top + _ROW * i
        body.append(
            f'<rect x="{left}" y="{y - 5}" width="{final / scale * lane:.2f}" height="10" fill="{fill}"/>'
            f'<rect x="{left}" y="{y - 7}" width="{model / scale * lane:.2f}" height="14" '
            f'fill="{"none" if final else "#ecece5"}" stroke="#6c6d71" stroke-width="0.8"/>'
            f'<text class="{"" if final else "removed"}" x="{left + lane + 10}" y="{y + 4}">'
            f"{escaped(_percent(final or model, texts['percent']))}</text>"
        )
        if drawn and drawn[i]:
            body.append(
                f'<circle cx="{left + drawn[i] / total / scale * lane:.2f}" cy="{y}" r="4" fill="#1a1c22" '
                'stroke="#fcfcfa" stroke-width="1.5"/>'
                f'<text class="quiet" x="{left + lane + _NUMBERS}" y="{y + 4}" text-anchor="end">'
                f"{escaped(texts['times'].format(count=f'{drawn[i]:,}'))}</text>"
            )
    return body


def _counts(panel: Panel) -> list[int]:
    return [*panel.drawn, panel.rest_drawn] if panel.drawn else []


def _percent(probability: float, template: str) -> str:
    return template.format(number=f"{100 * probability:.3g}").replace("-", "\u2212")


def _document(body: Sequence[str], width: float, height: float, title: str, caption: str) -> str:
    style = (
        "text{font:12px system-ui,-apple-system,'Segoe UI','Noto Sans',sans-serif;fill:#1a1c22}"
        ".quiet{fill:#6c6d71;font-size:11px}.title{font-size:15px;font-weight:600}"
        ".removed{fill:#6c6d71;text-decoration:line-through}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" role="img"><title>{escaped(title)}</title>'
        f"<desc>{escaped(caption)}</desc><style>{style}</style>"
        f'<rect width="100%" height="100%" fill="#fcfcfa"/>{"".join(body)}</svg>\n'
    )
