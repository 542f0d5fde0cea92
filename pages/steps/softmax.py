"""Safe softmax: four ways to compute it, where the first overflows, and the cost of a large vocabulary."""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import escape
from itertools import pairwise

import numpy as np
import pandas as pd
import streamlit as st

from analysis.number_text import significant
from attention.safe_softmax import DTYPES, Ways, every_way, example, overflow_at
from attention.vocabulary_cost import (
    CUTOFFS,
    DIVISOR,
    VOCABULARIES,
    adaptive_cost,
    counted_adaptive,
    counted_full,
    counted_tree,
    full_cost,
    tree_cost,
)
from pages.steps.chains import show_chain
from pages.steps.huffman import show_tree
from pages.steps.knobs import Knob
from pages.steps.numbers import changed, row_of
from pages.steps.state import StepsState, state
from ui.shared import cached
from ui.shared.chain_matrix import drawn_matrix
from ui.shared.export_bundle import ExportBundle, component_page
from ui.shared.finding import show_finding
from ui.shell.components import name_figure, show_html
from ui.state.controls import choose
from ui.wording.i18n import _
from viz.components.step_by_step import step_by_step
from viz.components.step_by_step.chain import DrawnChain, DrawnStep, Light, Live, rows_of
from viz.matrices_svg import Table, matrices_svg, written
from viz.tree_html import adaptive_tree_html

LETTERS = {"S": "s", "E": "e", "N": "y", "B": "e", "A": "y", "L": "l", "O": "y"}  # symbol of each row
D = 64  # dimensions of a vector, in the costs
ROUNDING = 0.05, 0.005  # of a probability, and for comparisons: larger than rounding errors, those of bfloat16 included


@dataclass(frozen=True, eq=False)
class Softmax:
    """The row computed in every way, and the costs by vocabulary."""

    ways: Ways
    dtype: str
    largest: float
    costs: pd.DataFrame
    tree: pd.DataFrame  # for every leaf: its decisions, and the product of their sigmoids
    payload: bytes


def show_softmax() -> Softmax:
    """Show the knobs, the four ways, and beside them the trees."""
    held = state()
    with st.container(key="steps_knobs", horizontal=True, vertical_alignment="center", gap="medium"):
        choose(StepsState, "dtype", held.dtype, {name: name for name in DTYPES})
        hint = _("Click a score and type another.")
        st.html(f"<p class='atlas-caption'>{escape(hint)}</p>")
    usual, written_numbers = example(held.largest), changed()
    ways = every_way(row_of("S", usual, written_numbers), held.dtype)
    show_finding(*_finding(ways, held.dtype), of_several=True)
    costs = vocabulary_costs()
    left, right = st.columns([0.64, 0.36], gap="large")
    live = Live("softmax", "S", rows_of(example(1.0).numpy()[None]), dtype=held.dtype)
    with left:
        chain = replace(_chain(ways, usual.numpy()), knobs=[Knob("largest", held.largest).drawn()], live=live)
        payload = show_chain("steps_softmax", chain, edits=written_numbers)
    with right:
        costly = _("What a token’s probability costs")
        st.markdown(f"**{costly}**")
        st.table(costs.T.map(lambda value: f"{value:,.0f}").rename_axis(_("tokens in the vocabulary")))
        words = _("Multiply-adds for one token, vectors of {d} numbers: all products; the way down a tree, the "
                  "mean over its leaves; and adaptive, the mean where the r-th word comes as often as 1 ÷ r. "
                  "Counted, as "
                  "a check: every leaf walked to, and what torch’s own layers multiply.")  # fmt: skip
        st.html(f"<p class='atlas-caption'>{escape(words.format(d=D))}</p>")
        tree = show_tree(ways.scores.double().numpy())
        name_figure(escape(costly))
        show_html(adaptive_tree_html(_groups(), 2, _adaptive_words()), key="softmax_adaptive")
    return Softmax(ways, held.dtype, held.largest, costs, tree, payload)


