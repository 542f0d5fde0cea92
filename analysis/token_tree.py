"""Branches of one prompt as a tree: every token once, below its predecessors, with its log-probabilities.

Branches are the continuations of a film, those with forced tokens, and the beams of a beam search. The module does not
depend on their origin, nor on pixels: the layout is in columns and rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from model_runner.beams import Beam, BeamSearch

Chosen = Literal["sampled", "greedy", "forced", "beam"]


@dataclass(frozen=True)
class Branch:
    """One continuation of the prompt: token ids, the model's own log-probabilities, and how each was chosen.

    Log-probabilities are natural logarithms, also for forced tokens. ``label`` is shown at its end; ``ended`` says that
    its last token ends the text, ``dropped`` that a beam search discarded it. Raises ValueError if the three sequences
    differ in length.
    """

    ids: tuple[int, ...]
    log_probs: tuple[float, ...]
    chosen: tuple[Chosen, ...]
    label: str = ""
    ended: bool = False
    dropped: bool = False

    def __post_init__(self) -> None:
        if not len(self.ids) == len(self.log_probs) == len(self.chosen):
            raise ValueError(f"{len(self.ids)} ids, {len(self.log_probs)} log_probs and {len(self.chosen)} chosen")


@dataclass(frozen=True)
class TreeNode:
    """One token of the tree; the first node is the prompt (``id`` "", ``token_id`` -1, ``parent`` -1, depth 0).

    ``id`` has the token ids from the prompt to here ("12.53.9"), so it stays the same while the tree grows. ``parent``
    is an index into the tree's nodes. ``log_prob`` is the natural logarithm of the token's own probability, ``total``
    the sum from the prompt to here. ``dropped``: no branch through here was kept. ``names`` are the labels of the
    branches that end here. ``depth`` is the column; ``y`` is a row, or between two.
    """

    id: str
    token_id: int
    label: str
    parent: int
    depth: int
    y: float
    log_prob: float
    total: float
    chosen: Chosen | None
    dropped: bool
    ended: bool
    on_path: bool
    names: tuple[str, ...]


@dataclass(frozen=True)
class TokenTree:
    """The nodes, parents before their children and a node's children in the order in which their branches were added.

    ``n_branches`` counts the ends: a branch that another one continues does not count. ``opened`` is the id of the node
    at the end of the open path.
    """

    nodes: tuple[TreeNode, ...]
    n_rows: int
    n_branches: int
    opened: str


def token_tree(
    branches: Sequence[Branch],
    label: Callable[[int], str],
    *,
    path: Sequence[int] = (),
    chosen: Sequence[Chosen] = (),
    prompt: str = "",
) -> TokenTree:
    """The tree of these branches; ``label`` gives the text of each token id, and ``prompt`` is the prompt's.

    ``path`` has the token ids of the open branch; its part in the tree lies on one row. Branches share the nodes of
    their common start; the earlier branch says how those were chosen, except on the open branch, where ``chosen`` does.
    """
    root = _Grown(id="", token_id=-1, log_prob=0.0, total=0.0, chosen=None)
    for branch in branches:
        _insert(root, branch)
    _open(root, path, chosen)
    n_rows = _place(root)
    nodes: list[TreeNode] = []
    stack = [(root, -1, 0)]
    while stack:
        grown, parent, depth = stack.pop()
        text = label(grown.token_id) if depth else prompt
        stack += [(child, len(nodes), depth + 1) for child in reversed(grown.children.values())]
        nodes.append(_node(grown, text, parent, depth))
    opened = max((node for node in nodes if node.on_path), key=lambda node: node.depth)
    return TokenTree(tuple(nodes), n_rows, n_rows if branches else 0, opened.id)


def id_of(ids: Sequence[int]) -> str:
    """The id of the node with these token ids from the prompt to it."""
    return ".".join(map(str, ids))


def ids_of(node_id: str) -> tuple[int, ...]:
    """The token ids from the prompt to the node with this id."""
    return tuple(map(int, node_id.split("."))) if node_id else ()


def branches_of(search: BeamSearch, *, name: str = "{rank}") -> list[Branch]:
    """Every beam at the end of a search, best first, then those discarded on the way.

    ``name`` labels the ranked ones; ``{rank}`` counts from 1, ``{score}`` is the log-probability per token by which
    they are ranked.
    """
    ranked = [
        _branch(
            final.beam,
            label=name.format(rank=rank, score=f"{final.score:.2f}".replace("-", "−")),
            ended=final.stop == "end",
        )
        for rank, final in enumerate(search.ranking, 1)
    ]
    kept = {final.beam.ids for final in search.ranking}
    lost: list[Branch] = []
    for step in search.steps:
        lost += [_branch(beam, dropped=True) for beam in step.dropped]
        lost += [
            _branch(final.beam, ended=final.stop == "end", dropped=True)
            for final in step.finished
            if final.beam.ids not in kept
        ]
    open_ones = search.steps[-1].beams if search.steps else ()
    lost += [_branch(beam, dropped=True) for beam in open_ones]
    return [*ranked, *lost]


def _branch(beam: Beam, *, label: str = "", ended: bool = False, dropped: bool = False) -> Branch:
    chosen: tuple[Chosen, ...] = ("beam",) * len(beam.ids)
    return Branch(beam.ids, beam.log_probs, chosen, label=label, ended=ended, dropped=dropped)


@dataclass(eq=False)
class _Grown:
    """A node while the tree is built."""

    id: str
    token_id: int
    log_prob: float
    total: float
    chosen: Chosen | None
    children: dict[int, _Grown] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)
    kept: bool = False
    ended: bool = False
    on_path: bool = False
    y: float = 0.0


def _insert(root: _Grown, branch: Branch) -> None:
    here = root
    here.kept |= not branch.dropped
    for token_id, log_prob, chosen in zip(branch.ids, branch.log_probs, branch.chosen, strict=True):
        if token_id not in here.children:
            node_id = f"{here.id}.{token_id}" if here.id else str(token_id)
            here.children[token_id] = _Grown(node_id, token_id, log_prob, here.total + log_prob, chosen)
        here = here.children[token_id]
        here.kept |= not branch.dropped
    here.ended |= branch.ended
    if branch.label:
        here.names.append(branch.label)


def _open(root: _Grown, path: Sequence[int], chosen: Sequence[Chosen]) -> None:
    here = root
    here.on_path = True
    for i, token_id in enumerate(path):
        if token_id not in here.children:
            return
        here = here.children[token_id]
        here.on_path = True
        here.chosen = chosen[i] if i < len(chosen) else here.chosen


def _place(root: _Grown) -> int:
    """Give every node its row and return the number of rows.

    Leaves get one row each, in order; a parent is midway between its first and last child, or on the row of the child
    on the open path. A row in between belongs to the parent alone: no two nodes of a column are closer than one row.
    """
    order: list[_Grown] = []
    stack = [root]
    while stack:
        grown = stack.pop()
        order.append(grown)
        stack += reversed(grown.children.values())
    leaves = [grown for grown in order if not grown.children]
    for row, leaf in enumerate(leaves):
        leaf.y = float(row)
    for grown in reversed(order):  # children before their parents
        below = list(grown.children.values())
        if below:
            straight = [child.y for child in below if child.on_path]
            grown.y = straight[0] if straight else (below[0].y + below[-1].y) / 2
    return len(leaves)


def _node(grown: _Grown, text: str, parent: int, depth: int) -> TreeNode:
    return TreeNode(
        id=grown.id,
        token_id=grown.token_id,
        label=text,
        parent=parent,
        depth=depth,
        y=grown.y,
        log_prob=grown.log_prob,
        total=grown.total,
        chosen=grown.chosen,
        dropped=not grown.kept and depth > 0,
        ended=grown.ended,
        on_path=grown.on_path,
        names=tuple(grown.names),
    )
