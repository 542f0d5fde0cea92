"""One cell of a head's map in seven steps, from q and k to the effect on the next-token logits.

Sends "key" and "query", the selected positions; a "key" of None asks for the one with the most weight.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeAlias

import numpy as np
from numpy.typing import NDArray

from viz.components.picture import UNSENT, ColoredPicture, Floats, Ints, Parts, Texts, sent
from viz.components.source import read_source

N_ = str  # marks a text for Babel without translating it here

TEXTS: dict[str, str] = {
    "label": N_("{head}: how {query} comes to put {weight} on {key}, in seven steps"),
    "query_key": N_("Query and key"),
    "product": N_("Multiply pairwise"),
    "scale": N_("Scale"),
    "scale_cap": N_("Scale and soft-cap"),
    "scale_bias": N_("Scale and bias"),
    "mask": N_("Mask"),
    "softmax": N_("Softmax over the row"),
    "values": N_("Mix the values"),
    "push": N_("Push on the next token"),
    "push_here": N_("Push on the token at this place"),
    "numbers": N_("{count} numbers each"),
    "sum": N_("sum {dot}"),
    "no_score": N_("masked: no score"),
    "visible": N_("visible"),
    "masked": N_("masked"),
    "length": N_("{key} brings {length}"),
    "strip_hint": N_("Up is positive, down is negative. Point at a column for its numbers."),
    "dimension": N_("dimension {i}: q {q} × k {k} = {product}"),
    "shared": N_("k and v are shared by {heads}"),
    "shared_keys": N_("k is shared by {heads}"),
    "strip": N_("{name} of {token}: {count} numbers from {low} to {high}"),
    "product_bars": N_("{count} products from {low} to {high}; their sum is {dot}"),
    "seen": N_("{query} may look at {visible} of {total} tokens"),
    "seen_keys": N_("{query} may look at {visible} of {total} keys that stand for several tokens"),
    "seen_window": N_("{query} may look at {visible} of {total} tokens; this layer's window is {window}"),
    "keys": N_("Attention weights of the row; each bar is a key"),
    "bar": N_("{key} ({position}): {weight}"),
    "bar_masked": N_("{key} ({position}): masked"),
    "sink": N_("sink"),
    "sink_long": N_("learned sink: {weight} of the attention goes to no token"),
    "rest_elsewhere": N_("other text"),
    "rest_elsewhere_long": N_("{weight} of the attention goes to the keys of the other text, in a map of their own"),
    "rest_of_keys": N_("other keys"),
    "rest_of_keys_long": N_("{weight} of the attention goes to keys of the other kind and to a learned sink"),
    "other": N_("1 other"),
    "others": N_("{count} others"),
    "other_long": N_("the other visible key: {weight}"),
    "others_long": N_("the other {count} visible keys together: {weight}"),
    "cut": N_("Showing the {count} of {total} keys with the largest weights, including the chosen one."),
    "output": N_("head’s output"),
    "passed_on": N_("passed on, edited"),
    "value_hint": N_("At the right each strip’s length. Point at a column and see it add up."),
    "value_dimension": N_("dimension {i}: {terms} = {output}"),
    "promoted": N_("most promoted"),
    "suppressed": N_("most suppressed"),
    "no_push": N_("The head passes on nothing here: no token is pushed."),
    "predicted": N_("on {token}, most likely here: {push} of its logit {logit}"),
    "next": N_("The next token"),
    "next_here": N_("The token at this place"),
    "f_next": N_("All heads and layers write into one vector h; the output layer makes a probability of it for every "
                 "token."),
    "f_next_push": N_("{token} has a logit of {logit}, {push} of it directly from this head: {share}."),
    "walk": N_("Walk through the steps"),
    "walk_pause": N_("Pause"),
    "walk_at": N_("step {step} of {count}"),
    "walk_note": N_("from the two vectors to the next token, in half a minute"),
    "open": N_("Choose a step for its formula with these numbers."),
    "f_vectors": N_("{head} turned {query} into a query q, what it looks for, and {key} into a key k, what it offers."),
    "f_rotated": N_("Both are shown after the rotation to their positions, {query_position} and {key_position}."),
    "f_query_rotated": N_("The query is shown after the rotation to its position; keys of the other text are not "
                          "rotated."),
    "f_other_terms": N_("{count} more"),
    "f_root": N_("The longer the vectors, the larger a dot product grows by chance: √{d} undoes that."),
    "f_scale": N_("This model multiplies by a scale of its own, {scale}."),
    "f_plain": N_("This model does not scale here: its queries already have the right size."),
    "f_cap": N_("The soft-cap keeps every score between −{cap} and {cap}."),
    "f_bias": N_("The bias is this head’s number for their distance: this is how the model knows positions."),
    "f_bias_of_counts": N_("The bias is ln n: this key is counted n times in the softmax of this query."),
    "f_bias_of_both": N_("The bias is what query and key each add for their distance: this is how the model knows "
                         "positions."),
    "f_bias_of_key": N_("The bias is the number that the model’s own mask gives this key, made of its value v."),
    "f_bias_of_query": N_("The bias is what the query adds for its distance to the key: this is how the model knows "
                          "positions."),
    "f_visible": N_("{query} may look at {key}: the score stays {score}."),
    "f_masked": N_("{query} may not look at {key}: the score becomes −∞, and its weight exactly 0."),
    "f_lse": N_("lse, the log of Σ exp(score) over the row, makes its weights add up to 1."),
    "f_sink": N_("The sink counts in that sum and takes {weight}."),
    "f_elsewhere": N_("The keys of the other text count in that sum and take {weight}."),
    "f_of_keys": N_("Keys of the other kind and a learned sink count in that sum and take {weight}."),
    "f_block_rotated": N_("The query is shown after the rotation to its position, a key of several tokens after the "
                          "rotation to the first of its block."),
    "f_mixed": N_("Against the model’s own output the largest difference is {difference}."),
    "f_push": N_("The output goes through this head’s slice of W_O, the final norm and the output layer."),
    "f_passed_on": N_("Edits changed what the head passes on; its output was {output} long, this is {passed_on} long."),
    "f_push_edited": N_("It goes through this head’s slice of W_O, the final norm and the output layer."),
    "f_frozen": N_("The norm’s statistics stay as they were here (Elhage et al. 2021); later layers are left out."),
    "f_mean": N_("Only differences count for the softmax: all tokens together are pushed by {mean} on average, and "
                 "{token} by {above} from there, which is its direct attribution."),
    "percent": N_("{number} %"),
}  # fmt: skip

SOURCE = read_source(Path(__file__).parent, "cell_steps", '<div class="cell-steps"></div>\n')


Added: TypeAlias = Annotated[tuple[str, float], Parts(("token", "logit"))]


@dataclass(frozen=True)
class LogitPush:
    """What a head's output adds to the logits: the seventh step."""

    promoted: Sequence[Added]
    suppressed: Sequence[Added]
    mean: float
    predicted: Annotated[tuple[str, float, float], Parts(("token", "added", "logit"))]
    """The predicted token: the addition to its logit, and its whole logit."""


