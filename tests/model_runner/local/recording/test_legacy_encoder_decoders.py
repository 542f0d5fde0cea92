"""Encoder–decoders that multiply in code of their own: captured and not changed, or refused with the reason."""

from __future__ import annotations

from functools import partial

import pytest
import torch

from model_runner import CaptureRequest, GenerateRequest
from model_runner.edits import OfAttention, ScaledHead
from model_runner.errors import EditNotPossible, NotCapturable
from model_runner.local.runner import LocalRunner
from scripts.families.small import small_model
from tests.model_runner.local.recording.test_encoder_decoders import BART, SOURCE, T5, TARGET, built, ids_of, runner
from tests.model_runner.tiny import BOS, byte_tokenizer

pytestmark = pytest.mark.table

BY_ITSELF = "its encoder attends by code of its own, and only what its decoder does was recognised"
REFUSED = {
    "longt5": (built("longt5", **T5, encoder_attention_type="transient-global"), BY_ITSELF),
    "fsmt": (
        built("fsmt", **BART, src_vocab_size=264, tgt_vocab_size=264, langs=["en", "de"], decoder_start_token_id=BOS),
        "its decoder returns the scores of tokens, not the last hidden state that they come from",
    ),
    "prophetnet": (
        partial(small_model, "sequence-to-sequence", "prophetnet"),
        "beside each token it has written, its decoder carries further rows that look ahead",
    ),
}


def test_own_code_is_captured_generates_and_refuses_to_be_changed():
    held = runner("mvp")
    *_, last = held.generate(GenerateRequest(SOURCE, 3, target=TARGET))
    assert last.capture.attention("cross").verify(0).ok
    one = held.capture(CaptureRequest(SOURCE, target="")).attention("cross")  # one token, which sees the whole source
    assert one.weights(0, 0).shape == (1, len(ids_of(SOURCE)))
    assert one.verify(0).ok
    with pytest.raises(EditNotPossible, match="does not go through transformers' attention interface"):
        held.capture(CaptureRequest(SOURCE, target=TARGET, edits=(OfAttention("cross", ScaledHead(0, 1, 0.0)),)))


@pytest.mark.parametrize("name", REFUSED)
def test_a_family_that_cannot_be_captured_is_refused_with_its_reason(name):
    build, reason = REFUSED[name]
    with pytest.raises(NotCapturable, match=reason):
        LocalRunner(build(), byte_tokenizer(), name=name)


@torch.no_grad()
def test_prophetnet_reads_the_next_token_off_a_row_that_is_of_no_token():
    """What it is refused for is so; the rows of the tokens, which are drawn of other models, say something else."""
    model = small_model("sequence-to-sequence", "prophetnet")
    ids = torch.arange(5)[None]
    streams: list[torch.Tensor] = []
    model.prophetnet.decoder.layers[-1].register_forward_hook(lambda _module, _args, made: streams.append(made[0]))
    logits = model(torch.arange(7)[None], decoder_input_ids=ids, use_cache=False).logits
    assert streams[0].shape[1] == 5 * (1 + model.config.ngram)
    of_tokens, ahead, *_ = model.lm_head(streams[0]).split(5, dim=1)
    torch.testing.assert_close(ahead, logits)
    assert not torch.allclose(of_tokens, logits, atol=0.1)
