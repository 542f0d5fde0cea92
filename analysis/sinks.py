"""What a learned sink makes of the rows that a picture shows, in a sentence."""

from __future__ import annotations

from model_runner.capture import Capture

N_ = str  # marks a text for Babel without translating it here

SCALED_AFTER = ("granite_swa", "granitemoe_swa")  # transformers' types that scale the output once the softmax is taken
IN_SOFTMAX = N_("A learned sink takes part of every row; what is drawn is the rest, which goes to tokens.")
AFTER = N_("A learned sink scales every row after the softmax; drawn are the scaled weights, not the softmax’s own.")


def sink_words(capture: Capture, layer: int, head: int, family: str) -> str:
    """One sentence, to be translated; none of a head without a sink, or whose softmax is substituted.

    ``family`` is the model's transformers type. Both kinds are the same numbers, one more term in the softmax's
    sum, but of those in SCALED_AFTER the model's own ``output_attentions`` are without the sink.
    """
    record = capture.record(layer)
    if record.sinks is None or head in record.substituted:
        return ""
    return AFTER if family in SCALED_AFTER else IN_SOFTMAX
