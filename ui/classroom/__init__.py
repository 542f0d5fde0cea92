"""A class beside every page: the teacher's room in the sidebar, its questions, and what stands in a page's place."""
