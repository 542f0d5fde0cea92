"""Records a forward: the registered attention function, tracers for older code, rotations, buffers."""
