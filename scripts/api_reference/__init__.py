"""Builds the API reference with pdoc."""
