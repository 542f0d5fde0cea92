"""The mathematics of attention in pure torch; knows neither models nor screens."""
