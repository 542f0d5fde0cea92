"""Background work behind a page: run incrementally, cancelled and cached. Independent of Streamlit."""
