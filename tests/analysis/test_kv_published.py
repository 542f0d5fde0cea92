"""The table of well-known models against what their builders published."""

from __future__ import annotations

import pytest

from analysis.kv_published import PUBLISHED

BY_ID = {one.hub_id: one for one in PUBLISHED}
GIB, MIB, KIB = 2**30, 2**20, 2**10


@pytest.mark.parametrize(
    "hub_id, tokens, expected",
    [
        ("meta-llama/Llama-2-7b-hf", 4096, 2 * GIB),  # half a MiB a token, as often quoted
        ("meta-llama/Llama-3.1-8B", 131_072, 16 * GIB),  # 128 KiB a token
        ("openai-community/gpt2", 1024, 36 * MIB),
        ("Qwen/Qwen2.5-7B", 1, 56 * KIB),
        ("tiiuae/falcon-7b", 1, 8 * KIB),
        ("deepseek-ai/DeepSeek-V3", 1, 70_272),  # 70 KB a token (Zhao et al. 2025, arXiv:2505.09343, table 1)
        ("microsoft/Phi-3-mini-4k-instruct", 1, 384 * KIB),
        ("google/gemma-2-9b", 1, 336 * KIB),
    ],
)
def test_bytes_are_those_that_are_published(hub_id, tokens, expected):
    assert BY_ID[hub_id].n_bytes(tokens) == expected


@pytest.mark.parametrize(
    "hub_id, sharing",
    [
        ("openai-community/gpt2", "MHA"),
        ("mistralai/Mistral-7B-v0.1", "GQA"),
        ("tiiuae/falcon-7b", "MQA"),
        ("deepseek-ai/DeepSeek-V3", "MLA"),
    ],
)
def test_the_way_of_sharing_follows_from_the_heads(hub_id, sharing):
    assert BY_ID[hub_id].sharing == sharing


def test_a_window_in_every_layer_stops_the_growth_and_in_half_of_them_halves_it():
    mistral, gemma = BY_ID["mistralai/Mistral-7B-v0.1"], BY_ID["google/gemma-2-9b"]
    assert mistral.n_bytes(32_768) == mistral.n_bytes(4096) == 4096 * mistral.n_bytes(1)
    assert gemma.n_bytes(8192) - gemma.n_bytes(4096) == gemma.n_bytes(4096) // 2


def test_the_number_of_bytes_is_an_argument():
    assert BY_ID["openai-community/gpt2"].n_bytes(10, 4) == 2 * BY_ID["openai-community/gpt2"].n_bytes(10)
