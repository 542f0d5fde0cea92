"""A page's computation as runnable PyTorch, with every tensor's shape and the open step's line highlighted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import streamlit as st

from ui.shell.components import to_class
from ui.wording.i18n import _
from viz.components.still import still

COMMENT_AT = 64  # column at which shape comments start
# on a phone long lines wrap with a small indent, so that the shape stays in view
_WRAPPED = "text-align:left;white-space:pre-wrap;overflow-wrap:anywhere;padding-left:2ch;text-indent:-2ch"
_BAND = "linear-gradient(var(--atlas-band), var(--atlas-band))"  # highlight behind a line


@dataclass(frozen=True)
class CodeLine:
    """``step`` is the step of the picture, or empty for none; ``shape`` is that of the line's result."""

    code: str
    step: str = ""
    shape: tuple[int, ...] = ()

    def written(self, *, lit: bool) -> str:
        """The line with its shape, and a mark if it is highlighted."""
        about = str(list(self.shape)) if self.shape else ""
        mark = "  # ◀ " if lit else "  # "
        return f"{self.code:<{COMMENT_AT}}{mark}{about}".rstrip() if about or lit else self.code


def code_text(lines: Sequence[CodeLine], step: str) -> str:
    """The lines as text to copy."""
    return "\n".join(line.written(lit=bool(step) and line.step == step) for line in lines)


def lit_at(lines: Sequence[CodeLine], step: str) -> list[int]:
    """Indices of this step's lines, from 0."""
    found, at = list[int](), 0
    for line in lines:
        rows = line.code.count("\n") + 1
        if step and line.step == step:
            found += range(at, at + rows)
        at += rows
    return found


def show_code(lines: Sequence[CodeLine], step: str, words: str) -> None:
    """Show the lines below the picture, under ``words``. Phones that follow the room see them too."""
    st.html(f"<p class='atlas-caption'>{escape(words)}</p>")
    bands = ", ".join(f"{_BAND} 0 {at}lh / 100% 1lh no-repeat" for at in lit_at(lines, step))
    with st.container(key="code_lines"):
        st.html(f"<style>.st-key-code_lines {{ --atlas-lit: {bands or 'none'} }}</style>")  # used in frame.css
        st.code(code_text(lines, step), language="python")
    to_class(still.SOURCE, still.still_picture(_as_table(lines, step)).packed(), key="code_pane", title=words)


def small_words() -> str:
    """The caption above the lines of a batch with heads."""
    return _("The same in PyTorch: runnable by copy, ◀ is the open step, [batch, heads, tokens, d] are the shapes")


def _as_table(lines: Sequence[CodeLine], step: str) -> str:
    """HTML table with one row per line and its shape."""
    rows = ""
    for line in lines:
        code, shape = f"<code>{escape(line.code)}</code>", str(list(line.shape)) if line.shape else ""
        if line.step and line.step == step:
            code, shape = f"<mark>{code}</mark>", f"◀ {shape}"
        rows += f"<tr><td style='{_WRAPPED}'>{code}</td><td>{escape(shape)}</td></tr>"
    return f"<table class='atlas-costs'><tbody>{rows}</tbody></table>"
