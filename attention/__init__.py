"""The mathematics of attention in pure torch, independent of models and user interfaces."""
