"""From a model's name to a runner: files, checks of what others made, sandboxes, devices and dtypes."""
