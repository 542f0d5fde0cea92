"""Definitions of the terms for a model and its parts."""

from __future__ import annotations

from viz.components.glossary.pictures import BARS, GROUP, LOOK, MASK, STREAM, TURN
from viz.components.glossary.term import GlossaryTerm

N_ = str  # marks a text for Babel without translating it here

OF_MODELS = (
    GlossaryTerm(
        (N_("token"), N_("tokens")),
        N_(
            "A piece of text that the model reads as one: a word, a part of one, a single character. "
            "It never sees letters, only token ids. A dot, as in ·it, is the space before it."
        ),
    ),
    GlossaryTerm(
        (N_("tokenizer"), N_("tokenizers")),
        N_("What cuts a text into tokens before the model reads it; each family of models has its own."),
    ),
    GlossaryTerm(
        ("L6H4",),
        N_("The name of a head: L6H4 is head 4 of layer 6. Layers and heads are counted from 0."),
    ),
    GlossaryTerm(
        ("⟨bos⟩",),
        N_(
            "“Beginning of sequence”: a special token before the text. Heads that find nothing to look at often "
            "look at it."
        ),
    ),
    GlossaryTerm(
        ("⟨eos⟩",),
        N_("“End of sequence”: the special token by which the model says that the text ends here."),
    ),
    GlossaryTerm(
        (N_("layer"), N_("layers")),
        N_(
            "One step of the model. Each reads what the one before left at every token, adds "
            "something to it and hands it on; L0 is the first."
        ),
    ),
    GlossaryTerm(
        (N_("head"), N_("heads")),
        N_(
            "One of several small attentions that work side by side in a layer, each with its own "
            "queries; keys and values may be shared by several. L7H5 is head 5 of layer 7."
        ),
        LOOK,
    ),
    GlossaryTerm(
        (N_("attention"),),
        N_(
            "How a token takes in others: it asks all it may see, and mixes what they answer, each with its "
            "share. The shares add up to 100 %."
        ),
        LOOK,
    ),
    GlossaryTerm(
        (N_("query"), N_("queries")),
        N_(
            "What a token looks for: a list of numbers that a head makes of it. It is compared "
            "with the keys of the tokens it may see."
        ),
        LOOK,
    ),
    GlossaryTerm(
        (N_("key"), N_("keys")),
        N_(
            "What a token offers to be found by: a list of numbers that a head makes of it, to be "
            "compared with queries."
        ),
    ),
    GlossaryTerm(
        (N_("value"), N_("values")),
        N_(
            "What a token hands over when it is looked at: a list of numbers. A head adds the "
            "values up, each times its weight."
        ),
    ),
    GlossaryTerm(
        (N_("score"), N_("scores")),
        N_(
            "How well a query and a key fit: their numbers multiplied one by one and added up, "
            "divided by √d. Softmax turns the scores of a row into weights."
        ),
    ),
    GlossaryTerm(
        ("softmax",),
        N_(
            "Turns any numbers into shares that add up to 100 %: each becomes e to its power, divided by the sum "
            "of all. A little more becomes a lot more."
        ),
        BARS,
    ),
    GlossaryTerm(
        (N_("weight"), N_("weights")),
        N_(
            "The share of its attention that a token gives another; the weights of a row add up to 100 %. The learned "
            "numbers of a model are called its weights too."
        ),
    ),
    GlossaryTerm(
        ("lse",),
        N_(
            "Log-sum-exp: the logarithm of the sum under the softmax. score − lse is the logarithm of the weight, "
            "so one number a row is enough to get all its weights back."
        ),
    ),
    GlossaryTerm(
        ("logit", "logits"),
        N_(
            "The model's raw number for a token as the next one. Softmax turns these into "
            "probabilities; a difference of 1 is a factor of 2.7."
        ),
    ),
    GlossaryTerm(
        (N_("entropy"),),
        N_(
            "How spread out shares are, in bits: 0 when all is on one, 1 as for a fair coin, 3 as for eight equal ones."
        ),
    ),
    GlossaryTerm(
        (N_("bits"),),
        N_(
            "The unit of entropy: how many yes-or-no questions are left open on average. 2 bits are "
            "four equally likely cases."
        ),
    ),
    GlossaryTerm(
        (N_("nats"),),
        N_("The same as bits but with e instead of 2: 1 nat is 1.44 bits."),
    ),
    GlossaryTerm(
        ("KL",),
        N_(
            "Kullback–Leibler divergence: how far one distribution is from another, in bits. 0 when they are equal; it "
            "grows where what was likely became unlikely."
        ),
    ),
    GlossaryTerm(
        (N_("perplexity"),),
        N_(
            "Among how many equally likely tokens the model seems to choose on average; the lower, the "
            "better it predicts the text."
        ),
    ),
    GlossaryTerm(
        (N_("encoder"),),
        N_("The part of a model that reads a text: each of its tokens looks at all others, before it and after it."),
    ),
    GlossaryTerm(
        (N_("decoder"),),
        N_("The part of a model that writes: each token looks back, and the next one is computed from what it finds."),
    ),
    GlossaryTerm(
        (N_("causal"),),
        N_(
            "A causal model or mask: a token attends to itself and what came before it, never to what "
            "follows. So the model can continue a text."
        ),
    ),
    GlossaryTerm(
        (N_("teacher forcing"),),
        N_(
            "Training a decoder on a given text: at each position it has to predict the next token and is "
            "then given the true one, whatever it said. So one forward trains every position."
        ),
    ),
    GlossaryTerm(
        (N_("cross-attention"), N_("cross")),
        N_(
            "Attention from one text to another: the queries come from what a decoder writes, the keys "
            "and values from what its encoder has read."
        ),
    ),
    GlossaryTerm(
        ("⟨pad⟩", "<pad>"),
        N_("A token that fills empty places. T5 begins with it whatever it writes: there has to be a first token."),
    ),
    GlossaryTerm(
        (N_("residual"), N_("residual stream")),
        N_(
            "The list of numbers that runs through all layers at each token. Heads and "
            "the other parts only read it and add to it."
        ),
        STREAM,
    ),
    GlossaryTerm(
        ("RoPE",),
        N_(
            "Rotary position embedding: before they are compared, queries and keys are turned by an "
            "angle that grows with their position. A score then depends on the two tokens and the "
            "distance between them."
        ),
        TURN,
    ),
    GlossaryTerm(
        ("θ",),
        N_(
            "The angle in radians by which one pair of numbers is turned from one position to the next: large for "
            "the fast pairs, tiny for the slow ones."
        ),
        TURN,
    ),
    GlossaryTerm(
        ("GQA",),
        N_(
            "Grouped-query attention: several query heads share one head of keys and values, so that the cache is "
            "smaller."
        ),
        GROUP,
    ),
    GlossaryTerm(
        ("MQA",),
        N_("Multi-query attention: all query heads share a single head of keys and values."),
    ),
    GlossaryTerm(
        ("MHA",),
        N_("Multi-head attention: each query head has keys and values of its own."),
    ),
    GlossaryTerm(
        (N_("kv head"), N_("kv heads"), "kv"),
        N_("A head of keys and values; several query heads may share it: “H5 · kv 2” reads kv head 2."),
        GROUP,
    ),
    GlossaryTerm(
        (N_("KV cache"),),
        N_("Keys and values of the tokens read so far, stored so that they are not computed again for the next token."),
    ),
    GlossaryTerm(
        (N_("prefill"),),
        N_("Reading the whole prompt at once, before the first token is generated."),
    ),
    GlossaryTerm(
        (N_("masked"), N_("mask")),
        N_("Not to be seen: a text is predicted from left to right, so a token may not look at those after it."),
        MASK,
    ),
    GlossaryTerm(
        (N_("sink"), N_("sinks")),
        N_(
            "A place to put attention that is not needed, mostly the first token. What counts is the share that it "
            "takes and others do not get, not the value that it hands over."
        ),
    ),
)
