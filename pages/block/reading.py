"""Help texts for the views of the page The block."""

from __future__ import annotations

from pages.block.state import View
from ui.shared.help_card import show_reading
from ui.wording.i18n import _


def explain(view: View, *, numbers: bool) -> None:
    """Show the open view's help; ``numbers``: that of the feed-forward computation step by step."""
    {
        "architecture": _architecture,
        "embedding": _embedding,
        "context": _context,
        "stream": _stream,
        "streams": _streams,
        "norms": _norms,
        "ffn": _ffn_numbers if numbers else _ffn,
        "experts": _experts,
        "lens": _lens,
        "learning": _learning,
        "sizes": _sizes,
    }[view]()


def _lens() -> None:
    show_reading(
        [
            _("Each column is a token, each row a layer. The word in a cell is what the model would predict there, if "
              "the stream went straight on to the final norm and the output layer."),
            _("The last row is the model’s own prediction. Under it, for each token, is the layer after "
              "which that prediction is first on top; the colour says how sure the lens is."),
            _("KL says how far a row’s prediction is from the model’s own: how many more bits of "
              "surprise, on average, the model’s next tokens bring to someone who believes that row. It "
              "is 0 in the last row."),
            _("The last norm and output layer were trained only on the last stream. In early rows they "
              "read a stream that may be written in another way: what the lens shows there does not "
              "prove what the model knows."),
        ],
        formula="p(row) = softmax(W_U · norm(x_row))\nKL = Σ p(model) · log₂(p(model) / p(row))",
        source="nostalgebraist 2020, LessWrong; Belrose et al. 2023, arXiv:2303.08112",
        attempt=_("Click the last token’s cells from the bottom up: after which layer does the model’s answer come "
                  "to the "
                  "top, and does it stay there?"),
    )  # fmt: skip  # one sentence a paragraph


def _architecture() -> None:
    show_reading(
        [
            _("From top to bottom what a text goes through, each part under the name of its module: the tokenizer, a "
              "vector for each token, then the blocks, a last norm, and the output layer. Click a block to open it."),
            _("The line at the left is the residual stream. In a block, attention brings in what other "
              "tokens hold, the feed-forward part (FFN) works on each token separately; what both "
              "compute is added to the stream."),
            _("At the right the same token at every stage: one column a dimension, indigo above zero, orange below, "
              "and the norm of the vector. Whether a block is pre-norm, gated or "
              "parallel was found out by running it on a few tokens, not read from its name."),
            _("“2017 and today” puts the block of the first transformer beside one of today, with the parameters that "
              "both have at this model’s sizes."),
            _("In an encoder–decoder, a source token goes through the encoder, a target token through "
              "the decoder. At the bottom is the likeliest next token: the purpose of all of it."),
        ],
        formula="pre-norm:  x ← x + part(norm(x))\npost-norm: x ← norm(x + part(x))\n"
        "parallel:  x ← x + attention(x) + FFN(x)",
        source="Vaswani et al. 2017, arXiv:1706.03762; Xiong et al. 2020, arXiv:2002.04745; "
        "Shazeer 2020, arXiv:2002.05202",
        attempt=_("Add up the shares: which part holds most of this model’s parameters? Then open the first and the "
                  "last block: where does the vector grow most?"),
    )  # fmt: skip  # one sentence a paragraph


def _embedding() -> None:
    show_reading(
        [
            _("A model does not see letters. The tokenizer gives each token a number, its id, and the id picks one row "
              "of a table that was learned: the first strip. With it the residual stream of this token begins."),
            _("A one-hot vector is 0 everywhere but at the id. Times the table it gives just that row, so the look-up "
              "is a matrix product that need not be computed."),
            _("Below it the rows of the whole vocabulary that point most nearly the same way. Cosine 1 is the same "
              "direction, 0 is none in common. Every text that holds the token begins with the same row: what it means "
              "in this text is up to the layers."),
            _("Some models multiply the row by √d or add a vector for the position: the strip of what enters L0 shows "
              "it. The cosines are between rows as the model’s own look-up gives them."),
        ],
        formula="x = one_hot(id) · E = E[id]\ncos(a, b) = a · b / (‖a‖ ‖b‖)",
        source="Bengio et al. 2003, JMLR 3; Mikolov et al. 2013, arXiv:1301.3781",
        attempt=_("Click a neighbour, then a neighbour of that one: how many clicks until you are back? Then type a "
                  "name, a number, a verb."),
    )  # fmt: skip  # one sentence a paragraph


def _context() -> None:
    show_reading(
        [
            _("The same token begins with the same row of the embedding in every text. Attention then "
              "brings in its context, layer by layer, so its vectors in two texts move apart: at the "
              "left their cosine."),
            _("The dashed line is the cosine with the other tokens of this text, as a mean: vectors of one layer have "
              "much in common whatever the word is. What counts is how far the solid line lies above it."),
            _("At the right each point is one layer: its x is the cosine with one word’s vector there, "
              "its y with the other’s, each word read alone. These two numbers fix where the vector lies "
              "in the plane that both words span. A path that ends lower right leans to the first word."),
            _("A causal model reads from left to right: only what comes before the word can change it. A "
              "small model may tell two meanings apart without moving towards the words that you think "
              "of."),
        ],
        formula="cos(a, b) = a · b / (‖a‖ ‖b‖)\nposition after layer l: (cos(x_l, u_l), cos(x_l, v_l))",
        source="Ethayarajh 2019, arXiv:1909.00512; Peters et al. 2018, arXiv:1802.05365",
        attempt=_("Move the differing word to after the chosen one: what happens to the cosine in a causal "
                  "model?"),
    )  # fmt: skip  # one sentence a paragraph


