"""Masks: which cells a pattern keeps, its cost and reach, and its effect on the model with this text."""

from pages.masks.export import gallery_view, model_view, sweep_view
from pages.masks.gallery import show_gallery
from pages.masks.on_model import show_on_model
from pages.masks.reading import explain
from pages.masks.state import MasksState, state
from pages.masks.sweep import show_sweep
from ui.shared.export_bundle import show_export_menu
from ui.shell.model_strip import StripView
from ui.shell.page import open_page, show_badge, show_errors, show_strip
from ui.state.controls import choose
from ui.wording.i18n import _

view = state().view
shows = StripView(("attention",), here=view == "model", edits=view == "model")
opened = open_page(plain_model=True, strip=shows)
show_badge(opened)
show_strip(opened)
choose(
    MasksState, "view", view, {"gallery": _("gallery"), "model": _("on the model"), "sweep": _("sweep of the window")}
)


def draw() -> None:
    """Draw the open view with its tables and files. Raises RunnerError."""
    if view == "model":
        show_export_menu(opened, model_view(opened, show_on_model(opened)))
    elif view == "sweep":
        swept = show_sweep(opened)
        if swept is not None:
            show_export_menu(opened, sweep_view(opened, swept))
    else:
        show_export_menu(opened, gallery_view(opened, show_gallery(opened)))


explain(view)
show_errors(draw)
