"""Errors of sounds for a model that reads audio."""

from __future__ import annotations

from model_runner.errors import RunnerError

N_ = str  # marks a text for Babel without translating it here


class SoundUnreadable(RunnerError):
    message = N_("This sound cannot be read: {reason}.")
    hint = N_("Give a WAV file of plain samples (PCM), as every recorder saves it.")


class SoundTooLong(RunnerError):
    message = N_("The sound lasts {seconds} seconds, and up to {limit} can be listened to at once.")
    hint = N_("Cut it.")


class NoSound(RunnerError):
    message = N_("The model {name} listens: without a sound there is nothing to look at.")
    hint = N_("Upload a WAV file or use the built-in tone.")


class ListensOnly(RunnerError):
    message = N_("The model {name} listens: it reads sound, not text.")
    hint = N_("Leave the text empty; the text to write has a box of its own.")


class ReadsTextOnly(RunnerError):
    message = N_("The model {name} reads text, not sound.")
    hint = N_("Choose a model that listens, such as Whisper.")
