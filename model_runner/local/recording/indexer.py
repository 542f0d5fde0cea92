"""Observes a model's indexers while they choose keys, and sets how many they choose if a request says so.

An indexer scores every key for every query and passes the indices of the best to attention as ``indices``. transformers
(5.23) masks the other keys itself only for the attention implementations "eager" and "sdpa"; here this is done where
attention is recorded.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Bool, Int
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from attention import masks
from model_runner.edits import ChosenKeys
from model_runner.errors import N_, EditNotPossible
from model_runner.key_choice import KeyChoice
from model_runner.mask_rule import MaskRule

EVERY_KEY = 2**31 - 1  # more than any text has: an indexer takes the smaller of this and the number of keys
CLOSE = 1e-4  # of the largest index score: two ways to sum a few float32 products
PRODUCTS = {torch.matmul, Tensor.matmul, Tensor.__matmul__}
NO_INDEXER = N_("none of its layers chooses the keys that its queries read")


@dataclass(frozen=True, eq=False)
class IndexerChoice:
    """What an indexer returned in a forward: the indices of keys, and how they were computed, if understood."""

    indices: Int[Tensor, "batch queries chosen"]
    how: KeyChoice | None  # its tensors are the forward's own


@dataclass(frozen=True, eq=False)
class NewlyChosen:
    """The keys chosen for the queries of a forward from ``start`` on; earlier queries leave out none they may see."""

    keys: Int[Tensor, "queries chosen"]  # rising within a row, int32
    start: int
    how: KeyChoice | None  # for all queries of the forward

    def rule(self, own: MaskRule) -> MaskRule:
        """The layer's own rule combined with the choice."""
        if len(self.keys) == 0:
            return own
        return replace(own, own=masks.And(own.own, masks.Chosen(self.keys, self.start)))


@dataclass(frozen=True, eq=False)
class IndexerChange:
    """How many keys these indexers choose under a request's edit."""

    indexers: tuple[Any, ...]
    top_k: int


def indexers_of(model: nn.Module) -> list[Any]:
    """The modules that choose keys, recognized by their setting of how many."""
    return [module for module in model.modules() if isinstance(getattr(module, "index_topk", None), int)]


def hook_indexers(
    model: nn.Module, on_choice: Callable[[nn.Module, IndexerChoice], None], wanted: Callable[[], bool]
) -> None:
    """Call ``on_choice`` with what the model's indexers choose in a forward while ``wanted()``."""
    for indexer in indexers_of(model):
        indexer.forward = _heard(indexer, indexer.forward, on_choice, wanted)


def change_of(edits: Iterable[object], model: nn.Module) -> IndexerChange | None:
    """The edit of how many keys are chosen, for this model. Raises EditNotPossible."""
    of_keys = [edit for edit in edits if isinstance(edit, ChosenKeys)]
    if not of_keys:
        return None
    if len(of_keys) > 1:
        raise EditNotPossible(reason=N_("the number of chosen keys is changed twice"))
    indexers = tuple(indexers_of(model))
    if not indexers:
        raise EditNotPossible(reason=NO_INDEXER)
    return IndexerChange(indexers, EVERY_KEY if of_keys[0].top_k is None else of_keys[0].top_k)


@contextlib.contextmanager
def choosing(change: IndexerChange | None) -> Generator[None]:
    """Inside the block, the indexers keep as many keys as the change says, as if it were configured."""
    indexers: Sequence[Any] = () if change is None else change.indexers
    before = [indexer.index_topk for indexer in indexers]
    try:
        for indexer in indexers:
            indexer.index_topk = 0 if change is None else change.top_k
        yield
    finally:
        for indexer, top_k in zip(indexers, before, strict=True):
            indexer.index_topk = top_k


def chosen_cells(indices: Int[Tensor, "batch queries chosen"], n_keys: int) -> Bool[Tensor, "batch one queries keys"]:
    """A boolean attention mask that is True at the chosen keys."""
    cells = torch.zeros(*indices.shape[:2], n_keys, dtype=torch.bool, device=indices.device)
    return cells.scatter_(-1, indices.long(), True)[:, None]


