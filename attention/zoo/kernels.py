"""Rows of the table: variants that compare queries and keys with a kernel other than the exponential."""

from __future__ import annotations

from attention.zoo import (
    cosformer,
    flash,
    linear,
    memory,
    no_positions,
    performer,
    polaformer,
    recurrent,
    relu,
    transnormer,
)
from attention.zoo.variant import Parameter, Variant

N_ = str  # marks a text for translation where it is shown

SEED = Parameter("seed", N_("seed"), N_("any whole number"), 0, least=0, most=99)

KERNELS = (
    Variant(
        "linear", N_("linear attention (elu + 1)"), "kernel", "any", (), linear.weights, linear.output,
        linear.multiply_adds,
        work="2 n d (d + 1)",
        memory=memory.POSITIVE,
        recurrent=recurrent.POSITIVE,
        does=N_("compares by elu(q) + 1 and elu(k) + 1 instead of by the exponential of q·k"),
        gives_up=N_("Sharp attention: without an exponential no key can stand out as much, so the text is "
                    "blurred."),
        buys=N_("The simplest way to keep a text as one state of d × d numbers, however long it grows; the "
                "other kernels here reduce its blur."),
        source="Katharopoulos et al. 2020, arXiv:2006.16236",
        identity="the masked product, tiles and a token at a time give the same",
        published="as published",
    ),
    Variant(
        "relu", "ReLU (SANA)", "kernel", "any", (), relu.weights, relu.output, relu.multiply_adds,
        work="2 n d (d + 1)",
        memory=memory.POSITIVE,
        recurrent=recurrent.POSITIVE,
        does=N_("compares only the positive parts of q and k"),
        gives_up=N_("What q and k express by negative entries; and, without an exponential, sharp attention."),
        buys=N_("A state as small as the linear kernel’s, but keys can have a share of exactly 0, and the "
                "features cost only a comparison with 0."),
        source="Xie et al. 2024, arXiv:2410.10629",
        identity="the masked product, tiles and a token at a time give the same",
        published="as published for attention itself; SANA’s depth-wise convolution in the feed-forward part, "
                  "which is learned, is neutral, and a slider of the view “in the model” sets it",
    ),
    Variant(
        "no_positions", N_("no positions (NoPE)"), "kernel", "any", (), no_positions.weights, None, flash.multiply_adds,
        work="2 n² d",
        memory=memory.MAP,
        does=N_("compares queries and keys as they are before positions turn them; softmax where a layer turns none"),
        gives_up=N_("How far away a key is: two equal tokens cannot be told apart by it."),
        buys=N_("Nothing ties it to the lengths it was trained on; some models are trained this way "
                "(SmolLM3, Llama 4: every fourth layer)."),
        source="Kazemnejad et al. 2023, arXiv:2305.19466",
        identity="in every head it is the model without its rotation; in a layer that turns nothing, softmax",
        published="as published, but in a model that was trained with positions",
        needs_layer=True,
    ),
    Variant(
        "performer", "Performer (FAVOR+)", "kernel", "any",
        (Parameter("features", N_("features"), N_("random directions; more of them come closer to softmax"), 64,
                   most=1024, letter="m"), SEED),
        performer.weights, performer.output, performer.multiply_adds,
        work="2 n m (2 d + 1)",
        memory=memory.PERFORMER,
        recurrent=recurrent.PERFORMER,
        does=N_("draws random features whose product is the exponential of q·k on average"),
        gives_up=N_("Exactness: with few features the result is noise where queries and keys have large norms, "
                    "as in most trained heads. More features cure that, at a cost."),
        buys=N_("Softmax itself in the limit, at a cost that grows with the text, not with its square."),
        source="Choromanski et al. 2021, arXiv:2009.14794",
        identity="the mean square error of m features is the one of Lemma 2, 1/m of one feature's",
        published="as published (positive orthogonal features); the features are drawn once by the seed "
                  "and never redrawn, so that a picture can be repeated",
    ),
    Variant(
        "cosformer", "cosFormer", "kernel", "any", (), cosformer.weights, cosformer.output, cosformer.multiply_adds,
        work="4 n d (d + 1)",
        memory=memory.TWICE,
        recurrent=recurrent.COSFORMER,
        does=N_("compares positive parts, weighted down with distance by a cosine"),
        gives_up=N_("Sharp attention far back: a key a whole text away would weigh 0. The state is twice as "
                    "large."),
        buys=N_("Nearer keys count more, which the linear kernel cannot express, and it still needs only "
                "one state."),
        source="Qin et al. 2022, arXiv:2202.08791",
        identity="features of cosine and sine multiply to the cosine of the distance",
        published="as published, with M the length of the text",
        whole=True,
    ),
    Variant(
        "transnormer", "TransNormer (NormAttention)", "kernel", "any", (),
        transnormer.weights, transnormer.output, transnormer.multiply_adds,
        work="2 n d²",
        memory=memory.UNDIVIDED,
        recurrent=recurrent.UNDIVIDED,
        does=N_("sums linear attention without dividing by the sum of a row’s weights, and then scales the "
                "output to norm √d"),
        gives_up=N_("The norm of an output: all are alike, and rows no longer sum to 1."),
        buys=N_("Steadier training than other linear kernels: where a row’s weights sum to nearly 0, dividing by "
                "them makes gradients of any size; a norm does not."),
        source="Qin et al. 2022, arXiv:2210.10340",
        identity="the norm of φ(Q) (φ(K)ᵀ V) is the norm of (φ(Q) φ(K)ᵀ) V",
        published="the rule as published, with φ = elu + 1 and no epsilon in the norm, so that the length "
                  "of a row does not matter; the learned gain of the norm is left out, since nothing is "
                  "trained",
        signed=True,
    ),
    Variant(
        "polaformer", "PolaFormer", "kernel", "any",
        (
            Parameter("power", N_("power"), N_("higher is sharper, and learned in the paper"), 300,
                      least=50, most=1000, per=100),
            Parameter("opposite", N_("map drawn"), N_("of which pairs of entries"), 0, least=0, most=1,
                      choices=(N_("of the same sign"), N_("of opposite signs"))),
            Parameter("gate_same", N_("gate Gˢ"), N_("on the half of the same sign; 1 is neutral"), 100, least=0,
                      most=200, per=100),
            Parameter("gate_opposite", N_("gate Gᵒ"), N_("on the half of opposite signs; 1 is neutral"), 100, least=0,
                      most=200, per=100),
        ),
        polaformer.weights, polaformer.output, polaformer.multiply_adds,
        work="4 n d (d + 2)",
        memory=memory.TWICE,
        recurrent=recurrent.POLAFORMER,
        does=N_("splits q and k by sign and raises both to a power: pairs of the same sign mix one half of each "
                "value’s numbers, pairs of opposite signs the other half, each under a gate that the paper learns"),
        gives_up=N_("One map for the whole value: each half of its numbers sees only one of the two maps. The "
                    "state is twice that of a linear kernel."),
        buys=N_("Pairs of opposite signs count, which other kernels set to 0; and the power makes the "
                "largest entries stand out, so that attention becomes sharp again."),
        source="Meng et al. 2025, arXiv:2501.15061",
        identity="at power 1, same signs less opposite signs is q·k; a gate of 0 leaves one half alone",
        published="simplified: one power for all, where the paper learns one for each dimension; the gates Gˢ and Gᵒ "
                  "are one number each, neutral at 1, where the paper learns one for each token and dimension; the "
                  "learned convolution after it is left out, since nothing is trained",
        halves="opposite",
    ),
)  # fmt: skip  # one variant a paragraph
