"""A freed scratch block is reused, but never while anything still refers to it."""

from __future__ import annotations

import pytest
import torch

from model_runner.local.recording import scratch_block
from model_runner.local.recording.scratch_block import ScratchBlock

CPU = torch.device("cpu")


def test_the_memory_of_what_is_gone_is_handed_out_again():
    spare = ScratchBlock()
    place = spare.take(1000, CPU).data_ptr()  # gone at once
    again = spare.take(1000, CPU)
    assert again.data_ptr() == place
    assert (again.dtype, again.shape) == (torch.uint8, (1000,))


def test_as_long_as_one_tensor_looks_into_it_a_block_is_not_handed_out():
    spare = ScratchBlock()
    block = spare.take(1000, CPU)
    view = block[8:16].view(torch.float32)
    view.fill_(7.0)
    place = block.data_ptr()
    del block
    others = [spare.take(1000, CPU).fill_(0) for _ in range(3)]
    assert place not in {other.data_ptr() for other in others}
    assert view.tolist() == [7.0, 7.0]
    del view
    assert spare.take(1000, CPU).data_ptr() == place


def test_two_blocks_that_are_held_are_two_places():
    spare = ScratchBlock()
    one, other = spare.take(64, CPU), spare.take(64, CPU)
    assert one.data_ptr() != other.data_ptr()


@pytest.mark.parametrize("nbytes, fits", [(1000, True), (900, True), (801, True), (799, False), (1001, False)])
def test_a_block_is_used_again_for_a_text_of_about_its_size_only(nbytes: int, fits: bool):
    spare = ScratchBlock()
    held = spare.take(1000, CPU)
    del held
    assert len(spare.take(nbytes, CPU)) == (1000 if fits else nbytes)


def test_more_than_the_most_is_never_kept(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(scratch_block, "MOST", 999)
    spare = ScratchBlock()
    assert len(spare.take(1000, CPU)) == 1000
    assert spare._spare is None
