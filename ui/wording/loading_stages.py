"""Words for the stages between naming a model and seeing its picture."""

from __future__ import annotations

from collections.abc import Callable

from model_runner.memory import readable

N_ = str  # marks a text for Babel without translating it here

STAGES = {
    "waiting": N_("Waiting for another model to load …"),
    "asking": N_("Asking the hub what the model consists of …"),
    "downloading": N_("Downloading the model …"),
    "checking": N_("Checking the model's files …"),
    "loading": N_("Loading the weights …"),
    "preparing": N_("Preparing the model …"),
    "reading": N_("Reading the text …"),
    "queue": N_("{count} ahead of you …"),
}


def in_words(stage: str, done: int, total: int, say: Callable[[str], str]) -> str:
    """Describe a stage, one of STAGES, with its progress in bytes if it has any; ``say`` translates."""
    size = f" {readable(done)} / {readable(total)}" if total else ""
    return say(STAGES[stage]).format(count=done) + size
