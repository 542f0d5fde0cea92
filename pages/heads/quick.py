"""Another head's map for the browser at once: what a click on a head asks for, painted before the page has run."""

from __future__ import annotations

from weakref import ref

from analysis.head_map import Reading
from analysis.read_head import ReadHead
from jobs.quick_head import QuickHead
from pages.heads.state import HeadsState, Other
from ui import session
from ui.components import mount
from ui.head_views import DrawnHead, draw_head
from ui.i18n import in_this_language, language
from ui.page import PageContext
from ui.place import Window
from viz.components.quick_head import quick_head


def draw_open(opened: PageContext, reading: Reading, other: Other, log: bool) -> DrawnHead:
    """The open head, which the browser may just have asked for."""
    return _drawn(_quick(), opened, session.place().window, reading, other, log)


def offer_quickly(opened: PageContext, held: HeadsState, other: Other) -> None:
    """Every head in the way of this run; one that would be read otherwise than asked for comes with its page alone."""
    quick, window, reading, log = _quick(), session.place().window, held.reading, held.color == "log"
    runner, capture, at = ref(opened.runner), ref(opened.capture), (opened.query, opened.key)  # kept by who keeps them

    def draw(layer: int, head: int) -> bytes:
        model, shown = runner(), capture()
        if model is None or shown is None or (layer, head) == other:
            return b""
        for place in ((layer, head), *([] if other is None else [other])):
            shown.check_softmax(*place)
        return _drawn(quick, PageContext(model, shown, layer, head, *at), window, reading, other, log).payload

    way = quick.show((capture, at, window, reading, other, log, language()), in_this_language(draw))
    mount(quick_head.SOURCE, quick_head.payload(ticket=quick.ticket, way=way), key="quick_head", on={}, followed=False)


def _quick() -> QuickHead:
    return session.jobs().get("quick_head", None, lambda _name: QuickHead())


def _drawn(
    quick: QuickHead, opened: PageContext, window: Window | None, reading: Reading, other: Other, log: bool
) -> DrawnHead:
    head = opened.layer, opened.head

    def draw() -> DrawnHead:
        return draw_head(opened, window, reading, other, log=log, quick=True)

    key = (ref(opened.capture), *head, opened.query, opened.key, window, reading, other, log, language())
    view, scale, payload = quick.once(key, lambda: ((drawn := draw()).read.view, drawn.scale, drawn.payload))
    return DrawnHead(opened, ReadHead(opened.capture, *head, reading, other, view), scale, payload)
