"""The small numbers as lines of PyTorch: runnable, every tensor with its shape, the open step's line marked."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import streamlit as st

from attention.small_attention import ExampleNumbers
from ui.shell.components import to_class
from ui.wording.i18n import _
from viz.components.still import still

COMMENT_AT = 64  # the column at which shapes stand


@dataclass(frozen=True)
class CodeLine:
    """``step`` is that of the picture, "" where none is; ``shape`` is of what the line makes."""

    code: str
    step: str = ""
    shape: tuple[int, ...] = ()

    def written(self, *, lit: bool) -> str:
        """With its shape behind it, and a mark where it is lit."""
        about = str(list(self.shape)) if self.shape else ""
        mark = "  # ◀ " if lit else "  # "
        return f"{self.code:<{COMMENT_AT}}{mark}{about}".rstrip() if about or lit else self.code


def code_lines(
    numbers: ExampleNumbers, *, n_heads: int, causal: bool, scaled: bool, n_kv_heads: int | None = None
) -> list[CodeLine]:
    """From the numbers to what attention adds; a batch of one, as PyTorch has it: [b, n, d] and [b, h, n, d_head]."""
    n, d = numbers.x.shape
    head = d // n_heads
    split = (1, n_heads, n, head)
    cells = (1, n_heads, n, n)
    given = [
        CodeLine(f"{name} = torch.tensor({getattr(numbers, name).tolist()}).double()", shape=(d, d))
        for name in ("w_q", "w_k", "w_v", "w_o")
    ]
    lines = [
        CodeLine("import torch"),
        CodeLine(""),
        CodeLine(f"b, n, d, h = 1, {n}, {d}, {n_heads}"),
        CodeLine(f"x = torch.tensor([{numbers.x.tolist()}]).double()", "x", (1, n, d)),
        *given,
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
    return [
        *lines,
        CodeLine("weights = masked.softmax(dim=-1)", "softmax", cells),
        CodeLine("mixed = weights @ v", "mix", split),
        CodeLine("concat = mixed.transpose(1, 2).reshape(b, n, d)", "concat", (1, n, d)),
        CodeLine("added = concat @ w_o", "out", (1, n, d)),
    ]


def _keys_and_values(split: tuple[int, int, int, int], n_kv_heads: int | None) -> list[CodeLine]:
    """A head each, or fewer ones whose rows are copied to the query heads of their group."""
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


def code_text(lines: list[CodeLine], step: str) -> str:
    """The lines as they are copied."""
    return "\n".join(line.written(lit=line.step == step) for line in lines)


def show_code(lines: list[CodeLine], step: str) -> None:
    """Below the picture; those who follow see it too."""
    words = _("The same in PyTorch: runnable by copy, ◀ is the open step, [batch, heads, tokens, d] are the shapes")
    st.html(f"<p class='atlas-caption'>{escape(words)}</p>")
    text = code_text(lines, step)
    st.code(text, language="python")
    to_class(still.SOURCE, still.payload(_as_table(lines, step)), key="steps_code", title=words)


def _as_table(lines: list[CodeLine], step: str) -> str:
    """A row a line, with its shape."""
    rows = ""
    for line in lines:
        code, shape = f"<code>{escape(line.code)}</code>", str(list(line.shape)) if line.shape else ""
        code = f"<mark>{code}</mark>" if line.step and line.step == step else code
        rows += f"<tr><td style='text-align:left'>{code}</td><td>{escape(shape)}</td></tr>"
    return f"<table class='atlas-costs'><tbody>{rows}</tbody></table>"