def _finding(ways: Ways, dtype: str) -> tuple[str, str]:
    """Whether exponentials divided by their sum are a softmax in this dtype, and how many fail; HTML."""
    of_it, beside_it = ROUNDING
    shares = ways.naive.double().numpy(), ways.subtracted.double().numpy()
    wrong = int((~np.isclose(*shares, rtol=of_it, atol=beside_it)).sum())
    words = _("The naive softmax is wrong at {count} of {total} scores")
    said = words.format(count=wrong, total=len(ways.scores)) if wrong else _("The naive softmax is right here")
    limit = _("e to the score is ∞ in {dtype} above {limit}.").format(
        dtype=dtype, limit=f"{overflow_at(DTYPES[dtype]):.2f}"
    )
    return escape(said), escape(limit)


def vocabulary_costs() -> pd.DataFrame:
    """Multiply-adds by vocabulary and method, by formula and counted."""
    ways = {_("full softmax"): full_cost, _("tree"): tree_cost, _("adaptive"): adaptive_cost}
    data: dict[str, list[float]] = {}
    for place, (name, cost) in enumerate(ways.items()):
        data[_("{way}, by formula").format(way=name)] = [float(cost(n, D)) for n in VOCABULARIES]
        data[_("{way}, counted").format(way=name)] = cached.made("counted costs", _counted)[place]
    return pd.DataFrame(data, index=[f"{n:,}" for n in VOCABULARIES])


def _counted() -> list[list[float]]:
    """The counts by method; they take a third of a second."""
    return [[float(cost(n, D)) for n in VOCABULARIES] for cost in (counted_full, counted_tree, counted_adaptive)]


def _groups() -> list[list[str]]:
    """The groups of the adaptive softmax for the middle vocabulary: number of tokens, and length of a vector."""
    edges = [0, *CUTOFFS, VOCABULARIES[1]]
    sizes = [high - low for low, high in pairwise(edges)]
    return [[f"{size:,}", f"d = {D // DIVISOR**number}"] for number, size in enumerate(sizes)]


def _adaptive_words() -> str:
    return _(
        "Adaptive, of {count} tokens: the frequent ones and one node per cluster are compared first; a rare token "
        "costs "
        "its cluster besides, whose vectors have fewer components."
    ).format(count=f"{VOCABULARIES[1]:,}")


def tables_of(ways: Ways) -> dict[str, Table]:
    """Every row that is shown; the scores first."""
    keys = [f"s{i}" for i in range(len(ways.scores))]
    rows = {
        "S": ("s", ways.scores), "E": ("e^s", ways.powers), "N": ("e^s ÷ Σ", ways.naive),
        "B": ("e^(s − max)", ways.below), "A": ("e^(s − max) ÷ Σ", ways.subtracted), "L": ("log y", ways.logs),
        "O": ("y", ways.one_pass),
    }  # fmt: skip  # a pair a name
    tables = {
        id: Table(name, (LETTERS[id],), keys, row.numpy()[None], share=id in "NAO") for id, (name, row) in rows.items()
    }
    reads = np.array([[read.largest for read in ways.reads], [read.total for read in ways.reads]])
    return tables | {"R": Table("m, ℓ", ("m", "ℓ"), keys, reads)}


