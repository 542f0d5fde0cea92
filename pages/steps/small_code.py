"""The small numbers as PyTorch code: one text, a padded batch of two, and a step with a cache."""

from __future__ import annotations

from typing import Literal

from attention.batched_attention import DROPPED, SEED
from attention.small_attention import ExampleNumbers
from ui.shared.code_pane import CodeLine

Split = tuple[int, int, int, int]


def code_lines(
    numbers: ExampleNumbers, *, n_heads: int, causal: bool, scaled: bool, n_kv_heads: int | None = None
) -> list[CodeLine]:
    """From the numbers to attention's output, as a batch of one: [b, n, d] and [b, h, n, d_head], as in PyTorch."""
    n, d = numbers.x.shape
    split, cells = (1, n_heads, n, d // n_heads), (1, n_heads, n, n)
    lines = [
        CodeLine("import torch"),
        CodeLine(""),
        CodeLine(f"b, n, d, h = 1, {n}, {d}, {n_heads}"),
        CodeLine(f"x = torch.tensor([{numbers.x.tolist()}]).double()", "x", (1, n, d)),
        *_matrices(numbers),
        CodeLine(""),
        CodeLine("q = (x @ w_q).view(b, n, h, d // h).transpose(1, 2)", "q", split),
        *_keys_and_values(split, n_kv_heads),
        CodeLine("scores = q @ k.transpose(-2, -1)", "scores", cells),
        CodeLine("scaled = scores / (d // h) ** 0.5" if scaled else "scaled = scores", "scale", cells),
    ]
    if causal:
        lines += [
            CodeLine("later = torch.ones(n, n, dtype=torch.bool).triu(1)", "mask", (n, n)),
            CodeLine('masked = scaled.masked_fill(later, float("-inf"))', "mask", cells),
        ]
    else:
        lines.append(CodeLine("masked = scaled", "mask", cells))
    return [*lines, *_to_the_end(split, cells)]


def padded_lines(
    numbers: ExampleNumbers,
    short: int,
    *,
    n_heads: int,
    causal: bool,
    side: Literal["right", "left"],
    fill: str,
    dropout: bool = False,
) -> list[CodeLine]:
    """A batch of two: the text, and its first ``short`` tokens, padded on one side; with dropout as in training."""
    n, d = numbers.x.shape
    split, cells = (2, n_heads, n, d // n_heads), (2, n_heads, n, n)
    place = "slice(0, len(text))" if side == "right" else "slice(n - len(text), n)"
    value = 'float("-inf")' if fill == "inf" else "-1e9"
    keep = "real[:, None, None, :] & ~later" if causal else "real[:, None, None, :].expand(b, 1, n, n)"
    return [
        CodeLine("import torch"),
        CodeLine(""),
        CodeLine(f"b, n, d, h = 2, {n}, {d}, {n_heads}"),
        CodeLine(f"text = torch.tensor({numbers.x.tolist()}).double()", "", (n, d)),
        *_matrices(numbers),
        CodeLine(""),
        CodeLine("x = torch.zeros(b, n, d).double()", "", (2, n, d)),
        CodeLine("real = torch.zeros(b, n, dtype=torch.bool)", "", (2, n)),
        CodeLine(f"for i, text in enumerate([text, text[:{short}]]):"),
        CodeLine(f"    place = {place}"),
        CodeLine("    x[i, place], real[i, place] = text, True", "x"),
        CodeLine("q = (x @ w_q).view(b, n, h, d // h).transpose(1, 2)", "q", split),
        *_keys_and_values(split, None),
        CodeLine("scores = q @ k.transpose(-2, -1)", "scores", cells),
        CodeLine("scaled = scores / (d // h) ** 0.5", "scale", cells),
        *([CodeLine("later = torch.ones(n, n, dtype=torch.bool).triu(1)", "mask", (n, n))] if causal else []),
        CodeLine(f"keep = {keep}", "mask", (2, 1, n, n)),
        CodeLine(f"masked = scaled.masked_fill(~keep, {value})", "mask", cells),
        *_to_the_end(split, cells, dropout=dropout),
        CodeLine("used = added[real]", "", (n + short, d)),
    ]


def cached_lines(numbers: ExampleNumbers, n_cache: int, *, n_heads: int) -> list[CodeLine]:
    """One step over the tokens after ``n_cache``; keys and values of the earlier ones come from the cache."""
    n, d = numbers.x.shape
    new = n - n_cache
    every, some, cells = (1, n_heads, n, d // n_heads), (1, n_heads, new, d // n_heads), (1, n_heads, new, n)
    lines = [
        CodeLine("import torch"),
        CodeLine(""),
        CodeLine(f"b, n_cache, n_new, d, h = 1, {n_cache}, {new}, {d}, {n_heads}"),
        CodeLine(
            f"old = torch.tensor([{numbers.x[:n_cache].tolist()}]).double().view(b, n_cache, d)", "", (1, n_cache, d)
        ),
        CodeLine(f"x = torch.tensor([{numbers.x[n_cache:].tolist()}]).double()", "x", (1, new, d)),
        *_matrices(numbers),
        CodeLine("split = lambda y: y.view(b, -1, h, d // h).transpose(1, 2)"),
        CodeLine("cache_k, cache_v = split(old @ w_k), split(old @ w_v)  # made in earlier steps"),
        CodeLine(""),
        CodeLine("q = split(x @ w_q)", "q", some),
    ]
    lines += [CodeLine(f"{one} = torch.cat([cache_{one}, split(x @ w_{one})], dim=2)", one, every) for one in "kv"]
    return [
        *lines,
        CodeLine("scores = q @ k.transpose(-2, -1)", "scores", cells),
        CodeLine("scaled = scores / (d // h) ** 0.5", "scale", cells),
        CodeLine("later = torch.ones(n_new, n_cache + n_new, dtype=torch.bool).triu(1 + n_cache)", "mask", (new, n)),
        CodeLine('masked = scaled.masked_fill(later, float("-inf"))', "mask", cells),
        *_to_the_end(some, cells, tokens="n_new"),
    ]


def _matrices(numbers: ExampleNumbers) -> list[CodeLine]:
    return [
        CodeLine(f"{name} = torch.tensor({getattr(numbers, name).tolist()}).double()", shape=tuple(numbers.w_q.shape))
        for name in ("w_q", "w_k", "w_v", "w_o")
    ]


def _to_the_end(split: Split, cells: Split, tokens: str = "n", *, dropout: bool = False) -> list[CodeLine]:
    """From the masked scores on. Dropout is shown where training applies it; at inference it does nothing."""
    batch, _heads, n, _head = split
    d = split[1] * split[3]
    drawn = f"torch.rand(b, h, n, n, generator=torch.Generator().manual_seed({SEED}))"
    dropped = [
        CodeLine(f"kept = {drawn} >= {DROPPED}", "dropout", cells),
        CodeLine(f"dropped = weights * kept / (1 - {DROPPED})", "dropout", cells),
    ]
    return [
        CodeLine("weights = masked.softmax(dim=-1)", "softmax", cells),
        *(dropped if dropout else [CodeLine("weights = torch.dropout(weights, p=0.1, train=False)", "", cells)]),
        CodeLine("mixed = dropped @ v" if dropout else "mixed = weights @ v", "mix", split),
        CodeLine(f"concat = mixed.transpose(1, 2).reshape(b, {tokens}, d)", "concat", (batch, n, d)),
        CodeLine("added = concat @ w_o", "out", (batch, n, d)),
    ]


def _keys_and_values(split: Split, n_kv_heads: int | None) -> list[CodeLine]:
    """One key/value head per query head, or fewer whose rows are repeated for the query heads of their group."""
    batch, heads, n, head = split
    if n_kv_heads in (None, heads):
        return [
            CodeLine(f"{name} = (x @ w_{name}).view(b, n, h, d // h).transpose(1, 2)", name, split) for name in "kv"
        ]
    few = (batch, n_kv_heads, n, head)
    lines = [CodeLine(f"kv = {n_kv_heads}")]
    for name in "kv":
        columns = f"w_{name}[:, : kv * (d // h)]"
        lines.append(CodeLine(f"few_{name} = (x @ {columns}).view(b, n, kv, d // h).transpose(1, 2)", name, few))
        lines.append(CodeLine(f"{name} = few_{name}.repeat_interleave(h // kv, dim=1)", name, split))
    return lines
