"""Forward passes in a worker's thread reuse the memory of the one before: only the capture's memory is new."""

from __future__ import annotations

import subprocess
import sys

import pytest

MEASURE = """
import resource
from model_runner.byte_lru import ByteBudgetCache
from model_runner.local.runner import LocalRunner
from model_runner.request import CaptureRequest
from tests.model_runner.tiny import byte_tokenizer, tiny

wide = {"hidden_size": 512, "intermediate_size": 1024, "num_hidden_layers": 10, "num_attention_heads": 8,
        "num_key_value_heads": 8}
runner = LocalRunner(tiny("llama", **wide)(), byte_tokenizer(), name="wide", kept=ByteBudgetCache(0))
request = CaptureRequest("x" * 500)
for _ in range(2):
    kept = runner.capture(request).nbytes
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
runner.capture(request)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before, kept // resource.getpagesize())
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a setting of glibc")
@pytest.mark.long
def test_a_forward_asks_the_kernel_for_no_memory_that_the_one_before_freed():
    done = subprocess.run([sys.executable, "-c", MEASURE], check=True, capture_output=True, text=True)
    faults, pages = map(int, done.stdout.split()[-2:])
    assert faults < 1.3 * pages, "each page is asked for once, by what the capture keeps"
