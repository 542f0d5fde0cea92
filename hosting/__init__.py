"""The app as a public server: the host's settings, admission, middleware and metrics. Independent of Streamlit."""
