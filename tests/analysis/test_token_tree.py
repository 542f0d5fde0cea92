"""Branches as a tree: every token once, sums along it, a row for every leaf, and nothing on top of anything else."""

from __future__ import annotations

import itertools
import math
import random
from typing import Any

import pytest

from analysis.token_tree import Branch, Chosen, TokenTree, TreeNode, branches_of, ids_of, token_tree
from model_runner.beams import Beam, BeamSearch, BeamStep, Finished
from model_runner.request import GenerateRequest


def branch(*ids: int, chosen: Chosen = "greedy", **options: object) -> Branch:
    """A branch whose token n has log-probability -n / 10."""
    return Branch(ids, tuple(-token / 10 for token in ids), (chosen,) * len(ids), **options)


def tree(*branches: Branch, path: tuple[int, ...] = ()) -> TokenTree:
    return token_tree(branches, lambda token_id: f"t{token_id}", path=path, prompt="the dog")


def at(drawn: TokenTree, *ids: int) -> TreeNode:
    return next(node for node in drawn.nodes if ids_of(node.id) == ids)


def children(drawn: TokenTree, node: TreeNode) -> list[TreeNode]:
    return [child for child in drawn.nodes if child.parent >= 0 and drawn.nodes[child.parent] is node]


def random_branches(seed: int, n_branches: int = 30, length: int = 12, vocab: int = 3) -> list[Branch]:
    """Branches that share long beginnings: of three tokens, the first is most of them."""
    chance = random.Random(seed)
    return [
        branch(*(chance.choices(range(vocab), [6, 2, 1], k=chance.randint(1, length))), dropped=chance.random() < 0.3)
        for _ in range(n_branches)
    ]


# -- the nodes ------------------------------------------------------------------------------------------------------


def test_no_branch_is_the_prompt_alone() -> None:
    drawn = tree()
    assert [(node.id, node.label, node.parent, node.depth, node.on_path) for node in drawn.nodes] == [
        ("", "the dog", -1, 0, True)
    ]
    assert (drawn.n_rows, drawn.n_branches, drawn.opened) == (1, 0, "")


def test_the_open_branch_says_itself_how_its_tokens_were_chosen() -> None:
    forced = Branch((1, 2), (-0.1, -0.2), ("forced", "sampled"))
    drawn = Branch((1, 3), (-0.1, -0.3), ("sampled", "sampled"))
    how = {node.id: node.chosen for node in token_tree([forced, drawn], str, path=(1, 2)).nodes}
    assert how == {"": None, "1": "forced", "1.2": "sampled", "1.3": "sampled"}
    how = {node.id: node.chosen for node in token_tree([forced, drawn], str, path=(1, 3), chosen=drawn.chosen).nodes}
    assert how == {"": None, "1": "sampled", "1.2": "sampled", "1.3": "sampled"}


def test_shared_beginnings_are_shared_nodes() -> None:
    drawn = tree(branch(1, 2, 3), branch(1, 2, 4, 5), branch(1, 2))
    assert sorted(node.id for node in drawn.nodes) == ["", "1", "1.2", "1.2.3", "1.2.4", "1.2.4.5"]
    assert at(drawn, 1, 2, 4).label == "t4"
    assert drawn.n_branches == 2  # the third has no end of its own


@pytest.mark.parametrize("seed", range(5))
def test_every_branch_can_be_walked_and_nothing_else(seed: int) -> None:
    branches = random_branches(seed)
    drawn = tree(*branches)
    expected = {given.ids[:length] for given in branches for length in range(len(given.ids) + 1)}
    assert {ids_of(node.id) for node in drawn.nodes} == expected
    assert len(drawn.nodes) == len(expected)
    for index, node in enumerate(drawn.nodes):
        assert node.parent < index
        ids = ids_of(node.id)
        assert node.depth == len(ids)
        if ids:
            assert node.token_id == ids[-1]
            assert ids_of(drawn.nodes[node.parent].id) == ids[:-1]


@pytest.mark.parametrize("seed", range(5))
def test_totals_are_the_sums_from_the_prompt(seed: int) -> None:
    drawn = tree(*random_branches(seed))
    for node in drawn.nodes:
        assert math.isclose(node.total, sum(-token / 10 for token in ids_of(node.id)), abs_tol=1e-12)
        assert node.log_prob == (-node.token_id / 10 if node.depth else 0.0)


def test_ids_stay_while_the_tree_grows() -> None:
    small, large = tree(branch(1, 2), branch(3)), tree(branch(1, 2, 9), branch(3), branch(1, 7))
    assert {node.id for node in small.nodes} < {node.id for node in large.nodes}


def test_the_earlier_branch_says_how_a_shared_token_was_chosen() -> None:
    drawn = tree(branch(1, 2), branch(1, 2, 3, chosen="forced"))
    assert [at(drawn, *ids).chosen for ids in ((1,), (1, 2), (1, 2, 3))] == ["greedy", "greedy", "forced"]


def test_a_node_is_dropped_where_no_kept_branch_passes() -> None:
    drawn = tree(branch(1, 2), branch(1, 3, 4, dropped=True), branch(5, dropped=True))
    assert [node.id for node in drawn.nodes if node.dropped] == ["1.3", "1.3.4", "5"]


