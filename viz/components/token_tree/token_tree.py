"""Continuations of one prompt as a tree from left to right: each token a chip, each line as thick as it is probable.

Sends the event "node": the id of the node that was opened.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np

from viz.color import palette
from viz.components.packing import pack
from viz.components.source import read_source

N_ = str

TEXTS: dict[str, str] = {
    "summary": N_("Tree of continuations. Branches: {branches}, tokens: {tokens}."),
    "node": N_("{token} · {how} · the model gives it {value} · log-probability {log} · from the prompt {total}"),
    "prompt": N_("{token} · the prompt, with {branches} branches and {tokens} tokens below it"),
    "alone": N_("{token} · the prompt; nothing follows it yet"),
    "more": N_("{count} more tokens: {text}"),
    "sampled": N_("drawn"),
    "greedy": N_("the most probable"),
    "forced": N_("forced"),
    "beam": N_("chosen by beam search"),
    "dropped": N_("dropped by beam search"),
    "ended": N_("end of text"),
    "thickness": N_("thickness: the model’s own probability"),
    "open": N_("the open branch"),
    "frame": N_("the frame in view"),
    "percent": N_("{number} %"),
}

SOURCE = read_source(Path(__file__).parent, "token_tree", '<div class="token-tree"></div>\n')


class Node(Protocol):
    """One token, as the payload describes it. The first node of a tree is the prompt and has no parent (-1)."""

    @property
    def id(self) -> str: ...
    @property
    def label(self) -> str: ...
    @property
    def parent(self) -> int: ...
    @property
    def y(self) -> float: ...
    @property
    def log_prob(self) -> float: ...
    @property
    def total(self) -> float: ...
    @property
    def chosen(self) -> str | None: ...
    @property
    def dropped(self) -> bool: ...
    @property
    def ended(self) -> bool: ...
    @property
    def names(self) -> Sequence[str]: ...


def payload(
    *,
    nodes: Sequence[Node],
    n_branches: int,
    opened: str,
    frame: str,
    texts: Mapping[str, str],
    max_height: int = 360,
    shows: str = "",
) -> bytes:
    """The nodes, parents before children, as ``analysis.token_tree.token_tree`` gives them.

    ``y`` is a row (rows are drawn from 0 down, halves allowed), ``log_prob`` and ``total`` are natural logarithms.
    ``opened`` is the id of the node that is emphasised with all tokens before it, ``frame`` that of the one in view. A
    long run without a branch is drawn by its ends and what is around the open node. Higher than ``max_height`` pixels,
    and wider than its place, the tree scrolls inside itself. On a narrow screen a click scrolls to the part of the page
    with the key ``shows``.
    """
    if not nodes or nodes[0].parent != -1:
        raise ValueError("a tree begins with its prompt, a node without a parent")
    late = [node.id for i, node in enumerate(nodes) if node.parent >= i]
    if late:
        raise ValueError(f"node {late[0]!r} comes before its parent")
    meta = {
        "ids": [node.id for node in nodes],
        "labels": [node.label for node in nodes],
        "chosen": [node.chosen for node in nodes],
        "names": {str(i): list(node.names) for i, node in enumerate(nodes) if node.names},
        "opened": opened,
        "frame": frame,
        "n_branches": n_branches,
        "max_height": max_height,
        "shows": shows,
        "texts": dict(texts),
        "palette": palette(),
    }
    arrays = {
        "parents": np.asarray([node.parent for node in nodes], dtype=np.int32),
        "rows": np.asarray([node.y for node in nodes], dtype=np.float32),
        "log_probs": np.asarray([node.log_prob for node in nodes], dtype=np.float32),
        "totals": np.asarray([node.total for node in nodes], dtype=np.float32),
        "dropped": np.asarray([node.dropped for node in nodes], dtype=np.uint8),
        "ended": np.asarray([node.ended for node in nodes], dtype=np.uint8),
    }
    return pack(meta, arrays)
