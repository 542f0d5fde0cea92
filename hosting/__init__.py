"""The app as a server for others: what its host has set, who may come in, and what goes over the line. No Streamlit."""
