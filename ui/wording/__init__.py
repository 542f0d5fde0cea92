"""The wording of the interface: languages, errors, numbers, and one-line descriptions."""