def newly_chosen(choice: IndexerChoice, rule: MaskRule, start: int, n_keys: int) -> NewlyChosen:
    """What the choice means for a layer under this rule; its first query is at ``start``."""
    indices = choice.indices[0]
    width = indices.shape[-1]
    every = n_keys if width >= n_keys else width if isinstance(rule.own, masks.Causal) else 0
    first = max(start, min(every, start + len(indices)))
    return NewlyChosen(indices[first - start :].sort(dim=-1).values.to(torch.int32), first, choice.how)


def _heard(
    indexer: Any,
    forward: Callable[..., Tensor],
    on_choice: Callable[[nn.Module, IndexerChoice], None],
    wanted: Callable[[], bool],
) -> Callable[..., Tensor]:
    def hearing(*args: Any, **kwargs: Any) -> Tensor:
        if not wanted():
            return forward(*args, **kwargs)
        with _Products() as products, _scored(indexer) as scored:
            indices = forward(*args, **kwargs)
        how = _by_scorer(indexer, *scored[-1]) if scored else _understood(indexer, products.heard)
        on_choice(indexer, IndexerChoice(indices, how))
        return indices

    return hearing


@contextlib.contextmanager
def _scored(indexer: Any) -> Generator[list[tuple[tuple[Tensor, ...], Tensor]]]:
    """The inputs that an indexer gives to its scoring module, if it has one, and the scores it returns."""
    scored: list[tuple[tuple[Tensor, ...], Tensor]] = []
    scorer = getattr(indexer, "scorer", None)
    if not isinstance(scorer, nn.Module):
        yield scored
        return

    def hear(_: nn.Module, given: tuple[Tensor, ...], made: Tensor) -> None:
        scored.append((given, made))

    hook = scorer.register_forward_hook(hear)
    try:
        yield scored
    finally:
        hook.remove()


def _by_scorer(indexer: Any, given: tuple[Tensor, ...], found: Tensor) -> KeyChoice | None:
    """The choice from the scorer's inputs: queries, compressed keys, and hidden states that weight its heads."""
    (q, k, hidden), scorer = given, indexer.scorer
    if len(q) != 1 or k.shape[1] == 0:
        return None
    weights = scorer.weights_proj(hidden)[0].float() * scorer.weights_scaling * scorer.softmax_scale
    return _confirmed(KeyChoice(q[0], k[0], weights, indexer.index_topk, ""), found[0, -1].float())


class _Products(TorchFunctionMode):
    """Records the products of an indexer: of queries and keys, and of those scores with the head weights."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[tuple[Tensor, Tensor, Tensor]] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        if func in PRODUCTS and len(args) == 2:
            self.heard.append((args[0], args[1], made))
        return made


def _understood(indexer: Any, heard: Sequence[tuple[Tensor, Tensor, Tensor]]) -> KeyChoice | None:
    """The choice from queries, keys and weights if they reproduce the last query's scores, otherwise None."""
    if len(heard) != 2 or [one[0].dim() for one in heard] != [4, 4] or heard[0][1].dim() != 4:
        return None
    (q, k, products), (weights, scores, found) = heard
    if len(q) != 1 or weights.shape[2] != 1 or scores.shape != products.shape:
        return None
    scale = next((one for one in (1.0, indexer.softmax_scale) if _is_relu(scores, products, one)), None)
    if scale is None:
        return None
    choice = KeyChoice(q[0], k[0, 0].T, weights[0, :, 0] * scale, indexer.index_topk, "")
    return _confirmed(choice, found[0, -1, 0].float())


def _confirmed(choice: KeyChoice, last: Tensor) -> KeyChoice | None:
    """The choice if it reproduces the last query's scores, otherwise None."""
    again = choice.scores(slice(len(choice.q) - 1, len(choice.q)), slice(0, len(choice.k)))[0]
    return choice if bool((again - last).abs().max() <= CLOSE * last.abs().max().clamp(min=1e-9)) else None


def _is_relu(scores: Tensor, products: Tensor, scale: float) -> bool:
    return torch.equal(scores[:, -1], torch.relu(products[:, -1] * scale))


def narrowed(choice: KeyChoice, indexer: nn.Module, name: str) -> KeyChoice:
    """The choice of the indexer of this name, in the dtype of its weights where its numbers fit; indexers multiply in
    float32.
    """
    dtype = min((weight.dtype for weight in indexer.parameters()), key=lambda one: one.itemsize)
    q, k = (x.to(dtype) if torch.equal(x.to(dtype).float(), x.float()) else x for x in (choice.q, choice.k))
    return replace(choice, q=q, k=k, indexer=name)
