"""Texts with markup, scripts or formulas have no effect, on any page of a hosted server or in its files."""

from __future__ import annotations

import csv
import io
import re
import threading
import urllib.request
import zlib
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import Error, Page

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
# the files as the app offers them, by their endings (ui/shared/export_bundle.py)
TYPES = {"html": "text/html", "svg": "image/svg+xml", "pdf": "application/pdf", "csv": "text/csv",
         "npz": "application/octet-stream"}  # fmt: skip
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # how a cell begins that a spreadsheet runs
PLAIN = re.compile(r"-?\d+(\.\d+)?(e[-+]?\d+)?", re.ASCII)
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


class FileServer(ThreadingHTTPServer):
    """Gives one file after the other, as the hosted app does, or to be shown in the browser."""

    daemon_threads = True
    body, headers = b"", dict[str, str]()

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _File)

    def give(self, ending: str, body: bytes, *, attached: bool) -> str:
        """The address of the file from now on."""
        self.body, self.headers = body, {"content-type": TYPES[ending], "x-content-type-options": "nosniff"}
        if attached:
            self.headers["content-disposition"] = f'attachment; filename="offer.{ending}"'
        return f"http://127.0.0.1:{self.server_port}/offer.{ending}"


class _File(BaseHTTPRequestHandler):
    server: FileServer  # pyright: ignore[reportIncompatibleVariableOverride]  # which alone makes these

    def do_GET(self) -> None:
        body = self.server.body if self.path.startswith("/offer.") else b""  # else it is the picture of the tab
        self.send_response(200)
        for name, value in {**self.server.headers, "content-length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def files() -> Iterator[FileServer]:
    server = FileServer()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.mark.long
@pytest.mark.parametrize("ending", TYPES)
def test_a_file_that_is_saved_comes_as_its_type_and_is_not_shown(hosted: Hosted, page: Page, ending: str):
    """The address that the app gives a file is one that anybody could be sent: opened, it is saved and not shown."""
    opened(page, f"{hosted.url}/?text={quote(TEXTS[1])}")
    page.locator(".st-key-take_away button").first.click()
    with page.expect_download() as saved:
        page.locator(f".st-key-take_{ending.upper()} button").click()
    address, body = saved.value.url, saved.value.path().read_bytes()
    answer = urllib.request.urlopen(address, context=hosted.trust)
    assert answer.read() == body
    assert answer.headers["content-type"].split(";")[0] == TYPES[ending]
    assert answer.headers["content-disposition"].startswith("attachment")
    assert answer.headers["x-content-type-options"] == "nosniff"
    stood = page.url
    with page.expect_download() as again, suppress(Error):  # a page that a download takes the place of
        page.goto(address)
    assert again.value.path().read_bytes() == body
    assert page.url == stood


@pytest.mark.long
@pytest.mark.parametrize("given", COUNTS)
def test_no_file_makes_more_of_a_text_than_words(
    page: Page, watch: Watch, files: FileServer, monkeypatch: pytest.MonkeyPatch, given: Given
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
            found[name] = [*_opened(page, watch, files, offer), *_not_as_data(offer)]
    assert seen >= len(given) / 2
    assert {where: wrong for where, wrong in found.items() if wrong} == {}
    assert dialogs == []


def _opened(page: Page, watch: Watch, files: FileServer, offer: Taken) -> list[str]:
    """What a browser makes of each file: as the app serves it, and where somebody puts it for others to look at."""
    given = {"html": offer.page(), "svg": offer.svg.encode(), "csv": offer.table(), "npz": offer.numbers()}
    wrong: list[str] = []
    if offer.svg:
        given["pdf"] = pdf_bytes(offer.svg)
    for ending, data in given.items():
        if not data:
            continue
        wrong += [f"{ending}: {one}" for one in _saved(page, files.give(ending, data, attached=True), data)]
        address = files.give(ending, data, attached=False)
        watch.requests.clear()
        if ending in ("csv", "npz"):  # nothing that Chromium shows, wherever it comes from
            wrong += [f"{ending}: {one}" for one in _saved(page, address, data)]
            continue
        page.goto(address)
        page.wait_for_timeout(100)
        wrong += [f"{ending}: {one}" for one in page.evaluate(INJECTED)]
        wrong += [f"{ending}: {one}" for one in page.evaluate("window.violations")]
        own = (address.rpartition(".")[0], address.replace(f"/offer.{ending}", "/favicon.ico"))  # a file of before too
        asked = [one for one in watch.requests if one.startswith(("http", "ws")) and not one.startswith(own)]
        wrong += [f"{ending}: asked for {one}" for one in asked]
    return wrong


def _saved(page: Page, address: str, data: bytes) -> list[str]:
    """Whether the browser saves what stands there instead of showing it."""
    with page.expect_download() as saved, suppress(Error):  # a page that a download takes the place of
        page.goto(address)
    return [] if saved.value.path().read_bytes() == data else ["another file"]


def _runs(cell: str) -> bool:
    """Whether a spreadsheet would: a number is none."""
    return (cell.startswith(FORMULA) or cell.strip().startswith(FORMULA)) and not PLAIN.fullmatch(cell.strip())


def _parts(pdf: bytes) -> Iterator[bytes]:
    """Its objects as they stand there, and those that are packed."""
    yield STREAM.sub(b"", pdf)
    for packed in STREAM.findall(pdf):
        with suppress(zlib.error):
            yield zlib.decompress(packed)


def _not_as_data(offer: Taken) -> list[str]:
    """What is wrong with the files that no browser shows."""
    wrong: list[str] = []
    every = list(csv.reader(io.StringIO(offer.csv, newline="")))
    rows = [row for row in every if not row[0].startswith("#")]  # without what it says
    if len(set(map(len, rows))) > 1:
        wrong.append("csv: rows of different lengths")
    for separator in ",;\t":  # which it is depends on who opens the file
        cells = [cell for row in csv.reader(io.StringIO(offer.csv, newline=""), delimiter=separator) for cell in row]
        wrong += [f"csv: a formula, {cell}" for cell in cells if _runs(cell)]
    with np.load(io.BytesIO(offer.numbers()), allow_pickle=False) as arrays:
        wrong += [f"npz: {name}" for name in arrays.files if arrays[name].dtype == object]
    if offer.svg:
        pdf = pdf_bytes(offer.svg)
        wrong += [f"pdf: {one}" for part in _parts(pdf) for one in ACTIVE.findall(part)]
        if not pdf.startswith(b"%PDF-"):
            wrong.append("pdf: no PDF")
    return wrong
