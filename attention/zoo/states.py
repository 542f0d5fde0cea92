"""Rows of the table: variants with one state for everything read so far, which makes them causal."""

from __future__ import annotations

from attention.zoo import delta, lightning, memory, recurrent, ssd, titans, titans_ways
from attention.zoo.variant import Flow, Parameter, Variant

N_ = str  # marks a text for translation where it is shown

_MEMORY = (
    Parameter("step", N_("step"), N_("how far a surprise changes the memory"), 50, least=0, most=100,
              per=100),
    Parameter("momentum", N_("momentum"), N_("the part of the last change that is carried on"), 30, least=0,
              most=99, per=100),
    Parameter("forgotten", N_("forgotten"), N_("a part of the memory, at each token"), 1, least=0, most=100,
              per=100),
)  # fmt: skip  # one number a paragraph
_WINDOW = Parameter(
    "window", N_("window"), N_("tokens that softmax looks back over, including the token itself"), 4, letter="w"
)
_PERSISTENT = (
    Parameter("persistent", N_("persistent tokens"), N_("keys before the text, drawn by the seed; their values are 0"),
              2, least=0, most=16, letter="p"),
    Parameter("seed", N_("seed"), N_("any whole number"), 0, least=0, most=99),
)  # fmt: skip  # one number a paragraph
_SURPRISE = N_(
    "Surprise ‖∇ℓ‖ of each token, given the memory M of all before it; ℓ = ‖M k − v‖² says how "
    "badly M predicts its value:"
)
_LEARNS = N_("memory, learning as it reads")
_NEAR = N_("softmax over the window and persistent tokens")

