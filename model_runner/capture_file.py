"""A capture in a file: saved, and loaded where its model need not be. It is a .safetensors file; see ``wire.py``."""

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
    """The capture that was saved there, its tensors on the CPU.

    Without a ``runner`` it can be drawn, measured and verified, and knows the logits that came with it; what only the
    model can say raises AwayFromModel. With the runner of its model it says all; the runner reads the text once more,
    to see that it has the same weights. Nothing in the file is run or unpickled.

    Raises RunnerError: Unreadable for a file of something else, or of another version; WrongModel and CaptureOfOthers
    for a runner of another model; OSError where there is no such file.
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
    """What ``pickle`` asks for: the same bytes, of which a capture away from its model comes back."""
    return from_bytes, (to_bytes(capture),)


saved_bytes.register(Capture, to_bytes)
copyreg.pickle(Capture, _reduced)
