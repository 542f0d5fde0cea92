"""Three norms of the same residual-stream vectors, and how the stream of random networks grows under pre- and
post-norm.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float

from attention.norms import NORMS, layer_norm
from model_runner.capture import Capture

WIDTH, ROWS = 128, 64  # of the random networks
SEED = 0


@dataclass(frozen=True, eq=False)
class NormEffect:
    """``before`` and each norm of it at one token; ``means`` and ``sizes`` (root mean square) of every token."""

    before: Float[np.ndarray, "d_model"]
    after: dict[str, Float[np.ndarray, "d_model"]]
    means: dict[str, Float[np.ndarray, "tokens"]]
    sizes: dict[str, Float[np.ndarray, "tokens"]]


def normed(capture: Capture, row: int, position: int) -> NormEffect:
    """For the stream entering layer ``row``; the number of layers means the last output. "" is before any norm."""
    stream = capture.residual(row).double().cpu()
    every = {"": stream} | {name: norm(stream) for name, norm in NORMS.items()}
    return NormEffect(
        before=stream[position].numpy(),
        after={name: x[position].numpy() for name, x in every.items() if name},
        means={name: x.mean(dim=-1).numpy() for name, x in every.items()},
        sizes={name: x.square().mean(dim=-1).sqrt().numpy() for name, x in every.items()},
    )


@functools.lru_cache(maxsize=8)
def random_growth(layers: int) -> dict[str, Float[np.ndarray, "layers_plus_1"]]:
    """Mean norm of the stream after each layer of random networks, relative to its start.

    Each layer adds a random two-layer ReLU network whose output has the size of its input: of the stream itself
    ("none"), of the normalized stream ("pre"), or with a norm after the sum ("post"). Cached, since it takes 0.04 s per
    layer.
    """
    found: dict[str, np.ndarray] = {}
    for kind in ("pre", "post", "none"):
        noise = torch.Generator().manual_seed(SEED)  # the same matrices for all three
        x = layer_norm(torch.randn(ROWS, WIDTH, generator=noise, dtype=torch.float64))
        lengths = [float(x.norm(dim=-1).mean())]
        for _ in range(layers):
            up = torch.randn(WIDTH, WIDTH, generator=noise, dtype=torch.float64) * (2 / WIDTH) ** 0.5
            down = torch.randn(WIDTH, WIDTH, generator=noise, dtype=torch.float64) * WIDTH**-0.5
            read = layer_norm(x) if kind == "pre" else x
            x = x + torch.relu(read @ up) @ down
            x = layer_norm(x) if kind == "post" else x
            lengths.append(float(x.norm(dim=-1).mean()))
        found[kind] = np.array(lengths) / lengths[0]
    return found
