"""Two sentences on the page Families: a part of the encoder's map, one text for the others, and what is taken away."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer

from model_runner.local.loading.model_folder import EMBEDDED
from model_runner.tokens import second_starts
from tests.pages.test_families import capture, opened
from tests.ui.driving import html, payload
from tests.ui.taken import offers, ran
from viz.distribution import percent
from viz.share_text import share_digits

A, B = "The dog ran home.", "It was [MASK]."
pytestmark = pytest.mark.table


@functools.cache
def by_transformers() -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Types, the map of L1H2 and the likeliest words in place of the mask, of A and B read by transformers alone."""
    tokenizer = AutoTokenizer.from_pretrained(EMBEDDED["encoder"])
    model = AutoModelForMaskedLM.from_pretrained(
        EMBEDDED["encoder"], attn_implementation="eager", dtype=torch.float32
    ).eval()
    given = tokenizer(A, B, return_tensors="pt")
    with torch.no_grad():
        said = model(**given, output_attentions=True)
    place = given["input_ids"][0].tolist().index(tokenizer.mask_token_id)
    said_there = torch.softmax(said.logits[0, place].double(), dim=-1).topk(5).values
    types, weights = given["token_type_ids"][0].numpy(), said.attentions[1][0, 2].double().numpy()
    return types, weights, [percent(one) for one in said_there.tolist()]


@pytest.mark.parametrize("part", ["all", "aa", "ab", "ba", "bb"])
def test_of_two_sentences_the_map_the_shares_and_the_guess_are_those_that_transformers_reads_with_types(part):
    types, weights, guesses = by_transformers()
    app = opened(family="encoder", text=f"{A}[SEP]{B}", part=part, head="1.2")
    values = payload(app, "head_map")[1]["values"]
    rows, columns = (types == "ab".index(letter) if part != "all" else types >= 0 for letter in part[:2])
    np.testing.assert_allclose(values[np.ix_(rows, columns)], weights[np.ix_(rows, columns)], atol=1e-3)
    others = np.ones_like(weights, dtype=bool)
    others[np.ix_(rows, columns)] = False
    assert np.isnan(values[others]).all()
    page = html(app)
    aa, ab, ba, bb = (
        f"{share_digits(float(weights[types == one][:, types == other].sum(1).mean()))} %"
        for one in (0, 1)
        for other in (0, 1)
    )
    assert f"A keeps {aa} of its attention and gives {ab} to B; B gives {ba} to A and keeps {bb}." in page
    assert all(one.replace("<", "&lt;") in page for one in guesses)


def test_of_two_sentences_one_part_of_the_map_is_drawn_and_the_other_kinds_read_one_text():
    pair = "The dog ran home.[SEP]It was [MASK]."
    app = opened(family="encoder", text=pair, part="ba", head="1.2")
    made = capture("encoder", pair)
    start, weights = second_starts(made.tokens), made.weights(1, 2).numpy()
    values = payload(app, "head_map")[1]["values"]
    assert np.isfinite(values[start:, :start]).all()
    assert np.isnan(values[:start]).all()
    assert np.isnan(values[:, start:]).all()
    np.testing.assert_allclose(values[start:, :start], weights[start:, :start], atol=1e-3)
    assert "A keeps" in html(app)
    assert "SEP" not in "".join(payload(app, "family_masks")[0]["kinds"][0]["tokens"])


@pytest.mark.parametrize("address", [{"family": "two"}, {"family": "prefix"}, {"family": "encoder", "part": "ab"}])
def test_the_python_lines_give_the_map_and_the_mask_that_are_drawn(monkeypatch, address):
    kept = offers(monkeypatch)
    app = opened(text="The dog ran home.[SEP]It was late.", word="1", **address)
    take = kept[-1]
    names = ran(take.snippet)
    np.testing.assert_allclose(names["values"], payload(app, "head_map")[1]["values"], atol=1e-3)
    np.testing.assert_array_equal(names["mask"], take.arrays["mask"])
