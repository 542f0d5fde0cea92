"""Experts: which the router chooses with which weight, against each family's formula, in loops over one token."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import MixtralModel

from model_runner import CaptureRequest
from model_runner.expert_questions import ExpertRouting, RandomRouting, Routing
from model_runner.local.runner import LocalRunner
from model_runner.wire import from_bytes, to_bytes
from tests.model_runner.cases import FAMILY, TEXT, runner_of, shared_runner

REQUEST = CaptureRequest(TEXT)
USED = 2

Weights = dict[int, float]


def softmax(scores: list[float]) -> list[float]:
    powers = [math.exp(score - max(scores)) for score in scores]
    return [one / sum(powers) for one in powers]


def best(scores: list[float], count: int = USED) -> list[int]:
    return sorted(range(len(scores)), key=lambda e: -scores[e])[:count]


def mixtral(scores: list[float], _: Tensor | None) -> Weights:
    """Jiang et al. 2024, eq. 2: softmax over the best scores alone."""
    kept = best(scores)
    return dict(zip(kept, softmax([scores[e] for e in kept]), strict=True))


def qwen(scores: list[float], _: Tensor | None) -> Weights:
    """Softmax over all; what is not picked is lost, unless norm_topk_prob (off in this configuration)."""
    shares = softmax(scores)
    return {e: shares[e] for e in best(shares)}


def deepseek(scores: list[float], bias: Tensor | None) -> Weights:
    """DeepSeek-V3, eqs. 12 to 16: sigmoids, picked with a bias that is in no weight, of sum 1, times 2.5."""
    gates = [1 / (1 + math.exp(-score)) for score in scores]
    biased = gates if bias is None else [gate + float(b) for gate, b in zip(gates, bias, strict=True)]
    kept = best(biased)
    return {e: 2.5 * gates[e] / sum(gates[one] for one in kept) for e in kept}


def llama4(scores: list[float], _: Tensor | None) -> Weights:
    """transformers' Llama4Router: the sigmoid of the best score, of one expert a token."""
    return {e: 1 / (1 + math.exp(-scores[e])) for e in best(scores, 1)}


# Of each family: the router's name in a layer, and its formula.
ROUTERS: dict[str, tuple[str, Callable[[list[float], Tensor | None], Weights]]] = {
    "mixtral": ("mlp.gate", mixtral), "qwen3-moe": ("mlp.gate", qwen), "deepseek-v3": ("mlp.gate", deepseek),
    "gpt-oss": ("mlp.router", mixtral), "qwen3-next": ("mlp.gate", mixtral),
    "llama4": ("feed_forward.router", llama4),
}  # fmt: skip


@functools.cache
def runner_with(name: str) -> LocalRunner:
    """DeepSeek's bias, which decides who is picked and is in no weight, is 0 in a new model: here it is not."""
    if name != "deepseek-v3":
        return shared_runner(name)
    runner = runner_of(FAMILY[name])
    for layer in runner.engine.model.model.layers[1:]:
        layer.mlp.gate.e_score_correction_bias.copy_(torch.tensor([0.3, -0.2, 0.0, 0.1]))
    return runner


def expected(name: str) -> dict[int, list[Weights]]:
    """By layer, of every token: what the router's own matrix makes of what it reads, in float64."""
    runner = runner_with(name)
    router, formula = ROUTERS[name]
    read: dict[int, Tensor] = {}
    modules = {
        place: layer.get_submodule(router)
        for place, layer in enumerate(runner.engine.model.model.layers)
        if any(inside == router for inside, _ in layer.named_modules())
    }
    hooks = [
        module.register_forward_pre_hook(lambda _, args, place=place: read.__setitem__(place, args[0]))
        for place, module in modules.items()
    ]
    with torch.no_grad():
        runner.engine.model(torch.tensor([[token.id for token in runner.capture(REQUEST).tokens]]))
    for hook in hooks:
        hook.remove()
    found: dict[int, list[Weights]] = {}
    for place, module in modules.items():
        rows = read[place].reshape(-1, read[place].shape[-1]).double()
        own = getattr(module, "bias", None)
        scores = rows @ module.weight.double().T + (0 if own is None else own.double())
        found[place] = [formula(row, getattr(module, "e_score_correction_bias", None)) for row in scores.tolist()]
    return found


def told(routing: Routing) -> dict[int, list[Weights]]:
    return {
        layer.layer: [
            dict(zip(picks, weights, strict=True))
            for picks, weights in zip(layer.picks.tolist(), layer.weights.tolist(), strict=True)
        ]
        for layer in routing.layers
    }


@pytest.mark.parametrize("name", ROUTERS)
def test_picks_and_weights_are_those_of_the_models_own_router(name: str) -> None:
    found = told(runner_with(name).submit(ExpertRouting(REQUEST)).result())
    wanted = expected(name)
    assert found.keys() == wanted.keys()
    for layer, tokens in wanted.items():
        assert len(tokens) == len(found[layer])
        for mine, its in zip(found[layer], tokens, strict=True):
            assert mine == pytest.approx(its, abs=1e-5)


