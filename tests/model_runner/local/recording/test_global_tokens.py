"""PEGASUS-X's encoder, against slow float64 loops over the keys that each token of the text and each global one has."""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import Any

import pytest
import torch
from torch import Tensor

from analysis.families import family_mask
from analysis.keys_seen import keys_seen
from analysis.teacher_forcing import end_of
from attention import masks
from attention.masks import BlocksAndGlobals
from model_runner.block_questions import StreamAdditions
from model_runner.capture import Capture
from model_runner.edits import OfAttention, ScaledHead
from model_runner.errors import EditNotPossible
from model_runner.local.answers.gradient_hooks import encoder_decoder_example
from model_runner.local.loading.known_families import can_be_captured
from model_runner.local.recording.global_tokens import without_padding
from model_runner.local.runner import LocalRunner
from model_runner.mask_rule import FULL
from model_runner.questions import PatchStream, WhichHeads
from model_runner.request import CaptureRequest, GenerateRequest
from model_runner.wire import from_bytes, to_bytes
from tests.model_runner.local.recording.test_encoder_decoders import BART, built
from tests.model_runner.tiny import D_MODEL, N_HEADS, byte_tokenizer, place

pytestmark = pytest.mark.table

TEXT = "The quick brown fox jumps over the lazy dog, and then it sleeps."
TARGET = "ein Fuchs"
BLOCK, GLOBALS = 8, 3
LENGTHS = (1, 5, 8, 29, 64)  # in one block, of whole blocks, and with one that is filled up

build = built("pegasus_x", **BART, block_size=BLOCK, num_global_tokens=GLOBALS)


@cache
def runner(dtype: torch.dtype = torch.float32) -> LocalRunner:
    return LocalRunner(place(build(), "cpu", dtype), byte_tokenizer(), name="pegasus_x")


def both(text: str, dtype: torch.dtype = torch.float32) -> tuple[Capture, Capture]:
    """Of the encoder and of the decoder."""
    found = runner(dtype).capture(CaptureRequest(text, target=TARGET))
    return found.attention("encoder"), found


def ids(capture: Capture) -> Tensor:
    return torch.tensor([[token.id for token in capture.tokens]])


def entering(text: Tensor) -> list[tuple[Tensor, Tensor]]:
    """What enters each layer of a fresh model that nothing watches, of the text and of the global tokens."""
    encoder: Any = build().get_encoder()
    found: list[tuple[Tensor, Tensor]] = []
    for layer in encoder.layers:
        layer.register_forward_pre_hook(lambda _, args: found.append((args[0][0], args[1][0])))
    encoder.layers[-1].register_forward_hook(lambda _, __, output: found.append((output[0][0], output[1][0])))
    with torch.no_grad():
        encoder(input_ids=text)
    return [(rows[: text.shape[1]], own) for rows, own in found]