def _chain(ways: Ways, usual: np.ndarray) -> DrawnChain:
    tables = tables_of(ways)
    matrices = {name: drawn_matrix(one, usual=usual[None] if name == "S" else None) for name, one in tables.items()}
    top, total = ways.reads[-1].largest, ways.reads[-1].total
    scores = [written(score) for score in ways.scores.tolist()]
    whole = [Light("S")]

    def said(name: str, lines: list[str]) -> list[list[list[str]]]:
        values = matrices[name].values[0]
        return [
            [
                [line, f"= {value if isinstance(value, str) else significant(value or 0, 6)}"]
                for line, value in zip(lines, values, strict=True)
            ]
        ]

    steps = [
        DrawnStep(
            "naive",
            "told",
            "N",
            short=_("naive"),
            title=_("Naive: e to every score, divided by their sum"),
            note=_("As it is written. Once one power is ∞, every share is 0 or NaN."),
            parts=["S", "E"],
            lights=[Light("E")],
            lines=said("N", [f"e^{s} ÷ (" + " + ".join(f"e^{one}" for one in scores) + ")" for s in scores]),
        ),
        DrawnStep(
            "safe",
            "told",
            "A",
            short=_("max-subtracted"),
            title=_("Safe: the largest score is subtracted first"),
            note=_("The same shares, for both sides are divided by e^max. No power is larger than 1."),
            parts=["S", "B"],
            lights=[Light("B")],
            lines=said("A", [f"e^({s} − {written(top)}) ÷ {significant(total, 4)}" for s in scores]),
        ),
        DrawnStep(
            "log",
            "told",
            "L",
            short="log-softmax",
            title=_("The logarithm of the shares"),
            note=_("s − max − log Σ: a share too small for the dtype still has its logarithm."),
            left="S",
            lights=whole,
            lines=said("L", [f"{s} − {written(top)} − log {significant(total, 4)}" for s in scores]),
        ),
        DrawnStep(
            "online",
            "told",
            "R",
            short=_("online"),
            title=_("Online: one pass, with the largest so far and the sum so far"),
            note=_(
                "Where a larger score comes, the sum shrinks by e^(old − new). FlashAttention does this tile by tile."
            ),
            left="S",
            lights=[Light("S", column="j")],
            lines=_pass(ways),
        ),
        DrawnStep(
            "shares",
            "told",
            "O",
            short="y",
            title=_("The shares after the one pass"),
            note=_("e^(s − m) ÷ ℓ, with the last m and ℓ."),
            parts=["S", "R"],
            lights=[Light("R", column=len(scores) - 1), Light("S", column="j")],
            lines=said("O", [f"e^({s} − {written(top)}) ÷ {significant(total, 4)}" for s in scores]),
        ),
    ]
    return DrawnChain(matrices, steps)


def _pass(ways: Ways) -> list[list[list[str]]]:
    """The state of the online pass at every score: the largest so far, and the sum so far."""
    largest: list[list[str]] = []
    totals: list[list[str]] = []
    old, total = None, 0.0
    for score, read in zip(ways.scores.tolist(), ways.reads, strict=True):
        new = f"e^({written(score)} − {written(read.largest)})"
        before = "" if old is None else f"max({written(old)}, {written(score)}) = "
        largest.append([f"m = {before}{written(read.largest)}"])
        kept = "" if old is None else f"{significant(total, 4)}·e^({written(old)} − {written(read.largest)}) + "
        totals.append([f"ℓ = {kept}{new} = {significant(read.total, 6)}"])
        old, total = read.largest, read.total
    return [largest, totals]


def softmax_view(found: Softmax) -> ExportBundle:
    """Every way, and the costs."""
    tables = list(tables_of(found.ways).values())
    return ExportBundle(
        name=f"softmax-{found.dtype}-{float(found.ways.scores.max()):g}",
        title=_("Softmax, safely"),
        of_text=False,
        what=f"six scores of an example, not the model's, in {found.dtype}",
        tables=lambda: {
            **{table.name: pd.DataFrame(table.values, list(table.rows), list(table.columns)) for table in tables},
            _("What a token’s probability costs"): found.costs,
            _("Huffman tree"): found.tree,
        },
        page=component_page(step_by_step.SOURCE, found.payload),
        picture=lambda title, words: matrices_svg(tables, title=title, caption=words),
        code="import torch\n\n"
        f"scores = torch.tensor({found.ways.scores.tolist()}, dtype=torch.{found.dtype})\n"
        "naive = scores.exp() / scores.exp().sum()\n"
        "safe = (scores - scores.max()).exp() / (scores - scores.max()).exp().sum()\n"
        "logs = torch.log_softmax(scores, 0)\n\n"
        "from attention_atlas.attention.huffman import huffman_path, huffman_tree\n"
        "from attention_atlas.attention.safe_softmax import online\n"
        "from attention_atlas.attention.vocabulary_cost import adaptive_cost, full_cost, tree_cost\n"
        "from attention_atlas.attention.vocabulary_cost import counted_adaptive, counted_full, counted_tree\n\n"
        "reads = online(scores.tolist())\n"
        "tree = huffman_tree(torch.softmax(scores.double(), 0).tolist())\n"
        "paths = [huffman_path(tree, token) for token in range(len(scores))]  # sigmoids multiply to y\n"
        "ways = full_cost, counted_full, tree_cost, counted_tree, adaptive_cost, counted_adaptive\n"
        f"costs = [[cost(n, {D}) for cost in ways] for n in {VOCABULARIES}]",
        starts_with_capture=False,
    )
