"""What runs on while a page is looked at: pulled, cancelled, kept. Knows no Streamlit."""
