"""Definitions of the terms for generation, interventions and interpretability."""

from __future__ import annotations

from viz.components.glossary.term import GlossaryTerm

N_ = str  # marks a text for Babel without translating it here

OF_USE = (
    GlossaryTerm(
        (N_("temperature"),),
        N_(
            "Divides the logits before softmax: below 1 the likely becomes likelier, above 1 all becomes more "
            "even, 0 always takes the likeliest."
        ),
    ),
    GlossaryTerm(
        ("top-p",),
        N_("Keep the likeliest tokens that together reach the share p, and draw among these."),
    ),
    GlossaryTerm(
        ("top-k",),
        N_("Keep the k likeliest tokens, and draw among these."),
    ),
    GlossaryTerm(
        ("min-p",),
        N_("Drop every token whose probability is below this share of the likeliest one's."),
    ),
    GlossaryTerm(
        (N_("seed"),),
        N_("The number that the random draws begin with: the same seed draws the same tokens again."),
    ),
    GlossaryTerm(
        (N_("beam search"), N_("beams")),
        N_(
            "Follow several continuations at once and keep the likeliest whole ones, instead of "
            "choosing token by token."
        ),
    ),
    GlossaryTerm(
        (N_("induction"),),
        N_(
            "Where a text repeats: a head looks at what came after the current token the last time, so "
            "the model continues a pattern it has seen once. The same head may do otherwise on another "
            "text."
        ),
    ),
    GlossaryTerm(
        (N_("ablated"), N_("ablation")),
        N_("Switched off: what the head passes on is set to zero, to see what the model loses."),
    ),
    GlossaryTerm(
        (N_("patching"), N_("patched"), N_("activation patching")),
        N_("Replace what one text left inside the model by another text's, to see which part carries the difference."),
    ),
    GlossaryTerm(
        ("float32", "bfloat16"),
        N_("How many digits the model computes with: float32 about seven, bfloat16 between two and three."),
    ),
    GlossaryTerm(
        (N_("gradient"), N_("gradients")),
        N_("How much one number moves when another is moved a little. Where it is 0, training learns nothing."),
    ),
    GlossaryTerm(
        (N_("recurrent net"),),
        N_("A network that reads one token after the other and keeps what it has read in one vector."),
    ),
    GlossaryTerm(
        (N_("convolution"), N_("convolution, dilated")),
        N_(
            "A layer in which each token reads a few others at fixed distances. In a dilated one, the "
            "distances grow with every layer."
        ),
    ),
    GlossaryTerm(
        ("FFN",),
        N_(
            "The feed-forward part of a layer: two or three matrices with a function between them, "
            "that process each token separately. It usually holds most of a model’s parameters."
        ),
    ),
    GlossaryTerm(
        ("RMSNorm", "LayerNorm", N_("norm"), N_("norms")),
        N_(
            "As a part of a model: it scales the numbers of a token’s vector to one size before the "
            "next part reads them; LayerNorm first subtracts their mean. For a vector, ‖x‖: its size, "
            "the square root of the sum of its squared numbers."
        ),
    ),
    GlossaryTerm(
        (N_("pre-norm"), N_("post-norm")),
        N_(
            "Where a layer’s norm is placed. Pre-norm: each part reads a normalised copy, and the "
            "stream is only added to. Post-norm: the sum is normalised, so the stream itself has one "
            "size after each part."
        ),
    ),
    GlossaryTerm(
        (N_("retrieval heads"), N_("retrieval head")),
        N_("A head that fetches single tokens from far back, so that the model can repeat them."),
    ),
    GlossaryTerm(
        (N_("kernel"),),
        N_("How similarity of a query and a key is measured: softmax takes the exponential of their product."),
    ),
    GlossaryTerm(
        (N_("numerical rank"),),
        N_("Roughly how many patterns a map is made of: few when its rows resemble one another."),
    ),
)
