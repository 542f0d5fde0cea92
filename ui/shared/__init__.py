"""What more than one page shows: head maps, what-if, two texts, sampling settings, exports."""
