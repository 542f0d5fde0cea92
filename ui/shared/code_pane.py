"""Numbers of a page as lines of PyTorch: runnable, every tensor with its shape, the open step's line marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import streamlit as st

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


def code_text(lines: Sequence[CodeLine], step: str) -> str:
    """The lines as they are copied."""
    return "\n".join(line.written(lit=bool(step) and line.step == step) for line in lines)


def show_code(lines: Sequence[CodeLine], step: str, words: str) -> None:
    """Under ``words``, below the picture; those who follow see it too."""
    st.html(f"<p class='atlas-caption'>{escape(words)}</p>")
    st.code(code_text(lines, step), language="python")
    to_class(still.SOURCE, still.payload(_as_table(lines, step)), key="code_pane", title=words)


def small_words() -> str:
    """What stands above the lines of a batch with heads."""
    return _("The same in PyTorch: runnable by copy, ◀ is the open step, [batch, heads, tokens, d] are the shapes")


def _as_table(lines: Sequence[CodeLine], step: str) -> str:
    """A row a line, with its shape."""
    rows = ""
    for line in lines:
        code, shape = f"<code>{escape(line.code)}</code>", str(list(line.shape)) if line.shape else ""
        code = f"<mark>{code}</mark>" if line.step and line.step == step else code
        rows += f"<tr><td style='text-align:left'>{code}</td><td>{escape(shape)}</td></tr>"
    return f"<table class='atlas-costs'><tbody>{rows}</tbody></table>"
