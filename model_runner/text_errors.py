"""What can go wrong with a text that would fit, but for how a model reads it, and with what one has written."""

from __future__ import annotations

from model_runner.errors import ContextFull, RunnerError, SequenceTooLong
from model_runner.runner import ModelInfo

N_ = str  # marks a text for Babel without translating it here


FITS = N_("Only {number} tokens fit after the text: this model was built for {limit} positions.")
FITS_WRITTEN = N_("Only {number} tokens fit after what is written: this model has {limit} positions for it.")


class TokenizerStops(SequenceTooLong):
    message = N_(
        "The text is {tokens} tokens long, but {limit} fit: this model has no longest text of its own, and its "
        "tokenizer was made for that many tokens."
    )


class NeedleTooLong(SequenceTooLong):
    message = N_("The text with the needle is {tokens} tokens long, but {limit} fit: this model has no more positions.")
    hint = N_("Choose less hay where its length can be chosen, or a model with a longer context.")


class WrittenFull(ContextFull):
    message = N_(
        "What is written is {tokens} tokens long, and this model has {limit} positions for it: no token can follow."
    )
    hint = N_("Write less, or choose a model with a longer context.")


class NotOverOneText(RunnerError):
    message = N_("Here two sides are compared piece by piece of a text that looks at itself.")
    hint = N_("Choose decoder as attention or, where a text is read, encoder; or another view.")


class BrokenNumbers(RunnerError):
    message = N_("What this model makes of the text are no numbers (NaN or infinite): there is nothing to draw.")
    hint = N_("Take changes of it back, choose float32 as number format, or another model: this one may be damaged.")


class ForwardFails(RunnerError):
    message = N_("The model’s own code does not read this text of {tokens} tokens ({error}).")
    hint = N_("Shorten the text, or choose another model.")


def no_room(info: ModelInfo, tokens: int) -> ContextFull:
    """After so many tokens of a text, or of what an encoder–decoder writes, no other can follow."""
    return (WrittenFull if info.attentions else ContextFull)(tokens=tokens, limit=info.room)


def little_room(info: ModelInfo) -> str:
    """What says that fewer tokens fit than were asked for; it names their ``{number}`` and the ``{limit}``."""
    return FITS_WRITTEN if info.attentions else FITS
