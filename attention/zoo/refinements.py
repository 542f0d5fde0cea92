"""Rows of the table: variants computed from softmax's own map, AWRSR's rules and others of ours."""

from __future__ import annotations

from attention.zoo import awrsr, memory, reweighted
from attention.zoo.kernels import SEED
from attention.zoo.variant import Parameter, Variant

N_ = str  # marks a text for translation where it is shown

_TURNED = (
    Parameter("turned", "W′", N_("learned in the paper"), 0, least=0, most=1, letter="p",
              choices=(N_("the identity"), N_("random, orthogonal"))),
    SEED,
)  # fmt: skip  # one number a paragraph
_AWRSR = "Liu et al. 2024, arXiv:2410.21048, section 3"

REFINEMENTS = (
    Variant(
        "awrsr", N_("AWRSR: simple"), "weights", "any", _TURNED, awrsr.simple, None, awrsr.adds_simple,
        work="2 n² d + n³ (1 + 2 p)",
        memory=memory.TWO_MAPS,
        does=N_("uses the rows of the map as queries and keys again: tokens with similar rows attend to "
                "each other"),
        gives_up=N_("What a token attended to: only the similarity of rows counts. And n³ work. The paper "
                    "learns W′; here it is the identity or random, so this is the rule, not what training "
                    "makes of it."),
        buys=N_("In the paper, recommendations that follow from patterns of attention and not from items alone."),
        source=_AWRSR,
        identity="softmax(mask((A W_Q′)(A W_K′)ᵀ / √n)); rows that are alike share evenly",
        published="the rule as published; W′ is learned there, and the identity or a random orthogonal "
                  "matrix here",
        one_text=True,
        on_scores=True,
        whole=True,
    ),
    Variant(
        "awrsr_values", N_("AWRSR: value-weighted"), "weights", "any", _TURNED,
        awrsr.by_values, None, awrsr.adds_by_values,
        work="2 n² d + n³ (2 + 2 p)",
        memory=memory.TWO_MAPS,
        does=N_("compares the rows of the map and gives each token the weights of tokens with similar rows"),
        gives_up=N_("Each row’s own attention: similar rows grow more similar. W_V′ is the identity here: a "
                    "learned or random one would give weight to tokens that the mask hides."),
        buys=N_("Weights that are an average over tokens in the same role, less noisy than those of one token."),
        source=_AWRSR,
        identity="softmax(B) A; where all rows are alike it is A",
        published="the rule as published; W′ as in the simple rule, W_V′ the identity, since any other "
                  "would give weight to hidden tokens; under a window, what is hidden is shared out over "
                  "the row",
        one_text=True,
        on_scores=True,
        whole=True,
    ),
    Variant(
        "awrsr_added", N_("AWRSR: additive"), "weights", "any", _TURNED, awrsr.added, None, awrsr.adds_simple,
        work="2 n² d + n³ (1 + 2 p)",
        memory=memory.TWO_MAPS,
        does=N_("adds the weights of the simple rule to softmax’s own, and divides each row by its sum"),
        gives_up=N_("Half of each row’s own attention. W′ is the identity or random here; in the paper it is "
                    "learned."),
        buys=N_("Softmax’s own weights stay in, beside the similarity of rows."),
        source=_AWRSR,
        identity="without a sink the mean of softmax and the simple rule",
        published="the rule as published; W′ as in the simple rule",
        one_text=True,
        on_scores=True,
        whole=True,
    ),
    Variant(
        "awrsr_stochastic", N_("AWRSR: stochastic"), "weights", "any", _TURNED,
        awrsr.stochastic, None, awrsr.adds_stochastic,
        work="2 n² d + n³ (2 + 4 p)",
        memory=memory.TWO_MAPS,
        does=N_("treats each row as a normal distribution (mean and variance) and compares two by their "
                "Wasserstein distance"),
        gives_up=N_("Like the simple rule. Made for a model whose tokens are distributions (STOSA): here they "
                    "are vectors, so mean and variance both come from the same row, by a W′ that is the "
                    "identity or random."),
        buys=N_("In its papers, a weight’s certainty counts as well as its size."),
        source=_AWRSR + "; Fan et al. 2022, arXiv:2201.06035",
        identity="softmax(mask(−W₂² / √n)), the distance written out in loops",
        published="simplified: made for models whose tokens are distributions; here a row of weights gives "
                  "both mean and variance, by STOSA’s formulas",
        one_text=True,
        on_scores=True,
        whole=True,
    ),
    Variant(
        "rollout", N_("rollout in one head"), "weights", "any",
        (Parameter("rounds", N_("rounds"), N_("0 is softmax"), 1, least=0, most=16, letter="s"),),
        reweighted.passed_on, None, reweighted.adds_passed_on,
        work="2 n² d + s n³",
        memory=memory.TWO_MAPS,
        does=N_("goes one step further: a token also sees what the tokens it attends to see"),
        gives_up=N_("Where a token itself attended; after many rounds all rows grow alike. And n³ work."),
        buys=N_("Two steps in one: if “it” looks at “dog” and “dog” at “the”, “it” sees “the”. Induction heads need "
                "two layers for that."),
        source=N_("ours, after Abnar & Zuidema 2020, arXiv:2005.00928"),
        identity="no round is softmax; s rounds are the product of s + 1 maps, brought to the rows' sums",
        published="ours: published over the layers of a model, and here inside one head",
        one_text=True,
        on_scores=True,
    ),
    Variant(
        "rollout_mixed", N_("rollout, mixed in"), "weights", "any",
        (Parameter("share", N_("share"),
                   N_("the part taken from the attention of the tokens attended to; 0 is softmax"),
                   50, least=0, most=100, per=100),),
        reweighted.added, None, reweighted.adds_added,
        work="2 n² d + n³",
        memory=memory.TWO_MAPS,
        does=N_("keeps part of a token’s own attention and adds what the tokens it attends to see"),
        gives_up=N_("Part of each row’s own attention: that of other rows replaces it."),
        buys=N_("The second step without losing the first, and a knob between them."),
        source=N_("ours, after Abnar & Zuidema 2020, arXiv:2005.00928"),
        identity="its share goes in a straight line from softmax to one round of passing on",
        published="ours",
        one_text=True,
        on_scores=True,
    ),
    Variant(
        "value_norms", N_("weights × value norms"), "weights", "any",
        (Parameter("power", N_("power"), N_("of the norm of a value; 0 is softmax"), 100, least=0,
                   most=400, per=100),),
        reweighted.by_values, None, reweighted.adds_by_values,
        work="2 n² d",
        memory=memory.MAP,
        does=N_("weighs a key by the norm of its value too"),
        gives_up=N_("Attention to keys with tiny values, such as a sink: their share goes to others."),
        buys=N_("Weights that show how much of a token really arrives: a sink, attended to a lot but with "
                "a tiny value, counts for little."),
        source=N_("ours, after Kobayashi et al. 2020, arXiv:2004.10102"),
        identity="values of one length leave softmax; else each weight times its value’s length, as shares",
        published="ours: published as a measure of a map, and here in the place of the map; the output "
                  "matrix is left out",
        on_scores=True,
    ),
    Variant(
        "drawn_keys", N_("keys drawn at random"), "weights", "any",
        (
            Parameter("draws", N_("draws"), N_("keys drawn for each row; more of them come closer to softmax"), 16,
                      most=1024, letter="s"),
            Parameter("seed", N_("seed"), N_("any whole number"), 0, least=0, most=99),
        ),
        reweighted.drawn, None, reweighted.adds_drawn,
        work="n² d + n s d",
        memory=memory.MAP,
        does=N_("draws keys by their weights and takes the mean of their values"),
        gives_up=N_("The same answer each time: another seed draws other keys."),
        buys=N_("Softmax on average, reading only the values of the keys drawn; all scores are still "
                "computed."),
        source=N_("ours, after Xu et al. 2015, arXiv:1502.03044"),
        identity="the mean over seeds is softmax, and a weight’s variance is w (1 − w) / draws",
        published="ours: published with training by reinforcement, and here drawn of trained softmax "
                  "weights",
        on_scores=True,
    ),
)  # fmt: skip  # one variant a paragraph
