"""``python -m served.model_check NAME``: whether a model opens and is captured here, as one line of JSON.

In a process of its own, so that whoever asks can stop waiting, needs no torch, and has all of the memory back.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from model_runner.errors import HubNotAsked, HubUnreachable, ModelNotFound, RunnerError
from model_runner.local.loading.loader import load_runner

TEXT = "The dog chased the squirrel because it was hungry"


def checked(name: str) -> dict[str, Any]:
    """Parameters, seconds and peak bytes of a model that opened, and ``verified``; or ``error``, a sentence.

    ``missing`` with an error: its files are not on this machine. The hub is never asked.
    """
    begun = time.monotonic()
    try:
        runner = load_runner(name, ask_hub=False)
    except (HubNotAsked, HubUnreachable, ModelNotFound) as error:
        return {"error": str(error), "missing": True}
    except RunnerError as error:
        return {"error": str(error), "missing": False}
    try:
        verified = True
        if not runner.info.hears:
            capture = runner.capture(TEXT)
            verified = all(capture.verify(layer).ok for layer in range(runner.info.n_layers))
    except RunnerError as error:
        return {"error": str(error), "missing": False}
    seconds = time.monotonic() - begun
    return {
        "parameters": runner.info.n_parameters,
        "dtype": runner.info.dtype,
        "seconds": seconds,
        "bytes": _peak(),
        "verified": verified,
    }


def _peak() -> int:
    """The most memory that this process had; 0 where the system does not say (Windows)."""
    try:
        import resource
    except ImportError:
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(checked(sys.argv[1])) + "\n")
