"""Edit heads: what becomes of the text when heads are changed, which heads matter, and where it comes from."""

from ui.frame import begin_with_frame

begin_with_frame()

from ui.edit_export import edit_tables, take_edit_away
from ui.edit_view import show_edit
from ui.effect_export import effect_tables, take_effects_away
from ui.effect_view import show_effects
from ui.i18n import _
from ui.inputs import choose
from ui.page import guarded, open_page, show_badge, show_strip
from ui.patch_export import patch_tables, take_patches_away
from ui.patch_view import show_patches
from ui.tables import show_tables

opened = open_page(plain_model=True)
show_badge(opened)
show_strip(opened)
view = choose(
    _("View"),
    "heads",
    {"edit": _("edit"), "effects": _("which heads matter"), "patching": _("activation patching")},
)


def draw() -> None:
    """The view that is open, which explains itself, with its tables and files. Raises RunnerError."""
    if view == "effects":
        effects = show_effects(opened)
        if effects is not None:
            show_tables(lambda: effect_tables(opened, effects))
            take_effects_away(opened, effects)
    elif view == "patching":
        patches = show_patches(opened)
        if patches is not None:
            show_tables(lambda: patch_tables(opened, patches))
            take_patches_away(opened, patches)
    else:
        found = show_edit(opened)
        show_tables(lambda: edit_tables(opened, found))
        take_edit_away(opened, found)


guarded(draw)
