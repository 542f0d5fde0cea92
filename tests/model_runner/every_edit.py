"""One edit of each kind, on layers and heads that even the tiny models have, and its name on the screen.

The tests of addresses, of names and of the forward walk this table; the first one fails while a kind is missing.
"""

from __future__ import annotations

from attention.patterns import BY_NAME
from attention.zoo.table import BY_NAME as BY_VARIANT
from model_runner.edits import (
    Blocked,
    ChosenKeys,
    Documents,
    Edit,
    Int8Cache,
    KeepLast,
    Masked,
    MeanHead,
    OfAttention,
    ScaledHead,
    SharedKeys,
    SharpenedHead,
    SwappedHeads,
)
from model_runner.matrix_edit import ScaledSingulars
from model_runner.rotation_edit import (
    NtkTheta,
    RestartedPositions,
    ScaledTheta,
    ShiftedPositions,
    Unrotated,
    YarnTheta,
)
from model_runner.substitution import Substituted

LIGHTNING = BY_VARIANT["lightning"].label
WINDOW, FULL = BY_NAME["window"].label, BY_NAME["full"].label

EVERY_EDIT: dict[Edit, str] = {
    KeepLast(5, 1): "a cache of the first 1 and last 5",
    Int8Cache(): "a cache in int8",
    Documents((0, 4)): "documents from 0, 4",
    Masked("window", (("window", 3),), (0, 2), None): f"{WINDOW} 3 in L0, L2",
    Masked("full", (), None, (1,)): f"{FULL} in H1 of all layers",
    Masked("window", (("window", 3),)): f"{WINDOW} 3 in all layers",
    Blocked(((7, 2),), (2,), (1,)): "7 → 2 hidden in L2H1",
    Blocked(((7, 2), (7, 3))): "2 cells hidden in all layers",
    Blocked(((7, 2), (7, 3)), (2,)): "2 cells hidden in L2",
    Blocked(((5, 0), (6, 2)), None, (1, 3)): "2 cells hidden in H1, H3 of all layers",
    Blocked(((7, 2), (7, 3)), (0, 2), (1, 3)): "2 cells hidden in H1, H3 of L0, L2",
    Substituted("linear", (), (1,), (2,)): f"{BY_VARIANT['linear'].label} for softmax in L1H2, untrained",
    Substituted("linformer", (("rank", 2),), (0, 2)): "Linformer segments 2 for softmax in L0, L2, untrained",
    Substituted(
        "lightning", (("half_life", 3), ("tile", 2))
    ): f"{LIGHTNING} half-life 3, tile size 2 for softmax in all layers, untrained",
    ScaledSingulars(1, "self_attn.q_proj", (0.0, 1.5)): "L1 self_attn.q_proj: σ × 0, 1.5",
    ScaledSingulars(2, "mlp.down_proj", (2.0,)): "L2 mlp.down_proj: σ × 2",
    ChosenKeys(3): "queries read 3 chosen keys",
    ChosenKeys(None): "queries read every key",
    SharedKeys(1): "key/value heads averaged to 1",
    ScaledHead(2, 1, 0.0): "L2H1 ablated",
    ScaledHead(1, 2, -0.5): "L1H2 × -0.5",
    MeanHead(0, 3): "L0H3 = its mean",
    SharpenedHead(2, 1, 0.25): "L2H1 at temperature 0.25",
    SwappedHeads(1, 0, 3): "L1H0 ⇄ L1H3",
    Unrotated(): "no rotation",
    ScaledTheta(0.5): "θ × 0.5",
    NtkTheta(2.0): "NTK × 2",
    YarnTheta(4.0, 16): "YaRN × 4",
    ShiftedPositions(-7): "positions -7",
    RestartedPositions((2,)): "positions restart at 2",
}
OF_THREE: dict[Edit, str] = {
    OfAttention("encoder", Masked("window", (("window", 3),))): f"encoder: {WINDOW} 3 in all layers",
    OfAttention("decoder", ScaledHead(2, 1, 0.0)): "decoder: L2H1 ablated",
    OfAttention("cross", Blocked(((7, 2),), (2,), (1,))): "cross: written 7 → read 2 hidden in L2H1",
    OfAttention("cross", Blocked(((7, 2), (7, 3)))): "cross: 2 cells hidden in all layers",
}  # of an encoder–decoder alone
NO_CHANGE = (Masked("full", (), None, (1,)), ShiftedPositions(-7))  # by what they are: RoPE is relative
