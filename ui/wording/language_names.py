"""Names of the languages that a translator writes and reads, in the language of the interface."""

from __future__ import annotations

from collections.abc import Sequence

from babel import Locale
from babel.core import get_global

from ui.wording.i18n import language

NARROWER = {"twi": "tw"}  # CLDR (babel 2) takes Twi for Akan, which NLLB has beside it


def named(code: str) -> str:
    """Such as "French (fr)" of fr and fr_XX, "Chinese, Simplified (zho_Hans)"; the code alone of one without a name."""
    locale, (part, _, script) = Locale.parse(language()), code.partition("_")
    short = NARROWER.get(part) or str(get_global("language_aliases").get(part, part))
    name = locale.languages.get(short, locale.languages.get(part))
    if name is None:
        return code
    written = locale.scripts.get(script)
    return f"{name}, {written} ({code})" if written else f"{name} ({code})"


def by_name(codes: Sequence[str]) -> dict[str, str]:
    """Code → name, as a list of them is looked through: by name, those without one last."""
    names = {code: named(code) for code in codes}
    return dict(sorted(names.items(), key=lambda one: (one[0] == one[1], one[1])))
