"""What the interface says: languages, errors, numbers, and facts in a line of words."""
