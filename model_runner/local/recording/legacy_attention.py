"""Records attention in models that bypass transformers' attention interface and multiply in their own code.

A module's trace is accepted only if it explains the scores: they must be one multiple of q·k in all heads, plus at most
a bias that depends on the distance alone. A constant added to a whole row of scores changes no weight, so a bias that
is a function of distance up to such a constant is also accepted (ALiBi counts from the first key).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

import torch
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from attention.masks import window_of
from model_runner.errors import N_
from model_runner.local.recording.block_sparse import as_a_whole, hook_block_sparse, rows_in_blocks
from model_runner.local.recording.legacy_call import to_be_recorded
from model_runner.local.recording.lsh_attention import hashed_rows, hook_lsh
from model_runner.local.recording.mask_parsing import is_of, rule_of_cells
from model_runner.local.recording.matmul_tracer import MatmulTracer, TracedAttention
from model_runner.local.recording.mismatch_reason import CHANGED_OUTPUT, mismatch_reason
from model_runner.local.recording.parity_check import tried
from model_runner.local.recording.recorder import (
    ATTENDS_AGAIN,
    GROWING_BIAS,
    UNKNOWN_MASK,
    ActivationRecorder,
    CannotRecord,
    active_recorder,
    hook_rotations,
)
from model_runner.local.recording.residual_stream import watched
from model_runner.local.recording.rope_inference import infer_rotation
from model_runner.local.recording.rotary_hooks import RotaryCall, find_call
from model_runner.local.recording.score_terms import ExplainedScores, ScoreTerms, explain_scores, find_score_terms
from model_runner.local.recording.sliding_windows import hook_windows, rows_of
from model_runner.record import LayerRecord
from model_runner.relative_bias import RelativeBias, by_distance, mean_by_distance
from model_runner.verification import verify

NO_PRODUCTS = N_(
    "it does not go through transformers' attention interface, and none was recognised in what its own code multiplies"
)
BY_EINSUM = N_("its own code multiplies by einsum, where queries, keys and what positions add cannot be told apart")
MORE_IN_SCORES = N_("its scores hold more than q·k and a bias that depends on the distance alone")
CHANGED_QUERIES = N_("its own code changes queries after their projection, which cannot be read")
NO_STREAM = N_("its layers do not hand on one stream of tokens")
LOOKS_AHEAD = N_(
    "beside each token it has written, its decoder carries further rows that look ahead; the next token is read off one"
    " of these, and a capture has one row a token"
)
MERGES = N_(
    "it merges neighbouring tokens from one block of layers to the next, and a capture has one "
    "row a token in every layer"
)
ROWS = 64  # rows that are verified at a time
HIDDEN = 1000.0  # this far below the largest of its row, a weight is 0 in every dtype
EVEN = 64.0  # target size of q·k before scaling: far larger than the rounding errors of a bias
CLOSE = 8.0  # units of the dtype of the factors: no rounding of one score is larger
CONVOLVED = ("NystromformerSelfAttention",)  # besides softmax, these add a convolution of their values, in place
PROPHET, FUNNEL = "ProphetNetNgramSelfAttention", "FunnelEncoder"
MADE_OF = (nn.Linear, Conv1D, nn.Conv1d)


@dataclass(frozen=True)
class Form:
    """How a module attends, for every text; ``rotation`` says where queries are more than a projection."""

    scale: float
    biased: bool
    rotation: str | None
    across: bool = False  # its keys are of another text
    terms: ScoreTerms | None = None  # further products in its scores


def trace_legacy_attention(model: Any, forward: Callable[[], Any]) -> None:
    """Record the products of these modules from now on. Raises CannotRecord if they do not explain the scores.

    ``forward`` runs the model on a few tokens.
    """
    _check_rows(model)
    as_a_whole(model)
    seen, unread = _listened(model, forward, {})
    forms = _forms(model, forward, seen)
    known = hook_windows(model) | hook_block_sparse(model) | hook_lsh(model)
    if not known and not forms:
        raise CannotRecord(BY_EINSUM if unread else NO_PRODUCTS)
    hook_rotations(model)
    for module, form in forms.items():
        _watch(module, form)


def _check_rows(model: nn.Module) -> None:
    """Raises CannotRecord for models whose layers are known not to have a row per token.

    ProphetNet (Qi et al. 2020, arXiv:2001.04063) has, beside the stream of the tokens, one stream for each token that
    it predicts ahead; their rows attend to the tokens' keys and one of their own. Funnel-Transformer (Dai et al. 2020,
    arXiv:2006.03236) pools every two rows at the start of a block of layers.
    """
    for module in model.modules():
        if type(module).__name__ == PROPHET:
            raise CannotRecord(LOOKS_AHEAD)
        if type(module).__name__ == FUNNEL and len(module.blocks) > 1:  # type: ignore[arg-type]  # torch types attributes as Tensor | Module
            raise CannotRecord(MERGES)


@dataclass(frozen=True, eq=False)
class _Seen:
    """The single attention of a module: what its projections made, and which of them ran before the softmax."""

    traced: TracedAttention
    projected: list[Tensor]
    before: list[nn.Module]


def _listened(
    model: Any, forward: Callable[[], Any], factors: Mapping[nn.Module, float]
) -> tuple[dict[nn.Module, _Seen], bool]:
    """What each module multiplies in a forward, and whether any product was not understood.

    ``factors`` scale the outputs of these projections.
    """
    stack: list[nn.Module] = []
    made: list[tuple[tuple[nn.Module, ...], Tensor, int]] = []
    products = MatmulTracer(lambda: tuple(stack))

    def enter(module: nn.Module, _: Any) -> None:
        stack.append(module)

    def leave(module: nn.Module, _: Any, output: Any) -> Any:
        changed = None
        if isinstance(module, MADE_OF) and torch.is_tensor(output):
            if module in factors:
                changed = output = output * factors[module]
            made.append((tuple(stack), output, len(products.traced)))
        stack.pop()
        return changed

    hooks = [module.register_forward_pre_hook(enter) for module in model.modules()]
    hooks += [module.register_forward_hook(leave, always_call=True) for module in model.modules()]
    try:
        with tried(N_("it does not run on a text alone ({error})")), products:
            forward()
    finally:
        for hook in hooks:
            hook.remove()
    seen: dict[nn.Module, _Seen] = {}
    for number, traced in enumerate(products.traced):
        inside = _shared(traced.places)
        if not inside or inside[-1] in seen:
            raise CannotRecord(ATTENDS_AGAIN)
        within = [(place, output, before) for place, output, before in made if inside[-1] in place]
        outputs = [output for _, output, _ in within]
        outputs += [output for place, output in products.projected if inside[-1] in place]
        earlier = [place[-1] for place, _, before in within if before <= number]
        seen[inside[-1]] = _Seen(traced, outputs, earlier)
    return seen, products.unread


def _forms(model: Any, forward: Callable[[], Any], seen: Mapping[nn.Module, _Seen]) -> dict[nn.Module, Form]:
    """How every module attends.

    Small weights drown q·k in the rounding errors of the bias beside it; large ones give scores so low that they might
    as well be masked. So if a module's scale is not a known number, the model runs once more with its projections
    scaled so that the products have a normal size; the result must explain the model's own numbers too.
    """
    forms: dict[nn.Module, Form] = {}
    refused: dict[nn.Module, CannotRecord] = {}
    for module, one in seen.items():
        try:
            forms[module] = _form(one.traced, one.projected)
        except CannotRecord as error:
            refused[module] = error
    unsure = [
        module for module, one in seen.items() if module not in forms or not _is_known(forms[module].scale, one.traced)
    ]
    factors: dict[nn.Module, float] = {}
    for module in unsure:
        factors |= dict.fromkeys(seen[module].before, _evened(seen[module].traced))
    again = _listened(model, forward, factors)[0] if factors else {}
    for module in (one for one in unsure if one in again):
        own = seen[module]
        try:
            form = _form(again[module].traced, again[module].projected)
            if module not in forms or _is_known(form.scale, own.traced):
                forms[module] = _explaining(own, form)
        except CannotRecord:
            continue
    for module, error in refused.items():
        if module not in forms:
            raise error
    return forms


def _explaining(seen: _Seen, form: Form) -> Form:
    """The form, if it also explains these numbers. Raises CannotRecord otherwise."""
    _explained(seen.traced, visible_cells(seen.traced), form)
    return replace(form, rotation=_rotation(_first(seen.traced), seen.projected))


def _evened(traced: TracedAttention) -> float:
    """The power of two that, multiplied into both sides, makes the products of a module a few units in size."""
    size = float(traced.products.double().std())
    return 2.0 ** round(math.log2(EVEN / size) / 2) if size > 0 and math.isfinite(size) else 1.0


def prove(
    records: Iterable[LayerRecord],
    layers: Sequence[nn.Module],
    n_tokens: int,
    forward: Callable[[], Any],
    n_globals: int = 0,
) -> None:
    """Raises CannotRecord if the traces do not reproduce the model's output, or if its layers have no stream.

    ``n_globals`` are the encoder's own tokens, beside those of the text.
    """
    if not all(verify(record, None, ROWS).ok for record in records):
        raise CannotRecord(mismatch_reason(forward))
    streams: list[Tensor] = []
    with tried(NO_STREAM), watched(layers, lambda _, stream: streams.append(stream)):
        forward()
    n_rows = max(rows(layers, n_tokens) for rows in (rows_of, rows_in_blocks, hashed_rows))
    if any(not torch.is_tensor(stream) or len(stream) != n_rows + n_globals for stream in streams):
        raise CannotRecord(NO_STREAM)


def _watch(module: nn.Module, form: Form) -> None:
    open_: list[MatmulTracer] = []
    projected: list[Tensor] = []

    def project(_module: nn.Module, _: Any, output: Any) -> None:
        if open_ and torch.is_tensor(output):
            projected.append(output)

    def enter(module: nn.Module, *_: Any) -> None:
        if to_be_recorded(module):
            open_.append(MatmulTracer(apart=type(module).__name__ in CONVOLVED))
            open_[-1].__enter__()

    def leave(module: nn.Module, _: Any, output: Any) -> None:
        if not open_:
            return
        products = open_.pop()
        products.__exit__(None, None, None)
        recording = active_recorder()
        if recording is not None and output is not None:  # None if it ended by an error, which propagates by itself
            if type(module).__name__ in CONVOLVED and products.traced:
                _check_convolved(module, products.traced[0], output[0])
            _record(recording, recording.names[id(module)], products.traced, form, projected)
        projected.clear()

    if form.rotation is not None:
        for part in (one for one in module.modules() if isinstance(one, MADE_OF)):
            part.register_forward_hook(project)
    module.register_forward_pre_hook(enter)
    module.register_forward_hook(leave, always_call=True)


def _check_convolved(module: Any, traced: TracedAttention, output: Tensor) -> None:
    """Raises CannotRecord unless the module's output is that of its softmax plus a convolution of its values."""
    beside = module.conv(traced.v[None])[0]
    whole = (traced.output + beside).transpose(0, 1).flatten(1)
    near = CLOSE * torch.finfo(output.dtype).eps * float(traced.output.abs().max() + beside.abs().max())
    if not bool(((whole - output[0]).abs() <= near).all()):
        raise CannotRecord(CHANGED_OUTPUT)