def _stream() -> None:
    show_reading(
        [
            _("Each token has one vector that runs through all layers. A layer does not replace it: attention and FFN "
              "each add a vector of their own, so what leaves a layer is what came in, plus both."),
            _("Left, the norm of that vector after each layer; beside it, the norms of what is added. Below, every "
              "addition to one token as a strip: they sum up to the last stream exactly."),
            _("The cosine says where an addition points: near 0 it writes something new, above it "
              "repeats what is there, below it subtracts. In a post-norm model the norms sit in the "
              "stream and change it too."),
        ],
        formula="x_after = x_before + attention + FFN\n‖x‖ = √(Σ x²),  cos = a · x / (‖a‖ ‖x‖)",
        source="Elhage et al. 2021, transformer-circuits.pub; Xiong et al. 2020, arXiv:2002.04745",
        attempt=_("Choose the first token, then another: in many models the stream of one of them has a norm many "
                  "times larger. Which layer makes it so?"),
    )  # fmt: skip  # one sentence a paragraph


def _streams() -> None:
    show_reading(
        [
            _("Each column is a token’s stream, from its embedding at the top to what leaves the last layer. All run "
              "through a layer at once; only attention moves anything from one column to another. Each token’s "
              "strongest link is drawn."),
            _("“Which the next token needs” goes back from the last token’s last row: its own column, and every stream "
              "that it reads through links above the threshold, directly or through others. The map below checks it: "
              "each stream is replaced by the text’s mean, one at a time, and all layers above are run again."),
            _("Weak links can add up, and a stream that is read may change nothing: where map and links differ, "
              "believe the map. Early layers are read by nearly all streams above them."),
            _("When a text grows by a token, the columns before it stay as they are in a causal model. A "
              "KV cache keeps their keys and values, so only one column per token is computed."),
        ],
        formula="needed: (L, last); (l, j) where (l + 1, i) is needed and j = i or share_ij ≥ threshold\n"
        "share_ij = max over heads w_ij ‖v_j‖ / Σ_j",
        source="Elhage et al. 2021, transformer-circuits.pub; Kobayashi et al. 2020, arXiv:2004.10102; "
        "Abnar & Zuidema 2020, arXiv:2005.00928",
        attempt=_("Lower the threshold to 5 %: how many streams does the next token need now? Which of them change it "
                  "in the map?"),
    )  # fmt: skip  # one sentence a paragraph


def _ffn() -> None:
    show_reading(
        [
            _("The feed-forward part works on one token at a time. A first matrix asks many questions of its vector, "
              "one a unit; the activation lets through what is above zero (the unit is active) and holds back most of "
              "the rest."),
            _("Each unit that is let through adds its own column of the last matrix, times its value. A gated part "
              "(SwiGLU) multiplies each unit by what a further matrix makes of the same token. Where a norm follows "
              "the part, all columns go through it, divided by the size of their sum."),
            _("Below, the units that add most here, with the tokens whose logits they raise by "
              "themselves, bypassing all later layers. What those layers make of it is not counted."),
            _("A value below zero adds the column with its sign flipped; the tokens beside it are those "
              "that this raises. The SwiGLU curve takes the second factor to be x too."),
        ],
        formula="plain:  FFN(x) = W_down · act(W_up x)\ngated:  FFN(x) = W_down · (act(W_gate x) ⊙ W_up x)\n"
        "SiLU(x) = x · σ(x),  GELU(x) = x · Φ(x)",
        source="Geva et al. 2021, arXiv:2012.14913; Geva et al. 2022, arXiv:2203.14680; Shazeer 2020, arXiv:2002.05202",
        attempt=_("Go from the first layer to the last: where do the strongest units promote tokens that fit?"),
    )  # fmt: skip  # one sentence a paragraph


def _ffn_numbers() -> None:
    show_reading(
        [
            _("A token’s vector times W₁, plus a bias, gives one number a unit. The activation holds "
              "back most of what is below zero; W₂ turns the rest into a vector of the token’s own size, "
              "plus a bias."),
            _("A gated part multiplies: one matrix makes what the activation reads, another what it lets through. "
              "Llama and most models since have no biases; GPT-2 and BERT have them and no gate."),
            _("With the small numbers, every number of X, of a W or of a b can be typed, and all that "
              "follows changes. With the model’s own, the units that add most at this token and the "
              "first dimensions are shown; the rest of each sum is one term, so it still adds up."),
            _("Step through it, or cover the results and let someone predict them."),
        ],
        formula="plain:  FFN(x) = act(x W₁ + b₁) W₂ + b₂\ngated:  FFN(x) = (act(x W_gate) ⊙ (x W₁ + b₁)) W₂ + b₂\n"
        "SiLU(x) = x · σ(x),  GELU(x) = x · Φ(x)",
        source="Vaswani et al. 2017, arXiv:1706.03762, section 3.3; Shazeer 2020, arXiv:2002.05202",
        attempt=_("Set a bias to −5: its unit is off for every token, and one row of W₂ no longer counts."),
    )  # fmt: skip  # one sentence a paragraph


