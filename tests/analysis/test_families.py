"""Kinds of models: identified by their masks, drawn cell by cell, and one text with a hidden word."""

from __future__ import annotations

import functools
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from transformers import BertConfig, GPT2Config, LlamaConfig, T5Config

from analysis.away import away
from analysis.families import ACROSS, AFTER, BEFORE, HIDDEN, MOST, family_mask, kind_of, ruled_mask
from analysis.families_published import KNOWN
from analysis.hidden_word import MARK, hide, seen_before, usual_word, without_marks, words_in
from analysis.teacher_forcing import end_of, loss, teacher_forced
from attention.masks import And, Band, Causal, Full, Recent
from model_runner import CaptureRequest, load_runner
from model_runner.edits import Masked
from model_runner.errors import AwayFromModel
from model_runner.mask_rule import MaskRule
from tests.model_runner.cases import shared_runner

TEXT = "The dog chased the squirrel because it"
PREFIX = Masked("prefix", (("length", 4),))


@functools.cache
def runner(name):
    return load_runner(name)


@functools.cache
def capture(name, text=TEXT, edits=(), **more):
    return runner(name).capture(CaptureRequest(text, edits=edits, **more))


def other_mask(made, rule):
    """The capture as if its layers had this rule of their own."""
    return replace(made, records=tuple(replace(record, mask=MaskRule(rule)) for record in made.records))


@pytest.mark.parametrize(
    "name, edits, kind",
    [
        ("default", (), "causal"),
        ("default", (PREFIX,), "prefix"),
        ("encoder", (), "encoder"),
        ("translator", (), "two"),
    ],
)
def test_the_embedded_models_are_of_their_kinds(name, edits, kind):
    assert kind_of(capture(name, edits=edits)) == kind


@pytest.mark.parametrize(
    "rule, kind",
    [(Full(), "encoder"), (Band(2), "encoder"), (Causal(), "causal"), (And(Causal(), Recent(2)), "causal")],
)
def test_a_kind_is_told_by_the_rule_and_not_by_the_name(rule, kind):
    assert kind_of(other_mask(capture("default"), rule)) == kind
    assert kind_of(other_mask(capture("encoder"), rule)) == kind


@pytest.mark.parametrize("name", ["llama", "gpt2", "gpt-oss", "gpt-neo", "qwen3-next"])
def test_one_token_before_which_a_tokenizer_puts_none_makes_no_encoder(name):
    made = shared_runner(name).capture(CaptureRequest("h"))
    assert len(made.tokens) == 1
    assert kind_of(made) == "causal"


def test_a_text_of_one_token_is_told_by_the_rule_alone():
    made = capture("default")
    one = replace(
        made,
        tokens=made.tokens[:1],
        records=tuple(replace(r, q=r.q[:, :1], k=r.k[:, :1], v=r.v[:, :1], output=r.output[:1]) for r in made.records),
    )
    assert kind_of(one) == "causal"
    assert kind_of(other_mask(one, Full())) == "encoder"


def seen(cells, query, key):
    return int(cells[query, key])


def test_every_cell_of_a_causal_model_is_before_or_hidden():
    mask = family_mask(capture("default"))
    assert mask.tokens[1:3] == ("The", "·dog")
    for query in range(8):
        for key in range(8):
            assert seen(mask.cells, query, key) == (BEFORE if key <= query else HIDDEN)


def test_the_prefix_sees_its_own_future_and_nothing_else_does():
    cells = family_mask(capture("default", edits=(PREFIX,))).cells
    for query in range(8):
        for key in range(8):
            wanted = BEFORE if key <= query else AFTER if query < 4 and key < 4 else HIDDEN
            assert seen(cells, query, key) == wanted


@pytest.mark.parametrize("name", ["default", "encoder"])
def test_cells_are_where_the_model_puts_weight(name):
    made = capture(name)
    weights = torch.stack([made.layer_weights(layer, slice(None)).amax(0) for layer in range(made.n_layers)]).amax(0)
    np.testing.assert_array_equal(family_mask(made).cells > 0, weights.numpy() > 0)


def test_two_texts_are_one_grid_whose_parts_are_the_three_attentions():
    made = capture("translator")
    mask = family_mask(made)
    read, written = len(made.attention("encoder").tokens), len(made.tokens)
    assert (mask.n_read, mask.cut, len(mask.tokens)) == (read, 0, read + written)
    parts = {"encoder": (0, 0), "decoder": (read, read), "cross": (read, 0)}
    whole = np.zeros((read + written, read + written), bool)
    for name, (row, column) in parts.items():
        one = made.attention(name)  # in some head of some layer no visible cell is rounded to nothing
        weights = torch.stack([one.layer_weights(layer, slice(None)).amax(0) for layer in range(one.n_layers)]).amax(0)
        whole[row : row + weights.shape[0], column : column + weights.shape[1]] = weights.numpy() > 0
    np.testing.assert_array_equal(mask.cells > 0, whole)
    assert set(np.unique(mask.cells[read:, :read])) == {ACROSS}
    assert set(np.unique(mask.cells[:read, :read])) == {BEFORE, AFTER}
    assert not mask.cells[:read, read:].any()


def test_of_long_texts_the_first_tokens_are_drawn():
    made = capture("default", "one two three " * 40)
    mask = family_mask(made)
    assert len(mask.tokens) == MOST
    assert mask.cut == len(made.tokens) - MOST
    two = family_mask(capture("translator", "The dog chased the cat. " * 6))
    assert two.n_read == MOST // 2
    assert len(two.tokens) <= MOST


