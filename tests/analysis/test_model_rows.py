"""A model as rows of layers, against its own modules and captures."""

from __future__ import annotations

import pytest

from analysis.model_rows import EVERY, NO_FFN, LayerMake, changed_places, layer_stacks
from model_runner import CaptureRequest, load_runner
from model_runner.block_questions import WhatItIsMadeOf
from model_runner.edits import KeepLast, Masked, OfAttention, ScaledHead, SharedKeys, SwappedHeads
from tests.model_runner.cases import FAMILY
from tests.model_runner.folders import save


def stacks(model, text="The dog sleeps.", edits=()):
    runner = load_runner(model)
    made = runner.submit(WhatItIsMadeOf()).result()
    return layer_stacks(runner.capture(CaptureRequest(text, edits=edits)), made)


def test_the_embedded_models_have_the_heads_of_their_cards():
    (own,) = stacks("default")
    assert (own.attentions, own.layers) == (("",), (LayerMake(((8, 2),), 0),) * 8)
    encoder, decoder = stacks("translator")
    assert (encoder.attentions, decoder.attentions) == (("encoder",), ("decoder", "cross"))
    assert {len(layer.attentions) for layer in encoder.layers} == {1}
    assert {layer.attentions for layer in decoder.layers} == {(encoder.layers[0].attentions[0],) * 2}


def test_an_edit_that_shares_keys_shows_in_the_groups():
    (changed,) = stacks("default", edits=(SharedKeys(1),))
    assert changed.layers == (LayerMake(((8, 8),), 0),) * 8


@pytest.mark.table
@pytest.mark.parametrize("name", ["mixtral", "jamba", "diffllama"])
def test_layers_without_attention_and_experts_are_those_of_the_configuration(tmp_path, name):
    (own,) = stacks(str(save(tmp_path, FAMILY[name].build())))
    config = FAMILY[name].build().config
    kinds = getattr(config, "layers_block_type", ["attention"] * config.num_hidden_layers)
    assert [layer.attentions != (None,) for layer in own.layers] == [kind == "attention" for kind in kinds]
    counts = getattr(config, "layers_num_experts", None) or [getattr(config, "num_local_experts", 0)] * len(kinds)
    assert [layer.experts for layer in own.layers] == [count if count > 1 else 0 for count in counts]
    assert NO_FFN not in [layer.experts for layer in own.layers]


def test_edits_name_the_places_that_they_change():
    one = (ScaledHead(3, 1), SwappedHeads(2, 0, 4), Masked("window", (("window", 2),), layers=(5, 6)))
    assert changed_places(one, ("",)) == (("", 3, 1), ("", 2, 0), ("", 2, 4), ("", 5, EVERY), ("", 6, EVERY))
    assert changed_places((KeepLast(4, 1),), ("",)) == (("", EVERY, EVERY),)
    across = (OfAttention("cross", ScaledHead(1, 2)),)
    assert changed_places(across, ("encoder", "decoder", "cross")) == (("cross", 1, 2),)
