"""Loads a runner from a model's name: files, checks of untrusted folders, sandboxes, devices and dtypes."""