@pytest.mark.parametrize("kind, name", [("causal", "default"), ("encoder", "encoder")])
def test_the_rule_of_a_kind_is_what_its_model_does(kind, name):
    made = capture(name)
    np.testing.assert_array_equal(ruled_mask(kind, made.tokens, 4).cells, family_mask(made).cells)


def test_the_rules_of_a_prefix_and_of_two_texts_have_the_same_form():
    tokens = capture("default").tokens
    prefix, two = ruled_mask("prefix", tokens, 3), ruled_mask("two", tokens, 3)
    np.testing.assert_array_equal(
        prefix.cells, family_mask(capture("default", edits=(Masked("prefix", (("length", 3),)),))).cells
    )
    np.testing.assert_array_equal(prefix.cells > 0, two.cells > 0)
    assert (two.cells[3:, :3] == ACROSS).all()


def test_what_is_kept_holds_no_model_and_the_same_weights():
    made = away(capture("translator"))
    with pytest.raises(AwayFromModel):
        made.logits(0)
    with pytest.raises(AwayFromModel):
        made.attention("cross").logits(0)
    torch.testing.assert_close(
        made.attention("cross").weights(1, 2), capture("translator").attention("cross").weights(1, 2)
    )


# -- a hidden word ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, words, usual",
    [
        (TEXT, TEXT.split(), "squirrel"),
        ("One, two!", ["One", "two"], "two"),
        ("狗看见了猫，它", list("狗看见了猫它"), "猫"),
        ("don't stop now", ["don't", "stop", "now"], "stop"),
        ("Ran home.[SEP]It was", ["Ran", "home", "It", "was"], "home"),
        ("… !", [], None),
        ("", [], None),
        ("👋", [], None),
    ],
)
def test_words_are_found_and_one_is_chosen(text, words, usual):
    assert [word.text for word in words_in(text)] == words
    at = usual_word(text)
    assert (None if at is None else words[at]) == usual


def test_the_word_alone_is_replaced_by_the_mark_and_a_text_that_hides_one_stays():
    for i, word in enumerate(TEXT.split()):
        assert hide(TEXT, i).split() == [*TEXT.split()[:i], MARK, *TEXT.split()[i + 1 :]], word
    assert hide("a [MASK] b", 0) == "a [MASK] b"
    assert hide("…", None) == "…"


def test_the_others_read_what_they_can():
    assert seen_before("Monday, [MASK], Wednesday [MASK].") == "Monday,"
    assert seen_before("[MASK] is it") == " is it"
    assert seen_before("Home. [SEP]It [MASK]") == "Home. It"
    assert without_marks("Home.[SEP]It is") == "Home. It is"
    assert seen_before(TEXT) == TEXT
    assert without_marks("a [MASK] b") == "a  b"


# -- teacher forcing --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["那只狗追了那只松鼠。", None])
def test_teacher_forcing_is_the_loss_of_transformers_own_training(target):
    made = capture("translator", target=target)
    forced = teacher_forced(made, end_of(made))
    model = runner("translator").engine.model
    ids = torch.tensor([[token.id for token in made.attention("encoder").tokens]])
    labels = torch.tensor([[*(token.id for token in made.tokens[1:]), model.config.eos_token_id]])
    with torch.no_grad():
        output = model(input_ids=ids, labels=labels)
    assert loss(forced) == pytest.approx(float(output.loss), rel=1e-4, abs=1e-6)  # float32 logits of about 20
    assert [one.wanted for one in forced] == labels[0].tolist()
    assert [one.given for one in forced] == model._shift_right(labels)[0].tolist()
    assert [one.own for one in forced] == output.logits[0].argmax(-1).tolist()


def test_who_writes_freely_says_what_it_would_have_said():
    made = capture("translator")
    assert all(
        one.own == one.wanted and one.probability == one.own_probability for one in teacher_forced(made, end_of(made))
    )


def test_a_position_with_nothing_to_say_is_left_out_of_the_loss():
    forced = teacher_forced(capture("translator"), None)
    assert forced[-1].wanted is None
    assert math.isnan(forced[-1].probability)
    assert loss(forced) == pytest.approx(np.mean([-math.log(one.probability) for one in forced[:-1]]))
    assert math.isnan(loss(forced[-1:]))


# -- well-known models ------------------------------------------------------------------------------------------------


def test_what_is_said_of_well_known_models_is_what_transformers_makes_of_them():
    known = {one.name: one for one in KNOWN}
    assert len(known) == len(KNOWN)
    bert, gpt, t5, llama = BertConfig(), GPT2Config(), T5Config(), LlamaConfig()
    assert f"({bert.max_position_embeddings})" in known["BERT"].positions
    assert f"({gpt.n_positions:,})" in known["GPT-2"].positions
    assert f"{t5.relative_attention_num_buckets} buckets" in known["T5"].positions
    assert (bert.hidden_act, gpt.activation_function, t5.feed_forward_proj) == ("gelu", "gelu_new", "relu")
    assert (known["BERT"].activation, known["GPT-2"].activation) == ("GELU", "GELU")
    assert known["T5"].activation.startswith("ReLU")
    assert (llama.hidden_act, known["Llama"].activation) == ("silu", "SwiGLU")
    assert t5.is_encoder_decoder
    assert {one.name: one.kind for one in KNOWN} == {
        "BERT": "encoder", "GPT-2": "causal", "T5": "two", "GLM": "prefix", "Llama": "causal",
    }  # fmt: skip
    assert all("arXiv:" in one.source or one.name == "GPT-2" for one in KNOWN)
