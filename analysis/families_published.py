"""Well-known models with the four kinds of masks, from the papers that introduced them."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.families import Kind

N_ = str  # marks a text for Babel without translating it here


@dataclass(frozen=True)
class Known:
    """One model. Technical names are not translated; the other words are."""

    name: str
    kind: Kind
    mask: str
    positions: str
    normalisation: str
    activation: str
    aim: str
    source: str


KNOWN = (
    Known(
        "BERT", "encoder", N_("every token sees every token"), N_("learned, one vector per position (512)"),
        N_("LayerNorm after each sublayer"), "GELU",
        N_("predict the hidden words, 15 % of all, and whether two sentences follow each other"),
        "Devlin et al. 2018, arXiv:1810.04805",
    ),
    Known(
        "GPT-2", "causal", N_("each token sees itself and what came before"),
        N_("learned, one vector per position (1,024)"), N_("LayerNorm before each sublayer, and at the end"), "GELU",
        N_("predict the next token"), "Radford et al. 2019, Language Models are Unsupervised Multitask Learners",
    ),
    Known(
        "T5", "two", N_("encoder: everything; decoder: what it has written, and the whole source"),
        N_("a learned bias on the scores for each distance, in 32 buckets"),
        N_("LayerNorm without mean and bias (RMSNorm), before each sublayer"), N_("ReLU; in version 1.1 GEGLU"),
        N_("predict the spans that were cut out, 15 % of the text, each marked by its own special "
           "token"),
        "Raffel et al. 2019, arXiv:1910.10683; Shazeer 2020, arXiv:2002.05202",
    ),
    Known(
        "GLM", "prefix", N_("the text with gaps sees all of itself; the words of the gaps see it and what came before"),
        N_("learned, two vectors per token: its position in the text and its position in the gap"),
        N_("LayerNorm, its order with the residual connection rearranged"), "GELU",
        N_("write the words of the gaps, in shuffled order, token by token"), "Du et al. 2021, arXiv:2103.10360",
    ),
    Known(
        "Llama", "causal", N_("each token sees itself and what came before"),
        N_("RoPE: queries and keys are turned in every layer"), N_("RMSNorm before each sublayer"), "SwiGLU",
        N_("predict the next token; in Llama 2’s large models heads share keys and values (GQA)"),
        "Touvron et al. 2023, arXiv:2302.13971; Touvron et al. 2023, arXiv:2307.09288",
    ),
)  # fmt: skip  # one model a paragraph
