"""A button that converts an SVG to a PNG at twice its size in the browser, and saves it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from viz.components.picture import Picture
from viz.components.source import read_source

N_ = str

TEXTS: dict[str, str] = {
    "label": N_("Save as PNG"),
    "failed": N_("This browser could not draw the picture. Save the SVG instead."),
}

SOURCE = read_source(Path(__file__).parent, "save_picture", '<div class="save-picture"></div>\n')


@dataclass(frozen=True, eq=False)
class SavePicture(Picture):
    """A picture to be saved as a PNG file."""

    svg: str
    """Must have its own width and height and no external references, or the browser draws nothing."""
    filename: str
    label: str
    failed: str = TEXTS["failed"]
