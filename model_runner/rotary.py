"""How a layer rotated its queries and keys (RoPE, Su et al. 2021, arXiv:2104.09864), as data without any model's code.

Half-split, interleaved, partial and scaled layouts are all represented as pairs of coordinates, each with a column of
cosines and a column of sines for either coordinate. Inverting the rotation solves two equations per pair.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace

import torch
from jaxtyping import Float, Int
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Rotation:
    """What happened to the coordinates from ``start`` to ``stop`` (exclusive) of d_head; others are unchanged.

    For pair i, the coordinates ``source[i]`` = (a, b) went to ``pairs[i]`` = (a', b'), counted from ``start``:
    ``out[a'] = x[a]·cos − x[b]·sin`` and ``out[b'] = x[b]·cos + x[a]·sin``, with columns ``cos_columns[i]`` and
    ``sin_columns[i]``, one for each of the two. ``passed`` are (from, to) of coordinates that were only moved.
    """

    cos: Float[Tensor, "*one tokens columns"]
    sin: Float[Tensor, "*one tokens columns"]
    source: Int[Tensor, "pairs 2"]
    pairs: Int[Tensor, "pairs 2"]
    cos_columns: Int[Tensor, "pairs 2"]
    sin_columns: Int[Tensor, "pairs 2"]
    passed: Int[Tensor, "passed 2"]
    start: int
    stop: int

    def angles(self) -> tuple[Float[Tensor, "tokens pairs 2"], Float[Tensor, "tokens pairs 2"]]:
        """Cosine and sine for either coordinate of every pair, in their own dtype."""
        cos, sin = (part.reshape(-1, part.shape[-1]) for part in (self.cos, self.sin))
        return cos[:, self.cos_columns], sin[:, self.sin_columns]

    def apply(self, x: Float[Tensor, "*heads tokens rotated"]) -> Float[Tensor, "*heads tokens rotated"]:
        """Rotate the vectors as the model did; float32, or float64 for float64 input."""
        x = _accurate(x)
        cos, sin = (part.to(x.dtype) for part in self.angles())
        first, second = x[..., self.source[:, 0]], x[..., self.source[:, 1]]
        turned = first * cos[..., 0] - second * sin[..., 0], second * cos[..., 1] + first * sin[..., 1]
        return self._placed(x, self.passed, self.pairs, *turned)

    def invert(self, x: Float[Tensor, "*heads tokens rotated"]) -> Float[Tensor, "*heads tokens rotated"]:
        """Invert the rotation; float32, or float64 for float64 input."""
        x = _accurate(x)
        cos, sin = (part.to(x.dtype) for part in self.angles())
        first, second = x[..., self.pairs[:, 0]], x[..., self.pairs[:, 1]]
        size = cos[..., 0] * cos[..., 1] + sin[..., 0] * sin[..., 1]  # 1, except for scaled variants such as YaRN
        return self._placed(
            x,
            self.passed.flip(-1),
            self.source,
            (first * cos[..., 1] + second * sin[..., 0]) / size,
            (second * cos[..., 0] - first * sin[..., 1]) / size,
        )

    def unrotate(self, x: Float[Tensor, "*heads tokens d_head"]) -> Float[Tensor, "*heads tokens d_head"]:
        """Vectors as attention received them, before the rotation; coordinates that it does not touch are copied."""
        return self._whole(x, self.invert)

    def rotate(self, x: Float[Tensor, "*heads tokens d_head"]) -> Float[Tensor, "*heads tokens d_head"]:
        """Rotate vectors from before the rotation into what attention receives."""
        return self._whole(x, self.apply)

    def of(self, part: slice) -> Rotation:
        """The rotation of some of the tokens, on the CPU."""
        held = {one.name: getattr(self, one.name) for one in fields(self)}
        tensors = {name: one.cpu() for name, one in held.items() if isinstance(one, Tensor)}
        turned = {name: tensors[name][..., part, :] for name in ("cos", "sin")}
        return replace(self, **{**tensors, **turned})

    def at(self, places: Int[Tensor, "tokens"]) -> Rotation:
        """The same with every token rotated like the one at another place, by this text's angles.

        For a place beyond the last token, at most twice as far, two angles of the text are applied one after the other.
        """
        cos, sin = (one.double() for one in self.angles())
        last = len(cos) - 1
        near, rest = places.clamp(max=last), (places - last).clamp(min=0)
        turned = torch.complex(cos, sin)
        found = torch.where((rest > 0)[:, None, None], turned[near] * turned[rest] / turned[:1], turned[near])
        columns = torch.arange(cos[0].numel()).view(-1, 2)
        return replace(
            self, cos=found.real.flatten(1), sin=found.imag.flatten(1), cos_columns=columns, sin_columns=columns
        )

    def _whole(self, x: Tensor, turn: Callable[[Tensor], Tensor]) -> Tensor:
        x = _accurate(x)
        turned = turn(x[..., self.start : self.stop])
        return torch.cat([x[..., : self.start], turned, x[..., self.stop :]], dim=-1)

    def _placed(self, x: Tensor, passed: Tensor, pairs: Tensor, first: Tensor, second: Tensor) -> Tensor:
        placed = torch.empty_like(x)
        placed[..., passed[:, 1]] = x[..., passed[:, 0]]
        placed[..., pairs[:, 0]], placed[..., pairs[:, 1]] = first, second
        return placed


def _accurate(x: Tensor) -> Tensor:
    return x if x.dtype == torch.float64 else x.float()