def _record(
    recording: ActivationRecorder, name: str, every: Sequence[TracedAttention], form: Form, projected: Sequence[Tensor]
) -> None:
    name, _ = recording.enter(name)
    if len(every) != 1:
        raise CannotRecord(ATTENDS_AGAIN if every else NO_PRODUCTS)
    traced, sink, known = every[0], recording.consumer, recording.known.get(name)
    output, visible = traced.output.transpose(0, 1), visible_cells(traced)
    recording.rotary_calls = _calls_of(recording, traced, form)
    if sink is not None:
        if form.biased:
            raise CannotRecord(GROWING_BIAS)
        if known is not None and not is_of(known, visible):
            raise CannotRecord(UNKNOWN_MASK)
        if recording.grown(name, (traced.q[None], traced.k[None], traced.v[None], output[None]), None) is not None:
            return
    rule = known or rule_of_cells(visible, across=form.across)
    whole = _explained(traced, visible, form)
    seen = LayerRecord(
        q=whole.q,
        k=whole.k,
        v=traced.v,
        output=output,
        scale=whole.scale,
        softcap=None,
        sinks=None,
        mask=rule,
        window=window_of(rule.own),
        rotation=form.rotation and (infer_rotation(projected, traced) or form.rotation),
        eager=True,
        bias=whole.bias,
    )
    recording.take(name, seen)


