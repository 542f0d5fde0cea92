"""What transformers itself says about a tiny model, and slow float64 loops: the references of the contract tests.

Knows nothing of the capture engine: eager attention with `output_attentions`, plain forward hooks, and Python loops.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from tests.model_runner.families import Family


@dataclass(frozen=True, eq=False)
class Reference:
    """One plain forward with the model's default attention and one with eager attention, batch axis removed."""

    logits: Tensor  # (tokens, vocab), default implementation
    residuals: tuple[Tensor, ...]  # default implementation: entering each layer, and leaving the last one
    unrotated: dict[int, tuple[Tensor, Tensor]]  # default implementation: layer -> q, k before the rotation
    weights: dict[int, Tensor]  # eager: layer -> (heads, queries, keys)
    biases: dict[int, Tensor]  # default implementation: layer -> (heads, queries, keys), where tokens make one
    sinks: dict[int, Tensor]  # default implementation: layer -> (heads, queries), where each query has one


def run_reference(family: Family, model: PreTrainedModel, ids: list[int]) -> Reference:
    """Two forwards of a model that no capture has touched; leaves it on eager attention."""
    batch = torch.tensor([ids], device=model.device)
    last = model.get_submodule(family.runs[-1].module) if family.runs else _last_layer(model, len(family.kinds))
    watched = {"leaving": last}
    for run in family.runs:
        watched[run.reads] = model.get_submodule(run.reads)
    others = (family.bias.modules if family.bias is not None else ()) + (
        (family.sinks_by_query,) if family.sinks_by_query else ()
    )
    for layer in family.attention_layers:
        for path in (*_paths(family, layer), *(one.format(layer=layer) for one in others)):
            watched[path] = model.get_submodule(path)
    with torch.no_grad(), _Watch(watched) as seen:
        plain = model(batch, output_hidden_states=True)
        outputs = {name: list(every) for name, every in seen.items()}
        if model._can_set_attn_implementation():  # others attend in one way alone, or are made to
            model.set_attn_implementation("eager")
        eager = model(batch, output_attentions=True)
    streams = plain.hidden_states[: len(family.kinds)]  # transformers' own last entry comes after the final norm
    if family.runs:
        streams = [outputs[run.reads][run.number][0] for run in family.runs]
    # A model with some layers without attention reports only the others.
    per_layer = zip(family.attention_layers, eager.attentions, strict=True)
    return Reference(
        logits=plain.logits[0],
        residuals=tuple(one.flatten(1) for one in (*(stream[0] for stream in streams), outputs["leaving"][-1][1][0])),
        unrotated=_unrotated(family, outputs),
        weights={layer: weights[0] for layer, weights in per_layer},
        biases=_biases(family, model, outputs),
        sinks={
            layer: outputs[family.sinks_by_query.format(layer=layer)][-1][1][0].T
            for layer in family.attention_layers
            if family.sinks_by_query
        },
    )


def _paths(family: Family, layer: int) -> list[str]:
    """Of the modules whose outputs are q and k before the rotation."""
    if family.projection is None:
        return []
    module = family.runs[layer].module if family.runs else ""
    return [path.format(layer=layer, module=module, part=layer % 2) for path in family.projection.modules]


def _unrotated(family: Family, outputs: dict[str, list[tuple[Tensor, Tensor]]]) -> dict[int, tuple[Tensor, Tensor]]:
    projection = family.projection
    if projection is None:
        return {}
    found = {}
    for layer in family.attention_layers:
        number = family.runs[layer].number if family.runs else 0
        parts = [outputs[path][number][1][0] for path in _paths(family, layer)]
        found[layer] = (projection.q(*parts), projection.k(*parts))
    return found


def _biases(
    family: Family, model: PreTrainedModel, outputs: dict[str, list[tuple[Tensor, Tensor]]]
) -> dict[int, Tensor]:
    if family.bias is None:
        return {}
    found = {}
    for layer in family.attention_layers:
        paths = [path.format(layer=layer) for path in family.bias.modules]
        attention = model.get_submodule(paths[0].rpartition(".")[0])
        with torch.no_grad():
            found[layer] = family.bias.made(attention, *(outputs[path][-1][1][0] for path in paths))
    return found


def scores_by_loops(
    q: Tensor, k: Tensor, keep: Tensor, *, scale: float, softcap: float | None, bias: Tensor | None = None
) -> np.ndarray:
    """Scaled, capped and masked scores (heads, queries, keys) in float64, one dot product at a time; masked = -inf."""
    q64, k64 = q.double().cpu().numpy(), k.double().cpu().numpy()
    n_heads, n_queries, n_keys = keep.shape
    group = n_heads // k64.shape[0]
    scores = np.full((n_heads, n_queries, n_keys), -np.inf)
    for head, query, key in np.argwhere(keep.cpu().numpy()):
        score = scale * float(np.dot(q64[head, query], k64[head // group, key]))
        scores[head, query, key] = score if softcap is None else softcap * np.tanh(score / softcap)
        scores[head, query, key] += 0.0 if bias is None else float(bias[head, query, key])
    return scores


def lse_by_loops(scores: np.ndarray, sinks: Tensor | None) -> np.ndarray:
    """Natural logarithm of the summed exponentials of each row (heads, queries), a sink counted as one more key."""
    n_heads, n_queries, _ = scores.shape
    lse = np.empty((n_heads, n_queries))
    for head in range(n_heads):
        for query in range(n_queries):
            row = scores[head, query]
            if sinks is not None:
                row = np.append(row, float(sinks[head] if sinks.dim() == 1 else sinks[head, query]))
            top = row.max()
            lse[head, query] = top + np.log(np.exp(row - top).sum())
    return lse


class _Watch:
    """Keeps what each named module is given and makes in every run, while it is entered."""

    def __init__(self, modules: dict[str, nn.Module]) -> None:
        self._modules = modules
        self._handles: list[Any] = []

    def __enter__(self) -> dict[str, list[tuple[Tensor, Tensor]]]:
        outputs: dict[str, list[tuple[Tensor, Tensor]]] = {}
        for name, module in self._modules.items():

            def keep(_: nn.Module, args: Any, options: Any, output: Any, name: str = name) -> None:
                given = args[0] if args else next(iter(options.values()))
                outputs.setdefault(name, []).append((given, output[0] if isinstance(output, tuple) else output))

            self._handles.append(module.register_forward_hook(keep, with_kwargs=True))
        return outputs

    def __exit__(self, *_exception: object) -> None:
        for handle in self._handles:
            handle.remove()


def _last_layer(model: PreTrainedModel, n_layers: int) -> nn.Module:
    stacks = [module for module in model.modules() if isinstance(module, nn.ModuleList) and len(module) == n_layers]
    return stacks[0][-1]  # the outermost list comes first
