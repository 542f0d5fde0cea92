"""Which rows the check recomputes, and that it finds the same errors on a long text as on a short one."""

from __future__ import annotations

import dataclasses
from functools import cache
from itertools import pairwise

import pytest
import torch
from transformers import AutoModelForMaskedLM

from model_runner import verification
from model_runner.capture import Capture
from model_runner.checked_rows import EVERY_ROW, rows_checked, rows_together
from model_runner.local.runner import LocalRunner
from model_runner.request import CaptureRequest
from model_runner.verification import verify
from tests.model_runner.families import ALTERNATING, EXPERTS, GEMMA, GQA
from tests.model_runner.tiny import byte_tokenizer, place, tiny

LONG = 3000
TEXT = "the dog chased the cat, and the cat did not see the dog"


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


@pytest.mark.parametrize("joined, together", [(0, 1), (16, 1), (40, 2), (10_000, 16)])
def test_so_many_runs_are_compared_at_once_as_the_rows_allow(joined: int, together: int) -> None:
    blocks = rows_together(4096, 128, joined)
    assert tuple(block for some in blocks for block in some) == rows_checked(4096)
    assert {len(some) for some in blocks} == {together}
    assert [len(some) for some in rows_together(300, 128, joined)] == ([3] if joined > 300 else [1, 1, 1])


MODELS = {
    "llama": tiny("llama", **GQA),
    "soft-cap": tiny("gemma2", attn_logit_softcapping=2.0, **GEMMA),
    "sinks": tiny("gpt_oss", head_dim=8, **EXPERTS, **ALTERNATING, **GQA),
    "bias": tiny("mpnet", AutoModelForMaskedLM),
    "content": tiny("deberta", AutoModelForMaskedLM, relative_attention=True, pos_att_type=["c2p", "p2c"]),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["float32", "bfloat16"])
@pytest.mark.parametrize("name", MODELS)
def test_blocks_compared_at_once_say_what_they_say_alone(
    name: str, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = place(MODELS[name](), "cpu", dtype)
    record = LocalRunner(model, byte_tokenizer(), name=name, device="cpu").capture(CaptureRequest(TEXT)).record(1)
    for wrong in (record, dataclasses.replace(record, v=record.v * 1.01)):
        alone = verify(wrong, None, 7)
        monkeypatch.setattr(verification, "rows_together", lambda tokens, most, _: rows_together(tokens, most, 21))
        together = verify(wrong, None, 7)
        monkeypatch.undo()
        assert alone.ok is together.ok is (wrong is record)
        assert (together.rows, together.of) == (alone.rows, alone.of)
        assert together.max_abs_error == pytest.approx(alone.max_abs_error, rel=0.01, abs=1e-6)
        assert together.tolerance == pytest.approx(alone.tolerance, rel=0.01, abs=1e-6)


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
