"""Help texts for the views of the page Step by step."""

from __future__ import annotations

from pages.steps.state import View
from ui.shared.help_card import show_reading
from ui.wording.i18n import _

ATTENTION = "A = softmax(Q Kᵀ / √d + mask)\noutput = concat(A₀ V₀, A₁ V₁, …) W_O"
VASWANI = "Vaswani et al. 2017, arXiv:1706.03762"


def explain(view: View, *, of_model: bool) -> None:
    """Show the open view's help."""
    {
        "steps": lambda: _steps(of_model=of_model),
        "scale": _scale,
        "length": _length,
        "softmax": _softmax,
        "similarity": _similarity,
        "others": _others,
        "gradients": _gradients,
        "otherwise": _otherwise,
        "batch": _batch,
    }[view]()


def _steps(*, of_model: bool) -> None:
    whose = (
        _("The numbers are the open head’s own: six tokens and six dimensions of it; what is not shown is in every "
          "sum as one number. “Small numbers” shows the same with numbers that you can change.")
        if of_model
        else _("The numbers are made up to be small, and can be changed: click one of X or of a W and type, or drag "
               "the slider. “This model” shows the same steps on the open head’s own numbers.")
    )  # fmt: skip  # one sentence a paragraph
    show_reading(
        [
            _("The line of small pictures is the whole way, from the tokens’ vectors at the left to what attention "
              "adds to them at the right. One step of it is open below, with its numbers."),
            _("Point at a number of the last matrix: the row and the column that it is computed from "
              "light up, and the sum is spelled out. “play” does that number by number."),
            whose,
        ],
        formula=ATTENTION,
        source=VASWANI,
        attempt=_("Cover the results (“What comes here?”), compute one of them on paper, then click it."),
    )  # fmt: skip  # one sentence a paragraph


def _scale() -> None:
    show_reading(
        [
            _("A product of two random vectors is a sum of d products qᵢ kᵢ. Each has the variance E qᵢ² · E kᵢ² = 1, "
              "and independent terms add up theirs: d in all, measured at the left. Divided by √d it is 1 for every "
              "d."),
            _("Large scores make a softmax that gives nearly all to one key. At the right, its gradient: "
              "each cell says how one weight moves with one score. In a saturated row it is nearly 0 "
              "everywhere."),
            _("On its diagonal is yᵢ (1 − yᵢ): how much a weight grows with its own score. Beside it −yᵢ "
              "yⱼ: what it loses when another score grows, since all weights share one whole."),
            _("Temperature is the same knob: scores divided by it."),
        ],
        formula="Var(q · k) = Σ Var(qᵢ kᵢ) = d\ny = softmax(q · k / (√d · temperature)),  ∂y/∂s = diag(y) − y yᵀ",
        source=VASWANI,
        attempt=_("Switch the division off and drag d to the right: what happens to the gradient? Now raise "
                  "the temperature."),
    )  # fmt: skip  # one sentence a paragraph


def _length() -> None:
    show_reading(
        [
            _("At the left, how widely rows look: entropy in bits, of random scores, of the same with log n scaling, "
              "and of the rows of the open head."),
            _("At the right one score exceeds all others by a fixed gap. Without scaling, its weight "
              "goes to 0 with enough keys, however large the gap. With scores times log n ÷ log 512 it "
              "does so only below a gap of ln 512 ≈ 6.2; above that it gains. 512 stands for the length "
              "that a model was trained on."),
        ],
        formula="H = −Σ w log₂ w\nw = e^gap / (e^gap + n − 1)\nlog n scaling: scores · log n / log 512",
        source="Su 2021, kexue.fm/archives/8823; Veličković et al. 2024, arXiv:2410.01104",
        attempt=_("Drag the gap: how much larger must it be to keep half of the weight among ten times as many keys?"),
    )  # fmt: skip  # one sentence a paragraph


def _softmax() -> None:
    show_reading(
        [
            _("The same six scores, computed in four ways. As it is written, e to a score is soon too "
              "large for the dtype: the cells become ∞ and NaN. With the largest subtracted first, none "
              "can be."),
            _("Online, one pass is enough: whenever a larger score comes, the sum so far shrinks."),
            _("At the right, what one token’s probability costs out of a whole vocabulary, and by trees, which look at "
              "a part of it."),
            _("In a tree the tokens are the leaves, and each fork is one decision between two, a sigmoid: those of a "
              "path multiply to the token’s probability, and the probabilities of all leaves sum to 1. A Huffman tree "
              "joins the two rarest again and again, so frequent tokens have short paths."),
            _("An adaptive softmax compares the frequent tokens first; the rare ones are clusters whose vectors have "
              "fewer components, and which are seldom opened."),
            _("“A whole vocabulary” does both on this model’s tokens: a Huffman tree over how often each "
              "token occurs in a text, and the cutoff of an adaptive softmax to drag."),
            _("What a tree buys and gives up: the probability of one token is cheap; those of all tokens cost a walk "
              "through the whole tree, and choices come one after another, which a GPU does badly. An adaptive softmax "
              "keeps whole vectors for the common words and computes them at once, as a GPU does well; rare words have "
              "fewer components and are less exact."),
        ],
        formula="yᵢ = e^(sᵢ − m) / Σ e^(sⱼ − m),  m = max s\nℓ ← ℓ · e^(m − m′) + e^(s − m′)",
        source="Milakov & Gimelshein 2018, arXiv:1805.02867; Morin & Bengio 2005; Grave et al. 2017, arXiv:1609.04309",
        attempt=_("Drag the largest score across 11 in float16, and across 88 in bfloat16."),
    )  # fmt: skip  # one sentence a paragraph


