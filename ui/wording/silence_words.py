"""Words about the padding silence after a sound."""

from __future__ import annotations

from collections.abc import Callable

from analysis.joined import n_looked_at
from analysis.silence import n_heard, silent_share
from model_runner import Capture

N_ = str  # marks a text for Babel without translating it here
WORDS = N_(
    "The sound is {heard} of {frames} frames. The others are padding silence, and the model "
    "looks at them too: L{layer}H{head} puts {share} of its weight there."
)


def silence_words(
    capture: Capture, layer: int, head: int, translate: Callable[[str], str], number: Callable[[float, str], str]
) -> str:
    """Say how much of the input is sound, and what share of the head's weight is on the silence; empty without any."""
    heard = n_heard(capture)
    if heard is None:
        return ""
    share, frames = number(silent_share(capture, layer, head), "share"), f"{n_looked_at(capture):,}"
    return translate(WORDS).format(heard=heard, frames=frames, layer=layer, head=head, share=share)
