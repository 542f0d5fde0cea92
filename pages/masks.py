"""Masks: which cells a pattern keeps, what that costs and reaches, and what it does to the model on this text."""

from ui.frame import begin_with_frame

begin_with_frame()

from ui.i18n import _
from ui.inputs import choose
from ui.mask_export import (
    gallery_tables,
    model_tables,
    sweep_table,
    take_gallery_away,
    take_model_away,
    take_sweep_away,
)
from ui.mask_gallery import show_gallery
from ui.mask_model import show_on_model
from ui.mask_sweep import show_sweep
from ui.page import guarded, open_page, show_badge, show_reading, show_strip
from ui.tables import show_tables

opened = open_page(plain_model=True)
show_badge(opened)
show_strip(opened)
view = choose(
    _("View"),
    "masks",
    {"gallery": _("gallery"), "model": _("on the model"), "sweep": _("sweep of the window")},
)


def draw() -> None:
    """The view that is open, with its tables and its files. Raises RunnerError."""
    if view == "model":
        found = show_on_model(opened)
        show_tables(lambda: model_tables(opened, found))
        take_model_away(opened, found)
    elif view == "sweep":
        swept = show_sweep(opened)
        if swept is not None:
            show_tables(lambda: sweep_table(swept))
            take_sweep_away(opened, swept)
    else:
        gallery = show_gallery(opened)
        show_tables(lambda: gallery_tables(opened, gallery))
        take_gallery_away(opened, gallery)


show_reading(
    [
        _("A mask says which keys a query may look at; hidden cells get no weight, and the others share all of it."),
        _("Few cells make long texts cheap: a window costs as much for every token, full attention more with each."),
        _("What one layer hides, several can pass on: a token hears of far ones through those in between."),
    ],
    formula="weights = softmax(scores + mask),  mask = 0 or −∞\nwindow of w, L layers: reach = L · (w − 1)",
    source="Child et al. 2019, arXiv:1904.10509; Beltagy et al. 2020, arXiv:2004.05150",
    attempt=_("Make the window small and let it grow: in how many layers does the last token hear of the first?"),
)
guarded(draw)
