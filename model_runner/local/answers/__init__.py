"""What is computed for each kind of question that a runner can be asked."""
