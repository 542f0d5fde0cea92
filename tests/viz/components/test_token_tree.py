"""The payload of the tree of continuations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from tests.viz.components.test_packing import unpacked
from viz.components.token_tree.token_tree import TEXTS, TokenTreePicture


@dataclass(frozen=True)
class Node:
    """A token as the tests write it down."""

    id: str
    label: str
    parent: int
    y: float = 0.0
    log_prob: float = -0.5
    total: float = -1.0
    chosen: str | None = "greedy"
    dropped: bool = False
    ended: bool = False
    names: tuple[str, ...] = ()


PROMPT = Node("", "the·dog", -1, log_prob=0.0, total=0.0, chosen=None)


def tree(nodes: Sequence[Node], *, opened: str = "", frame: str = "", n_branches: int = 1, **options: int) -> bytes:
    return TokenTreePicture(
        nodes=nodes, n_branches=n_branches, opened=opened, frame=frame, texts=TEXTS, **options
    ).packed()


def test_the_payload_carries_every_node():
    nodes = [
        PROMPT,
        Node("5", "·ran", 0, y=0.5, log_prob=-0.25, total=-0.25),
        Node("5.7", "·off", 1, chosen="forced", names=("one", "two")),
        Node("5.8", "⟨eos⟩", 1, y=1.0, dropped=True, ended=True),
    ]
    meta, arrays = unpacked(tree(nodes, opened="5.7", frame="5", n_branches=3))
    assert meta["ids"] == ["", "5", "5.7", "5.8"]
    assert meta["labels"] == ["the·dog", "·ran", "·off", "⟨eos⟩"]
    assert meta["chosen"] == [None, "greedy", "forced", "greedy"]
    assert meta["names"] == {"2": ["one", "two"]}
    assert (meta["opened"], meta["frame"], meta["n_branches"]) == ("5.7", "5", 3)
    assert arrays["parents"].tolist() == [-1, 0, 1, 1]
    assert arrays["rows"].tolist() == [0.0, 0.5, 0.0, 1.0]
    assert arrays["log_probs"].tolist() == [0.0, -0.25, -0.5, -0.5]
    assert arrays["dropped"].tolist() == [0, 0, 0, 1]
    assert arrays["ended"].tolist() == [0, 0, 0, 1]


def test_a_tree_without_its_prompt_is_refused():
    for nodes in ([], [Node("5", "·ran", 0)]):
        with pytest.raises(ValueError, match="begins with its prompt"):
            tree(nodes)


def test_a_node_before_its_parent_is_refused():
    with pytest.raises(ValueError, match=r"node '5\.7' comes before its parent"):
        tree([PROMPT, Node("5.7", "·off", 2), Node("5", "·ran", 0)])
