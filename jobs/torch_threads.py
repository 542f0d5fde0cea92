"""torch's helper threads, told to stay awake for a moment when they wait for one another; before torch is imported.

torch computes in a team of threads for each thread that asks it, and here many ask: a model's own, and every session's.
GNU's OpenMP counts them all. Once there are more than processors, whoever waits for the rest of its team goes to sleep
almost at once, and being woken takes ten times as long as a small matrix product: each forward of a short text took
twice its time, a substituted one three times (benchmarks/torch_teams.py). Awake for a hundredth of a millisecond it is
met by the others; with nothing to do a thread sleeps after three milliseconds, as it does without these settings.
"""

from __future__ import annotations

import os
import sys
from collections.abc import MutableMapping

# https://gcc.gnu.org/onlinedocs/libgomp/Environment-Variables.html. The last, in milliseconds, is for LLVM's OpenMP and
# Intel's, where by the first alone no thread would ever sleep; it is what they do without.
SETTINGS = {"OMP_WAIT_POLICY": "ACTIVE", "GOMP_SPINCOUNT": "300000", "KMP_BLOCKTIME": "200"}


def meet_awake(environment: MutableMapping[str, str] = os.environ) -> None:
    """Set it for this process, where whoever started it set nothing of it."""
    if sys.platform.startswith("linux") and not environment.keys() & SETTINGS.keys():
        environment.update(SETTINGS)
