"""Which heads matter for the next token: each one ablated, or given what it passed on in another text.

All heads of a layer are done in one batch, and the layers below it are not computed again.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from model_runner.capture import Capture
from model_runner.errors import N_, EditNotPossible
from model_runner.rerun import Change, Rerun

BATCH = 32  # variants computed at once: memory grows with it


def ablations(rerun: Rerun, layer: int, target: int) -> Float[Tensor, "heads"]:
    """How the target's log-probability (nats) after the text changes when a head of this layer passes on nothing."""
    n_heads = rerun.capture.q(layer).shape[0]
    own = rerun.capture.residual(layer)

    def without(heads: list[int]) -> Change:
        def change(output: Tensor) -> Tensor:
            output = output.clone()
            for row, head in enumerate(heads):
                output[row, :, head] = 0.0
            return output

        return change

    changes = [
        rerun.log_probs(layer, own.expand(len(part), -1, -1), without(part))[:, target] for part in _parts(n_heads)
    ]
    return torch.cat(changes).float()


def residual_patches(rerun: Rerun, layer: int, source: Capture, tokens: tuple[int, int]) -> Float[Tensor, "positions"]:
    """Change of the logit difference of two tokens when one position's stream entering the layer is the source's.

    Activation patching (Meng et al. 2022, arXiv:2202.05262): log p(first) − log p(second), nats. Raises EditNotPossible
    for a source of another length.
    """
    own = rerun.capture.residual(layer)
    theirs = _of_equal_length(rerun.capture, source).residual(layer).to(own)
    found = []
    for part in _parts(len(own)):
        stream = own.repeat(len(part), 1, 1)
        stream[torch.arange(len(part)), part] = theirs[part]
        found.append(_difference(rerun.log_probs(layer, stream), tokens))
    return torch.cat(found)


def head_patches(
    rerun: Rerun, layer: int, head: int, source: Capture, tokens: tuple[int, int]
) -> Float[Tensor, "positions"]:
    """The same for what one head passes on at one position."""
    own = rerun.capture.residual(layer)
    theirs = _of_equal_length(rerun.capture, source).record(layer).passed_on[:, head]

    def patched(part: list[int]) -> Change:
        def change(output: Tensor) -> Tensor:
            output = output.clone()
            output[torch.arange(len(part)), part, head] = theirs[part].to(output)
            return output

        return change

    found = [
        _difference(rerun.log_probs(layer, own.expand(len(part), -1, -1), patched(part)), tokens)
        for part in _parts(len(own))
    ]
    return torch.cat(found)


def _parts(count: int) -> list[list[int]]:
    return [list(range(start, min(start + BATCH, count))) for start in range(0, count, BATCH)]


def _difference(log_probs: Float[Tensor, "variants vocab"], tokens: tuple[int, int]) -> Float[Tensor, "variants"]:
    return (log_probs[:, tokens[0]] - log_probs[:, tokens[1]]).float()


def _of_equal_length(capture: Capture, source: Capture) -> Capture:
    if len(capture.tokens) != len(source.tokens):
        raise EditNotPossible(reason=N_("the two texts have different numbers of tokens"))
    return source
