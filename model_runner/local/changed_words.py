"""Why what is recorded of a model is not what it says: the cause where it can be tried out, else that it is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor
from transformers import AttentionInterface
from transformers.masking_utils import AttentionMaskInterface, eager_mask

from model_runner.errors import N_
from model_runner.local.heard_products import Products
from model_runner.local.plain_forward import BROKEN, said, same
from model_runner.local.recording import recordable_attention

CHANGES = N_("what it says changes when its attention goes through the one that records")
COUNTS_ON_MASK = N_(
    "its code counts on a mask of the form that its own attention takes, and the attention that records takes another"
)
UNEXPLAINED = N_("what it multiplies does not explain what its attention returns")
CHANGED_OUTPUT = N_("its own code changes what its attention returned, and that is not read")
NAME = "attention_atlas_with_their_masks"


def why_changed(model: Any, plain: Tensor, forward: Callable[[], Any]) -> str:
    """The reason, for a model whose ``forward`` is not the ``plain`` one while it is recorded; it is refused then.

    The decoders of NLLB-MoE and BigBird-Pegasus are causal by their mask alone, and NLLB-MoE's experts read it too.
    """
    try:
        model.set_attn_implementation(NAME)
        return COUNTS_ON_MASK if same(said(forward()), plain) else CHANGES
    except BROKEN:
        return CHANGES


def why_unexplained(forward: Callable[[], Any]) -> str:
    """The reason, for a model whose products do not give what was recorded as the output of its attention.

    Nyströmformer adds a convolution of its values to it, in place: torch counts such changes of a tensor.
    """
    products = Products()
    with products:
        forward()
    changed = any(heard.output._version for heard in products.heard)
    return CHANGED_OUTPUT if changed else UNEXPLAINED


AttentionInterface.register(NAME, recordable_attention)
AttentionMaskInterface.register(NAME, eager_mask)
