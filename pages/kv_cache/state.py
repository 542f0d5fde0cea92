"""The state of the page KV cache: the view, the race's length, and what the cache evicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from analysis.kv_drop import CacheTrial
from ui.shared.long_example import Shown
from ui.state.page_state import current, setting

N_ = str  # marks a text for Babel without translating it here

LENGTHS = tuple(2**power for power in range(7, 18))  # 128 to 131,072 tokens

View = Literal["race", "bytes", "what_if"]
Drop = Literal["sinks", "last", "int8"]


@dataclass(frozen=True)
class KvCacheState:
    """The race starts after the text that is ``shown``: a page of the chapter, or the session's own.

    ``keep`` is the number of newest tokens that stay, None for half of the text; ``published`` a length for well-known
    models.
    """

    SCOPE: ClassVar[str] = "kv_cache"

    view: View = setting("race", N_("view"))
    shown: Shown = setting("auto", N_("text"))
    length: Literal["100", "50", "200", "500"] = setting("100", N_("tokens"))
    published: str = setting("1024", N_("tokens"), options=lambda: map(str, LENGTHS))
    drop: Drop = setting("sinks", N_("what the cache keeps"))
    keep: int | None = setting(None, N_("window"), min=1, max=10**6)
    sinks: Literal["1", "2", "4", "8"] = setting("1", N_("sinks"))

    def trial(self, n_tokens: int) -> CacheTrial:
        """The cache to try, for a text of this many tokens."""
        return (
            CacheTrial(None, 0)
            if self.drop == "int8"
            else CacheTrial(self.window(n_tokens), int(self.sinks) if self.drop == "sinks" else 0)
        )

    def window(self, n_tokens: int) -> int:
        """How many of the newest tokens stay."""
        return min(n_tokens, max(1, n_tokens // 2) if self.keep is None else self.keep)


def state() -> KvCacheState:
    """The page's current state."""
    return current(KvCacheState)
