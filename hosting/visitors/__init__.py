"""What visitors of a hosted app see: the entrance, sign-in, and an error sentence."""
