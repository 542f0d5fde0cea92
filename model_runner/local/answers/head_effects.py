"""Which heads matter for the next token: each one ablated, or patched from another text.

All heads of a layer are computed in one batch, and the layers below it are not recomputed.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from model_runner.capture import Capture, index
from model_runner.errors import N_, EditNotPossible, NoAttribution, RunnerError
from model_runner.local.answers.rerun import Change, Rerun
from model_runner.local.cancellation import pause
from model_runner.questions import HeadAnswers

BATCH = 32  # variants computed at once, at most,
ROOM = 8192  # and tokens of all of them together, to which memory is proportional


def head_answers(rerun: Rerun, layer: int, target: int, against: int | None = None) -> HeadAnswers:
    """All three measures; one that the model does not support leaves the others. Raises NoWeights, NoSuchPlace."""
    target = index("token id", target, len(rerun.known))
    against = None if against is None else index("token id", against, len(rerun.known))
    n_heads = rerun.capture.q(layer).shape[0]
    ablated = attributed = written = None
    problems: list[RunnerError] = []
    try:
        ablated = ablations(rerun, layer, target, against)
    except EditNotPossible as error:
        problems.append(error)
    try:
        written = written_lengths(rerun, layer)
        attributed = attributions(rerun, layer, target, against)
    except NoAttribution as error:
        problems.append(error)
    return HeadAnswers(layer, n_heads, ablated, attributed, written, tuple(problems))


def ablations(rerun: Rerun, layer: int, target: int, against: int | None = None) -> Float[Tensor, "heads"]:
    """Change of the target's log-probability (nats) after the text when a head of this layer is ablated.

    With ``against``, minus the other token's: the change of their logit difference.
    """
    n_heads = rerun.capture.q(layer).shape[0]
    n_tokens = len(rerun.capture.tokens)
    own = rerun.capture.residual(layer)

    def without(heads: list[int]) -> Change:
        def change(output: Tensor) -> Tensor:
            output = output.clone()
            for row, head in enumerate(heads):
                output[row, :, head] = 0.0
            return output

        return change

    changes = [
        said_of(rerun.log_probs(layer, own.expand(len(part), -1, -1), without(part)), target, against)
        for part in batches(n_heads, n_tokens)
    ]
    return torch.cat(changes).float()


def attributions(rerun: Rerun, layer: int, target: int, against: int | None = None) -> Float[Tensor, "heads"]:
    """What each head of this layer adds to the target's logit after the text, minus the mean over all logits.

    On the direct path, see :meth:`Capture.direct_logits`. The mean over the vocabulary is subtracted because a constant
    added to all logits changes no probability; with ``against``, the other token's logit is subtracted instead. Raises
    NoAttribution, NoWeights.
    """
    capture, path, place = rerun.capture, rerun.path(), rerun.read_at()
    found: list[Tensor] = []
    for head, output in enumerate(capture.record(layer).head_output_edited[place]):
        pause()
        with torch.no_grad():
            added = path.logits(layer, head, output, capture.residuals[-1][place], capture.hidden[place])
        other = added[against] if against is not None else added.mean() if len(added) > 1 else 0.0
        found.append(added[target] - other)
    return torch.stack(found)


def written_lengths(rerun: Rerun, layer: int) -> Float[Tensor, "heads"]:
    """The norm of each head's output to the stream at the last position: ‖W_O Σ_j w_j v_j‖, float32.

    The norm of weighted, transformed vectors (Kobayashi et al. 2020, arXiv:2004.10102, section 3), here of their sum
    over keys, which is what is added. Raises NoAttribution, NoWeights.
    """
    outputs, path = rerun.capture.record(layer).head_output_edited[rerun.read_at()], rerun.path()
    with torch.no_grad():
        return torch.stack([path.written(layer, head, output).norm() for head, output in enumerate(outputs)])


def residual_patches(rerun: Rerun, layer: int, source: Capture, tokens: tuple[int, int]) -> Float[Tensor, "positions"]:
    """Change of two tokens' logit difference when one position's stream entering the layer is the source's.

    Activation patching (Meng et al. 2022, arXiv:2202.05262): log p(first) − log p(second), nats. Raises EditNotPossible
    for a source of another length.
    """
    own = rerun.capture.residual(layer)
    theirs = of_equal_length(rerun.capture, source).residual(layer).to(own)
    found = []
    for part in batches(len(own), len(own)):
        stream = own.repeat(len(part), 1, 1)
        stream[torch.arange(len(part)), part] = theirs[part]
        found.append(difference(rerun.log_probs(layer, stream), tokens))
    return torch.cat(found)


def mean_streams(rerun: Rerun, layer: int, target: int) -> Float[Tensor, "positions"]:
    """Change of the target's log-probability (nats) when one position's stream is replaced by the text's mean.

    Raises EditNotPossible, NoSuchPlace.
    """
    target = index("token id", target, len(rerun.known))
    own = rerun.capture.residual(layer)
    mean, found = own.mean(dim=0), []
    for part in batches(len(own), len(own)):
        stream = own.repeat(len(part), 1, 1)
        stream[torch.arange(len(part)), part] = mean
        found.append(rerun.log_probs(layer, stream)[:, target])
    return torch.cat(found).float()


def head_patches(
    rerun: Rerun, layer: int, head: int | None, source: Capture, tokens: tuple[int, int]
) -> Float[Tensor, "positions"]:
    """The same for one head's output at one position; None: for all heads of the layer together.

    Raises NoWeights for a layer without softmax attention.
    """
    own = rerun.capture.residual(layer)
    heads = slice(None) if head is None else slice(head, head + 1)
    theirs = of_equal_length(rerun.capture, source).record(layer).head_output_edited[:, heads]

    def patched(part: list[int]) -> Change:
        def change(output: Tensor) -> Tensor:
            output = output.clone()
            output[torch.arange(len(part)), part, heads] = theirs[part].to(output)
            return output

        return change

    found = [
        difference(rerun.log_probs(layer, own.expand(len(part), -1, -1), patched(part)), tokens)
        for part in batches(len(own), len(own))
    ]
    return torch.cat(found)


def batches(count: int, n_tokens: int) -> list[list[int]]:
    size = max(1, min(BATCH, ROOM // n_tokens))
    return [list(range(start, min(start + size, count))) for start in range(0, count, size)]


def said_of(log_probs: Float[Tensor, "variants vocab"], target: int, against: int | None) -> Tensor:
    return log_probs[:, target] if against is None else difference(log_probs, (target, against))


def difference(log_probs: Float[Tensor, "variants vocab"], tokens: tuple[int, int]) -> Float[Tensor, "variants"]:
    return (log_probs[:, tokens[0]] - log_probs[:, tokens[1]]).float()


def of_equal_length(capture: Capture, source: Capture) -> Capture:
    if len(capture.tokens) != len(source.tokens):
        raise EditNotPossible(reason=N_("the two texts have different numbers of tokens"))
    return source
