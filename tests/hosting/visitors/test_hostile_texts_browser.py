"""Texts that would be markup, script or a formula elsewhere: on every page of a hosted server, and in its files."""

from __future__ import annotations

import csv
import io
import re
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import Page

from pages.entries import ENTRIES
from tests.browser import Watch
from tests.hosting.visitors.hosted import Hosted, hosted_app, opened
from tests.ui.driving import open_app
from tests.ui.taken import Taken, offers
from ui.shared.export_bundle import pdf_bytes
from ui.shell.frame import Entry

TEXTS = (
    "<script>window.injected = 1; alert(1)</script>",
    '"><img src=x onerror="window.injected=1;alert(1)">',
    "'><svg onload=alert(1)><a href=javascript:alert(1)>x</a>",
    "</script><script>alert(1)</script><!--",
    "[click](javascript:alert(1)) ![x](http://evil.example/x.png) $\\href{javascript:alert(1)}{x}$",
    "{{7*7}} ${alert(1)} <%= alert(1) %> {x!r} %s `alert(1)`",
    '=HYPERLINK("http://evil.example","x")\n@SUM(1)\t+cmd|\' /C calc\'!A0',
    ']]><foreignObject><iframe srcdoc="<script>parent.alert(1)</script>"></iframe></foreignObject></style><style>*{',
)
PAGES = [entry for entry in ENTRIES if entry.address not in ("steps", "families", "long_texts")]  # 12 that show a text
FEW = [(PAGES[0], TEXTS[1]), (PAGES[4], TEXTS[7])]
ALL = [(page, text) for page in PAGES for text in TEXTS]
Given = list[tuple[Entry, str]]
COUNTS = [pytest.param(FEW, id="few"), pytest.param(ALL, id="all", marks=[pytest.mark.long, pytest.mark.timeout(2400)])]
COLLECT = """window.violations = []
document.addEventListener("securitypolicyviolation", (event) =>
  window.violations.push(`${event.violatedDirective} ${event.blockedURI}`))"""
# what a browser would have made of the texts, in the page and in the shadow of its figures
INJECTED = """() => {
  const within = (one) => [one, ...(one.shadowRoot ? all(one.shadowRoot) : [])]
  const all = (root) => [...root.querySelectorAll("*")].flatMap(within)
  const wrong = (one) => one.matches("img[src=x], iframe, [onerror], [onload], a[href^='javascript' i], [src*=evil]")
    || (one.localName === "script" && /alert\\(1\\)/.test(one.textContent) && !(one.type ?? "").includes("json"))
  return [...all(document).filter(wrong).map((one) => one.outerHTML.slice(0, 200)), ...(window.injected ? ["ran"] : [])]
}"""
STREAM = re.compile(rb"stream\r?\n(.*?)\r?\nendstream", re.DOTALL)
ACTIVE = re.compile(rb"/(?:JavaScript|JS|Launch|OpenAction|EmbeddedFile|URI|AA)[\s(<\[/]")  # of a PDF


@pytest.fixture(scope="module")
def hosted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosted]:
    limits = {"looks": 10**6, "keep": 0}
    with hosted_app(tmp_path_factory.mktemp("hostile"), sessions=9, limits=limits) as held:
        yield held


@pytest.mark.parametrize("given", COUNTS)
def test_no_page_makes_more_of_a_text_than_words(hosted: Hosted, page: Page, watch: Watch, given: Given):
    dialogs, found = list[str](), dict[str, list[str]]()
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    page.add_init_script(COLLECT)
    for entry, text in given:
        opened(page, f"{hosted.url}/{entry.address}?text={quote(text)}")
        found[f"{entry.address} {text}"] = [*page.evaluate("window.violations"), *page.evaluate(INJECTED)]
    assert {where: wrong for where, wrong in found.items() if wrong} == {}
    assert dialogs == []
    assert "atlas_failures_total{" not in hosted.metrics()
    assert "\natlas_failures_total" not in hosted.metrics()
    hosted.is_nowhere("window.injected")
    watch.errors[:] = [one for one in watch.errors if "_stcore/h" not in one]  # see tests/browser.py


@pytest.mark.parametrize("given", COUNTS)
def test_no_file_makes_more_of_a_text_than_words(
    page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: Given
):
    dialogs, found = list[str](), dict[str, list[str]]()
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    page.add_init_script(COLLECT)
    made, seen = offers(monkeypatch), 0
    for entry, text in given:
        made.clear()
        open_app(page=entry.file, checked=False, text=text)
        for offer in made:
            seen += 1
            name = f"{entry.address} {text}"
            found[name] = [*_opened(page, tmp_path, offer), *_not_as_data(offer)]
    assert seen >= len(given) / 2
    assert {where: wrong for where, wrong in found.items() if wrong} == {}
    assert dialogs == []


def _opened(page: Page, folder: Path, offer: Taken) -> list[str]:
    """What a browser makes of the page and of the picture, as documents of their own."""
    wrong: list[str] = []
    for ending, data in {"html": offer.page(), "svg": offer.svg.encode()}.items():
        if not data:
            continue
        file = folder / f"offer.{ending}"
        file.write_bytes(data)
        page.goto(file.as_uri())
        page.wait_for_timeout(100)
        wrong += [f"{ending}: {one}" for one in page.evaluate(INJECTED)]
        wrong += [f"{ending}: {one}" for one in page.evaluate("window.violations")]
    return wrong


def _parts(pdf: bytes) -> Iterator[bytes]:
    """Its objects as they stand there, and those that are packed."""
    yield STREAM.sub(b"", pdf)
    for packed in STREAM.findall(pdf):
        with suppress(zlib.error):
            yield zlib.decompress(packed)


def _not_as_data(offer: Taken) -> list[str]:
    """What is wrong with the files that no browser shows."""
    wrong: list[str] = []
    rows = [row for row in csv.reader(io.StringIO(offer.csv)) if not row[0].startswith("#")]  # without what it says
    if len(set(map(len, rows))) > 1:
        wrong.append("csv: rows of different lengths")
    labels = [*rows[0], *(row[0] for row in rows)]
    wrong += [f"csv: a formula, {label}" for label in labels if label.strip()[:1] in ("=", "+", "@")]
    with np.load(io.BytesIO(offer.numbers()), allow_pickle=False) as arrays:
        wrong += [f"npz: {name}" for name in arrays.files if arrays[name].dtype == object]
    if offer.svg:
        pdf = pdf_bytes(offer.svg)
        wrong += [f"pdf: {one}" for part in _parts(pdf) for one in ACTIVE.findall(part)]
        if not pdf.startswith(b"%PDF-"):
            wrong.append("pdf: no PDF")
    return wrong