def by_loops(text: Tensor, layer: int) -> Tensor:
    """Weights ``[heads, queries, keys]`` in float64, the global tokens last."""
    module: Any = build().get_encoder().layers[layer]
    of_text, of_globals = entering(text)[layer]
    with torch.no_grad():
        rows = torch.cat([module.self_attn_layer_norm(of_text), module.global_self_attn_layer_norm(of_globals)])
        own = module.self_attn
        q, k = (part(rows).double().unflatten(-1, (N_HEADS, -1)).transpose(0, 1) for part in (own.q_proj, own.k_proj))
    n_text, n = len(of_text), len(rows)
    later = BLOCK // 2 if layer % 2 else 0
    found = torch.zeros(N_HEADS, n, n, dtype=torch.float64)
    for head in range(N_HEADS):
        for query in range(n):
            keys = [*range(n)]
            if query < n_text:
                block = (query + later) // BLOCK
                keys = [key for key in keys if key >= n_text or (key + later) // BLOCK == block]
            scores = torch.tensor([float(q[head, query] @ k[head, key]) for key in keys], dtype=torch.float64)
            found[head, query, keys] = (scores * (D_MODEL // N_HEADS) ** -0.5).softmax(dim=0)
    return found


@pytest.mark.parametrize("length", LENGTHS)
def test_weights_streams_and_logits_are_the_models_own(length: int) -> None:
    reads, writes = both(TEXT[:length])
    text = ids(reads)[:, : len(writes.attention("cross").keys)]
    n = text.shape[1] + GLOBALS
    assert [token.text for token in reads.tokens[-GLOBALS:]] == ["⟨global 1⟩", "⟨global 2⟩", "⟨global 3⟩"]
    assert all(token.special and token.start == token.end == len(reads.text) for token in reads.tokens[-GLOBALS:])
    assert not {token.id for token in reads.tokens[-GLOBALS:]} & set(range(runner().info.n_vocab))
    expected = entering(text)
    for layer in range(reads.n_layers):
        ours = reads.layer_weights(layer, slice(0, n))
        torch.testing.assert_close(ours, by_loops(text, layer).float(), atol=1e-5, rtol=0)
        assert reads.verify(layer).ok
    for layer, parts in enumerate(expected):
        torch.testing.assert_close(reads.residual(layer), torch.cat(parts), atol=1e-5, rtol=1e-5)
    model = build()
    with torch.no_grad():
        own = model(input_ids=text, decoder_input_ids=ids(writes), output_attentions=True, return_dict=True)
    torch.testing.assert_close(
        torch.stack([writes.logits(at) for at in range(len(own.logits[0]))]), own.logits[0], atol=1e-5, rtol=1e-5
    )
    torch.testing.assert_close(reads.hidden[:-GLOBALS], own.encoder_last_hidden_state[0], atol=1e-5, rtol=1e-5)
    for name, theirs in (("decoder", own.decoder_attentions), ("cross", own.cross_attentions)):
        found = writes.attention(name)
        for layer, weights in enumerate(theirs):
            assert found.verify(layer).ok
            rows = found.layer_weights(layer, slice(0, len(found.tokens)))
            torch.testing.assert_close(rows, weights[0], atol=1e-5, rtol=0)


def test_weights_are_those_that_the_model_returns_block_by_block() -> None:
    reads, _ = both(TEXT[:29])
    text = ids(reads)[:, :-GLOBALS]
    seen: list[dict[str, Tensor]] = []
    encoder: Any = build().get_encoder()
    for layer in encoder.layers:
        layer.self_attn.register_forward_hook(lambda _, __, output: seen.append(output[2]))
    with torch.no_grad():
        encoder(input_ids=text)
    n = text.shape[1]
    for layer, theirs in enumerate(seen):
        ours, later = reads.layer_weights(layer, slice(0, n + GLOBALS)), BLOCK // 2 if layer % 2 else 0
        of_globals = theirs["global"][0]
        torch.testing.assert_close(ours[:, n:, n:], of_globals[:, :, :GLOBALS], atol=1e-5, rtol=0)
        of_text = of_globals[:, :, GLOBALS + later : GLOBALS + later + n]
        torch.testing.assert_close(ours[:, n:, :n], of_text, atol=1e-5, rtol=0)
        for query in range(n):
            block, row = divmod(query + later, BLOCK)
            own = theirs["local"][0, :, block, row]
            torch.testing.assert_close(ours[:, query, n:], own[:, :GLOBALS], atol=1e-5, rtol=0)
            keys = [key for key in range(n) if (key + later) // BLOCK == block]
            places = [GLOBALS + (key + later) % BLOCK for key in keys]
            torch.testing.assert_close(ours[:, query, keys], own[:, places], atol=1e-5, rtol=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["float32", "bfloat16"])
def test_the_badge_sees_a_hundredth_and_another_mask(dtype: torch.dtype) -> None:
    found, _ = both(TEXT, dtype)
    for layer in range(found.n_layers):
        assert found.verify(layer).ok, found.verify(layer)
    record = found.record(1)
    wrong: list[dict[str, Any]] = [{part: getattr(record, part) * 1.01} for part in ("k", "v", "scale")]
    wrong += [{"mask": FULL}, {"mask": found.record(0).mask}]
    for fields in wrong:
        records = (found.record(0), dataclasses.replace(record, **fields), *found.records[2:])
        assert not dataclasses.replace(found, records=records, _lse={}).verify(1).ok, list(fields)


def test_the_rule_parts_the_text_into_blocks_and_shows_global_tokens_everything() -> None:
    whole = slice(0, 9)
    expected = torch.tensor([[query in (7, 8) or key in (7, 8) or (query + 2) // 4 == (key + 2) // 4
                              for key in range(9)] for query in range(9)])  # fmt: skip
    rule = BlocksAndGlobals(4, 2, 7)
    assert torch.equal(masks.tile(rule, whole, whole), expected)
    assert torch.equal(masks.tile(rule, slice(1, 8), slice(3, 9)), expected[1:8, 3:9])


def test_a_capture_goes_through_bytes() -> None:
    found, _ = both(TEXT)
    again = from_bytes(to_bytes(found))
    assert torch.equal(again.layer_weights(1, slice(0, 20)), found.layer_weights(1, slice(0, 20)))
    assert again.record(1).mask == found.record(1).mask


def test_what_is_written_goes_on_as_the_model_has_it() -> None:
    steps = list(runner().generate(GenerateRequest(TEXT, 3, target="ein")))
    read, tokens, model = steps[0].capture.attention("cross").keys, ids(steps[0].capture)[:, :-1], build()
    text = torch.tensor([[token.id for token in read]])
    for step in steps:
        with torch.no_grad():
            own = model(input_ids=text, decoder_input_ids=tokens, use_cache=False).logits[0, -1]
        assert step.token.id == int(own.argmax())
        tokens = torch.cat([tokens, torch.tensor([[step.token.id]])], dim=1)


def test_its_encoder_stays_and_its_decoder_can_be_changed() -> None:
    _, whole = both(TEXT)
    for attention in ("decoder", "cross"):
        edit = OfAttention(attention, ScaledHead(0, 1, 0.0))  # type: ignore[arg-type]  # one of the literals
        changed = runner().capture(CaptureRequest(TEXT, target=TARGET, edits=(edit,)))
        assert changed.attention(attention).verify(0).ok
        assert not torch.allclose(changed.logits(-1), whole.logits(-1), atol=1e-3)
        asked = WhichHeads(dataclasses.replace(whole.request, attention=attention), 0, 7)
        found = runner().submit(asked).result()
        assert found.ablated is not None
        before, after = (torch.log_softmax(one.logits(-1), dim=-1)[7] for one in (whole, changed))
        torch.testing.assert_close(found.ablated[1].float(), after - before, atol=1e-5, rtol=0)
    with pytest.raises(EditNotPossible, match="does not go through transformers' attention interface"):
        runner().capture(CaptureRequest(TEXT, target=TARGET, edits=(OfAttention("encoder", ScaledHead(0, 1, 0.0)),)))
    answers = runner().submit(WhichHeads(dataclasses.replace(whole.request, attention="encoder"), 0, 7)).result()
    assert answers.ablated is None
    assert any(isinstance(one, EditNotPossible) for one in answers.problems)


def test_what_each_layer_adds_is_told_of_the_text_and_of_the_global_tokens() -> None:
    reads, writes = both(TEXT[:29])
    for position in (0, 28, len(reads.tokens) - 1):
        found = runner().submit(StreamAdditions(reads.request, position)).result()
        assert found.lengths.shape[1] == len(reads.tokens)
        whole = found.vectors.sum(dim=0)
        torch.testing.assert_close(whole, reads.residual(-1)[position].float(), atol=1e-5, rtol=1e-5)
    of_decoder = runner().submit(StreamAdditions(writes.request, 2)).result().vectors.sum(dim=0)
    torch.testing.assert_close(of_decoder, writes.residual(-1)[2].float(), atol=1e-5, rtol=1e-5)


def test_the_decoder_is_not_shown_the_global_tokens() -> None:
    reads, writes = both("A cat")
    drawn = family_mask(writes)
    n, n_read = len(writes.attention("cross").keys), len(reads.tokens)
    assert drawn.cells[n_read:, :n].all()
    assert not drawn.cells[n_read:, n:n_read].any()
    last = writes.attention("cross").keys[-1]
    assert end_of(writes) == (last.id if last.special else None)
    wanted = encoder_decoder_example(runner().engine, writes.request).wanted.tolist()  # type: ignore[arg-type]  # one of two stacks
    assert wanted == [*(token.id for token in writes.tokens[1:]), *([last.id] if last.special else [])]


def test_the_rows_of_padding_are_left_out() -> None:
    rows = torch.arange(11.0)[:, None]
    assert without_padding(rows, 7, 3).flatten().tolist() == [0, 1, 2, 3, 8, 9, 10]
    assert without_padding(rows, 7, 0).flatten().tolist() == [0, 1, 2, 3, 4, 5, 6]


def test_a_sentence_says_which_keys_are_seen() -> None:
    reads, _ = both(TEXT)
    sentences = [one.text.format(**one.values) for one in keys_seen(reads.record(1))]
    assert any("block of 8 tokens" in one and "3 global tokens" in one for one in sentences)


def test_the_preview_says_that_it_can_be_captured() -> None:
    assert can_be_captured({"model_type": "pegasus_x"})


def test_a_position_of_the_encoders_stream_is_another_texts_as_in_the_model_itself() -> None:
    """Of a text whose tokens and global tokens are not whole blocks together."""
    layer, tokens = 1, (5, 6)
    asked, other = (CaptureRequest(text, target=TARGET, attention="encoder") for text in (TEXT[:22], TEXT[1:23]))
    reads, source = runner().capture(asked), runner().capture(other)
    found = runner().submit(PatchStream(asked, other, layer, tokens)).result()
    writes = ids(reads.attention("decoder"))
    n_text = len(reads.tokens) - GLOBALS
    assert (n_text + GLOBALS) % BLOCK
    shares: list[Tensor] = []
    for position in (None, 0, n_text - 1, n_text, n_text + GLOBALS - 1):
        model: Any = build()

        def put(_: Any, args: tuple[Any, ...], position: int | None = position) -> tuple[Any, ...]:
            text, beside = args[0].clone(), args[1].clone()
            if position is not None:
                rows, row = (text, position) if position < n_text else (beside, position - n_text)
                rows[0, row] = entering(ids(source)[:, :-GLOBALS])[layer][0 if position < n_text else 1][row]
            return text, beside, *args[2:]

        model.get_encoder().layers[layer].register_forward_pre_hook(put)
        with torch.no_grad():
            own = model(input_ids=ids(reads)[:, :-GLOBALS], decoder_input_ids=writes).logits[0, -1]
        shares.append(own[tokens[0]] - own[tokens[1]])
    expected = torch.stack([one - shares[0] for one in shares[1:]])
    assert (expected.abs() > 1e-6).all()
    places = [0, n_text - 1, n_text, n_text + GLOBALS - 1]
    torch.testing.assert_close(found[places].float(), expected, atol=1e-5, rtol=0)
