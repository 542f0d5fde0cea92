"""The colours that carry meaning, as data: components read them from `palette()`, exports use the two functions.

Masked cells are hatched on paper and have no colour, so that they never read as a weight. Weights run along one hue
from the background's tone to deep indigo (dark: up to a light one); signed values run orange – background – indigo,
where the indigo half is that of the weights; red and blue are reserved for keys and queries. The control points lie on
straight lines of OKLab lightness, so equal steps look equal, and orange and indigo differ under every common colour
blindness. Between control points colours mix linearly in sRGB, here as in theme.js.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Rgb: TypeAlias = tuple[int, int, int]

_SEQUENTIAL_LIGHT: tuple[Rgb, ...] = (
    (252, 252, 250),
    (223, 224, 243),
    (192, 194, 233),
    (163, 164, 223),
    (134, 136, 209),
    (107, 108, 190),
    (81, 81, 167),
    (56, 56, 143),
    (36, 33, 108),
)
_SEQUENTIAL_DARK: tuple[Rgb, ...] = (
    (22, 22, 26),
    (36, 39, 69),
    (54, 55, 108),
    (75, 75, 147),
    (99, 97, 181),
    (123, 122, 210),
    (150, 150, 231),
    (176, 177, 246),
    (204, 205, 255),
)
# As light as the weights at the same position. Signed colours end before the darkest weights, where orange turns brown.
_NEGATIVE_LIGHT: tuple[Rgb, ...] = (
    (250, 219, 199),
    (240, 184, 148),
    (227, 150, 97),
    (213, 115, 33),
    (180, 91, 0),
    (143, 71, 1),
    (109, 53, 0),
)
_NEGATIVE_DARK: tuple[Rgb, ...] = (
    (57, 37, 17),
    (91, 51, 0),
    (123, 71, 1),
    (156, 92, 1),
    (190, 113, 2),
    (219, 139, 49),
    (246, 164, 78),
)
_DIVERGING_LIGHT = (*reversed(_NEGATIVE_LIGHT), *_SEQUENTIAL_LIGHT[:8])
_DIVERGING_DARK = (*reversed(_NEGATIVE_DARK), *_SEQUENTIAL_DARK[:8])
_MASKED_LIGHT: Rgb = (214, 214, 204)
_MASKED_DARK: Rgb = (58, 60, 66)


def palette() -> dict[str, dict[str, Any]]:
    """Every colour with a meaning, for light and dark, as JSON.

    `sequential` and `diverging` are control points [t, r, g, b] with t from 0 to 1; `masked` (the hatching of masked
    cells), `query`, `key`, `value` and `compare` (the second of two heads; the first has the theme's primary colour)
    are [r, g, b].
    """
    return {
        "sequential": {"light": _points(_SEQUENTIAL_LIGHT), "dark": _points(_SEQUENTIAL_DARK)},
        "diverging": {"light": _points(_DIVERGING_LIGHT), "dark": _points(_DIVERGING_DARK)},
        "masked": {"light": list(_MASKED_LIGHT), "dark": list(_MASKED_DARK)},
        "query": {"light": [33, 100, 200], "dark": [104, 162, 248]},
        "key": {"light": [208, 56, 44], "dark": [245, 114, 97]},
        "value": {"light": [0, 151, 111], "dark": [99, 228, 161]},
        "compare": {"light": [180, 88, 0], "dark": [245, 166, 84]},
    }


def sequential(values: ArrayLike, *, dark: bool = False) -> NDArray[np.uint8]:
    """RGBA pixels, shape [..., 4], of values from 0 (background) to 1, clipped; NaN is transparent."""
    return _paint(np.asarray(values, dtype=np.float64), _SEQUENTIAL_DARK if dark else _SEQUENTIAL_LIGHT, dark=dark)


def diverging(values: ArrayLike, *, dark: bool = False) -> NDArray[np.uint8]:
    """RGBA pixels, shape [..., 4], of values from -1 (orange) to 1 (indigo), clipped; NaN is transparent."""
    position = (np.asarray(values, dtype=np.float64) + 1) / 2
    return _paint(position, _DIVERGING_DARK if dark else _DIVERGING_LIGHT, dark=dark)


def ink_on(color: ArrayLike) -> str:
    """Black or white, whichever has more contrast on this colour, as inkOn of theme.js."""
    share = np.asarray(color, dtype=np.float64)[..., :3] / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    return "#000" if float(linear @ np.array([0.2126, 0.7152, 0.0722])) > 0.179 else "#fff"


def _points(colors: tuple[Rgb, ...]) -> list[list[float]]:
    return [[i / (len(colors) - 1), *color] for i, color in enumerate(colors)]


def _paint(position: NDArray[np.float64], colors: tuple[Rgb, ...], *, dark: bool) -> NDArray[np.uint8]:
    masked = np.isnan(position)
    place = np.linspace(0, 1, len(colors))
    pixels = np.full((*position.shape, 4), 255, dtype=np.uint8)
    inside = np.where(masked, 0, np.clip(position, 0, 1))
    for channel, levels in enumerate(zip(*colors, strict=True)):
        pixels[..., channel] = np.rint(np.interp(inside, place, levels)).astype(np.uint8)
    pixels[masked] = (*_SEQUENTIAL_DARK[0], 0) if dark else (*_SEQUENTIAL_LIGHT[0], 0)
    return pixels
