"""The measured variant is the one in the maps, its bytes are those of known tensors, and crossings are right."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from analysis import zoo_cost
from analysis.zoo_cost import (
    LiveBytes,
    by_tiles,
    crossing,
    crossing_by_formula,
    kept_of,
    measure,
    memory_of,
    of_variant,
    stored,
    work_of,
)
from attention.zoo.head import head_of
from attention.zoo.long_head import LongHead
from attention.zoo.memory import MAP
from attention.zoo.table import BY_NAME, VARIANTS
from jobs import zoo_cost as jobs

CAUSAL = [(variant, causal) for variant in VARIANTS for causal in (True, False) if causal or variant.mask != "causal"]


def both(n: int, d: int, *, causal: bool):
    """The same numbers as a head that holds its scores and as one that makes them."""
    q, k, v, q_beside, k_beside = torch.randn(5, n, d, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    head, second = head_of(q, k, v, causal=causal), head_of(q_beside, k_beside, v, causal=causal)
    long = LongHead(q, k, v, causal=causal, second=(q_beside, k_beside))
    return replace(head, beside=second.scores, layer=long.layer), long


@pytest.mark.parametrize("variant, causal", CAUSAL, ids=lambda value: getattr(value, "name", str(value)))
def test_what_is_measured_is_the_output_that_the_maps_show(variant, causal):
    head, long = both(21, 6, causal=causal)
    torch.testing.assert_close(of_variant(variant, {})(long), variant.on(head, {})[1], rtol=1e-9, atol=1e-11)
    assert measure("it", of_variant(variant, {}), 20, 4, causal=causal).n_bytes > 0  # in float32 too


@pytest.mark.parametrize("causal", [True, False])
def test_both_ways_to_compute_softmax_are_softmax(causal):
    head, long = both(19, 8, causal=causal)
    for way in (stored, by_tiles):
        torch.testing.assert_close(way(long), head.softmax() @ head.v, rtol=1e-10, atol=1e-12)
    assert torch.equal(long.keep, head.keep)
    torch.testing.assert_close(long.tile(slice(3, 9), slice(2, 8)), head.tile(slice(3, 9), slice(2, 8)))


def test_the_bytes_are_those_that_are_there_at_once():
    with LiveBytes() as counted:
        first = torch.ones(1000, dtype=torch.float32)
        view = first.view(10, 100).T  # no bytes of its own
        second = first + view.reshape(-1).sum()  # 4 for the sum; the reshaped one is a copy, gone by then
        del first, view
        torch.ones(500)
    assert counted.now == 4 * 1000
    assert 8000 <= counted.most <= 12_100
    assert len(second) == 1000


def test_a_map_takes_the_square_and_features_a_line():
    def grows(attention) -> float:
        return (
            measure("it", attention, 1024, 16, causal=True).n_bytes
            / measure("it", attention, 512, 16, causal=True).n_bytes
        )

    assert grows(stored) == pytest.approx(4, rel=0.1)
    assert grows(of_variant(BY_NAME["linear"], {})) == pytest.approx(2, rel=0.2)
    assert grows(of_variant(BY_NAME["flash"], {"rows": 64, "columns": 64})) < 2.2
    assert measure("it", stored, 512, 16, causal=True).n_bytes >= 2 * 4 * 512**2


TIMES = 5  # as much as the rule needs: scores before and after a mask, their exponentials, weights, float64 beside it


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_the_memory_by_formula_grows_as_what_is_measured_does(variant):
    """Within a few hundredths a doubling, and measured is more by a constant alone."""
    lengths, d = (512, 1024), 32
    values = {one.name: one.usual(lengths[0]) for one in variant.parameters}
    held = [measure("it", of_variant(variant, values), n, d, causal=variant.mask != "none").n_bytes for n in lengths]
    formula = [4 * memory_of(variant, values, d)(n) for n in lengths]
    growth, expected = held[1] / held[0], formula[1] / formula[0]
    if variant.whole_map:  # which the formula does without
        assert growth == pytest.approx(4, rel=0.05)
        return
    assert growth == pytest.approx(expected, rel=0.08)
    assert all(0.95 < a / b < TIMES for a, b in zip(held, formula, strict=True))


def test_the_map_of_softmax_grows_with_the_square():
    held = [measure("softmax", stored, n, 32, causal=True).n_bytes for n in (512, 1024)]
    assert held[1] / held[0] == pytest.approx(MAP.of(1024, 32, 32) / MAP.of(512, 32, 32), rel=0.05)


def test_a_number_beyond_the_text_is_as_many_as_it_has_tokens():
    head, long = both(12, 4, causal=False)
    found = of_variant(BY_NAME["linformer"], {"rank": 500})(long)
    torch.testing.assert_close(found, head.softmax() @ head.v)
    assert work_of(BY_NAME["linformer"], {"rank": 500}, 4)(12) == 4 * 12 * 4 * 12


def test_what_is_kept_is_of_keys_and_values_each_with_its_width():
    assert kept_of(BY_NAME["linear"], {}, 4, 6)(50) == kept_of(BY_NAME["linear"], {}, 4, 6)(9) == 4 * 6 + 4
    with pytest.raises(ValueError, match="cannot read a text a token at a time"):
        kept_of(BY_NAME["nystrom"], {}, 4, 6)


def test_lines_cross_where_they_do():
    lengths = [2**power for power in range(5, 15)]
    usual, rival = [float(n**2) for n in lengths], [1000.0 * n for n in lengths]
    assert crossing(lengths, usual, rival) == pytest.approx(1000)
    assert crossing(lengths, usual, [n / 2 for n in usual]) == 32
    assert crossing(lengths, usual, [2 * n for n in usual]) is None
    assert crossing([], [], []) is None
    assert crossing_by_formula(lambda n: float(n * n), lambda n: 1000.0 * n, 2**20) == 1001
    assert crossing_by_formula(float, lambda n: float(n * n), 2**20) is None


def run_of(monkeypatch, seconds_per_cell: float, bytes_per_cell: float) -> jobs.CostRun:
    """A run whose times grow with the square, "line" with the length, without measuring any."""

    def known(name, attention, n_tokens, d_head, *, causal):
        cells = n_tokens**2 if name == "square" else 64 * n_tokens
        return zoo_cost.Measured(
            name, n_tokens, seconds_per_cell * cells, int(bytes_per_cell * cells), 4 * seconds_per_cell * cells
        )

    monkeypatch.setattr(jobs, "measure", known)
    run = jobs.CostRun({"square": (stored, True), "line": (by_tiles, True)}, 16)
    while run.running:
        run.pull()
    return run


def test_a_run_ends_within_its_seconds_and_its_bytes(monkeypatch):
    run = run_of(monkeypatch, 1e-9, 8)
    assert run.spent <= jobs.SECONDS
    lengths = [one.n_tokens for one in run.of("square")]
    assert lengths == [128 * 2**power for power in range(len(lengths))]
    assert max(one.n_bytes for one in run.items) <= jobs.MOST_BYTES < 8 * 4 * lengths[-1] ** 2 * 4
    assert run.of("line")[-1].n_tokens > lengths[-1]  # what is cheap goes on
    slow = run_of(monkeypatch, 1e-6, 1)
    assert slow.spent <= jobs.SECONDS
    assert slow.items
    free = run_of(monkeypatch, 1e-15, 1e-6)
    assert {one.n_tokens for one in free.items} == {2**power for power in range(7, 21)}


def test_a_run_that_is_stopped_measures_no_more(monkeypatch):
    run = run_of(monkeypatch, 1e-9, 8)
    again = jobs.CostRun({"square": (stored, True)}, 16)
    again.stop()
    again.pull()
    assert (again.items, again.stopped) == ([], True)
    assert run.items
