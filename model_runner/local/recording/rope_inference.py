"""Infers the rotation of attention that rotates queries and keys in its own code, from the vectors before and after.

Which number of a projection became which coordinate is seen at position 0, where nothing is rotated. The angle of each
pair of coordinates at a position is a least-squares fit (in float64) over all heads' queries and keys before and after.
It must be position × frequency, and vectors rotated by it must equal the inputs of attention up to rounding. A rotation
that fails these tests is rejected.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention import rotary
from model_runner.local.recording.matmul_tracer import TracedAttention
from model_runner.positions import Unread, theta_of
from model_runner.rotary import Rotation

EPS = torch.finfo(torch.float32).eps
ROUGH = 64 * EPS  # of an angle computed from vectors
CLOSE = 8 * EPS  # of a pair's length: three roundings of each of two products, and the angle's own


def infer_rotation(projected: Sequence[Tensor], traced: TracedAttention) -> Rotation | None:
    """The rotation from the module's projections to what was traced; None unless it is certain.

    In float32 only: rounded more coarsely, the vectors do not determine the angles.
    """
    n_tokens = traced.q.shape[1]
    rows = [made[0] for made in projected if made.dim() == 3 and made.shape[:2] == (1, n_tokens)]
    if n_tokens < 2 or not rows or any(row.dtype != torch.float32 for row in rows) or traced.k.shape[1] != n_tokens:
        return None
    numbers = torch.cat(rows, dim=-1)
    before = [_before(numbers, after) for after in (traced.q, traced.k)]
    if any(one is None for one in before):
        return None
    old, new = torch.cat([one for one in before if one is not None]), torch.cat([traced.q.float(), traced.k.float()])
    moved = (old != new).flatten(0, 1).any(dim=0).nonzero()[:, 0]
    if len(moved) == 0:
        return None
    start, stop = int(moved[0]), int(moved[-1]) + 1
    if (stop - start) % 2:
        return None
    for layout in ("interleaved", "half"):
        pairs = rotary.pairs_of(stop - start, layout).to(old.device)
        found = _turned(old[..., start:stop], new[..., start:stop], pairs, start)
        if found is not None:
            return found
    return None


def _before(numbers: Float[Tensor, "tokens made"], after: Tensor) -> Float[Tensor, "heads tokens d_head"] | None:
    """The projected numbers that became these vectors, matched by their values at position 0."""
    first, order = numbers[0].sort()
    values = after[:, 0].float().flatten()
    places = torch.searchsorted(first, values).clamp(max=len(first) - 1)
    if not torch.equal(first[places], values):
        return None
    return numbers[:, order[places]].unflatten(-1, (after.shape[0], after.shape[2])).transpose(0, 1)


def _turned(
    old: Float[Tensor, "heads tokens rotated"],
    new: Float[Tensor, "heads tokens rotated"],
    pairs: Int[Tensor, "pairs 2"],
    start: int,
) -> Rotation | None:
    """The rotation of these pairs, if it is one."""
    a, b, c, d = (x[..., pairs[:, i]].double() for x in (old, new) for i in (0, 1))
    angle = torch.atan2((a * d - b * c).sum(dim=0), (a * c + b * d).sum(dim=0)).cpu()
    positions = torch.arange(old.shape[1])
    try:
        theta = theta_of(angle, positions, ROUGH)
    except Unread:
        return None
    exact = (positions[:, None] * theta).to(old.device)
    columns = torch.arange(len(pairs), device=old.device)[:, None].expand(-1, 2)
    found = Rotation(
        cos=exact.cos().float(),
        sin=exact.sin().float(),
        source=pairs,
        pairs=pairs,
        cos_columns=columns,
        sin_columns=columns,
        passed=pairs.new_empty(0, 2),
        start=start,
        stop=start + old.shape[-1],
    )
    off = (found.apply(old) - new.float())[..., pairs].abs().amax(dim=-1)
    allowed = (CLOSE + 4 * EPS * exact.abs()) * torch.hypot(a, b)
    return found if bool((off <= allowed).all()) else None
