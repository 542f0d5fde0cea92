"""Encoders whose own code attends in blocks: BigBird's (Zaheer et al. 2020, arXiv:2007.14062), that of BigBird-Pegasus,
and LongT5's local one (Guo et al. 2022, arXiv:2112.07916).

Each is softmax attention under a mask. BigBird counts the keys of the blocks that it draws once more than it would
without: outside training, transformers 5.23 draws the first block every time, which every query sees anyway. A short
text it reads as a whole; it stays so afterwards by its own code, and is put back here before each text, so that what
came before does not decide how a text is read.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

from attention.masks import Band, BlockSparse
from model_runner.errors import N_
from model_runner.local.recording.cannot_record import CannotRecord
from model_runner.local.recording.legacy_projections import Call, by_head, hook_projections
from model_runner.local.recording.recorder import UNKNOWN_MASK
from model_runner.mask_rule import FULL, MaskRule
from model_runner.record import LayerRecord
from model_runner.relative_bias import RelativeBias
from model_runner.repeated_keys import RepeatedKeys

DIFFERENT_HEADS = N_("its heads have different masks")
FULL_FORM, BLOCK_FORM = "original_full", "block_sparse"
BIG_BIRD = ("BigBirdBlockSparseAttention", "BigBirdPegasusBlockSparseAttention")
PEGASUS_X = "PegasusXGlobalLocalAttention"
# the products of BigBird's own form are traced like those of other models
READ_AS_A_WHOLE = "BigBirdPegasusSelfAttention"
LONG_T5 = "LongT5LocalAttention"
PROJECTIONS = ("query", "key", "value")


def hook_block_sparse(model: nn.Module) -> bool:
    """Record these modules from now on. Returns False if the model has none."""
    long_t5 = [module for module in model.modules() if type(module).__name__ == LONG_T5]
    for module in long_t5:
        _watch_long_t5(module, long_t5)
    forms = [_Forms(module) for module in _of_two_forms(model)]
    return bool(long_t5 or forms)


def as_a_whole(model: nn.Module) -> None:
    """Switch block-sparse models to full attention for the next text, as their own code does for a short one."""
    for module in _of_two_forms(model):
        with torch.random.fork_rng(devices=[]):  # it creates random projections, then loads the known ones into them
            module.set_attention_type(FULL_FORM)


def rows_in_blocks(layers: Iterable[nn.Module], n_tokens: int) -> int:
    """How many rows these layers, as they attend now, have for so many tokens: whole blocks, if they use blocks."""
    modules = (module for layer in layers for module in layer.modules())
    size = max((int(one.block_size) for one in modules if type(one).__name__ in (*BIG_BIRD, PEGASUS_X)), default=1)  # type: ignore[arg-type]  # torch types attributes as Tensor | Module
    return -(-n_tokens // size) * size


def _of_two_forms(model: nn.Module) -> list[Any]:
    """The outermost modules that can switch between block-sparse and full attention, set to block-sparse attention."""
    found: list[nn.Module] = []
    for module in model.modules():
        config: Any = getattr(module, "config", None)
        told = hasattr(module, "set_attention_type") and getattr(config, "attention_type", None) == BLOCK_FORM
        if told and not any(module in set(outer.modules()) for outer in found):
            found.append(module)
    return found


class _Forms:
    """Both forms of an encoder's attention, made once; which one is used depends on the length of the text."""

    def __init__(self, encoder: Any) -> None:
        self.told = [module for module in encoder.modules() if hasattr(module, "attention_type")]
        self.places: list[Any] = [module for module in self.told if hasattr(module, "self")]
        self.forms: dict[str, list[nn.Module]] = {}
        with torch.random.fork_rng(devices=[]):  # see as_a_whole
            for form in (FULL_FORM, BLOCK_FORM):
                encoder.set_attention_type(form)
                self.forms[form] = [place.self for place in self.places]
        self.put(FULL_FORM)
        self.limit = (5 + 2 * encoder.config.num_random_blocks) * encoder.config.block_size
        for in_blocks, whole in zip(self.forms[BLOCK_FORM], self.forms[FULL_FORM], strict=True):
            _watch_big_bird(in_blocks, whole)
            if type(whole).__name__ == READ_AS_A_WHOLE:
                hook_projections(whole, PROJECTIONS, lambda call, module=whole: _whole(module, call))
        encoder.register_forward_pre_hook(self.choose, with_kwargs=True)

    def choose(self, _: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        given = args[0] if args else kwargs.get("input_ids")
        given = kwargs["inputs_embeds"] if given is None else given
        self.put(BLOCK_FORM if given.shape[1] > self.limit else FULL_FORM)

    def put(self, form: str) -> None:
        for module in self.told:
            module.attention_type = form
        for place, attention in zip(self.places, self.forms[form], strict=True):
            place.self = attention


def _watch_big_bird(module: Any, named: nn.Module) -> None:
    drawn: list[Tensor] = []
    gather = module.torch_gather_b2

    def gathering(params: Tensor, indices: Tensor) -> Tensor:
        drawn[:] = [indices]
        return gather(params, indices)

    module.torch_gather_b2 = gathering
    hook_projections(module, PROJECTIONS, lambda call: _in_blocks(module, call, drawn.pop()), named=named)


def _in_blocks(module: Any, call: Call, drawn: Tensor) -> LayerRecord:
    """``drawn`` ``[1, heads, inner blocks, draws]``; the text is padded to whole blocks."""
    present = call.args[3][0, 0, 0] > 0
    n_tokens = int(present.sum())
    if not bool(present[:n_tokens].all()):
        raise CannotRecord(UNKNOWN_MASK)
    if not bool((drawn == drawn[:, :1]).all()):
        raise CannotRecord(DIFFERENT_HEADS)
    blocks = tuple(tuple(row) for row in drawn[0, 0].tolist())
    rule = BlockSparse(int(module.block_size), len(blocks) + 2, blocks)
    return _big_bird(module, call, n_tokens, MaskRule(rule), RepeatedKeys(rule))


def _whole(module: Any, call: Call) -> LayerRecord:
    return _big_bird(module, call, call.output[0].shape[1], FULL, None)


def _big_bird(module: Any, call: Call, n_tokens: int, mask: MaskRule, bias: RepeatedKeys | None) -> LayerRecord:
    n_heads = int(module.num_attention_heads)
    q, k, v = (by_head(call.only(name)[:, :n_tokens], n_heads) for name in PROJECTIONS)
    output = call.output[0][:, :n_tokens]
    return _record(q, k, v, output[0].unflatten(-1, (n_heads, -1)), q.shape[-1] ** -0.5, mask, bias)


def _watch_long_t5(module: Any, every: list[Any]) -> None:
    # the first layer computes it and passes it on to the others
    told = next(one for one in every if one.has_relative_attention_bias)

    def record(call: Call) -> LayerRecord:
        n_heads, reach = int(module.n_heads), int(module.block_len) - 1
        q, k, v = (by_head(call.only(name), n_heads) for name in ("q", "k", "v"))
        (given,) = call.before
        output = given[0].unflatten(-1, (n_heads, -1))
        return _record(q, k, v, output, 1.0, MaskRule(Band(reach)), _distances(told, q.shape[1]), reach + 1)

    hook_projections(module, ("q", "k", "v"), record, last="o")


def _distances(module: Any, n_tokens: int) -> RelativeBias:
    """The bias that this module adds for each distance; 0 for distances out of its reach."""
    block = int(module.block_len)
    with torch.no_grad():
        known = module.compute_bias(block)[0, 0, :, 0]  # of keys from one block before a query on
    reach = min(block, n_tokens) - 1
    values = known.new_zeros(len(known), 2 * n_tokens - 1)
    values[:, n_tokens - 1 - reach : n_tokens + reach] = known[:, block - reach : block + reach + 1]
    return RelativeBias(values.float(), 1 - n_tokens)


def _record(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    output: Tensor,
    scale: float,
    mask: MaskRule,
    bias: RelativeBias | RepeatedKeys | None,
    window: int | None = None,
) -> LayerRecord:
    return LayerRecord(
        q=q,
        k=k,
        v=v,
        output=output,
        scale=scale,
        softcap=None,
        sinks=None,
        mask=mask,
        window=window,
        rotation=None,
        eager=True,
        bias=bias,
    )
