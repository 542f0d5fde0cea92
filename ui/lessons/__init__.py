"""Lessons beside every page: the list in the sidebar, the card of the open step, and recording of new steps."""
