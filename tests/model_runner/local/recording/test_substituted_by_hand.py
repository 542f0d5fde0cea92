"""Variants of the zoo in a running model against loops that are hooked into transformers' own model."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import elu
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

from attention.dual_chunk import index_map
from model_runner import CaptureRequest
from model_runner.edits import Edit
from model_runner.local.runner import LocalRunner
from model_runner.substitution import Substituted
from tests.model_runner.cases import FAMILY, TEXT, runner_of
from tests.model_runner.tiny import D_HEAD, N_HEADS, byte_tokenizer, tiny

IDS = byte_tokenizer()(TEXT).input_ids
TOKENS = len(IDS)
CLOSE = 1e-5  # float32, see tests/model_runner/cases.py
LAYER, HEAD = 1, 2


def all_logits(runner: LocalRunner, *edits: Edit) -> Tensor:
    captured = runner.capture(CaptureRequest(text=TEXT, edits=edits))
    return torch.stack([captured.logits(position) for position in range(TOKENS)])


def linear(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Katharopoulos et al. 2020, eq. 8 and 12, in loops."""
    rows = []
    for i in range(len(q)):
        weights = [float((elu(q[i]) + 1) @ (elu(k[j]) + 1)) for j in range(i + 1)]
        rows.append(sum((w * v[j] for j, w in enumerate(weights)), torch.zeros_like(v[0])) / sum(weights))
    return torch.stack(rows)


def sigmoid(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Ramapuram et al. 2024, eq. 3, with a bias of −ln of the text's length, in loops."""
    rows = []
    for i in range(len(q)):
        scores = [float(q[i] @ k[j]) / len(q[i]) ** 0.5 for j in range(i + 1)]
        rows.append(sum(v[j] * torch.tensor(s - math.log(TOKENS)).sigmoid() for j, s in enumerate(scores)))
    return torch.stack([torch.as_tensor(row) for row in rows])


def hooked(
    model: Any, names: dict[str, str], qkv: Callable[[dict[str, Tensor]], tuple[Tensor, ...]], rule: Any
) -> Tensor:
    """The plain model's logits with ``rule`` in one head: what it makes is put before the output projection."""
    seen: dict[str, Tensor] = {}
    handles = [
        model.get_submodule(path).register_forward_hook(
            lambda _m, _a, output, name=name: seen.update({name: output[0]})
        )
        for name, path in names.items()
        if name != "out"
    ]

    def put(_: nn.Module, args: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        changed = args[0].clone()
        changed[0, :, HEAD * D_HEAD : (HEAD + 1) * D_HEAD] = rule(*qkv(seen)).float()
        return (changed, *args[1:])

    handles.append(model.get_submodule(names["out"]).register_forward_pre_hook(put))
    with torch.no_grad():
        logits = model(torch.tensor([IDS])).logits[0]
    for handle in handles:
        handle.remove()
    return logits


def heads(flat: Tensor) -> Tensor:
    return flat.unflatten(-1, (-1, D_HEAD)).transpose(0, 1)


def of_gpt2(seen: dict[str, Tensor]) -> tuple[Tensor, ...]:
    return tuple(heads(part)[HEAD].double() for part in seen["qkv"].chunk(3, dim=-1))


RULES = pytest.mark.parametrize(
    "edit, rule",
    [(Substituted("linear", (), (LAYER,), (HEAD,)), linear), (Substituted("sigmoid", (), (LAYER,), (HEAD,)), sigmoid)],
    ids=["linear", "sigmoid"],
)


@RULES
def test_a_head_of_a_llama_is_what_loops_hooked_into_transformers_make(edit, rule):
    build = tiny("llama", num_key_value_heads=2)
    model = build()
    path = f"model.layers.{LAYER}.self_attn."
    cos, sin = model.model.rotary_emb(torch.zeros(1, TOKENS, D_HEAD), torch.arange(TOKENS)[None])

    def qkv(seen: dict[str, Tensor]) -> tuple[Tensor, ...]:
        q, k = apply_rotary_pos_emb(heads(seen["q"])[None], heads(seen["k"])[None], cos, sin)
        group = HEAD // (N_HEADS // 2)
        return q[0, HEAD].double(), k[0, group].double(), heads(seen["v"])[group].double()

    names = {"q": path + "q_proj", "k": path + "k_proj", "v": path + "v_proj", "out": path + "o_proj"}
    expected = hooked(model, names, qkv, rule)
    assert (all_logits(LocalRunner(build(), byte_tokenizer(), name="llama"), edit) - expected).abs().max() <= CLOSE


@RULES
def test_a_head_of_a_gpt2_is_what_loops_hooked_into_transformers_make(edit, rule):
    path = f"transformer.h.{LAYER}.attn."
    expected = hooked(FAMILY["gpt2"].build(), {"qkv": path + "c_attn", "out": path + "c_proj"}, of_gpt2, rule)
    assert (all_logits(runner_of(FAMILY["gpt2"]), edit) - expected).abs().max() <= CLOSE


def test_dual_chunk_in_a_llama_is_softmax_of_scores_at_the_distances_of_its_index_map():
    build = tiny("llama", num_key_value_heads=2)
    model, path = build(), f"model.layers.{LAYER}.self_attn."
    cos, sin = model.model.rotary_emb(torch.zeros(1, 2 * TOKENS, D_HEAD), torch.arange(2 * TOKENS)[None])
    distance = index_map(TOKENS, chunk=5, local=3).distance

    def qkv(seen: dict[str, Tensor]) -> tuple[Tensor, ...]:
        group = HEAD // (N_HEADS // 2)
        return heads(seen["q"])[HEAD], heads(seen["k"])[group], heads(seen["v"])[group].double()

    def rule(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        rows = []
        for i in range(TOKENS):
            scores = []
            for j in range(i + 1):
                at = distance[i, j : j + 1]
                turned, _ = apply_rotary_pos_emb(q[None, None, i : i + 1], k[None, None, :1], cos[:, at], sin[:, at])
                scores.append(float(turned[0, 0, 0].double() @ k[j].double()) / D_HEAD**0.5)
            rows.append(torch.tensor(scores, dtype=torch.float64).softmax(0) @ v[: i + 1])
        return torch.stack(rows)

    names = {"q": path + "q_proj", "k": path + "k_proj", "v": path + "v_proj", "out": path + "o_proj"}
    expected = hooked(model, names, qkv, rule)
    edit = Substituted("dual_chunk", (("chunk", 5), ("local", 3)), (LAYER,), (HEAD,))
    runner = LocalRunner(build(), byte_tokenizer(), name="llama")
    assert (all_logits(runner, edit) - expected).abs().max() <= CLOSE
    assert (all_logits(runner) - expected).abs().max() > 10 * CLOSE
