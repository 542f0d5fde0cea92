"""Which rows the check recomputes, and that on a long text it says and sees what it does on a short one."""

from __future__ import annotations

import dataclasses
from functools import cache
from itertools import pairwise

import pytest
import torch

from model_runner.capture import Capture
from model_runner.local.runner import LocalRunner
from model_runner.request import CaptureRequest
from model_runner.verification import EVERY_ROW, rows_checked
from tests.model_runner.tiny import byte_tokenizer, place, tiny

LONG = 3000


@pytest.mark.parametrize("n_tokens", [1, 2, 128, EVERY_ROW])
def test_of_a_text_that_is_not_long_every_row_is_checked(n_tokens: int) -> None:
    assert rows_checked(n_tokens) == (slice(0, n_tokens),)


@pytest.mark.parametrize("n_tokens", [EVERY_ROW + 1, 4096, 16_384, 131_072])
def test_of_a_long_text_rows_are_taken_from_its_first_to_its_last_at_even_steps(n_tokens: int) -> None:
    pieces = rows_checked(n_tokens)
    rows = [row for piece in pieces for row in range(piece.start, piece.stop)]
    assert len(set(rows)) == len(rows) == 256
    assert (rows[0], rows[-1]) == (0, n_tokens - 1)
    steps = {after.start - before.start for before, after in pairwise(pieces)}
    assert max(steps) - min(steps) <= 1


@cache
def long_capture(dtype: torch.dtype) -> Capture:
    model = place(tiny("llama", num_key_value_heads=2, max_position_embeddings=LONG)(), "cpu", dtype)
    tokenizer = byte_tokenizer()
    tokenizer.model_max_length = LONG
    letters = torch.randint(97, 123, (LONG,), generator=torch.Generator().manual_seed(0))
    text = bytes(letters.tolist()).decode()
    return LocalRunner(model, tokenizer, name="long", device="cpu").capture(CaptureRequest(text))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["float32", "bfloat16"])
def test_a_long_text_is_checked_by_some_rows_which_it_tells(dtype: torch.dtype) -> None:
    capture = dataclasses.replace(long_capture(dtype), _lse={})
    check = capture.verify(1)
    assert (check.ok, check.rows, check.of) == (True, 256, LONG)
    assert capture.nbytes == long_capture(dtype).nbytes  # the denominators of all rows were not needed
    capture.lse(1)
    known = capture.verify(1)
    assert known.ok
    assert known.max_abs_error == pytest.approx(check.max_abs_error, rel=0.1)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["float32", "bfloat16"])
@pytest.mark.parametrize("part", ["q", "k", "v", "scale"])
def test_on_a_long_text_a_hundredth_is_seen_too(part: str, dtype: torch.dtype) -> None:
    capture = long_capture(dtype)
    record = capture.record(1)
    wrong = dataclasses.replace(record, **{part: getattr(record, part) * 1.01})
    assert not dataclasses.replace(capture, records=(None, wrong, None), _lse={}).verify(1).ok
