"""The engine in this process: an unmodified model, its worker thread, and everything that inspects its forward."""
