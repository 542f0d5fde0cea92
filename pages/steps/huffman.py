"""Hierarchical softmax: the Huffman tree over the probabilities of the six scores, and the path to one of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

import numpy as np
import pandas as pd
import streamlit as st

from analysis.number_text import figure_number
from attention.huffman import HuffmanNode, huffman_path, huffman_tree
from pages.steps.state import StepsState, state
from ui.shell.components import name_figure, show_html
from ui.state.controls import pick
from ui.wording.i18n import _
from viz.tree_html import DrawnNode, tree_html


def show_tree(scores: np.ndarray) -> pd.DataFrame:
    """Show the tree with one path highlighted and its sigmoids below; returns every path as a table."""
    shares = np.exp(scores - scores.max())
    shares = shares / shares.sum()
    tree, leaf = huffman_tree(shares.tolist()), state().leaf
    names = {token: f"s{token} · y = {figure_number(float(share))}" for token, share in enumerate(shares)}
    words = _("Huffman tree")
    st.markdown(f"**{words}**")
    pick(StepsState, "leaf", leaf, names, width=190)
    name_figure(escape(words))
    drawn = drawn_nodes(tree, leaf, [f"s{token}" for token in names])
    show_html(tree_html(drawn, way_words(tree, leaf, f"s{leaf}")), key="softmax_tree")
    paths = {token: huffman_path(tree, token) for token in names}
    return pd.DataFrame(
        {
            _("decisions"): [math.nan if path is None else float(len(path)) for path in paths.values()],
            _("product of the sigmoids"): [
                0.0 if path is None else math.prod(one.probability for one in path) for path in paths.values()
            ],
            "y": shares,
        },
        index=[f"s{token}" for token in paths],
    )


def way_words(tree: HuffmanNode, leaf: int, name: str) -> str:
    """A path in words, such as: P(s1) = σ(0.4) · σ(−1.1) = 0.6 · 0.25 = 0.15."""
    path = huffman_path(tree, leaf)
    if path is None:
        return _("The share of {leaf} is 0 in float64: no path leads to it.").format(leaf=name)
    if not path:
        return _("{leaf} has all of it: nothing is to be decided.").format(leaf=name)
    scores = [f"σ({figure_number(one.score if one.left else -one.score)})" for one in path]
    shares = [figure_number(one.probability) for one in path]
    product = figure_number(math.prod(one.probability for one in path))
    return f"P({name}) = {' · '.join(scores)} = {' · '.join(shares)} = {product}"


def drawn_nodes(tree: HuffmanNode, leaf: int, names: Sequence[str]) -> list[DrawnNode]:
    """Leaves from left to right at equal distances, forks between theirs, with their branches' probabilities."""
    leaves = _leaves(tree)
    found: list[DrawnNode] = []

    def add(node: HuffmanNode, level: int, up: int | None, beside: str) -> None:
        tokens, place = _leaves(node), len(found)
        across = (sum(leaves.index(token) for token in tokens) / len(tokens) + 0.5) / len(leaves)
        below = [] if node.token is None else [names[node.token], figure_number(node.share)]
        found.append(DrawnNode(across, level, up, beside, below, leaf in tokens))
        for side in (node.left, node.right):
            if side is not None:
                add(side, level + 1, place, figure_number(side.share / node.share))

    add(tree, 0, None, "")
    return found


def _leaves(node: HuffmanNode) -> list[int]:
    if node.token is not None:
        return [node.token]
    return [token for side in (node.left, node.right) if side is not None for token in _leaves(side)]
