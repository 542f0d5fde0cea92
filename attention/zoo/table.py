"""The table of variants: a new one is one file beside this one and one paragraph, here or in one of the files of rows.

docs/zoo.md is written from it (``python -m scripts.zoo_table``), and the page Zoo draws it.
"""

from __future__ import annotations

from attention.zoo import (
    differential,
    dual_chunk,
    flash,
    linformer,
    log_n,
    memory,
    mla,
    nystrom,
    off_by_one,
    recurrent,
    reformer,
    sigmoid,
    transnormer,
)
from attention.zoo.kernels import KERNELS, SEED
from attention.zoo.refinements import REFINEMENTS
from attention.zoo.states import STATES
from attention.zoo.variant import Parameter, Variant

N_ = str  # marks a text for translation where it is shown

_QUADRATIC = "2 n² d"

VARIANTS = (
    *KERNELS,
    Variant(
        "blocks", N_("diagonal blocks (TransNormer)"), "mask", "any",
        (Parameter("size", N_("block"), N_("tokens"), 4, letter="b"),),
        transnormer.block_weights, None, transnormer.block_multiply_adds,
        work="2 n b d",
        memory=memory.BLOCKS,
        whole_map=True,
        recurrent=recurrent.BLOCKS,
        does=N_("keeps softmax, inside blocks of the text"),
        gives_up=N_("Everything outside the block: the first token of one sees only itself in a causal model."),
        buys=N_("Exact softmax nearby, with work that grows with the text, not with its square."),
        source="Qin et al. 2022, arXiv:2210.10340",
        identity="one block as long as the text is softmax; else softmax of each block by itself",
        published="as published",
        one_text=True,
        on_scores=True,
    ),
    Variant(
        "reformer", "Reformer (LSH)", "mask", "any",
        (
            Parameter(
                "buckets", N_("buckets"),
                N_("an even number; with 4 or fewer, a chunk and the one before it are the whole text"),
                8, least=2, most=64, step=2, letter="b",
            ),
            Parameter("hashes", N_("hashes"), N_("rounds; a key found in any is seen"), 1, most=32, letter="h"),
            SEED,
        ),
        reformer.weights, None, reformer.multiply_adds,
        work="n d h (b / 2 + 8 n / b)",
        memory=memory.HASHED,
        whole_map=True,
        does=N_("sorts tokens into buckets by a random hash, which nearby vectors mostly share, and lets "
                "each attend only within its bucket; queries serve as keys"),
        gives_up=N_("Keys of their own (scores are q·k ÷ (‖k‖ √d) here); a token looks at itself only where it finds "
                    "no other; and near tokens that the hash puts into two buckets do not see each other."),
        buys=N_("Softmax over the few keys that matter most, found without comparing all."),
        source="Kitaev et al. 2020, arXiv:2001.04451",
        identity="one bucket is all of shared-QK attention; more hashes come nearer to it",
        published="simplified: keys of several hash rounds are seen by one softmax, where the paper merges "
                  "the rounds’ own softmaxes; scores are q·k ÷ (‖k‖ √d), those of transformers are √d "
                  "larger (q·k ÷ ‖k‖), so looks are softer here",
        whole=True,
    ),
    Variant(
        "linformer", "Linformer", "memory", "none",
        (
            Parameter(
                "rank", N_("segments"), N_("keys and values left after merging those of all tokens"), 4, letter="k"
            ),
        ),
        linformer.weights, linformer.output, linformer.multiply_adds,
        work="4 n d k",
        memory=memory.SEGMENTS,
        does=N_("mixes keys and values to a few means of segments before any query sees them"),
        gives_up=N_("Single keys, and any mask: a segment holds the future too."),
        buys=N_("However long the text, k keys and values are kept and compared: memory and work grow only "
                "with the length."),
        source="Wang et al. 2020, arXiv:2006.04768",
        identity="as many segments as tokens is softmax",
        published="simplified: E and F are means of even segments (one of the paper’s choices), which need "
                  "no training",
        whole=True,
    ),
    Variant(
        "nystrom", "Nyströmformer", "memory", "none",
        (
            Parameter("landmarks", N_("landmarks"), N_("means of segments that stand for all tokens"), 4, letter="m"),
            Parameter("steps", N_("steps"), N_("of the iteration that inverts their map"), 6, most=60, letter="s"),
        ),
        nystrom.weights, nystrom.output, nystrom.multiply_adds,
        work="6 n d m + 2 d m² + 4 s m³",
        memory=memory.LANDMARKS,
        does=N_("lets each token attend to a few landmarks (means of parts of the text) and the landmarks "
                "to all tokens, never token to token; the inverse of the landmarks’ own map removes what "
                "they share and would count twice"),
        gives_up=N_("Any mask, since landmarks mix tokens from all over the text; and weights that are always "
                    "positive, since the inverse has negative numbers too."),
        buys=N_("Work and memory that grow only with the length: no map of all tokens is made, and its "
                "stand-in of rank m comes from the text’s own queries and keys."),
        source="Xiong et al. 2021, arXiv:2102.03902",
        identity="as many landmarks as tokens is softmax, as far as the inverse has converged",
        published="as published, without the convolution beside it, which is learned",
        signed=True,
        whole=True,
    ),
    Variant(
        "flash", N_("FlashAttention (tiles)"), "nothing", "any",
        (
            Parameter("rows", N_("queries in a tile"), N_("tokens"), 4, letter="r"),
            Parameter("columns", N_("keys in a tile"), N_("tokens"), 4, letter="c"),
        ),
        flash.weights, flash.output, flash.multiply_adds,
        work=_QUADRATIC,
        memory=memory.TILES,
        recurrent=recurrent.CACHE,
        does=N_("processes the keys a tile at a time and corrects its sums whenever a larger score comes"),
        gives_up=N_("Nothing: it is exactly softmax, with as much arithmetic."),
        buys=N_("No map is ever stored: memory grows with the text, not with its square."),
        source="Dao et al. 2022, arXiv:2205.14135",
        identity="tiles of any size give what torch’s scaled_dot_product_attention gives",
        published="as published, in float64 on a CPU: it is exact, and what it saves is shown and not "
                  "measured",
        on_scores=True,
        loops=True,
    ),
    Variant(
        "mla", N_("MLA (latent)"), "memory", "any",
        (Parameter("rank", N_("latent"), N_("numbers kept per token, by all heads together"), 4, letter="r"),),
        mla.weights, mla.output, mla.multiply_adds,
        work="2 n d (n + r)",
        memory=memory.LATENT,
        does=N_("keeps one short vector per token (the latent), from which each head’s matrix rebuilds its "
                "keys and values; here the best such latent for this text is used, and the rebuilt keys "
                "are rotated by position"),
        gives_up=N_("The parts of keys and values that do not fit; DeepSeek learns the matrices and keeps a "
                    "few rotated numbers beside the latent (decoupled RoPE)."),
        buys=N_("A cache of r numbers per token for all heads together, where softmax keeps keys and "
                "values for each head. It saves memory, not work."),
        source="DeepSeek-AI 2024, arXiv:2405.04434, section 2.1",
        identity="a latent as long as the text’s rank is softmax; a shorter one leaves out just its singular values",
        published="simplified: the latent is the best one for this text (SVD) instead of learned, and all "
                  "of the rebuilt keys are turned instead of a few beside it (decoupled RoPE), which takes "
                  "training",
        values=mla.values,
        needs_layer=True,
        fitted=True,
        whole=True,
    ),
    *STATES,
    Variant(
        "dual_chunk", N_("dual chunk"), "memory", "causal",
        (
            Parameter("chunk", N_("chunk"), N_("tokens; within one, softmax as it is"), 4),
            Parameter("local", N_("true beyond a chunk"), N_("tokens across its border at their true distance"), 2),
        ),
        dual_chunk.weights, None, dual_chunk.multiply_adds,
        work=_QUADRATIC,
        memory=memory.MAP,
        does=N_("sees every key, but no farther away than the model was trained on: larger distances are made smaller"),
        gives_up=N_("True distances: all far keys seem to be at the same few positions."),
        buys=N_("Texts of many times the trained length, without training, and with exact softmax nearby."),
        source="An et al. 2024, arXiv:2402.17463",
        identity="a text within one chunk is softmax; else softmax of scores at the distances of its index map",
        published="as published, with the head’s own rotation; the chunk is small, so that a short text "
                  "shows it",
        needs_turns=True,
        parts=dual_chunk.parts,
        part_names=(N_("within the chunk (intra)"), N_("the chunk before (successive)"), N_("farther back (inter)")),
        needs_layer=True,
    ),
    Variant(
        "sigmoid", N_("sigmoid"), "weights", "any",
        (Parameter("keys", N_("keys in the bias"), N_("n of the bias −ln n"), None, most=100_000),),
        sigmoid.weights, None, flash.multiply_adds,
        work=_QUADRATIC,
        memory=memory.MAP,
        recurrent=recurrent.CACHE,
        does=N_("weighs each cell by itself; keys do not compete"),
        gives_up=N_("Rows that sum to 1: a token may attend to a lot, or to hardly anything."),
        buys=N_("No sum over the row to wait for, and no need for a sink."),
        source="Ramapuram et al. 2024, arXiv:2409.04431",
        identity="each weight is e^s / (n + e^s), cell by cell",
        published="as published",
        signed=True,
        on_scores=True,
    ),
    Variant(
        "log_n", N_("log-n scaling"), "weights", "any",
        (Parameter("length", N_("length"), N_("keys that leave a row unchanged"), 4, least=2, most=100_000),),
        log_n.weights, None, flash.multiply_adds,
        work=_QUADRATIC,
        memory=memory.MAP,
        recurrent=recurrent.CACHE,
        does=N_("multiplies a row’s scores by ln n ÷ ln m: n keys, and m that leave it unchanged"),
        gives_up=N_("Softmax at any other length than m: shorter rows blur, longer ones get sharper than they were "
                    "trained to be."),
        buys=N_("Long rows blur more slowly: a key that is far enough above the others keeps its share."),
        source="Chiang & Cholak 2022, arXiv:2202.12172",
        identity="a row of so many keys is softmax; others are shares to the power ln n / ln m",
        published="as published",
        on_scores=True,
    ),
    Variant(
        "off_by_one", N_("softmax with a sink"), "weights", "any",
        (Parameter("sink", N_("sink"), N_("its score; 0 is softmax off by one"), 0, least=-100, most=100,
                   per=10),),
        off_by_one.weights, None, flash.multiply_adds,
        work=_QUADRATIC,
        memory=memory.MAP,
        recurrent=recurrent.CACHE,
        does=N_("adds one more term to the sum of a row, a key that holds nothing"),
        gives_up=N_("Rows that sum to 1: what the sink takes is lost."),
        buys=N_("A head may look at nothing, and need not park on the first token."),
        source="Miller 2023; Agarwal et al. 2025, arXiv:2508.10925 (gpt-oss)",
        identity="softmax over one more key, whose value is 0",
        published="as published; the sink is one number set by hand, where gpt-oss learns one for each "
                  "head",
        on_scores=True,
    ),
    Variant(
        "differential", N_("differential"), "weights", "any",
        (Parameter("share", N_("share λ"), N_("the part of the other map that is subtracted"), 80, least=0, most=100,
                   per=100),),
        differential.weights, None, lambda n_tokens, d_head, share: 3 * n_tokens**2 * d_head,
        work="3 n² d",
        memory=memory.TWO_MAPS,
        does=N_("subtracts the map of the head beside it, as noise that both share"),
        gives_up=N_("A second head: one map also uses up the next head of the layer. Weights may be negative."),
        buys=N_("What both heads see alike, such as a sink, cancels."),
        source="Ye et al. 2024, arXiv:2410.05258",
        identity="at λ = 0 it is softmax; the map is linear in λ",
        published="simplified: the second map is of the head beside this one, where the paper’s is of the "
                  "other half of the head’s own q and k; the norm after it is left out, since nothing is "
                  "trained so",
        signed=True,
        on_scores=True,
        needs_beside=True,
    ),
    *REFINEMENTS,
)  # fmt: skip  # one variant a paragraph
BY_NAME = {variant.name: variant for variant in VARIANTS}
# Former names, from when they were named after AWRSR: old URLs and edits keep working.
FORMER = {
    "refined": "rollout", "refined_added": "rollout_mixed", "refined_values": "value_norms",
    "refined_drawn": "drawn_keys",
}  # fmt: skip  # pairs
