"""Words for a layer's verification: the badge and its explanation."""

from __future__ import annotations

from collections.abc import Callable

from analysis.number_text import error_size
from model_runner import Check

N_ = str  # marks a text for Babel without translating it here

ROUNDED = ("bfloat16", "float16")  # dtypes coarser than the weights here, which are float32
OK, WRONG = N_("verified · max diff {error} · {dtype}"), N_("not verified · difference {error} · {dtype}")
ALL = N_(
    "Weights × values, recomputed here for every query of layer {layer}, against what the model's own attention "
    "returned in the same forward. Tolerance {tolerance}: rounding alone can reach it."
)
SOME = N_(
    "Weights × values, recomputed here for {rows} of the {of} queries of layer {layer}, spread evenly, against "
    "what the model's own attention returned in the same forward. Tolerance {tolerance}: rounding alone can "
    "reach it. All of them would take longer than the forward itself."
)
UNROLLED = N_(
    "The matrix of each head or channel × its inputs, recomputed here in {rows} of {of} rows of layer {layer}, against "
    "what the model's own recurrence returned in the same forward, before its gate and without its skip connection. "
    "Tolerance {tolerance}: rounding alone can reach it."
)
COARSE = N_(
    "In {dtype} the model's own output_attentions (eager) rounds scores and weights, so one of its weights can lie "
    "0.02 from the one here, which is within 2e-7 of a float64 softmax of the recorded q and k."
)
SUBSTITUTED = N_("For {heads} heads: the variant’s map × values, against the variant’s own output.")


def errors(check: Check) -> dict[str, str]:
    """The largest difference and the tolerance, as values for a sentence."""
    return {"error": error_size(check.max_abs_error), "tolerance": error_size(check.tolerance)}


def verdict(check: Check, layer: int, dtype: str, say: Callable[[str], str]) -> tuple[str, str]:
    """Return the badge and its explanation; ``say`` translates."""
    count = {"layer": layer, "rows": f"{check.rows:,}", "of": f"{check.of:,}", "heads": check.substituted}
    words = OK if check.ok else WRONG
    text, meaning = say(words).format(**errors(check), dtype=dtype), say(ALL)
    if check.rows < check.of:
        text += " · " + say(N_("{rows} of {of} rows")).format(**count)
        meaning = say(SOME)
    if check.unrolled:
        return text, say(UNROLLED).format(**errors(check), **count)
    if dtype in ROUNDED:
        meaning += " " + say(COARSE)
    if check.substituted:
        meaning += " " + say(SUBSTITUTED)
    return text, meaning.format(**errors(check), **count, dtype=dtype)
