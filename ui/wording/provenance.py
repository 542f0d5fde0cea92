"""What is taken away says where it came from: a line in every file, and lines of Python that make its capture."""

from __future__ import annotations

from analysis.joined import Joined
from analysis.made_with import made_with
from analysis.text_words import described_text
from attention_atlas.version import __version__
from model_runner import Capture, CaptureRequest, ModelInfo
from model_runner.edit_words import described
from model_runner.python_lines import python_start

LONGEST_ADDRESS = 2000  # characters that every browser takes


def said_of(info: ModelInfo, request: CaptureRequest, head: str, what: str) -> str:
    """Model, revision, dtype, head, how its numbers were made, edits, and the text."""
    model = " @ ".join(filter(None, (info.name, info.revision)))
    if info.adapter is not None:
        added = f"{info.adapter.kind} adapter of {info.adapter.base}"
        model += f" ({added})" if info.adapter.on else f" (without its {added})"
    what += f" · changed: {described(request.edits)}" if request.edits else ""
    return f"{model} · {info.family} · {info.dtype} · {head} · {what} · {described_text(request)}"


def opened_by(info: ModelInfo, address: str) -> str:
    """With what and of which weights a file was made, and, in a line of its own, where the app shows it again."""
    made = made_with(__version__, info.weights)
    return f"{made}\n{address}" if len(address) <= LONGEST_ADDRESS else made


def capture_lines(capture: Capture) -> str:
    """Lines after which ``capture`` is this one, of two texts as pages draw them."""
    return python_start(capture.request) + joining("capture") * isinstance(capture, Joined)


def joining(name: str) -> str:
    """Lines after which the capture of this name is of two texts as pages draw them."""
    return f"\nfrom attention_atlas.analysis.joined import joined\n\n{name} = joined({name})\n"
