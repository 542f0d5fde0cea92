"""A teacher's room: what is shown, who follows it, what is asked and answered. Knows no model and no Streamlit."""
