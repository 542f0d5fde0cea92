"""Mixtures of experts: the module that receives the routing, and the routing of a text."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from transformers import MixtralConfig, MixtralModel

from model_runner.expert_questions import DenseModule, Routed, Routing
from model_runner.local.answers.block_path import BlockPath
from model_runner.local.answers.block_probe import Event, LayerRun, first_tensor
from model_runner.local.answers.layer_stack import Hook, stack_of
from model_runner.local.engine import Engine
from model_runner.request import CaptureRequest

WIDTH = 64  # of the random model's stream
RANDOM: dict[str, Any] = {"num_hidden_layers": 4, "num_local_experts": 8, "num_experts_per_tok": 2}
SEED = 0


@dataclass(frozen=True)
class Experts:
    """The module's name in the layer; it receives ``n_used`` expert indices for each token.

    Or it receives no indices, but every token once per expert, multiplied by the output of the module ``router`` (Llama
    4).
    """

    module: str
    n_experts: int
    n_used: int
    router: str = ""


def experts_of(run: LayerRun) -> Experts | None:
    """The module with experts, if it receives integer indices of each token's experts, or weighted copies of tokens."""
    for event in run.events:
        found = picks_in(event.given, len(run.entering))
        if found is None:
            if (shared := _given_shares(run, event)) is not None:
                return shared
            continue
        stacked = [len(parameter) for parameter in event.module.parameters(recurse=False) if parameter.dim() == 3]
        listed = [len(list(child.children())) for child in event.module.modules() if isinstance(child, nn.ModuleList)]
        n_experts = next(iter(stacked + listed), 0) or getattr(event.module, "num_experts", 0)
        if n_experts > int(found[0].max()):
            return Experts(event.name, n_experts, found[0].shape[-1])
    return None


def own_experts(run: LayerRun, path: BlockPath | None, *, alone: bool) -> Experts | None:
    """Like :func:`experts_of`; if the layer is not ``alone`` in its module's run, only what it adds to the stream
    itself.
    """
    found = experts_of(run)
    if found is None or alone:
        return found
    own = path is not None and any(found.module == part or found.module.startswith(f"{part}.") for part in path.parts)
    return found if own else None


def _given_shares(run: LayerRun, event: Event) -> Experts | None:
    """This event's module, if its input is every token for each of its experts, times a router's output."""
    sizes = {len(one) for one in event.module.parameters(recurse=False) if one.dim() == 3}
    n_tokens, width = run.entering.shape
    for n_experts in sizes:
        if not event.given or event.given[0].numel() != n_experts * n_tokens * width:
            continue
        read = event.given[0].reshape(n_experts, n_tokens, width)
        for other in run.events:
            of = next((x for one in other.given[:1] if (x := run.stream(one)) is not None), None)
            if of is None or other.made.shape != (n_tokens, n_experts):
                continue
            counts = (other.made != 0).sum(dim=1)
            if torch.allclose(read, other.made.T[:, :, None] * of) and int(counts.min()) == int(counts.max()):
                return Experts(event.name, n_experts, int(counts[0]), other.name)
    return None


def picks_in(given: Iterable[Any], n_tokens: int) -> tuple[Tensor, Tensor] | None:
    """Each token's experts and their weights, both [tokens, used], among a module's inputs."""
    tensors = [one for one in given if torch.is_tensor(one) and one.dim() == 2 and len(one) == n_tokens]
    for picks in tensors:
        if picks.is_floating_point() or picks.dtype == torch.bool:
            continue
        for weights in tensors:
            if weights.is_floating_point() and weights.shape == picks.shape:
                return picks, weights
    return None


def routing(engine: Engine, request: CaptureRequest) -> Routing:
    """The routing in one forward of this request. Raises RunnerError."""
    stack = stack_of(engine, request)
    origins, paths = engine.structure.origins, engine.block_paths()
    found = {
        place: own_experts(run, paths[place], alone=not origins or origins[place].parts == 1)
        for place, run in enumerate(engine.layer_runs())
    }
    known = {place: experts for place, experts in found.items() if experts is not None}
    return _routing(engine.model, list(stack.layers), known, len(stack.tokens), stack.forward, stack.in_run)


