"""URL state shared by all pages: the selection, and the options that a model run takes besides the text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

from ui.state.page_state import setting

N_ = str  # marks a text for Babel without translating it here

MOST_WRITTEN = 2000  # characters
MOST_CODE = 20  # characters of a language's code
FAR = 10**7  # larger than any layer, position or token id


class UrlWindow(NamedTuple):
    """The visible part of a map: first and last query and key, stop exclusive."""

    q0: int
    q1: int
    k0: int
    k1: int


@dataclass(frozen=True)
class Selection:
    """The selection. ``layer`` None: the page picks a head. ``query`` -1: the text's default; None: no token."""

    SCOPE: ClassVar[str] = ""

    layer: int | None = setting(None, N_("layer"), min=-FAR, max=FAR)
    head: int | None = setting(None, N_("head"), min=-FAR, max=FAR)
    query: int | None = setting(-1, N_("query"), min=-FAR, max=FAR)
    key: int | None = setting(None, N_("key"), min=-FAR, max=FAR)
    window: UrlWindow | None = setting(None, N_("window"), min=0, max=FAR)


@dataclass(frozen=True)
class ModelOptions:
    """Input besides the text, on every page: generated tokens after it, chat template, and edits of the model."""

    SCOPE: ClassVar[str] = ""

    continuation: tuple[int, ...] = setting((), N_("generated tokens"), min=0, max=FAR)
    chat: bool = setting(False, N_("chat template"))
    everywhere: bool = setting(False, N_("edits on every page"))
    attention: Literal["encoder", "decoder", "cross"] = setting("cross", N_("attention"))  # of an encoder-decoder
    # for models whose keys stand for several tokens
    keys: Literal["tokens", "compressed"] = setting("tokens", N_("keys"))
    # target text; empty: what the model writes
    target: str = setting("", N_("what is written"), max_length=MOST_WRITTEN)
    source_language: str = setting("", N_("language of the text"), max_length=MOST_CODE)  # empty: the folder's default
    target_language: str = setting("", N_("language to write"), max_length=MOST_CODE)
    device: Literal["auto", "cpu", "cuda", "mps"] = setting("auto", N_("device"))
    adapter: bool = setting(True, N_("adapter"))  # False: the base model without its adapter
    dtype: Literal["auto", "float32", "bfloat16", "float16", "int8", "nf4"] = setting("auto", N_("number format"))
