"""What the address holds of every page: where a session looks, and what is read besides the text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

from ui.state.page_state import setting

N_ = str  # marks a text for Babel without translating it here

MOST_WRITTEN = 2000  # characters
MOST_CODE = 20  # characters of a language's code
FAR = 10**7  # no layer, position or token id is beyond it


class UrlWindow(NamedTuple):
    """The part of a map in view: first and last query and key, ends excluded."""

    q0: int
    q1: int
    k0: int
    k1: int


@dataclass(frozen=True)
class Selection:
    """Where a session looks. ``layer`` None: the page picks a head. ``query`` -1: the text's own; None: no token."""

    SCOPE: ClassVar[str] = ""

    layer: int | None = setting(None, N_("layer"), min=-FAR, max=FAR)
    head: int | None = setting(None, N_("head"), min=-FAR, max=FAR)
    query: int | None = setting(-1, N_("query"), min=-FAR, max=FAR)
    key: int | None = setting(None, N_("key"), min=-FAR, max=FAR)
    window: UrlWindow | None = setting(None, N_("window"), min=0, max=FAR)


@dataclass(frozen=True)
class ModelOptions:
    """What every page reads besides the text: generated tokens after it, its chat template, and edits of the model."""

    SCOPE: ClassVar[str] = ""

    continuation: tuple[int, ...] = setting((), N_("generated tokens"), min=0, max=FAR)
    chat: bool = setting(False, N_("chat template"))
    everywhere: bool = setting(False, N_("edits on every page"))
    attention: Literal["encoder", "decoder", "cross"] = setting("cross", N_("attention"))  # of an encoder–decoder
    keys: Literal["tokens", "compressed"] = setting("tokens", N_("keys"))  # where a model has keys of several tokens
    target: str = setting("", N_("what is written"), max_length=MOST_WRITTEN)  # by it; nothing: what it writes itself
    source_language: str = setting("", N_("language of the text"), max_length=MOST_CODE)  # nothing: as its folder says
    target_language: str = setting("", N_("language to write"), max_length=MOST_CODE)
    device: Literal["auto", "cpu", "cuda", "mps"] = setting("auto", N_("device"))
    adapter: bool = setting(True, N_("adapter"))  # of a model that has one: with its changes, or as its base is
    dtype: Literal["auto", "float32", "bfloat16", "float16", "int8", "nf4"] = setting("auto", N_("number format"))
