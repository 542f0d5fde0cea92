"""The version, in a module without imports; exported files name it."""

__version__ = "1.0.0"