def _similarity() -> None:
    show_reading(
        [
            _("The same queries and keys, measured in several ways; choose one in the line of small pictures."),
            _("A dot product is ‖q‖ ‖k‖ cos: a key can get attention because it points the right way, or "
              "because its norm is large."),
            _("On the model’s own head three maps below show every cell: only the angle, both norms "
              "multiplied, and their product. A column that is dark in the second map belongs to a key "
              "of large norm."),
        ],
        formula="q · k = ‖q‖ ‖k‖ cos\nadditive = v · tanh(q W + k U)",
        source="Bahdanau et al. 2015, arXiv:1409.0473; " + VASWANI,
        attempt=_("Choose “this model”: which of its keys has the largest norm, and is it the one looked at most?"),
    )  # fmt: skip  # one sentence a paragraph


def _others() -> None:
    show_reading(
        [
            _("Three kinds of layers that pass information between tokens, and self-attention in a "
              "window, at the length of your text and the width of this model."),
            _("A recurrent net takes one token after the other, so its steps wait; news from the first token passes "
              "through all of them. Self-attention does all at once, in one step."),
            _("“This text, read” shows it on your text: a random recurrent net takes the tokens’ "
              "embeddings one per step, and what is left of each at the end shrinks with every step. "
              "Attention reads all of them in one step, and the gradient to a token is its weight."),
            _("In return its work grows with the square of the length: it is the larger one from n = d "
              "on."),
        ],
        formula="self-attention 2 n² d,  recurrent 2 n d²,  convolution k n d²",
        source=VASWANI + ", table 1; van den Oord et al. 2016, arXiv:1609.03499",
        attempt=_("Type a longer text: when does self-attention work more than the recurrent net?"),
    )  # fmt: skip  # one sentence a paragraph


def _gradients() -> None:
    show_reading(
        [
            _("At the left a small stack of random layers: how large the gradient is that reaches each of them, as a "
              "share of the one at the end. Without residuals every layer multiplies it by F′; with them by F′ + 1, "
              "so it arrives however deep the stack is."),
            _("Pre-norm leaves that path free; post-norm sits on it and scales the gradient in every "
              "layer."),
            _("At the right the gradient from the last token back to an earlier one. A recurrent net multiplies by its "
              "matrix once a step: below 1 it vanishes, above it can explode. Attention has one step to every token, "
              "and its gradient is the token’s weight."),
        ],
        formula="x ← x + F(x):  ∂x′/∂x = F′ + 1\n∂h_T/∂h_(T−k) = Π diag(1 − h²) W,  k factors\n∂o/∂vⱼ = aⱼ",
        source="He et al. 2016, arXiv:1603.05027; Xiong et al. 2020, arXiv:2002.04745; "
        "Pascanu et al. 2013, arXiv:1211.5063",
        attempt=_("Raise the size of the weights to 2: which of the lines explode instead?"),
    )  # fmt: skip  # one sentence a paragraph


def _otherwise() -> None:
    show_reading(
        [
            _("Soft dictionary: a query is looked up among keys and gets a mixture of their values. At temperature 0 "
              "it is a look-up that takes one entry, at ∞ an average; attention is between."),
            _("In psychology attention has two cues: what one wants to find (volitional) is the query, what stands out "
              "by itself (nonvolitional) is the key."),
            _("Exchanged matrices: with W_Q instead of W_K a token scores another as that scores it, and its own "
              "score is a squared length; with no matrix at all tokens look for what is like them. Two matrices let "
              "“it” look for “dog” without “dog” looking for “it”. Mask, rotation and biases are left out."),
            _("Rotation aside, a head’s scores depend only on W_Q W_Kᵀ, and what it writes on W_V W_O: "
              "two large matrices whose rank is no more than d_head. Their singular values say how many "
              "directions it uses."),
        ],
        formula="o = Σ softmax(q·kⱼ / T) vⱼ\ns_ij = xᵢ W_Q W_Kᵀ xⱼᵀ;  W_Q = W_K: s_ij = s_ji\nrank(W_Q W_Kᵀ) ≤ d_head",
        source="Bahdanau et al. 2015, arXiv:1409.0473; Elhage et al. 2021, A Mathematical Framework for Transformer "
        "Circuits; Zhang et al. 2023, Dive into Deep Learning, 11.1",
        attempt=_("Drag the temperature to 0 and to ∞: at which of the two is the mixture one token’s value?"),
    )  # fmt: skip  # one sentence a paragraph


def _batch() -> None:
    show_reading(
        [
            _("Texts of a batch share one tensor, so shorter ones are padded. The padding mask hides its "
              "columns from every query; its rows are computed all the same and ignored, since nothing "
              "reads them and the loss leaves them out."),
            _("Hidden scores become −∞ before the softmax, so e^−∞ = 0. With padding on the left and a causal mask, a "
              "row of padding sees no key at all and becomes NaN; code writes −1e9, or the smallest number of the "
              "dtype, so that it stays finite."),
            _("Dropout comes after the softmax, before the values are mixed, and only in training. "
              "Models that generate are padded on the left: their last column is a real token, after "
              "which the next one comes."),
            _("Packing puts several short documents into one row instead: with one a row most of a long window is "
              "padding, which is computed all the same."),
            _("A step with a cache computes only the new rows. Its mask is a rectangle: as many rows as "
              "there are new tokens, as many columns as there are tokens."),
        ],
        formula="mask: [b, 1, n, n] = padding [b, 1, 1, n] ∧ causal [n, n]\ncached: [n_new, n_cache + n_new]",
        source=VASWANI + "; Srivastava et al. 2014, JMLR 15",
        attempt=_("Put the padding on the left and compare −∞ with −1e9: which row changes, and does anybody read it?"),
    )  # fmt: skip  # one sentence a paragraph
