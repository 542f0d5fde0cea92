"""What is seen of a forward: the registered attention function, tracers of older code, rotations, buffers."""
