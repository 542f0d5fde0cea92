"""The embedded model loads without a network and does what its card says."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

import model_runner

FOLDER = Path(model_runner.__file__ or "").parent / "default_model"
CARD = (FOLDER / "README.md").read_text(encoding="utf-8")
LENGTH = 40


@pytest.fixture(scope="module", autouse=True)
def no_network() -> Iterator[None]:
    """Any attempt to reach another machine fails the test."""

    def refuse(*_: object) -> NoReturn:
        raise AssertionError("the embedded model must load without a network")

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        patch.setattr(socket.socket, "connect", refuse)
        patch.setattr(socket, "getaddrinfo", refuse)
        yield


@pytest.fixture(scope="module")
def tokenizer(no_network: None) -> Any:
    return AutoTokenizer.from_pretrained(FOLDER)


@pytest.fixture(scope="module")
def model(no_network: None) -> Any:
    return AutoModelForCausalLM.from_pretrained(FOLDER, attn_implementation="eager").eval()


@pytest.fixture(scope="module")
def repeated(model: Any) -> tuple[list[list[int]], torch.Tensor]:
    """Random sequences that come twice, as token ids, and their weights (layers, sequences, heads, queries, keys)."""
    generator = torch.Generator().manual_seed(2024)  # not the sequences that the card was measured on
    half = torch.randint(259, model.config.vocab_size, (4, LENGTH), generator=generator)
    ids = torch.cat([torch.zeros(4, 1, dtype=torch.long), half, half], dim=1)
    with torch.no_grad():
        return ids.tolist(), torch.stack(model(ids, output_attentions=True).attentions)


def claims(kind: str) -> list[tuple[int, int, float]]:
    """The heads that the card names, with their scores: (layer, head, score)."""
    line = next(line for line in CARD.splitlines() if line.startswith(f"- {kind} heads:"))
    return [(int(layer), int(head), float(score)) for layer, head, score in re.findall(r"L(\d)H(\d) (\d\.\d\d)", line)]


def test_the_weights_fit_into_the_repository() -> None:
    assert (FOLDER / "model.safetensors").stat().st_size <= 16 * 2**20
    assert not list(FOLDER.glob("*.bin"))  # nothing pickled


def test_it_is_the_architecture_of_its_card(model: Any, tokenizer: Any) -> None:
    config = model.config
    assert model.dtype == torch.float32
    assert f"{model.num_parameters() / 1e6:.2f} M parameters" in CARD
    assert (config.num_hidden_layers, config.num_attention_heads, config.num_key_value_heads) == (8, 8, 4)
    assert (config.hidden_size, config.intermediate_size, config.head_dim) == (256, 688, 32)
    assert len(tokenizer) == config.vocab_size == 8192


@pytest.mark.parametrize(
    "text", ["Hello, world! 1234", "naïve café — 日本語 🙂\n\ttab  two", "مرحبا", "<b>&amp;</b>", ""]
)
def test_any_text_round_trips_after_a_beginning_token(text: str, tokenizer: Any) -> None:
    ids = tokenizer(text)["input_ids"]
    assert ids[0] == tokenizer.bos_token_id
    assert tokenizer.decode(ids, skip_special_tokens=True) == text


def test_the_capital_of_france_is_paris(model: Any, tokenizer: Any) -> None:
    ids = tokenizer("The capital of France is", return_tensors="pt")["input_ids"]
    for _ in range(2):
        ids = torch.cat([ids, model(ids).logits[:, -1:].argmax(-1)], dim=1)
    assert tokenizer.decode(ids[0], skip_special_tokens=True) == "The capital of France is Paris."


def test_the_card_names_the_two_heads_that_the_pages_point_at() -> None:
    assert claims("previous-token")[0] == (3, 7, 1.00)
    assert claims("induction")[0] == (5, 5, 0.94)


@pytest.mark.parametrize("layer, head, claimed", claims("previous-token"))
def test_previous_token_heads_look_one_token_back(layer: int, head: int, claimed: float, repeated: Any) -> None:
    ids, weights = repeated
    found = [weights[layer, s, head, query, query - 1] for s in range(len(ids)) for query in range(1, len(ids[s]))]
    # Other random sequences than the card's: single heads move by a few hundredths.
    assert float(torch.stack(found).mean()) == pytest.approx(claimed, abs=0.06)


@pytest.mark.parametrize("layer, head, claimed", claims("induction"))
def test_induction_heads_look_behind_the_last_occurrence(layer: int, head: int, claimed: float, repeated: Any) -> None:
    ids, weights = repeated
    found = [
        weights[layer, s, head, query, query - LENGTH + 1]
        for s in range(len(ids))
        for query in range(LENGTH + 1, 2 * LENGTH)
        if ids[s][query] == ids[s][query - LENGTH]  # always so; said here because it is the definition
    ]
    assert len(found) == 4 * (LENGTH - 1)
    assert float(torch.stack(found).mean()) == pytest.approx(claimed, abs=0.06)
