"""A button that turns an SVG into a PNG at twice its size, in the browser, and saves it."""

from __future__ import annotations

from pathlib import Path

from viz.components.packing import pack
from viz.components.source import read_source

N_ = str

TEXTS: dict[str, str] = {
    "label": N_("Save as PNG"),
    "failed": N_("This browser could not draw the picture. Save the SVG instead."),
}

SOURCE = read_source(Path(__file__).parent, "save_picture", '<div class="save-picture"></div>\n')


def payload(*, svg: str, filename: str, label: str, failed: str = TEXTS["failed"]) -> bytes:
    """`svg` must carry its own width and height and refer to nothing outside itself, or the browser draws nothing."""
    return pack({"svg": svg, "filename": filename, "label": label, "failed": failed}, {})
