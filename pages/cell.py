"""Inside a cell (being written)."""