def _explained(traced: TracedAttention, visible: Tensor, form: Form) -> ExplainedScores:
    """The parts of these scores. Raises CannotRecord if they contradict the form found with the first text."""
    if form.terms is None:
        return ExplainedScores(traced.q, traced.k, form.scale, _bias(traced, visible, form))
    return explain_scores(traced, visible, form.terms)


def _calls_of(recording: ActivationRecorder, traced: TracedAttention, form: Form) -> list[RotaryCall]:
    """The rotary calls that turned these queries, if they can be read."""
    turned = form.rotation is not None and find_call(recording.rotary_calls, traced.q) is not None
    return recording.rotary_calls if turned else []


def visible_cells(traced: TracedAttention) -> Tensor:
    """Which cells ``[heads, queries, keys]`` may have a weight; no q·k of these lengths is as low as a masked score."""
    products = [(traced.q, traced.k), *((term.left, term.table) for term in traced.terms)]
    most = torch.stack([left.float().norm(dim=-1) * right.float().norm(dim=-1).amax() for left, right in products])
    away = (2 * most.sum(dim=0)[..., None]).clamp(min=HIDDEN)
    return traced.scores >= traced.scores.amax(dim=-1, keepdim=True) - away


def _form(traced: TracedAttention, projected: Sequence[Tensor]) -> Form:
    """The form found in the first text: the multiple of q·k, beside a bias by distance of any size."""
    visible, products, scores = visible_cells(traced), traced.products.double(), traced.scores.double()
    across = visible.shape[1] != visible.shape[2]
    if not (across or bool(torch.diagonal(visible, dim1=1, dim2=2).all())):
        raise CannotRecord(MORE_IN_SCORES)
    if traced.terms:
        more = find_score_terms(traced, visible)
        whole = explain_scores(traced, visible, more)
        return Form(whole.scale, True, _rotation(_first(traced), projected), across, more)
    off_score, off_q = (_apart(one.masked_fill(~visible, 0.0), visible, across) for one in (scores, products))
    scale = _known_number(float((off_score * off_q).sum() / (off_q**2).sum()), traced)
    unit = _unit(traced, scale)
    off = (scores - scale * products).masked_fill(~visible, 0.0).abs()
    biased, rotation = bool(off.mean() > unit.masked_fill(~visible, 0.0).mean()), _rotation(traced.q, projected)
    form = Form(scale, biased, rotation, across)
    if form.biased and across:  # no distance between two texts
        raise CannotRecord(MORE_IN_SCORES)
    _bias(traced, visible, form)
    return form


