"""The class beside every page: the teacher's room in the sidebar, its questions, and what replaces a page meanwhile."""
