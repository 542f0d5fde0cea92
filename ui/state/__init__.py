"""Session state, and its representation as a URL and as widget values."""