def random_routing(ids: tuple[int, ...], n_vocab: int) -> Routing:
    """The routing of a Mixtral made here, with weights spread like a trained model's: scores of magnitude one."""
    config = MixtralConfig(
        vocab_size=n_vocab, hidden_size=WIDTH, intermediate_size=WIDTH, num_attention_heads=4, num_key_value_heads=2,
        max_position_embeddings=max(len(ids), 1), initializer_range=WIDTH**-0.5, **RANDOM,
    )  # fmt: skip  # its sizes in two lines
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(SEED)
        model = MixtralModel(config).eval()
    experts = Experts("mlp.experts", config.num_local_experts, config.num_experts_per_tok)

    def forward() -> None:
        with torch.no_grad():
            model(input_ids=torch.tensor([ids]), use_cache=False)

    return _routing(model, list(model.layers), dict.fromkeys(range(len(model.layers)), experts), len(ids), forward)


def _routing(
    model: nn.Module,
    layers: list[Any],
    known: dict[int, Experts],
    n_tokens: int,
    forward: Callable[[], object],
    in_run: Callable[[int, Hook], Hook] = lambda _, hook: hook,
) -> Routing:
    told: dict[int, tuple[Tensor, Tensor]] = {}
    with contextlib.ExitStack() as stack:
        for place, experts in known.items():
            stack.enter_context(_told(layers[place], experts, n_tokens, told, place, in_run))
        if known:
            forward()
    return Routing(
        layers=tuple(_routed(layers[place], place, known[place], *told[place]) for place in sorted(told)),
        n_parameters=sum(one.numel() for one in model.parameters()),
    )


@contextlib.contextmanager
def _told(
    layer: nn.Module,
    experts: Experts,
    n_tokens: int,
    told: dict[int, tuple[Tensor, Tensor]],
    place: int,
    in_run: Callable[[int, Hook], Hook],
) -> Generator[None]:
    """While open, store the module's routing input, or its router's output, in ``told`` at its layer's index."""

    def hook(_: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        found = picks_in((*args, *kwargs.values()), n_tokens)
        if found is not None:
            picks, weights = found
            told[place] = picks.to("cpu", torch.long, copy=True), weights.to("cpu", torch.float32, copy=True)

    def after(_: nn.Module, _args: tuple[Any, ...], output: Any) -> None:
        if (shares := first_tensor(output)) is not None:
            weights, picks = shares.reshape(n_tokens, experts.n_experts).topk(experts.n_used, dim=1)
            told[place] = picks.to("cpu", torch.long, copy=True), weights.to("cpu", torch.float32, copy=True)

    if experts.router:
        handle = layer.get_submodule(experts.router).register_forward_hook(in_run(place, after))
    else:
        handle = layer.get_submodule(experts.module).register_forward_pre_hook(in_run(place, hook), with_kwargs=True)
    try:
        yield
    finally:
        handle.remove()


def _routed(layer: nn.Module, place: int, experts: Experts, picks: Tensor, weights: Tensor) -> Routed:
    module = layer.get_submodule(experts.module)
    around = layer.get_submodule(experts.module.rpartition(".")[0])
    beside = [
        DenseModule(name, type(child).__name__, sum(one.numel() for one in child.parameters()))
        for name, child in around.named_children()
        if child is not module and any(True for _ in child.parameters())
    ]
    return Routed(
        layer=place,
        module=experts.module,
        n_experts=experts.n_experts,
        picks=picks,
        weights=weights,
        n_parameters=sum(one.numel() for one in module.parameters()) // experts.n_experts,
        beside=tuple(beside),
        on_input=bool(experts.router),
    )
