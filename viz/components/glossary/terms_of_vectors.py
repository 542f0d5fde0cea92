"""Definitions of the terms for vectors, positions, the parts of a layer and computing cost."""

from __future__ import annotations

from viz.components.glossary.pictures import TURN
from viz.components.glossary.term import GlossaryTerm

N_ = str  # marks a text for Babel without translating it here

OF_VECTORS = (
    GlossaryTerm(
        (N_("vector"), N_("vectors")),
        N_("A list of numbers. The model has one for every token; each of its parts reads it and writes others."),
    ),
    GlossaryTerm(
        (N_("dimension"), N_("dimensions")),
        N_("One place in a list of numbers: a vector of 32 dimensions is 32 numbers."),
    ),
    GlossaryTerm(
        (N_("vocabulary"),),
        N_("All tokens that a model knows; its tokenizer cuts any text into these."),
    ),
    GlossaryTerm(
        (N_("embedding"), N_("embeddings")),
        N_("The vector that a token begins with: its row in a table with one row for each token of the vocabulary."),
    ),
    GlossaryTerm(
        (N_("parameter"), N_("parameters")),
        N_("A number that the model has learned, or a setting."),
    ),
    GlossaryTerm(
        (N_("cosine"),),
        N_("How alike the directions of two vectors are: 1 the same, 0 at right angles, −1 opposite."),
    ),
    GlossaryTerm(
        (N_("variance"),),
        N_("How widely numbers are spread: the mean square of their distances from their mean."),
    ),
    GlossaryTerm(
        (N_("rank"),),
        N_("The place in an order: the likeliest token has rank 1, and so has the head with the largest value."),
    ),
    GlossaryTerm(
        (N_("context"),),
        N_("How many tokens a model can read at once; it was never trained on longer texts."),
    ),
    GlossaryTerm(
        (N_("prompt"),),
        N_("The given text, which the model continues."),
    ),
    GlossaryTerm(
        (N_("decode"),),
        N_("Generating, one token after the other: each step reads the one before and keeps its keys and values."),
    ),
    GlossaryTerm(
        (N_("greedy"),),
        N_("The likeliest token is taken each time; nothing is left to chance."),
    ),
    GlossaryTerm(
        ("u",),
        N_(
            "A random number between 0 and 1, made from the seed. All tokens lie side by side, each as "
            "wide as its probability; the one on which u falls is drawn."
        ),
    ),
    GlossaryTerm(
        (N_("chat template"),),
        N_("What a text is wrapped in so that a model trained to chat reads it as somebody's turn."),
    ),
    GlossaryTerm(
        (N_("cross-entropy"),),
        N_("How surprised the model is by the token that comes: minus the logarithm of its probability."),
    ),
    GlossaryTerm(
        (N_("rotation"), N_("rotated")),
        N_(
            "The turning of queries and keys by which a model with RoPE knows positions, one pair of numbers at a time."
        ),
        TURN,
    ),
    GlossaryTerm(
        (N_("frequency"), N_("frequencies"), N_("wavelength"), N_("wavelengths")),
        N_(
            "How fast a pair of numbers turns with the position; after as many tokens as its wavelength it has gone "
            "round once."
        ),
        TURN,
    ),
    GlossaryTerm(
        ("NTK",),
        N_(
            "A way to read texts longer than the context: the slow pairs of the rotation turn slower, the fastest "
            "stay as they are. Named after the neural tangent kernel."
        ),
    ),
    GlossaryTerm(
        ("YaRN",),
        N_(
            "A way to read texts longer than the context: fast pairs of the rotation stay, slow ones are slowed, with "
            "a ramp between them, and queries and keys are stretched a little."
        ),
    ),
    GlossaryTerm(
        ("ALiBi",),
        N_("Positions without vectors: a score is lowered by the distance, in each head with a slope of its own."),
    ),
    GlossaryTerm(
        (N_("soft-cap"),),
        N_("A bound that scores come near but never pass: cap · tanh(score ÷ cap)."),
    ),
    GlossaryTerm(
        (N_("sliding window"),),
        N_("A mask under which a token sees only a fixed number of the last tokens, itself included."),
    ),
    GlossaryTerm(
        (N_("prefix"),),
        N_("The beginning of a text whose tokens see one another in both directions; what follows only looks back."),
    ),
    GlossaryTerm(
        (N_("expert"), N_("experts")),
        N_("One of several feed-forward parts of a layer, of which a few are picked for each token."),
    ),
    GlossaryTerm(
        (N_("router"),),
        N_("What picks a token's experts: it gives each a score, and those with the largest work."),
    ),
    GlossaryTerm(
        (N_("activation"), N_("activations")),
        N_("The function between the matrices of a feed-forward part: large numbers pass, small ones are held back."),
    ),
    GlossaryTerm(
        (N_("active"), N_("active units")),
        N_(
            "A unit of a feed-forward part is active at a token where its activation reads a number "
            "above 0. Units are counted whatever they add."
        ),
    ),
    GlossaryTerm(
        (N_("vector norm"),),
        N_("The size of a vector, ‖x‖: the root of the sum of its squared numbers; also called its length."),
    ),
    GlossaryTerm(
        (N_("logit lens"),),
        N_(
            "The model's last norm and output layer applied before its last layer: what it would say if it ended there."
        ),
    ),
    GlossaryTerm(
        (N_("drift"),),
        N_("How far a change moved what a head does: for attention, the share that now lies on other tokens."),
    ),
    GlossaryTerm(
        (N_("direct attribution"),),
        N_(
            "What a head adds by itself to a token's logit, above what it adds to the mean logit: its output through "
            "the last norm and the output layer, without what later layers make of it."
        ),
    ),
    GlossaryTerm(
        (N_("multiply-adds"),),
        N_("A measure of work: two numbers multiplied and added to a third count as one."),
    ),
    GlossaryTerm(
        ("SRAM", "HBM"),
        N_("Memories of a graphics card: HBM is large and far from where it computes, SRAM small, near and fast."),
    ),
)
