"""Edit heads: the effect of edits on the text, which heads matter, and activation patching."""

from pages.edit_heads.edit import show_edit
from pages.edit_heads.edit_export import offer_edit
from pages.edit_heads.effect_export import effects_view
from pages.edit_heads.effects import show_effects
from pages.edit_heads.of_attention import up_to_query
from pages.edit_heads.patch_export import patches_view
from pages.edit_heads.patching import show_patches
from pages.edit_heads.state import EditHeadsState, state
from ui.shared.export_bundle import show_export_menu
from ui.shell.model_strip import StripView
from ui.shell.page import open_page, show_badge, show_errors, show_strip
from ui.state.controls import choose
from ui.wording.i18n import _

view = state().view
PARTS = {"edit": ("head",), "effects": ("attention", "head", "ffns"), "patching": ("stream", "attention", "ffns")}
opened = open_page(plain_model=True, two_texts=True, strip=StripView(PARTS[view], edits=view == "edit"))
show_badge(opened)
show_strip(opened)
choose(
    EditHeadsState,
    "view",
    view,
    {"edit": _("edit"), "effects": _("which heads matter"), "patching": _("activation patching")},
)


def draw() -> None:
    """Draw the open view with its help, tables and files. Raises RunnerError."""
    if view == "effects":
        here = up_to_query(opened)
        effects = show_effects(here)
        if effects is not None:
            show_export_menu(here, effects_view(here, effects))
    elif view == "patching":
        patches = show_patches(opened)
        if patches is not None:
            show_export_menu(opened, patches_view(opened, patches))
    else:
        offer_edit(opened, show_edit(opened))


show_errors(draw)
