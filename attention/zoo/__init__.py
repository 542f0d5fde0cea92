"""Alternatives to softmax attention in pure torch, one idea per file; ``table.py`` lists them."""
