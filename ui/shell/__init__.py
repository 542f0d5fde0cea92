"""What stands around every page: the frame, the engine's import, mounting of components."""
