"""A learned table of positions is found in the models that have one, from position 0 on, and only there."""

from __future__ import annotations

import pytest
import torch

from model_runner.local.answers.position_table import position_table
from tests.model_runner.cases import FAMILY, runner_of
from tests.model_runner.tiny import PAD

TABLES = {  # family: the parameter, and the row of position 0
    "gpt2": ("transformer.wpe.weight", 0),
    "gpt-bigcode": ("transformer.wpe.weight", 0),
    "opt": ("model.decoder.embed_positions.weight", 2),
    "bert": ("bert.embeddings.position_embeddings.weight", 0),
    "roberta": ("roberta.embeddings.position_embeddings.weight", PAD + 1),
    "distilbert": ("distilbert.embeddings.position_embeddings.weight", 0),
}


@pytest.mark.parametrize("name", TABLES)
def test_the_table_begins_with_position_0(name: str) -> None:
    runner = runner_of(FAMILY[name])
    path, first = TABLES[name]
    found = position_table(runner.engine.structure.backbone.module, 65)
    assert found is not None
    assert torch.equal(found, runner.engine.model.get_parameter(path)[first:])


@pytest.mark.parametrize("name", ["llama", "modernbert", "qwen3-next", "jamba"])
def test_a_model_that_learned_no_positions_has_no_table(name: str) -> None:
    assert position_table(runner_of(FAMILY[name]).engine.structure.backbone.module, 65) is None
