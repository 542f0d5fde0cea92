"""Lessons: folders of steps, each a page's address and words about it. Knows no model and no Streamlit."""
