"""Figures of a capture in a notebook: the app's components in a cell's output."""

from inline.cell_output import CellOutput
from inline.show import show

__all__ = ["CellOutput", "show"]
