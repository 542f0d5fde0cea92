"""The block: what the model is made of, what runs through it, and what each part adds."""

from pages.block.architecture import show_architecture
from pages.block.architecture_export import architecture_view
from pages.block.experts import show_experts
from pages.block.experts_export import experts_view
from pages.block.ffn import show_ffn
from pages.block.ffn_export import ffn_view
from pages.block.learning import show_learning
from pages.block.learning_export import learning_view
from pages.block.lens import show_lens
from pages.block.lens_export import lens_view
from pages.block.norms import show_norms
from pages.block.norms_export import norms_view
from pages.block.reading import explain
from pages.block.state import BlockState, View, state
from pages.block.stream import show_stream
from pages.block.stream_export import stream_view
from ui.controls import choose
from ui.i18n import _
from ui.page import guarded, open_page, show_badge, show_strip
from ui.view import offer

opened = open_page(two_texts=True)
show_badge(opened)
show_strip(opened)
view = state().view
views: dict[View, str] = {
    "architecture": _("architecture"),
    "stream": _("residual stream"),
    "norms": _("norms"),
    "ffn": _("FFN"),
    "experts": _("experts"),
    "lens": _("Logit lens"),
    "learning": _("learning"),
}
choose(BlockState, "view", view, views)


def draw() -> None:
    """The view that is open, with its tables and its files. Raises RunnerError."""
    if view == "stream":
        offer(opened, stream_view(show_stream(opened)))
    elif view == "norms":
        offer(opened, norms_view(show_norms(opened)))
    elif view == "ffn":
        offer(opened, ffn_view(show_ffn(opened)))
    elif view == "experts":
        experts = show_experts(opened)
        if experts is not None:
            offer(opened, experts_view(experts))
    elif view == "learning":
        learned = show_learning(opened)
        if learned is not None:
            offer(opened, learning_view(learned))
    elif view == "lens":
        offer(opened, lens_view(show_lens(opened)))
    else:
        offer(opened, architecture_view(show_architecture(opened)))


explain(view)
guarded(draw)
