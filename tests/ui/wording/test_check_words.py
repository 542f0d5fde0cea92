"""The badge shows the precision and, in a low-precision dtype, why the model's own weights may differ more."""

from __future__ import annotations

import pytest

from model_runner import Check
from ui.wording.check_words import verdict


@pytest.mark.parametrize("dtype, coarse", [("float32", False), ("bfloat16", True), ("float16", True), ("int8", False)])
def test_only_a_coarse_dtype_is_said_to_round_the_models_own_weights(dtype: str, coarse: bool) -> None:
    check = Check(max_abs_error=1e-3, tolerance=1e-2, ok=True, rows=4, of=4)
    text, meaning = verdict(check, 3, dtype, str)
    assert text.endswith(f"· {dtype}")
    assert (f"In {dtype} the model's own output_attentions (eager) rounds scores and weights" in meaning) is coarse
    assert ("within 2e-7 of a float64 softmax of the recorded q and k" in meaning) is coarse
