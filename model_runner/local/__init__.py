"""The engine in this process: one unmodified model, its worker, and everything that looks into its forward."""
