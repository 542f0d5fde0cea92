"""What is waited for between a model's name and the picture of a text, in words."""

from __future__ import annotations

N_ = str  # marks a text for Babel without translating it here

STAGES = {
    "waiting": N_("Waiting for another model to load …"),
    "asking": N_("Asking the hub what the model consists of …"),
    "downloading": N_("Downloading the model …"),
    "checking": N_("Checking the model's files …"),
    "loading": N_("Loading the weights …"),
    "preparing": N_("Preparing the model …"),
    "reading": N_("Reading the text …"),
    "queue": N_("{count} before you …"),
}
