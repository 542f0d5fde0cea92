"""A cheaper softmax over a vocabulary: a Huffman tree over a text's tokens, and an adaptive softmax's cutoff."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from html import escape

import pandas as pd
import streamlit as st

from analysis.long_text import chapter
from analysis.number_text import three_digits
from attention.huffman import huffman_depths, huffman_tree
from attention.vocabulary_cost import DIVISOR, adaptive_cost, counted_adaptive, full_cost
from pages.steps.huffman import drawn_nodes, way_words
from pages.steps.knobs import turn
from pages.steps.state import Counted, StepsState, state
from ui.shared import cached
from ui.shared.export_bundle import ExportBundle
from ui.shared.finding import bare, show_finding
from ui.shell.components import mount, name_figure, show_heading, show_html
from ui.shell.page import PageContext
from ui.state.controls import choose, pick
from ui.wording.i18n import _, language
from viz.chart import Line, Lines
from viz.chart_svg import charts_svg
from viz.components.chart import chart
from viz.curves import standalone
from viz.tree_html import adaptive_tree_svg, tree_html

LEAVES = 10  # of the drawn tree; the last one stands for all other tokens
WIDTH = 640  # its width in px


@dataclass(frozen=True, eq=False)
class VocabularyCosts:
    """A text's tokens by frequency with their decisions, and the mean cost of each cutoff."""

    counted: Counted
    ids: tuple[int, ...]
    names: list[str]
    counts: list[int]
    decisions: list[int]
    vocabulary: int
    d: int
    cutoff: int
    chart: Lines

    @property
    def mean(self) -> float:
        """Mean number of decisions per token of the text."""
        pairs = zip(self.counts, self.decisions, strict=True)
        return sum(count * path for count, path in pairs) / sum(self.counts)

    @property
    def entropy(self) -> float:
        """Entropy of the frequencies in bits, the lower bound of that mean for every tree."""
        total = sum(self.counts)
        return sum(count / total * math.log2(total / count) for count in self.counts)


def show_vocabulary(opened: PageContext) -> VocabularyCosts:
    """Show on the left the tree with one path, on the right the cutoff and its cost."""
    held = state()
    counted: dict[Counted, str] = {"text": _("this text"), "book": chapter(language()).title}
    left, right = st.columns([0.62, 0.38], gap="large")
    with left:
        choose(StepsState, "counted", held.counted, counted)
        found = _counted(opened, held.counted)
        _show_tree(found)
    with right:
        _show_adaptive(found)
    return found


def _counted(opened: PageContext, which: Counted) -> VocabularyCosts:
    """The tokens by decreasing frequency, with the length of each one's path."""
    if which == "book":
        text = chapter(language()).whole
        key = ("book ids", opened.capture.request.model, opened.capture.request.revision, language())
        ids = cached.made(key, lambda: list(opened.runner.ids_of(text)))
    else:
        ids = [token.id for token in opened.capture.tokens if not token.special]
        ids = ids or [token.id for token in opened.capture.tokens]
    common = Counter(ids).most_common()
    counts = [count for _id, count in common]
    depths = huffman_depths(huffman_tree([float(count) for count in counts]))
    vocabulary, d = opened.runner.info.n_vocab, int(opened.capture.hidden.shape[-1])
    offered = cutoffs(vocabulary)
    cutoff = min(offered, key=lambda one: abs(one - state().cutoff))
    return VocabularyCosts(
        which, tuple(token for token, _count in common), [opened.runner.token_text(token) for token, _count in common],
        counts, [depths[place] for place in range(len(counts))], vocabulary, d, cutoff, _chart(vocabulary, d, cutoff),
    )  # fmt: skip  # its fields in two lines


def cutoffs(vocabulary: int) -> list[int]:
    """Powers of two below the vocabulary."""
    return [2**power for power in range(2, 24) if 2**power < vocabulary]


# -- the tree ---------------------------------------------------------------------------------------------------------


def _show_tree(found: VocabularyCosts) -> None:
    """Show the most frequent tokens and, as one leaf, the rest, with the decisions of the chosen token."""
    shown = LEAVES if len(found.ids) <= LEAVES else LEAVES - 1
    counts, names = found.counts[:shown], found.names[:shown]
    if rest := sum(found.counts[shown:]):
        counts, names = [*counts, rest], [*names, _("{count} others").format(count=len(found.ids) - shown)]
    total = sum(counts)
    ids = found.ids[:shown]
    leaf = ids.index(state().frequent) if state().frequent in ids else 0
    said = _("A token takes {mean} decisions on average, over {total} tokens")
    beside = _("{count} different ones; entropy {entropy} bits, a balanced tree {balanced}")
    show_finding(
        escape(said.format(mean=f"{found.mean:.2f}", total=f"{sum(found.counts):,}")),
        escape(beside.format(count=f"{len(found.ids):,}", entropy=f"{found.entropy:.2f}",
                             balanced=f"{math.log2(max(1, len(found.ids))):.2f}")),
        of_several=True,
    )  # fmt: skip  # a line of values
    words = {token: f"{bare(name)} · {count}" for token, name, count in zip(ids, names, counts, strict=False)}
    pick(StepsState, "frequent", ids[leaf], words, width=190)
    heading = escape(_("Huffman tree over the frequencies"))
    show_heading(heading)
    tree = huffman_tree([count / total for count in counts])
    drawn = tree_html(drawn_nodes(tree, leaf, names), way_words(tree, leaf, bare(names[leaf])), width=WIDTH)
    scrolls = f"class='atlas-wide' tabindex='0' role='region' aria-label='{heading}'"  # on a narrow page
    show_html(f"<div {scrolls}>{drawn}</div>", key="frequency_tree")


