"""What a session holds, and the same as a URL and as the values of widgets."""