def test_ends_and_names_are_at_the_last_token_of_their_branch() -> None:
    drawn = tree(branch(1, 2, label="first", ended=True), branch(1, 2, 3), branch(1, 2, label="again"))
    assert [node.id for node in drawn.nodes if node.ended] == ["1.2"]
    assert at(drawn, 1, 2).names == ("first", "again")


@pytest.mark.parametrize("wrong", [((1, 2), (-1.0,), ("greedy",)), ((1,), (-1.0,), ())])
def test_a_branch_whose_parts_differ_in_length_is_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match=f"{len(wrong[0])} ids, {len(wrong[1])} log_probs and {len(wrong[2])} chosen"):
        Branch(*wrong)


# -- the layout -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(10))
def test_no_two_tokens_of_a_column_are_closer_than_a_row(seed: int) -> None:
    branches = random_branches(seed)
    drawn = tree(*branches, path=branches[seed].ids)
    columns = itertools.groupby(sorted(drawn.nodes, key=lambda node: (node.depth, node.y)), key=lambda node: node.depth)
    for _, column in columns:
        rows = [node.y for node in column]
        assert all(b - a >= 1 for a, b in itertools.pairwise(rows))


@pytest.mark.parametrize("seed", range(10))
def test_a_node_stays_within_the_rows_of_its_leaves_which_nothing_else_uses(seed: int) -> None:
    branches = random_branches(seed)
    drawn = tree(*branches, path=branches[0].ids)
    leaves = [node for node in drawn.nodes if not children(drawn, node)]
    assert sorted(leaf.y for leaf in leaves) == list(range(drawn.n_rows))
    for node in drawn.nodes:
        own = [leaf.y for leaf in leaves if ids_of(leaf.id)[: node.depth] == ids_of(node.id)]
        assert min(own) <= node.y <= max(own)
        assert max(own) - min(own) == len(own) - 1


def test_leaves_stand_in_the_order_of_their_branches_and_parents_between_them() -> None:
    drawn = tree(branch(1, 2), branch(1, 3), branch(4), branch(1, 5))
    assert [at(drawn, *ids).y for ids in ((1, 2), (1, 3), (1, 5), (4,))] == [0, 1, 2, 3]
    opened = tree(branch(1, 2), branch(1, 3), branch(4), branch(1, 5), path=(4,))
    assert at(opened, 1).y == 1


@pytest.mark.parametrize("seed", range(10))
def test_the_open_path_lies_on_one_row(seed: int) -> None:
    branches = random_branches(seed)
    path = branches[seed].ids
    drawn = tree(*branches, path=path)
    open_nodes = [node for node in drawn.nodes if node.on_path]
    assert [ids_of(node.id) for node in open_nodes] == [path[:length] for length in range(len(path) + 1)]
    assert len({node.y for node in open_nodes}) == 1
    assert ids_of(drawn.opened) == path


def test_a_path_that_leaves_the_tree_is_open_as_far_as_it_goes() -> None:
    drawn = tree(branch(1, 2, 3), path=(1, 2, 9, 3))
    assert drawn.opened == "1.2"


# -- beams ----------------------------------------------------------------------------------------------------------


def beam(*ids: int) -> Beam:
    return Beam(ids, tuple(-token / 10 for token in ids), -sum(ids) / 10)


def done(*ids: int, stop: str = "limit") -> Finished:
    return Finished(beam(*ids), beam(*ids).log_prob / len(ids), stop)


def search() -> BeamSearch:
    """Two beams: 2 is dropped at the second step, 1.3 ends there but is beaten, 1.5.9 was still open at the end."""
    steps = (
        BeamStep((beam(1), beam(2)), (), ()),
        BeamStep((beam(1, 4), beam(1, 5)), (done(1, 3, stop="end"),), (beam(2),)),
        BeamStep((beam(1, 5, 9),), (done(1, 4, 6), done(1, 4, 7, stop="end")), ()),
    )
    return BeamSearch(GenerateRequest(text="x"), 2, (0,), steps, (done(1, 4, 7, stop="end"), done(1, 4, 6)))


def test_beams_become_branches_the_ranked_ones_first() -> None:
    branches = branches_of(search(), name="#{rank} {score}")
    assert [(given.ids, given.label, given.ended, given.dropped) for given in branches] == [
        ((1, 4, 7), "#1 −0.40", True, False),
        ((1, 4, 6), "#2 −0.37", False, False),
        ((2,), "", False, True),
        ((1, 3), "", True, True),
        ((1, 5, 9), "", False, True),
    ]
    assert {how for given in branches for how in given.chosen} == {"beam"}


def test_beams_as_a_tree_are_grey_only_where_no_ranked_one_passes() -> None:
    drawn = tree(*branches_of(search()))
    assert {node.id for node in drawn.nodes if node.dropped} == {"2", "1.3", "1.5", "1.5.9"}
    assert at(drawn, 1, 4).total == pytest.approx(beam(1, 4).log_prob)
