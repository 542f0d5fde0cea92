"""The version, by itself: what a file says that it was made with."""

__version__ = "1.0.0"
