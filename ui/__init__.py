"""The Streamlit glue: cached models and captures, typed inputs, the page frame, mounting of components."""
