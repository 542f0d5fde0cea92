"""Lessons beside every page: the list in the sidebar, the card of the open step, the recording of a new one."""
