"""What can go wrong with a text that would fit, but for how a model reads it."""

from __future__ import annotations

from model_runner.errors import SequenceTooLong

N_ = str  # marks a text for Babel without translating it here


class ReadsInBlocks(SequenceTooLong):
    message = N_(
        "The text is {tokens} tokens long, but this model reads a text of more than {limit} in blocks that its own "
        "code chooses, and only what is read as a whole can be captured."
    )
