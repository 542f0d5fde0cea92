"""The lines of Python that make a capture, with which every code snippet of a page begins."""

from __future__ import annotations

from collections.abc import Sequence

from model_runner.edits import Edit, OfAttention
from model_runner.request import CaptureRequest
from model_runner.sound import Sound, rising_tone


def python_start(request: CaptureRequest) -> str:
    """Lines that define ``runner`` and ``capture`` for this request."""
    return (
        f"from attention_atlas import CaptureRequest, load_runner{sound_import(request)}\n{imports_of(request.edits)}\n"
        f"{runner_line(request)}\n"
        f"capture = runner.capture({request_line(request)})\n"
    )


def request_line(request: CaptureRequest) -> str:
    """An expression for the request, for a runner of its model."""
    given = [f"text={request.text!r}" if request.sound is None else f"sound={sound_line(request.sound)}"]
    given = [f"input_ids={request.input_ids!r}"] if request.input_ids else given
    given += ["chat=True"] if request.chat else []
    given += [f"continuation={request.continuation!r}"] if request.continuation else []
    given += [f"target={request.target!r}"] if request.target is not None else []
    given += [f"attention={request.attention!r}"] if request.attention is not None else []
    for name in ("source_language", "target_language"):
        given += [f"{name}={getattr(request, name)!r}"] if getattr(request, name) is not None else []
    given += [f"edits={request.edits!r}"] if request.edits else []
    return f"CaptureRequest({', '.join(given)})"


def sound_line(sound: Sound) -> str:
    """An expression for the sound: the demo tone can be generated anywhere, any other is only in the user's file."""
    return "rising_tone()" if sound == rising_tone() else "read_wav('yours.wav')"


def sound_import(request: CaptureRequest) -> str:
    """Further imports for the first line."""
    return "" if request.sound is None else ", " + sound_line(request.sound).split("(")[0]


def runner_line(request: CaptureRequest, name: str = "runner") -> str:
    """The line that loads a request's model, in the requested version, as ``name``."""
    version = "" if request.revision is None else f", revision={request.revision!r}"
    # "auto" gives different dtypes on different machines
    dtype = "" if request.dtype is None else f", dtype={request.dtype!r}"
    without = ", adapter=False" if request.adapter is False else ""
    return f"{name} = load_runner({request.model!r}{version}{dtype}{without})"


def imports_of(edits: Sequence[Edit]) -> str:
    """The import lines of a snippet with these edits."""
    every = [*edits, *(edit.edit for edit in edits if isinstance(edit, OfAttention))]
    kinds = sorted({(_room(type(edit).__module__), type(edit).__name__) for edit in every})
    return "".join(f"from attention_atlas.{module} import {name}\n" for module, name in kinds)


def _room(module: str) -> str:
    """A module's name below the package, in the repository and when installed."""
    return module.removeprefix("attention_atlas.")
