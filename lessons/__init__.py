"""Lessons: folders of steps, each with a page's URL and text about it. Independent of models and Streamlit."""