@dataclass(frozen=True, eq=False)
class Keys:
    """The keys that are drawn, in order: rows of k and v, dot products with q, scores, weights."""

    positions: Sequence[int]
    labels: Sequence[str]
    k: NDArray[np.floating]
    v: NDArray[np.floating]
    dots: NDArray[np.floating]
    scores: NDArray[np.floating]  # −inf where masked
    weights: NDArray[np.floating]
    biases: NDArray[np.floating] | None = None  # added to the scores


@dataclass(frozen=True, eq=False)
class CellStepsPicture(ColoredPicture):
    """How a cell's weight is computed, and its effect. Raises ValueError if shapes do not match."""

    head: str
    shared: Sequence[str]
    """Heads that share the same key and value."""
    query: Annotated[tuple[str, int], Parts(("label", "position"))]
    key: int
    """One of the positions in `keys`."""
    keys: Annotated[Keys, UNSENT]
    total: int
    """Number of keys, drawn or not."""
    n_visible: int
    """Number of keys that the query may attend to."""
    window: int | None
    rotated: bool
    scale: float
    root: int | None
    """d if the scale is 1 ÷ √d."""
    softcap: float | None
    lse: float | None
    sink: float | None
    q: Floats
    rest: float
    """Total weight of visible keys that are not drawn."""
    mixed: Floats
    """Σ weight · v over all keys."""
    difference: float
    """Distance of `mixed` from the model's own output."""
    push: LogitPush | str
    """Or why there is none."""
    texts: Texts
    next: Sequence[Annotated[tuple[str, float], Parts(("token", "probability"))]] = ()
    """Predictions at the query's position, the likeliest first; empty if it predicts no token."""
    passed_on: Floats | None = None
    """Set if edits changed the output on its way to W_O."""
    step: int = 0
    """The open step, counted from 1; 0 for none."""

    def __post_init__(self) -> None:
        """Check the shapes; a head that shares with no other names none."""
        _check(self.keys, self.key, self.q, self.mixed)
        if self.passed_on is not None and self.passed_on.shape != self.mixed.shape:
            raise ValueError(f"passed_on {self.passed_on.shape} and mixed {self.mixed.shape} do not fit")
        lse = self.lse if self.lse is not None and math.isfinite(self.lse) else None
        self._set(shared=self.shared if len(self.shared) > 1 else [], lse=lse)

    @sent
    def labels(self) -> Sequence[str]:
        """Labels of the keys that are drawn."""
        return self.keys.labels

    @sent
    def positions(self) -> Ints:
        """[keys]"""
        return np.asarray(self.keys.positions, dtype=np.int32)

    @sent
    def k(self) -> Floats:
        """[keys, d]"""
        return self.keys.k

    @sent
    def v(self) -> Floats:
        """[keys, d_value]"""
        return self.keys.v

    @sent
    def dots(self) -> Floats:
        """[keys]: q · k"""
        return self.keys.dots

    @sent
    def scores(self) -> Floats:
        """[keys], NaN where masked."""
        return np.where(np.isneginf(self.keys.scores), np.nan, self.keys.scores)

    @sent
    def weights(self) -> Floats:
        """[keys]"""
        return self.keys.weights

    @sent
    def biases(self) -> Floats | None:
        """[keys]: added to the scores, if the model does that."""
        return self.keys.biases


def _check(keys: Keys, key: int, q: NDArray[np.floating], mixed: NDArray[np.floating]) -> None:
    n_drawn = len(keys.positions)
    for name in ("labels", "k", "v", "dots", "scores", "weights"):
        if len(getattr(keys, name)) != n_drawn:
            raise ValueError(f"{n_drawn} positions but {len(getattr(keys, name))} {name}")
    if keys.k.shape[1] != q.shape[0] or keys.v.shape[1] != mixed.shape[0]:
        raise ValueError(f"q {q.shape} and k {keys.k.shape}, or v {keys.v.shape} and mixed {mixed.shape}, do not fit")
    if key not in keys.positions:
        raise ValueError(f"the chosen key {key} is not among the drawn positions")