def _first(traced: TracedAttention) -> Tensor:
    """The queries, before anything was added for one product only."""
    return traced.origins[0].base if traced.terms else traced.q


def _bias(traced: TracedAttention, visible: Tensor, form: Form) -> RelativeBias | None:
    """The scores minus the multiple of q·k, one head at a time, since a long text has many cells.

    Raises CannotRecord if they are not a function of distance.
    """
    found = [_bias_of(traced.of_head(head), visible[head : head + 1], form) for head in range(len(traced.q))]
    biases = [one for one in found if one is not None]
    return replace(biases[0], values=torch.cat([one.values for one in biases]).float()) if biases else None


def _bias_of(traced: TracedAttention, visible: Tensor, form: Form) -> RelativeBias | None:
    rest = (traced.scores.double() - form.scale * traced.products.double()).masked_fill(~visible, 0.0)
    near = CLOSE * _unit(traced, form.scale)
    if not form.biased:
        if bool((rest.abs() <= near).all()):
            return None
        raise CannotRecord(MORE_IN_SCORES)
    from_own = near + torch.diagonal(near, dim1=1, dim2=2)[..., None]  # what is subtracted is rounded too
    for one, rounded in ((rest, near), (_from_diagonal(rest, visible), from_own)):
        found = by_distance(one, visible, rounded)
        if found is not None:
            return found
    raise CannotRecord(MORE_IN_SCORES)


