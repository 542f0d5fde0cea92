"""Blocks and traffic of attention by tiles: the closed formulas are what loops over the algorithms' lines count."""

from __future__ import annotations

import itertools

import pytest

from attention.flash_blocks import Blocks, Traffic, blocks_of, held, plain, tiled


def walked(n: int, d: int, d_value: int, blocks: Blocks, order: str, causal: bool) -> Traffic:
    """Token by token and line by line, as both papers write their loops."""
    key_blocks = [range(n)[start : start + blocks.columns] for start in range(0, n, blocks.columns)]
    query_blocks = [range(n)[start : start + blocks.rows] for start in range(0, n, blocks.rows)]
    read = written = 0

    def seen(queries: range, keys: range) -> bool:
        return not causal or any(key <= query for query in queries for key in keys)

    if order == "keys":  # Dao et al. 2022, algorithm 1: lines 2, 6, 8, 12 and 13
        written += n * (d_value + 1 + 1)
        for keys in key_blocks:
            read += len(keys) * (d + d_value)
            for queries in filter(lambda queries: seen(queries, keys), query_blocks):
                read += len(queries) * (d + d_value + 1 + 1)
                written += len(queries) * (d_value + 1 + 1)
    else:  # Dao 2023, algorithm 1: lines 4, 7, 14 and 15
        for queries in query_blocks:
            read += len(queries) * d
            for keys in filter(lambda keys: seen(queries, keys), key_blocks):
                read += len(keys) * (d + d_value)
            written += len(queries) * (d_value + 1)
    return Traffic(read, written)


@pytest.mark.parametrize("order", ["keys", "queries"])
@pytest.mark.parametrize("causal", [True, False])
def test_the_formulas_are_what_the_loops_move(order, causal):
    for n, rows, columns in itertools.product((1, 7, 12), (1, 3, 5, 12), (1, 2, 4, 12)):
        blocks = Blocks(rows, columns)
        assert tiled(n, 4, 3, blocks, order, causal=causal) == walked(n, 4, 3, blocks, order, causal)


def test_plain_attention_moves_its_map_four_times():
    n, d, d_value = 9, 4, 3
    lines = [
        (n * d + n * d, n * n),  # S = Q Kᵀ
        (n * n, n * n),  # P = softmax(S)
        (n * n + n * d_value, n * d_value),  # O = P V
    ]
    assert plain(n, d, d_value) == Traffic(sum(one for one, _ in lines), sum(one for _, one in lines))


def test_blocks_are_those_of_the_papers_first_line():
    assert blocks_of(2048, 32) == Blocks(16, 16)
    assert blocks_of(100_000, 64) == Blocks(64, 391)  # ⌈100 000 / 256⌉ keys, and d queries at most
    assert blocks_of(1, 64) == Blocks(1, 1)


@pytest.mark.parametrize("sram", [256, 512, 4096, 49152])
def test_the_four_blocks_fill_the_memory_and_the_rest_stays_within_its_half(sram):
    d = 32
    blocks = blocks_of(sram, d)
    assert 2 * d * (blocks.rows + blocks.columns) <= sram + 4 * d  # less than a vector of each beyond
    assert held(blocks, d, d) == 2 * d * (blocks.rows + blocks.columns) + blocks.rows * (2 + blocks.columns)
    assert blocks.rows * blocks.columns <= sram / 2


def test_a_larger_memory_moves_less_as_the_theorem_says():
    """Theorem 2: Θ(n² d² / M), as long as d ≤ M ≤ n d."""
    n, d = 65_536, 64
    found = [tiled(n, d, d, blocks_of(sram, d), "keys", causal=False).moved * sram for sram in (16_384, 32_768, 65_536)]
    assert max(found) / min(found) < 1.1
    assert tiled(n, d, d, blocks_of(49_152, d), "keys", causal=False).moved < plain(n, d, d).moved / 3
