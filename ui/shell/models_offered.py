"""The model box: the embedded models, each with what it is good for, then well-known ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ui.wording.model_name import fitting

N_ = str  # marks a text for Babel without translating it here

EMBEDDED = {  # name → its label and what it is good for
    "default": (N_("Embedded small Llama"), N_("every page, on simple texts in English and Chinese")),
    "encoder": (
        N_("Embedded encoder"),
        N_("a hidden word of an English or Chinese text: type [MASK] in its place, and each token looks both ways"),
    ),
    "translator": (
        N_("Embedded translator"),
        N_("short sentences between English and Chinese, from its 250 words: what it writes attends to what it reads"),
    ),
}
LOADED_AS = {  # what the choice means
    "device": N_("The device that computes. “auto” takes a CUDA GPU, then Apple’s (mps), then the CPU."),
    "dtype": N_(
        "The number format of its weights. “auto”: float32 on a CPU, elsewhere as the model was "
        "stored. Linear layers in 8 or 4 bits: “int8” with the Python package torchao, “nf4” with "
        "bitsandbytes and accelerate."
    ),
}
WELL_KNOWN = (
    "openai-community/gpt2",
    "HuggingFaceTB/SmolLM2-135M",
    "Qwen/Qwen3-0.6B",
    "meta-llama/Llama-3.2-1B",
    "google/gemma-3-270m",
    "google-bert/bert-base-uncased",
)


def offered(listed: Sequence[str], model: str) -> list[str]:
    """Return the models in the box: the server's list or, without one, ours, with the open ``model`` included."""
    names = [*(listed or (*EMBEDDED, *WELL_KNOWN))]
    if model not in names:
        names.insert(sum(name in EMBEDDED for name in names), model)
    return names


def labelled(names: Sequence[str], say: Callable[[str], str]) -> dict[str, str]:
    """Return name → label, in the language that ``say`` translates into."""
    return {name: say(EMBEDDED[name][0]) if name in EMBEDDED else fitting(name) for name in names}


def good_for(names: Sequence[str], say: Callable[[str], str]) -> list[str]:
    """Return a line of Markdown for each embedded model among these."""
    return [f"- **{say(label)}** · {say(use)}" for name, (label, use) in EMBEDDED.items() if name in names]
