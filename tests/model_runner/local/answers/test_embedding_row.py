"""Rows of an embedding table: the file's own numbers, and neighbours as a loop over the vocabulary finds them."""

from __future__ import annotations

import math

import pytest
import torch

from model_runner import CaptureRequest, load_runner
from model_runner.block_questions import EmbeddingRow
from model_runner.errors import NoSuchPlace
from tests.model_runner.cases import FAMILY, TEXT, runner_of, shared_runner

REQUEST = CaptureRequest(TEXT)


def cosine(a: list[float], b: list[float]) -> float:
    lengths = math.sqrt(math.fsum(x * x for x in a) * math.fsum(x * x for x in b))
    return math.fsum(x * y for x, y in zip(a, b, strict=True)) / lengths if lengths else -math.inf


@pytest.mark.parametrize("token", [0, 101, -1])
def test_neighbours_are_those_of_a_loop_over_the_vocabulary(token: int) -> None:
    runner = load_runner("default")
    table = runner.engine.model.state_dict()["model.embed_tokens.weight"]
    found = runner.submit(EmbeddingRow(REQUEST, token, 5)).result()
    token %= len(table)
    assert (found.token, found.n_rows, found.module) == (token, len(table), "model.embed_tokens")
    torch.testing.assert_close(found.vector, table[token].float(), rtol=0, atol=0)
    own = table[token].tolist()
    known = [(cosine(own, row), -place) for place, row in enumerate(table.tolist()) if place != token]
    best = sorted(known, reverse=True)[:5]
    assert found.nearest.tolist() == [-place for _, place in best]
    assert found.cosines.tolist() == pytest.approx([value for value, _ in best], abs=1e-5)
    torch.testing.assert_close(found.vectors, table[found.nearest].float(), rtol=0, atol=0)
    one_hot = torch.tensor([float(one == token) for one in found.ids])
    torch.testing.assert_close(one_hot @ found.rows, found.vector, rtol=0, atol=0)
    torch.testing.assert_close(found.rows, table[list(found.ids)].float(), rtol=0, atol=0)


@pytest.mark.parametrize("name", ["llama", "gemma2"])
def test_the_row_is_what_enters_the_first_layer_where_nothing_is_added_to_it(name: str) -> None:
    """Gemma's look-up multiplies by √d_model: the row is what it gives, and not what its file holds."""
    runner = shared_runner(name)
    capture = runner.capture(REQUEST)
    row = runner.submit(EmbeddingRow(REQUEST, capture.tokens[3].id)).result().vector
    torch.testing.assert_close(capture.residual(0)[3].float(), row, rtol=1e-5, atol=1e-6)


def test_a_row_of_zeros_is_nobodys_neighbour_and_has_none() -> None:
    runner = runner_of(FAMILY["llama"])
    table = runner.engine.model.get_input_embeddings().weight
    with torch.no_grad():
        table[7] = 0
    found = runner.submit(EmbeddingRow(REQUEST, 5, 10**6)).result()
    assert sorted(found.nearest.tolist()) == [one for one in range(len(table)) if one not in (5, 7)]
    assert not len(runner.submit(EmbeddingRow(REQUEST, 7)).result().nearest)


def test_what_there_is_no_row_of_is_said() -> None:
    with pytest.raises(NoSuchPlace, match="token id"):
        shared_runner("llama").submit(EmbeddingRow(REQUEST, 10**7)).result()
