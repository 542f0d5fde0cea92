"""What a visitor of a hosted app meets on the screen: the entrance, sign-in, and a sentence where something failed."""
