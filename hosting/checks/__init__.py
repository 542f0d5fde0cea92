"""Checks of a settings file before the first visitor, one module per subject."""
