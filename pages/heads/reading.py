"""Help texts for the page Heads, by the model's task: continuing a text, filling in a mask, or translating."""

from __future__ import annotations

from analysis.joined import first_query
from analysis.mask_effect import looks_ahead
from analysis.score_formula import score_formula
from model_runner.record import LayerRecord
from ui.shared.help_card import show_reading
from ui.shell.page import PageContext
from ui.wording.i18n import _

SOURCE = "Vaswani et al. 2017, arXiv:1706.03762"


def explain(opened: PageContext) -> None:
    """Show the help, and something to try."""
    record = opened.capture.record(opened.layer)
    across, ahead = first_query(opened.capture) > 0, looks_ahead(opened.capture)
    squares = _(
        "Each small square is one head: every row is a token that looks, every column a token that is looked at."
    )
    grey = _(
        "The stronger the colour, the larger the share of attention; each row adds up to 100 %, and hatched is masked."
    )
    full = _("The stronger the colour, the larger the share of attention; each row adds up to 100 %.")
    attempt = _("Pick the induction example, choose the metric “induction”, rank the heads and open the first one.")
    formula = f"weights = softmax({score_formula(record, 'kᵀ')} + mask)"
    source = ("Bahdanau et al. 2015, arXiv:1409.0473; " if across else "") + SOURCE
    if record.difference is not None:
        formula = f"output = norm((weights₁ − λ · weights₂) · v),  {formula}"
        source = f"Ye et al. 2024, arXiv:2410.05258; {source}"
    if (stands := record.substitute(opened.head)) is not None:
        grey = full = _(
            "{variant} replaces this head’s softmax: the stronger the colour, the more the value of that column counts."
        ).format(variant=_(stands.row.label))
        formula, source = "output = weights · v", stands.row.source
    if (own := record.unrolled) is not None:
        grey = full = _(
            "The stronger the colour, the more the input of that column counts; where rows do not sum to 1, shares "
            "are of sizes."
        )
        formula, source = own.formula, own.source
        attempt = _("Compare two heads: how far back does each of them reach?")
    if opened.runner.info.attentions:
        attempt = _(
            "Choose cross-attention and open a head of the last layer: row by row, the columns show "
            "the order in which the text is translated. Then type another translation above."
        )
    elif ahead:
        attempt = _("Pick an example with a hidden word, and find the heads that look at what comes after it.")
    names = _("L{layer}H{head} is head {head} of layer {layer}, both counted from 0; “·” stands for a space.")
    show_reading(
        [
            *_written_out(record),
            names.format(layer=opened.layer, head=opened.head),
            squares,
            full if across or ahead else grey,
            _("The open head is the same square made large; blue is the pinned query, red the pinned key."),
            _(
                "Any two tokens can be pinned, on the map, the text or the two lists: below the lists all heads are "
                "ranked by how much the one looks at the other."
            ),
            _(
                "Its habit is the rule that explains where most of its rows look most: a distance, one "
                "token, punctuation."
            ),
        ],
        formula=formula,
        source=source,
        attempt=attempt,
    )


def _written_out(record: LayerRecord) -> list[str]:
    """What the map of a layer without softmax is, and what its heads stand for; empty for other layers."""
    own = record.unrolled
    if own is None:
        return []
    matrix = _(
        "This layer has no softmax: {rule}. It carries a state from token to token; written out, its output is a "
        "lower-triangular matrix × its inputs, and that matrix is drawn."
    )
    gathered = _(
        "Each of the {count} channels has a matrix of its own: a head stands for {each} neighbouring channels, and "
        "its map is their mean."
    )
    found = [matrix.format(rule=_(own.label))]
    if own.channels > 1:
        found.append(gathered.format(count=own.channels * len(record.q), each=own.channels))
    return found
