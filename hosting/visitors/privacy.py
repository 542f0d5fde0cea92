"""The privacy page in English and Chinese: docs/privacy.md as a page without scripts and without a session."""

from __future__ import annotations

from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from ui.wording.i18n import LANGUAGES
from viz.plain_page import plain_page
from viz.token_text import escaped

DOCS = Path(__file__).resolve().parents[2] / "docs"
SOURCES = next(iter(LANGUAGES))  # the language without a suffix


def privacy(request: Request) -> Response:
    """The page in the requested language, else the browser's, else English."""
    own = request.headers.get("accept-language", "").lower().split(",")[0].split("-")[0]
    asked = request.query_params.get("lang", own)
    return Response(privacy_page(asked if asked in LANGUAGES else SOURCES), media_type="text/html")


def privacy_page(language: str) -> bytes:
    """The page as HTML; its source has only headings, paragraphs and lists."""
    source = DOCS / ("privacy.md" if language == SOURCES else f"privacy.{language}.md")
    title, *blocks = source.read_text(encoding="utf-8").strip().split("\n\n")
    others = " · ".join(
        f"<a hreflang='{code}' href='?lang={code}'>{escaped(name)}</a>"
        for code, name in LANGUAGES.items()
        if code != language
    )
    body = "".join(_html(block) for block in blocks) + f"<p>{others}</p>"
    return plain_page(body, title=title.removeprefix("# "), caption="Attention Atlas", lang=language)


def _html(block: str) -> str:
    lines = block.splitlines()
    if all(line.startswith("- ") for line in lines):
        return f"<ul>{''.join(f'<li>{escaped(line[2:])}</li>' for line in lines)}</ul>"
    return f"<p>{escaped(' '.join(lines))}</p>"
