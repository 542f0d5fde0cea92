"""Continuations of one prompt as a tree from left to right: each token is a chip, line width is probability.

Sends the event "node": the id of the opened node.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Protocol

import numpy as np

from viz.components.picture import UNSENT, Bytes, ColoredPicture, Floats, Ints, Texts, sent
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
    """One token, as in the payload. A tree's first node is the prompt and has no parent (-1)."""

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


@dataclass(frozen=True, eq=False)
class TokenTreePicture(ColoredPicture):
    """The tree. It scrolls if it is higher than ``max_height`` px or wider than its container.

    A long run without a branch is drawn by its ends and the surroundings of the open node. Raises ValueError if a node
    precedes its parent.
    """

    nodes: Annotated[Sequence[Node], UNSENT]
    n_branches: int
    opened: str
    """The id of the node that is highlighted with all tokens before it."""
    frame: str
    """The id of the node of the film's open frame."""
    texts: Texts
    max_height: int = 360
    shows: str = ""
    """Key of the page element that a click changes, to which a narrow page scrolls, or ""."""

    def __post_init__(self) -> None:
        """Check the order of the nodes."""
        if not self.nodes or self.nodes[0].parent != -1:
            raise ValueError("a tree begins with its prompt, a node without a parent")
        late = [node.id for i, node in enumerate(self.nodes) if node.parent >= i]
        if late:
            raise ValueError(f"node {late[0]!r} comes before its parent")

    @sent
    def ids(self) -> Sequence[str]:
        """Ids of the nodes, in order."""
        return [node.id for node in self.nodes]

    @sent
    def labels(self) -> Sequence[str]:
        """Their tokens."""
        return [node.label for node in self.nodes]

    @sent
    def chosen(self) -> Sequence[str | None]:
        """How each was drawn."""
        return [node.chosen for node in self.nodes]

    @sent
    def names(self) -> Mapping[str, Sequence[str]]:
        """Names of branches, by the index of their last node."""
        return {str(i): node.names for i, node in enumerate(self.nodes) if node.names}

    @sent
    def parents(self) -> Ints:
        """[nodes]: -1 for the prompt."""
        return np.asarray([node.parent for node in self.nodes])

    @sent
    def rows(self) -> Floats:
        """[nodes]: from 0 downwards, halves allowed."""
        return np.asarray([node.y for node in self.nodes], dtype=np.float32)

    @sent
    def log_probs(self) -> Floats:
        """[nodes]: natural logarithms."""
        return np.asarray([node.log_prob for node in self.nodes], dtype=np.float32)

    @sent
    def totals(self) -> Floats:
        """[nodes]: cumulative from the prompt on."""
        return np.asarray([node.total for node in self.nodes], dtype=np.float32)

    @sent
    def dropped(self) -> Bytes:
        """[nodes]: 1 if beam search dropped it."""
        return np.asarray([node.dropped for node in self.nodes], dtype=np.uint8)

    @sent
    def ended(self) -> Bytes:
        """[nodes]: 1 if the text ends there."""
        return np.asarray([node.ended for node in self.nodes], dtype=np.uint8)
