"""One frame of the film as a self-contained SVG: the candidates as bars, the attention row as cells.

For files and prints; on the screen the film component draws the same numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from viz.color import palette, sequential
from viz.components.film.film import Frame
from viz.token_text import escaped, shortened, wrapped

_WIDTH, _MARGIN, _ROW = 760, 24, 22
_BAR = (190, 330)  # where bars begin, and the longest
_LABEL_EMS = 11.0


def frame_svg(
    frame: Frame,
    *,
    labels: Mapping[int, str],
    columns: Sequence[str],
    title: str,
    caption: str,
    texts: Mapping[str, str],
) -> str:
    """The frame as SVG text; ``columns`` name the cells of its attention row. Every string is escaped here."""
    if len(columns) != len(frame.row):
        raise ValueError(f"{len(columns)} labels for {len(frame.row)} columns")
    top = _MARGIN + 46
    row_top = top + _ROW * len(frame.tokens) + 96
    captions = wrapped(caption, (_WIDTH - 2 * _MARGIN) / 11)
    height = row_top + 46 + 16 * len(captions) + _MARGIN
    body = [
        f'<text class="title" x="{_MARGIN}" y="{_MARGIN + 14}">{escaped(title)}</text>',
        *(_candidate(frame, i, top + _ROW * i, labels, texts) for i in range(len(frame.tokens))),
        _cells(frame.row, columns, row_top),
        *(
            f'<text class="quiet" x="{_MARGIN}" y="{row_top + 52 + 16 * i}">{escaped(line)}</text>'
            for i, line in enumerate(captions)
        ),
    ]
    style = (
        "text{font:12px system-ui,-apple-system,'Segoe UI','Noto Sans',sans-serif;fill:#1a1c22}"
        ".quiet{fill:#6c6d71;font-size:11px}.title{font-size:15px;font-weight:600}.chosen{font-weight:650}"
        ".removed{fill:#6c6d71;text-decoration:line-through}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" viewBox="0 0 {_WIDTH} {height}" '
        f'role="img"><title>{escaped(title)}</title><desc>{escaped(caption)}</desc><style>{style}</style>'
        f'<rect width="100%" height="100%" fill="#fcfcfa"/>{"".join(body)}</svg>\n'
    )


def _candidate(frame: Frame, i: int, y: int, labels: Mapping[int, str], texts: Mapping[str, str]) -> str:
    """A token's label, the model's probability as an outline, what the settings made of it filled, both written."""
    token, probability, final, kept = frame.tokens[i], frame.probabilities[i], frame.finals[i], frame.kept[i]
    most = max([*frame.probabilities, *frame.finals, 1e-9])
    left, width = _BAR
    kind = "removed" if not kept else "chosen" if token == frame.token else ""
    label = f"\u2068{escaped(shortened(labels.get(token, str(token)), _LABEL_EMS))}\u2069"
    fill = _rgb("sequential", 6) if kept else "#deded6"
    number = texts["percent"].format(number=f"{100 * (final if kept else probability):.3g}")
    filled = (final if kept else probability) / most * width
    return (
        f'<text class="{kind}" x="{left - 8}" y="{y + 4}" text-anchor="end">{label}</text>'
        f'<rect x="{left}" y="{y - 7}" width="{filled:.2f}" height="14" fill="{fill}"/>'
        f'<rect x="{left}" y="{y - 7}" width="{probability / most * width:.2f}" height="14" fill="none" '
        f'stroke="{_rgb("sequential", 5)}" stroke-width="0.8"/>'
        f'<text class="quiet" x="{left + width + 10}" y="{y + 4}">{escaped(number)}</text>'
    )


def _cells(row: NDArray[np.floating], columns: Sequence[str], top: int) -> str:
    cell = min(28.0, (_WIDTH - 2 * _MARGIN) / max(1, len(row)))
    step = max(1, int(np.ceil(13 / cell)))
    parts: list[str] = []
    for i, color in enumerate(sequential(row)[:, :3].tolist()):
        x = _MARGIN + i * cell
        parts.append(
            f'<rect x="{x:.2f}" y="{top}" width="{max(cell - 0.6, 0.4):.2f}" height="26" fill="rgb{tuple(color)}" '
            'stroke="#6c6d71" stroke-opacity="0.3" stroke-width="0.4"/>'
        )
        if i % step == 0:
            label = f"\u2068{escaped(shortened(columns[i], _LABEL_EMS))}\u2069"
            parts.append(f'<text transform="translate({x + cell / 2 + 3:.2f} {top - 6}) rotate(-60)">{label}</text>')
    return "".join(parts)


def _rgb(name: str, step: int) -> str:
    return f"rgb{tuple(palette()[name]['light'][step][1:])}"
