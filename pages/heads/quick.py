"""Another head's map for the browser at once: after a click on a head it is painted before the page has run."""

from __future__ import annotations

from dataclasses import dataclass
from weakref import ref

from analysis.color_scale import Scale
from analysis.head_map import HeadMap, Reading
from analysis.read_head import ReadHead
from jobs.head_prefetch import HeadPrefetch
from model_runner import Capture
from pages.heads.state import HeadsState, Other
from ui.shared.head_views import DrawnHead, draw_head
from ui.shell.components import mount, sent_arrays
from ui.shell.page import PageContext
from ui.state import session, url_state
from ui.state.selection import UrlWindow
from ui.wording.i18n import in_this_language, language
from viz.components.quick_head import quick_head


@dataclass(frozen=True)
class _Way:
    """How heads are drawn; equal values draw the same. Stores no text itself."""

    capture: ref[Capture]
    at: tuple[int | None, int | None]
    window: UrlWindow | None
    reading: Reading
    other: Other
    log: bool
    language: str

    def draw(self, quick: HeadPrefetch, opened: PageContext) -> DrawnHead:
        """The open head, drawn now or just before, for the browser or for the page's run."""
        head = opened.layer, opened.head

        def make() -> tuple[HeadMap, Scale, bytes]:
            drawn = draw_head(opened, self.window, self.reading, self.other, log=self.log, quick=True)
            return drawn.read.view, drawn.scale, drawn.payload

        view, scale, payload = quick.once((self, head), make)
        return DrawnHead(opened, ReadHead(opened.capture, *head, self.reading, self.other, view), scale, payload)


def draw_open(opened: PageContext, reading: Reading, other: Other, log: bool) -> DrawnHead:
    """The open head, which the browser may have requested already."""
    return _way(opened, reading, other, log).draw(_quick(), opened)


def offer_quickly(opened: PageContext, held: HeadsState, other: Other) -> None:
    """Offer every head, drawn as in this run; a head that must be drawn differently is left to the page's run."""
    quick, way, runner = _quick(), _way(opened, held.reading, other, held.color == "log"), ref(opened.runner)
    sent = sent_arrays()

    def draw(layer: int, head: int) -> bytes:
        model, shown = runner(), way.capture()
        if model is None or shown is None or (layer, head) == other:
            return b""
        for place in ((layer, head), *([] if other is None else [other])):
            shown.check_softmax(*place)
        return sent.lean(way.draw(quick, PageContext(model, shown, layer, head, *way.at)).payload)

    number = quick.show(way, in_this_language(draw))
    of = opened.layer, opened.head
    payload = quick_head.QuickHeadPicture(ticket=quick.ticket, way=number, base=url_state.base(), of=of).packed()
    mount(quick_head.SOURCE, payload, key="quick_head", on={}, followed=False)


def _quick() -> HeadPrefetch:
    return session.jobs().get("quick_head", None, lambda _name: HeadPrefetch())


def _way(opened: PageContext, reading: Reading, other: Other, log: bool) -> _Way:
    at = opened.query, opened.key
    return _Way(ref(opened.capture), at, session.selection().window, reading, other, log, language())
