"""The rows of the table for what refines softmax's own map: rules of ours, see ``refined.py``."""

from __future__ import annotations

from attention.zoo import memory, refined
from attention.zoo.variant import Parameter, Variant

N_ = str  # marks a text for translation where it is shown

REFINEMENTS = (
    Variant(
        "refined", N_("refined: passed on"), "weights", "any",
        (Parameter("rounds", N_("rounds"), N_("0 is softmax"), 1, least=0, most=16, letter="s"),),
        refined.passed_on, None, refined.adds_passed_on,
        work="2 n² d + s n³",
        memory=memory.TWO_MAPS,
        does=N_("goes on a step: a token sees what the tokens see that it looks at (simple refinement)"),
        gives_up=N_("Where a token itself looked; after many rounds all rows grow alike. And n³ work."),
        buys=N_("Two steps in one: if “it” looks at “dog” and “dog” at “the”, “it” sees “the”. Induction heads need "
                "two layers for that."),
        source=N_("the name: arXiv:2410.21048, the rule: ours; Abnar & Zuidema 2020, arXiv:2005.00928"),
        identity="no round is softmax; s rounds are the product of s + 1 maps, brought to the rows' sums",
        one_text=True,
        on_scores=True,
    ),
    Variant(
        "refined_added", N_("refined: added"), "weights", "any",
        (Parameter("share", N_("share"), N_("hundredths from the looks of those looked at; 0 is softmax"), 50, least=0,
                   most=100, per=100),),
        refined.added, None, refined.adds_added,
        work="2 n² d + n³",
        memory=memory.TWO_MAPS,
        does=N_("keeps a part of its own look and adds what those that it looks at see (additive refinement)"),
        gives_up=N_("A part of each row’s own look: those of others stand in its place."),
        buys=N_("The second step without losing the first, and a knob between them."),
        source=N_("the name: arXiv:2410.21048, the rule: ours; Abnar & Zuidema 2020, arXiv:2005.00928"),
        identity="its share goes in a straight line from softmax to one round of passing on",
        one_text=True,
        on_scores=True,
    ),
    Variant(
        "refined_values", N_("refined: value-weighted"), "weights", "any",
        (Parameter("power", N_("power"), N_("hundredths, of the norm of a value; 0 is softmax"), 100, least=0,
                   most=400, per=100),),
        refined.by_values, None, refined.adds_by_values,
        work="2 n² d",
        memory=memory.MAP,
        does=N_("weighs a key by the norm of its value too (value-weighted refinement)"),
        gives_up=N_("Looks at keys with hardly a value, such as a sink: their share goes to others."),
        buys=N_("Weights that say how much of a token really arrives: a sink, looked at much but with hardly a "
                "value, counts as little as it does."),
        source=N_("the name: arXiv:2410.21048, the rule: ours; Kobayashi et al. 2020, arXiv:2004.10102"),
        identity="values of one length leave softmax; else each weight times its value’s length, as shares",
        on_scores=True,
    ),
    Variant(
        "refined_drawn", N_("refined: drawn"), "weights", "any",
        (
            Parameter("draws", N_("draws"), N_("keys drawn of each row; more of them come nearer to softmax"), 16,
                      most=1024, letter="s"),
            Parameter("seed", N_("seed"), N_("any whole number"), 0, least=0, most=99),
        ),
        refined.drawn, None, refined.adds_drawn,
        work="n² d + n s d",
        memory=memory.MAP,
        does=N_("draws keys by their weights and takes the mean of their values (stochastic refinement)"),
        gives_up=N_("The same answer each time: another seed draws other keys."),
        buys=N_("Softmax on average, of the values of the keys drawn alone; all scores are still computed."),
        source=N_("the name: arXiv:2410.21048, the rule: ours; Xu et al. 2015, arXiv:1502.03044"),
        identity="the mean over seeds is softmax, and a weight’s variance is w (1 − w) / draws",
        on_scores=True,
    ),
)  # fmt: skip  # one variant a paragraph
