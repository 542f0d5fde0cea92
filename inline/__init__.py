"""A head in a notebook, by one call: the app's components in the output of a cell."""

from inline.cell_output import CellOutput
from inline.show import show

__all__ = ["CellOutput", "show"]