def _experts() -> None:
    show_reading(
        [
            _("In a mixture of experts the feed-forward part is there many times. A router, one small matrix, scores "
              "all of them for a token; the best few work on it, and their outputs are added, times their weights."),
            _("At the left the tokens across and the experts down: a number is a weight, a hatched cell an expert that "
              "did not see the token. At the right, how often each expert is picked; a click opens its layer."),
            _("All experts are held in memory, few of them work; in a dense layer every parameter works on every "
              "token. A router that sends most to a few wastes the others: training adds a loss against it."),
        ],
        formula="y = Σ over the picked experts  w_e(x) · FFN_e(x)\nMixtral: w = softmax(W_r x) of the picked ones",
        source="Shazeer et al. 2017, arXiv:1701.06538; Fedus et al. 2022, arXiv:2101.03961; "
        "Jiang et al. 2024, arXiv:2401.04088",
        attempt=_("Write a text in which a word occurs twice: does it go to the same experts both times?"),
    )  # fmt: skip  # one sentence a paragraph


def _learning() -> None:
    show_reading(
        [
            _("A language model learns from a text: at each token, the next one is what it should have "
              "said (teacher forcing). The second line is the first, shifted by one. The stronger the "
              "colour, the worse it did."),
            _("The gradient says how the loss would grow with each parameter. One step moves all of them "
              "against it, times the learning rate (0.001 … 0.3): too small does little, too large makes "
              "everything worse."),
            _("An encoder–decoder learns what its decoder writes after reading the whole source; the "
              "gradients are those of the chosen attention’s layers and heads."),
            _("This happens on a copy, on this text only: the model that all pages show stays as it is. "
              "Training is millions of such steps over many texts."),
        ],
        formula="loss = mean of −ln p(next token)\nθ ← θ − rate · ∇loss",
        source="Williams & Zipser 1989, Neural Computation 1(2); Goodfellow, Bengio & Courville 2016, section 8.3.1",
        attempt=_("Raise the learning rate until one step does harm. Then look at which heads the gradient would "
                  "change most."),
    )  # fmt: skip  # one sentence a paragraph


def _norms() -> None:
    show_reading(
        [
            _("Before a part reads the stream, or after it has added to it, a norm scales every token’s "
              "vector to the same size. RMSNorm divides by the root mean square; LayerNorm subtracts the "
              "mean first. Both see one token at a time."),
            _("BatchNorm brings each dimension to the same size over all tokens: so what a token becomes "
              "depends on the others, later ones included. That is why language models do not use it."),
            _("Where the norm is placed decides how the stream grows: on the stream (post-norm) it "
              "cannot grow, before each part (pre-norm) it grows about as the square root of the number "
              "of layers, without one it doubles every other layer."),
        ],
        formula="LayerNorm(x) = (x − mean) / √(var + ε)\nRMSNorm(x) = x / √(mean of x² + ε)",
        source="Ba et al. 2016, arXiv:1607.06450; Zhang & Sennrich 2019, arXiv:1910.07467; "
        "Xiong et al. 2020, arXiv:2002.04745",
        attempt=_("Compare this model’s growth with the random net of its kind: how has training changed it?"),
    )  # fmt: skip  # one sentence a paragraph


def _sizes() -> None:
    show_reading(
        [
            _("Type the sizes of a decoder, or begin with the open model or a well-known one: at the left its "
              "parameters by part, at the right what one more token costs. All of it follows from the sizes."),
            _("In a layer the four matrices of attention have 4 · d² parameters where every head has its "
              "own keys and values, the FFN 8 · d² to 12 · d²: most weights are in the FFN. Fewer "
              "key/value heads make W_K, W_V and the cache smaller; W_Q, W_O and q · k stay as they are."),
            _("A token costs about two FLOPs a parameter; q · k and the mix of values come on top and grow with the "
              "tokens in the cache."),
        ],
        formula="W_Q, W_O: d · heads · d_head;  W_K, W_V: d · kv_heads · d_head;  FFN: 2 or 3 · d · d_ffn\n"
        "cache = 2 · layers · kv_heads · d_head · tokens · 2 bytes\n"
        "FLOPs = 2 · matrices + 4 · layers · heads · d_head · tokens",
        source="Kaplan et al. 2020, arXiv:2001.08361; Brown et al. 2020, arXiv:2005.14165; config.json of each model",
        attempt=_("Choose Qwen2 72B and type 64 key/value heads: how much more does its cache take, and how much its "
                  "weights?"),
    )  # fmt: skip  # one sentence a paragraph