STATES = (
    Variant(
        "lightning", N_("Lightning (decay)"), "memory", "causal",
        (
            Parameter("half_life", N_("half-life"), N_("tokens after which half of a token is left"), 8, most=4096),
            Parameter("tile", N_("tile size"), N_("tokens computed at once; the result is the same"), 4, letter="b"),
        ),
        lightning.weights, lightning.output, lightning.multiply_adds,
        work="2 n (b + d) d",
        memory=memory.LIGHTNING,
        recurrent=recurrent.UNDIVIDED,
        does=N_("weighs by q·k alone, without any softmax, times a fixed decay: each token back counts a little "
                "less"),
        gives_up=N_("Weights that are shares: they can be negative and of any size, which models trained with "
                    "it tame by a norm. And whatever lies far back fades."),
        buys=N_("A state of d × d numbers, at the same cost for every token. MiniMax-01 has 7 such layers to 1 of "
                "softmax."),
        source="Qin et al. 2024, arXiv:2401.04658",
        identity="tiles of any size give the product masked by the decay",
        published="the rule as published; activations and norm around it are left out, and the decay is "
                  "one number for the head that is open",
        signed=True,
        loops=True,
    ),
    Variant(
        "delta", "DeltaNet", "memory", "causal",
        (
            Parameter("strength", N_("strength β"), N_("how far the state is corrected"), 100, least=0,
                      most=200, per=100),
            Parameter("kept", N_("kept α"), N_("the part of the state for each token; below 1 it is gated"), 100,
                      least=0, most=100, per=100),
        ),
        delta.weights, delta.output, delta.multiply_adds,
        work="3 n d²",
        memory=memory.UNDIVIDED,
        recurrent=recurrent.DELTA,
        does=N_("reads what its state holds at this key and writes only the difference to the new value; "
                "queries and keys have norm 1 here"),
        gives_up=N_("The exponential; and capacity: a state of d × d numbers keeps at most d values apart. In "
                    "training, strength and what is kept are learned per token; here nothing is trained and "
                    "they are the same for all."),
        buys=N_("A memory that can be corrected: a key seen again gets its new value, where Lightning and Mamba-2 "
                "add it to the old one."),
        source="Yang et al. 2024, arXiv:2406.06484; gated: arXiv:2412.06464",
        identity="the map written out gives what the state gives, a token at a time",
        published="simplified: β and α are one number each, where the papers learn them of each token",
        signed=True,
        loops=True,
    ),
    Variant(
        "ssd", N_("state-space dual (Mamba-2)"), "memory", "causal",
        (Parameter("rate", N_("rate"), N_("at a key of norm √d the past is multiplied by e^(−rate)"),
                   10, least=0, most=500, per=100),),
        ssd.weights, ssd.output, ssd.multiply_adds,
        work="2 n d²",
        memory=memory.DUAL,
        recurrent=recurrent.UNDIVIDED,
        does=N_(
            "keeps one matrix: each token first lets it fade, the more the larger its key’s norm, "
            "then adds its key times its value"
        ),
        gives_up=N_("Attention to single far tokens: what has faded is gone for all that follow. In training a "
                    "step Δ, learned from the input at each token, decides how much is forgotten; here, "
                    "untrained, the key’s norm stands in."),
        buys=N_("Like Lightning, one matrix of d × d_v numbers for a text of any length; but the content "
                "decides how much is forgotten, not distance alone."),
        source="Dao & Gu 2024, arXiv:2405.21060",
        identity="the masked product gives what the recurrence gives",
        published="simplified: the step Δ is the key’s norm over √d, where the paper learns it of each "
                  "token; the convolution before it is left out",
        signed=True,
        loops=True,
    ),
    Variant(
        "titans", N_("Titans (memory that learns)"), "memory", "causal", _MEMORY,
        titans.weights, titans.output, titans.multiply_adds,
        work="3 n d²",
        memory=memory.TITANS,
        recurrent=recurrent.TITANS,
        does=N_("corrects a memory by its error at each token, like DeltaNet, and carries part of the last "
                "change on (momentum)"),
        gives_up=N_("Single keys: what is well predicted is hardly learned, and old text is forgotten. In "
                    "training, step, momentum and forgetting are learned per token; here nothing is trained "
                    "and they are the same for all."),
        buys=N_("A memory of fixed size, spent on what surprises it; with momentum a surprise also counts "
                "for the tokens after it."),
        source="Behrouz et al. 2024, arXiv:2501.00663, eq. 8 to 13, one matrix",
        identity="without momentum and forgetting, DeltaNet of twice the step",
        published="simplified: the memory is one matrix (the paper’s linear case), and step, momentum and "
                  "forgetting are one number each, where the paper learns them of each token",
        signed=True,
        loops=True,
        by_token=titans.surprise,
        by_token_as=_SURPRISE,
        flow=Flow(((_LEARNS,),), ""),
    ),
    Variant(
        "titans_mac", N_("Titans MAC (memory as context)"), "memory", "causal",
        (Parameter("segment", N_("segment"),
                   N_("tokens; softmax works within a segment, the memory holds all before it"),
                   4, letter="c"),
         *_PERSISTENT, *_MEMORY),
        titans_ways.context_weights, titans_ways.context_output, titans_ways.adds_context,
        work="2 n (2 c + p) d + 6 n d²",
        memory=memory.CONTEXT,
        parts=titans_ways.context_parts,
        persistent=titans_ways.context_persistent,
        part_names=(N_("softmax: the segment"), N_("softmax: what its tokens read"),
                    N_("learned by the memory that is read")),
        whole_map=True,
        recurrent=recurrent.CONTEXT,
        does=N_("reads the memory with the queries of a segment, and lets softmax choose between what it read, the "
                "segment and persistent tokens"),
        gives_up=N_("Single keys of earlier segments: only what the memory kept of them is left. In training, "
                    "step, momentum and forgetting are learned per token; here nothing is trained and they are "
                    "the same for all."),
        buys=N_("The most exact of the three for questions about something far back: softmax itself picks "
                "from what the memory returns."),
        source="Behrouz et al. 2024, arXiv:2501.00663, section 4.1",
        identity="one segment as long as the text, without persistent tokens, is softmax; else softmax over loops’ "
                 "reads, the segment and them",
        published="simplified: as Titans; all parts share the head’s q, k and v, the memory learns the "
                  "segment itself, and persistent tokens, which are learned there, have random keys and values of 0",
        signed=True,
        loops=True,
        by_token=titans_ways.surprise,
        by_token_as=_SURPRISE,
        flow=Flow(((_LEARNS, N_("read with the segment’s queries")), (N_("the segment itself"),),
                   (N_("persistent tokens"),)), N_("softmax over all")),
    ),
    Variant(
        "titans_mag", N_("Titans MAG (memory as gate)"), "memory", "causal",
        (
            _WINDOW,
            Parameter("gate", N_("gate"), N_("the part of the output that is attention’s"), 50, least=0, most=100,
                      per=100),
            *_PERSISTENT,
            *_MEMORY,
        ),
        titans_ways.gate_weights, titans_ways.gate_output, titans_ways.adds_gate,
        work="2 n (w + p) d + 3 n d²",
        memory=memory.WINDOW,
        parts=titans_ways.window_parts,
        persistent=titans_ways.window_persistent,
        part_names=(N_("softmax: the window"), N_("learned by the memory")),
        whole_map=True,
        recurrent=recurrent.GATE,
        does=N_("runs softmax over the last tokens and the memory together, mixed by a gate"),
        gives_up=N_("Single keys before the window. The paper learns a gate, step, momentum and forgetting for "
                    "each token; here each is one number."),
        buys=N_("No seams between segments: a sliding window and the memory work at once; a gate sets how "
                "much of each."),
        source="Behrouz et al. 2024, arXiv:2501.00663, section 4.2",
        identity="its gate goes in a straight line from the memory to softmax over the window",
        published="simplified: as Titans; the gate is one number, and persistent tokens, which are learned "
                  "there, have random keys and values of 0",
        signed=True,
        loops=True,
        by_token=titans_ways.surprise,
        by_token_as=_SURPRISE,
        flow=Flow(((_LEARNS,), (_NEAR,)), N_("gate")),
    ),
    Variant(
        "titans_mal", N_("Titans MAL (memory as layer)"), "memory", "causal", (_WINDOW, *_PERSISTENT, *_MEMORY),
        titans_ways.layer_weights, titans_ways.layer_output, titans_ways.adds_gate,
        work="2 n (w + p) d + 3 n d²",
        memory=memory.WINDOW,
        parts=titans_ways.window_parts,
        persistent=titans_ways.window_persistent,
        part_names=(N_("softmax: outputs of the memory"), N_("learned by the memory")),
        whole_map=True,
        recurrent=recurrent.LAYER,
        does=N_("uses the memory’s output for each token as the values of softmax over the last tokens"),
        gives_up=N_("Exact values: all that attention mixes has passed through the memory. In training, step, "
                    "momentum and forgetting are learned per token; here nothing is trained and they are the "
                    "same for all."),
        buys=N_("The simplest of the three, as in hybrid models: a memory layer, then windowed attention "
                "over its output."),
        source="Behrouz et al. 2024, arXiv:2501.00663, section 4.3",
        identity="a window of one token is the memory alone; else the product of both maps",
        published="simplified: as Titans; persistent tokens, which are learned there, have random keys and "
                  "values of 0",
        signed=True,
        loops=True,
        by_token=titans_ways.surprise,
        by_token_as=_SURPRISE,
        flow=Flow(((_LEARNS, _NEAR),), ""),
    ),
)  # fmt: skip  # one variant a paragraph
