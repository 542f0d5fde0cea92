"""Rivals of softmax attention in pure torch, one idea a file; ``table.py`` lists them."""
