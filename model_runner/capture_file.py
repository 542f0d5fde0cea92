"""Saving captures to .safetensors files and loading them without their model; see ``wire.py``."""

from __future__ import annotations

import copyreg
from collections.abc import Callable
from os import PathLike
from pathlib import Path

from model_runner.capture import Capture
from model_runner.errors import CaptureOfOthers, Unreadable, WrongModel
from model_runner.runner import Runner
from model_runner.saved_bytes import saved_bytes
from model_runner.wire import from_bytes, to_bytes

SAME = 1e-2  # of the final states: another device and other kernels differ by less, other weights by more


def load_capture(path: str | PathLike[str], runner: Runner | None = None) -> Capture:
    """Load a saved capture, with its tensors on the CPU.

    Without a ``runner`` it can be drawn, measured and verified, and has the logits saved with it; what only the model
    can compute raises AwayFromModel. With its model's runner it can do everything; the runner then captures the text
    once more to check that the weights are the same. Nothing in the file is executed or unpickled.

    Raises RunnerError: Unreadable for another kind of file or another version; WrongModel and CaptureOfOthers for a
    runner of another model; OSError if the file does not exist.
    """
    data = Path(path).read_bytes()
    found = from_bytes(data)
    if not isinstance(found, Capture):
        raise Unreadable()
    if runner is None:
        return found
    request, info = found.request, runner.info
    for wanted, held in ((request.model, info.name), (request.revision, info.revision), (request.dtype, info.dtype)):
        if wanted != held:
            raise WrongModel(wanted=wanted, held=held)
    again = runner.capture(request)
    hidden = again.hidden.float().cpu()
    apart = (hidden - found.hidden.float()).norm() if hidden.shape == found.hidden.shape else None
    if apart is None or float(apart) > SAME * float(hidden.norm()):
        raise CaptureOfOthers(name=info.name)
    return from_bytes(data, asked=again.asked)


def _reduced(capture: Capture) -> tuple[Callable[[bytes], Capture], tuple[bytes]]:
    """For ``pickle``: the same bytes, from which a capture without its model is restored."""
    return from_bytes, (to_bytes(capture),)


saved_bytes.register(Capture, to_bytes)
copyreg.pickle(Capture, _reduced)
