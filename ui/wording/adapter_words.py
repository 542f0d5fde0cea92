"""One-line description of an adapter."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ui.shell.models_offered import labelled

if TYPE_CHECKING:  # torch is imported only after the frame is painted
    from model_runner.adapter import AdapterInfo

N_ = str  # marks a text for Babel without translating it here

MOST_NAMES = 4  # modules that are named; a Llama has seven kinds of matrices


def in_words(info: AdapterInfo, name: str, say: Callable[[str], str]) -> str:
    """Describe base, adapter, method, rank and target modules: "base X + adapter Y (LoRA r=8 on q_proj, v_proj)".

    ``say`` translates.
    """
    base, own = (next(iter(labelled([one], say).values())) for one in (info.base, name))
    return say(N_("base {base} + adapter {adapter} ({how})")).format(base=base, adapter=own, how=how(info, say))


def how(info: AdapterInfo, say: Callable[[str], str]) -> str:
    """Describe its method, rank and target modules."""
    ranks = [str(one) for one in info.ranks]
    rank = f" r={ranks[0]}" + (f"–{ranks[-1]}" if len(ranks) > 1 else "") if ranks else ""
    names = ", ".join(info.modules[:MOST_NAMES]) + (" …" if len(info.modules) > MOST_NAMES else "")
    return say(N_("{method} on {modules}")).format(method=info.kind + rank, modules=names)
