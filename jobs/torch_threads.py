"""Have torch's worker threads spin briefly before they sleep. Must run before torch is imported.

torch computes with a team of OpenMP threads per calling thread, and here many threads call it: one per model and one
per session. GNU's OpenMP counts them all. Once there are more threads than processors, a thread that waits for its team
sleeps almost at once, and waking it takes ten times as long as a small matrix product: each forward of a short text
took twice its time, a substituted one three times (benchmarks/torch_teams.py). Spinning for a hundredth of a
millisecond is enough to meet the others; an idle thread sleeps after three milliseconds, as without these settings.
"""

from __future__ import annotations

import os
import sys
from collections.abc import MutableMapping

# https://gcc.gnu.org/onlinedocs/libgomp/Environment-Variables.html. The last one, in milliseconds, is for LLVM's and
# Intel's OpenMP, where the first alone would never let a thread sleep; it is their default.
SETTINGS = {"OMP_WAIT_POLICY": "ACTIVE", "GOMP_SPINCOUNT": "300000", "KMP_BLOCKTIME": "200"}


def meet_awake(environment: MutableMapping[str, str] = os.environ) -> None:
    """Set the variables for this process unless one of them is set already."""
    if sys.platform.startswith("linux") and not environment.keys() & SETTINGS.keys():
        environment.update(SETTINGS)