@pytest.mark.parametrize("name", ["mixtral", "deepseek-v3"])
def test_the_experts_output_is_their_weighted_sum(name: str) -> None:
    runner = shared_runner(name)
    (layer, *_) = runner.submit(ExpertRouting(REQUEST)).result().layers
    module = runner.engine.model.model.layers[layer.layer].get_submodule(layer.module)
    seen: list[tuple[Tensor, Tensor]] = []
    hook = module.register_forward_hook(lambda _, args, out: seen.append((args[0], out)))
    with torch.no_grad():
        runner.engine.model(torch.tensor([[token.id for token in runner.capture(REQUEST).tokens]]))
    hook.remove()
    for token in (0, 7, 20):
        x, made = seen[0][0][token].double(), seen[0][1][token]
        total = torch.zeros_like(x)
        for expert, weight in zip(layer.picks[token].tolist(), layer.weights[token].tolist(), strict=True):
            gate, up = (module.gate_up_proj[expert].double() @ x).chunk(2)
            total += weight * (module.down_proj[expert].double() @ (gate * torch.sigmoid(gate) * up))
        torch.testing.assert_close(made.double(), total, rtol=1e-4, atol=1e-5)


def test_llama_4_multiplies_what_its_experts_read() -> None:
    runner = shared_runner("llama4")
    (layer, *_) = runner.submit(ExpertRouting(REQUEST)).result().layers
    assert (layer.on_input, layer.module) == (True, "feed_forward.experts")
    block = runner.engine.model.model.layers[layer.layer].feed_forward
    seen: list[tuple[Tensor, Tensor]] = []
    hook = block.register_forward_hook(lambda _, args, out: seen.append((args[0], out[0])))
    with torch.no_grad():
        runner.engine.model(torch.tensor([[token.id for token in runner.capture(REQUEST).tokens]]))
    hook.remove()
    read, made = (one.reshape(-1, one.shape[-1]) for one in seen[0])
    for token in (0, 7, 20):
        total = block.shared_expert(read[token])
        for expert, weight in zip(layer.picks[token].tolist(), layer.weights[token].tolist(), strict=True):
            gate, up = (block.experts.gate_up_proj[expert].T @ (weight * read[token])).chunk(2)
            total = total + block.experts.down_proj[expert].T @ (gate * torch.sigmoid(gate) * up)
        torch.testing.assert_close(made[token], total, rtol=1e-4, atol=1e-5)


def test_what_is_held_and_what_stands_beside_the_experts_is_counted() -> None:
    runner = shared_runner("deepseek-v3")
    routing = runner.submit(ExpertRouting(REQUEST)).result()
    model = runner.engine.model
    assert routing.n_parameters == sum(one.numel() for one in model.parameters())
    assert [layer.layer for layer in routing.layers] == [1, 2]  # the first is dense
    mlp = model.model.layers[1].mlp
    layer = routing.layers[0]
    assert layer.n_experts * layer.n_parameters == mlp.experts.gate_up_proj.numel() + mlp.experts.down_proj.numel()
    shared = sum(one.numel() for one in mlp.shared_experts.parameters())
    assert {one.name: one.n_parameters for one in layer.beside} == {
        "gate": mlp.gate.weight.numel(), "shared_experts": shared,
    }  # fmt: skip  # as it is read


def test_a_model_without_experts_has_no_layers_of_them() -> None:
    assert shared_runner("llama").submit(ExpertRouting(REQUEST)).result().layers == ()


def test_the_random_model_is_the_same_each_time_and_its_numbers_are_a_mixtrals(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[Any] = []
    begin = MixtralModel.__init__
    monkeypatch.setattr(MixtralModel, "__init__", lambda self, config: (begin(self, config), built.append(self))[0])
    torch.manual_seed(1)
    before = torch.random.get_rng_state()
    first, second = (shared_runner("llama").submit(RandomRouting((1, 5, 2, 5), 16)).result() for _ in range(2))
    assert torch.equal(before, torch.random.get_rng_state())
    assert len(first.layers) == 4
    for mine, its in zip(first.layers, second.layers, strict=True):
        assert torch.equal(mine.picks, its.picks)
        assert torch.equal(mine.weights, its.weights)
    read: list[Tensor] = []
    gate: Any = built[0].layers[0].mlp.gate
    hook = gate.register_forward_pre_hook(lambda _, args: read.append(args[0]))
    with torch.no_grad():
        built[0](torch.tensor([[1, 5, 2, 5]]))
    hook.remove()
    scores = read[0].reshape(4, -1).double() @ gate.weight.double().T
    assert float(scores.detach().std()) == pytest.approx(1, abs=0.3)
    assert to_bytes(from_bytes(to_bytes(first))) == to_bytes(first)
    for row, mine in zip(scores.tolist(), told(first)[0], strict=True):
        assert mine == pytest.approx(mixtral(row, None), abs=1e-5)
