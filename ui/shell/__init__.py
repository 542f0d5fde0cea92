"""The shell around every page: the frame, the import of the engine, and mounting of components."""