def _unit(traced: TracedAttention, scale: float) -> Tensor:
    """One unit of the dtype for every score, and for the lengths of the vectors it is the product of."""
    keys = traced.k.double().norm(dim=-1).repeat_interleave(len(traced.q) // len(traced.k), dim=0)
    lengths = traced.q.double().norm(dim=-1)[:, :, None] * keys[:, None]
    return _eps(traced) * (scale * lengths + traced.scores.double().abs())


def _eps(traced: TracedAttention) -> float:
    return max(torch.finfo(dtype).eps for dtype in (traced.scores.dtype, traced.q.dtype))


def _apart(scores: Tensor, visible: Tensor, across: bool) -> Tensor:
    """Scores without what a row has in common and, within one text, without any function of distance."""
    if not across:
        return _from_means(_from_diagonal(scores, visible), visible)
    mean = scores.sum(dim=-1, keepdim=True) / visible.sum(dim=-1, keepdim=True)
    return (scores - mean).masked_fill(~visible, 0.0)


def _from_diagonal(scores: Tensor, visible: Tensor) -> Tensor:
    """Scores relative to the row's diagonal cell."""
    own = torch.diagonal(scores, dim1=1, dim2=2)[..., None]
    return (scores - own).masked_fill(~visible, 0.0)


def _from_means(scores: Tensor, visible: Tensor) -> Tensor:
    """Scores minus the mean of a head's cells at the same distance, which removes any function of distance."""
    heads, queries, keys = (slice(0, size) for size in scores.shape)
    return (scores - mean_by_distance(scores, visible).tile(heads, queries, keys)).masked_fill(~visible, 0.0)


def _known_number(scale: float, traced: TracedAttention) -> float:
    """1 or 1/√d if they differ only by rounding: a coarse dtype determines it no better."""
    return next((one for one in _known_numbers(traced) if abs(scale - one) <= 2 * _eps(traced) * one), scale)


def _known_numbers(traced: TracedAttention) -> tuple[float, ...]:
    return (1.0, traced.q.shape[-1] ** -0.5)


def _is_known(scale: float, traced: TracedAttention) -> bool:
    return scale in _known_numbers(traced)


def _rotation(q: Tensor, projected: Sequence[Tensor]) -> str | None:
    """None if the last token's queries are the output of a projection of this module, or √d times it."""
    last = q[:, -1].flatten().float()
    for factor in (1.0, q.shape[-1] ** -0.5, q.shape[-1] ** -0.25):
        if any(bool(torch.isin(last, (made * factor).float().flatten()).all()) for made in projected):
            return None
    return CHANGED_QUERIES


def _shared(places: Sequence[Sequence[nn.Module]]) -> list[nn.Module]:
    """The modules, from the outermost on, inside which all of these calls were made."""
    return [at[0] for at in takewhile(lambda at: len(set(at)) == 1, zip(*places))]
