"""Computation of the answers, one module per kind of question."""
