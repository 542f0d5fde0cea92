"""Provenance of exports: a description in every file, and Python that makes the capture."""

from __future__ import annotations

from analysis.joined import Joined
from analysis.made_with import made_with
from analysis.text_words import described_text
from attention_atlas.version import __version__
from model_runner import Capture, CaptureRequest, ModelInfo
from model_runner.edit_words import described
from model_runner.python_lines import python_start

LONGEST_ADDRESS = 2000  # characters that every browser accepts


def said_of(info: ModelInfo, request: CaptureRequest, head: str, what: str) -> str:
    """Describe model, revision, dtype, head, how the numbers were made, edits and text."""
    model = " @ ".join(filter(None, (info.name, info.revision)))
    if info.adapter is not None:
        added = f"{info.adapter.kind} adapter of {info.adapter.base}"
        model += f" ({added})" if info.adapter.on else f" (without its {added})"
    what += f" · changed: {described(request.edits)}" if request.edits else ""
    return f"{model} · {info.family} · {info.dtype} · {head} · {what} · {described_text(request)}"


def opened_by(info: ModelInfo, address: str) -> str:
    """Describe the app version and weights that made a file, and on a second line the URL that shows it again."""
    made = made_with(__version__, info.weights)
    return f"{made}\n{address}" if len(address) <= LONGEST_ADDRESS else made


def capture_lines(capture: Capture) -> str:
    """Python code that makes ``capture``, with two texts combined as pages draw them."""
    return python_start(capture.request) + joining("capture") * isinstance(capture, Joined)


def joining(name: str) -> str:
    """Python code that combines the named capture's two texts as pages draw them."""
    return f"\nfrom attention_atlas.analysis.joined import joined\n\n{name} = joined({name})\n"
