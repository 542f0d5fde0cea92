"""Names of a translation model's languages, in the language of the interface."""

from __future__ import annotations

from collections.abc import Sequence

from babel import Locale
from babel.core import get_global

from ui.wording.i18n import language

NARROWER = {"twi": "tw"}  # CLDR (babel 2) maps Twi to Akan, which NLLB has as well


def named(code: str) -> str:
    """Name a code, as in "French (fr)" for fr and fr_XX, or "Chinese, Simplified (zho_Hans)"; an unknown code stays
    alone.
    """
    locale, (part, _, script) = Locale.parse(language()), code.partition("_")
    short = NARROWER.get(part) or str(get_global("language_aliases").get(part, part))
    name = locale.languages.get(short, locale.languages.get(part))
    if name is None:
        return code
    written = locale.scripts.get(script)
    return f"{name}, {written} ({code})" if written else f"{name} ({code})"


def by_name(codes: Sequence[str]) -> dict[str, str]:
    """Code → name, sorted by name, those without a name last."""
    names = {code: named(code) for code in codes}
    return dict(sorted(names.items(), key=lambda one: (one[0] == one[1], one[1])))
