"""A teacher's room: what it shows, who follows it, its questions and answers. Independent of models and Streamlit."""
