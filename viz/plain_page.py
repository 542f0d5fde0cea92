"""A standalone offline page for figures that are HTML: tables and strips without scripts."""

from __future__ import annotations

from string import Template

from viz.token_text import escaped

# Nothing is fetched and nothing runs, whatever a token contains.
PAGE = Template(
    "<!DOCTYPE html><html lang='$lang'><head><meta charset='utf-8'><title>$title</title>"
    "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; style-src 'unsafe-inline'\">"
    "<meta name='viewport' content='width=device-width'><style>:root{color-scheme:light dark}"
    "body{max-width:60rem;margin:2rem auto;padding:0 1rem;font-family:system-ui,sans-serif;"
    "background:light-dark(#fcfcfa,#14151a);color:light-dark(#1a1c22,#e6e6e1)}</style></head>"
    "<body><main><h1 style='font-size:1.2rem'>$title</h1>$body<p style='font-size:.85rem'>$caption</p></main></body>"
    "</html>"
)


def plain_page(body: str, *, title: str, caption: str, lang: str) -> bytes:
    """``body`` is HTML that the caller has escaped; title and caption are escaped here."""
    words = "<br>".join(escaped(line) for line in caption.splitlines())
    page = PAGE.substitute(lang=escaped(lang), title=escaped(title), body=body, caption=words)
    return page.encode("utf-8")