# -- the adaptive softmax ---------------------------------------------------------------------------------------------


def _show_adaptive(found: VocabularyCosts) -> None:
    """Show the cutoff, its cost and its two groups, precomputed for every cutoff so that the browser can drag it."""
    heading = found.chart.heading
    st.html(f"<p class='atlas-caption'>{escape(heading)}</p>")
    name_figure(escape(heading))

    def packed() -> bytes:
        return chart.ChartPicture(found.chart, label=heading, knob=_every(found)).packed()

    payload = cached.made((found.vocabulary, found.d, found.cutoff, language()), packed)
    mount(chart.SOURCE, payload, key="steps_cutoff", on={"knob": lambda value: turn({"cutoff": value})})


def _every(found: VocabularyCosts) -> chart.Slider:
    """What is drawn and said at each cutoff."""
    vocabulary, d, places = found.vocabulary, found.d, cutoffs(found.vocabulary)
    return chart.Slider(
        label=_("tokens compared first"),
        values=places,
        at=found.cutoff,
        names=[f"{one:,}" for one in places],
        charts=[replace(found.chart, marker=_marker(one)) for one in places],
        said=[_said(vocabulary, d, one) for one in places],
        pictures=[adaptive_tree_svg(_groups(vocabulary, d, one), 1) for one in places],
    )


def _said(vocabulary: int, d: int, cutoff: int) -> str:
    """The cost by formula, compared with the full softmax and with the count."""
    cost, whole = adaptive_cost(vocabulary, d, (cutoff,)), full_cost(vocabulary, d)
    words = _("{cost} multiply-adds a token instead of {whole}: {share} times fewer. Counted in torch’s own layer: "
              "{counted}.")  # fmt: skip
    return words.format(
        cost=f"{cost:,.0f}", whole=f"{whole:,}", share=three_digits(whole / cost),
        counted=f"{counted_adaptive(vocabulary, d, (cutoff,)):,.0f}",
    )  # fmt: skip  # a line of values


def _groups(vocabulary: int, d: int, cutoff: int) -> list[list[str]]:
    """The groups: number of tokens, and length of their vectors."""
    return [[f"{cutoff:,}", f"d = {d}"], [f"{vocabulary - cutoff:,}", f"d = {d // DIVISOR}"]]


def _marker(cutoff: int) -> tuple[float, str]:
    return float(cutoff), _("the cutoff")


def _chart(vocabulary: int, d: int, cutoff: int) -> Lines:
    """The mean cost over every cutoff, with word frequencies of 1 ÷ rank."""
    places, whole = cutoffs(vocabulary), float(full_cost(vocabulary, d))
    costs = [adaptive_cost(vocabulary, d, (one,)) for one in places]
    return Lines(
        series=[
            Line(_("adaptive, the mean over tokens"), [float(one) for one in places], costs, points=True),
            Line(_("full softmax"), [float(one) for one in places], [whole] * len(places), dash="dash", quiet=True),
        ],
        x_title=_("tokens compared first"),
        y_title=_("multiply-adds"),
        log_x=True,
        marker=_marker(cutoff),
        height=260,
        heading=_("Adaptive softmax: what its cutoff costs, for this model’s {count} tokens").format(
            count=f"{vocabulary:,}"
        ),
    )


def vocabulary_view(found: VocabularyCosts) -> ExportBundle:
    """Every token of the text with its frequency and its decisions; the cost by cutoff."""
    line = found.chart.series[0]
    names = [f"{token} {name}" for token, name in zip(found.ids, found.names, strict=True)]
    return ExportBundle(
        name=f"vocabulary-{found.counted}-{found.cutoff}",
        title=_("Softmax of a whole vocabulary"),
        of_text=found.counted == "text",
        what=f"a Huffman tree over token frequencies; adaptive softmax of {found.vocabulary} tokens, d = {found.d}, "
        "cutoff by cutoff, where the r-th token is as frequent as 1 / r",
        tables=lambda: {
            _("Huffman tree over the frequencies"): pd.DataFrame(
                {_("in the text"): [float(one) for one in found.counts],
                 _("decisions"): [float(one) for one in found.decisions]},
                index=names,
            ),
            found.chart.heading: pd.DataFrame({line.name: list(line.y)}, [f"{one:g}" for one in line.x]),
        },
        page=lambda title, words, lang: standalone((found.chart,), title=title, caption=words, lang=lang),
        picture=lambda title, words: charts_svg((found.chart,), title=title, caption=words),
        code=CODE.format(counts=found.counts, vocabulary=found.vocabulary, d=found.d, cutoff=found.cutoff),
        starts_with_capture=False,
    )  # fmt: skip  # a table in a few lines


CODE = """from attention_atlas.attention.huffman import huffman_depths, huffman_tree
from attention_atlas.attention.vocabulary_cost import adaptive_cost, counted_adaptive, full_cost

counts = {counts}
depths = huffman_depths(huffman_tree([float(count) for count in counts]))
decisions = [depths[token] for token in range(len(counts))]
cost, counted = (of({vocabulary}, {d}, ({cutoff},)) for of in (adaptive_cost, counted_adaptive))
whole = full_cost({vocabulary}, {d})
"""
