"""The block: the model's architecture, the residual stream, and what each part adds."""

from pages.block.architecture import show_architecture
from pages.block.architecture_export import architecture_view
from pages.block.context import context_view, show_context
from pages.block.embedding import embedding_view, follow_strip, show_embedding
from pages.block.experts import show_experts
from pages.block.experts_export import experts_view
from pages.block.ffn import show_ffn
from pages.block.ffn_export import ffn_view
from pages.block.ffn_numbers import covered, ffn_numbers_view, show_own_ffn, show_small_ffn
from pages.block.generations import generations_view, show_generations
from pages.block.learning import show_learning
from pages.block.learning_export import learning_view
from pages.block.lens import show_lens
from pages.block.lens_export import lens_view
from pages.block.norms import show_norms
from pages.block.norms_export import norms_view
from pages.block.reading import explain
from pages.block.sizes import show_sizes, sizes_view
from pages.block.state import BlockState, View, state
from pages.block.stream import show_stream
from pages.block.stream_export import stream_view
from pages.block.streams import show_streams, streams_view
from pages.block.which_text import one_text
from ui.shared.export_bundle import ExportBundle, show_export_menu
from ui.shell.fragment_first import draw_fragment_first, moved, rerun_fragment
from ui.shell.model_strip import StripView
from ui.shell.page import PageContext, open_page, show_badge, show_errors, show_strip
from ui.state import session
from ui.state.controls import choose
from ui.state.page_state import change
from ui.wording.i18n import _
from ui.wording.short_terms import short_term

PARTS: dict[View, tuple[str, ...]] = {
    "architecture": ("embedding", "stream", "attention", "ffns", "logits"),
    "embedding": ("embedding",),
    "context": ("embedding", "stream"),
    "stream": ("embedding", "stream"),
    "streams": ("embedding", "stream", "attention", "logits"),
    "norms": ("stream",),
    "ffn": ("ffn",),
    "experts": ("ffns",),
    "lens": ("stream", "logits"),
    "learning": ("attention", "ffns"),
    "sizes": ("embedding", "attention", "ffns", "logits"),
}


def pick(layer: int, head: int) -> None:
    """Open a layer; one without attention opens on this page only, any other for the whole session."""
    other = not opened.capture.has_weights(layer)
    change(BlockState, layer=layer if other else None)
    if not other:
        session.move(layer=layer, head=head)
    rerun_fragment("block")


def open_block(layer: int, head: int) -> None:
    """Open this layer's block, whichever was selected in the picture."""
    change(BlockState, block=None)
    session.move(layer=layer, head=head)
    rerun_fragment("block")


layered, whole = state().view in ("norms", "ffn"), state().view == "architecture"
opened = open_page(
    two_texts=True,
    strip=StripView(
        PARTS[state().view],
        here=layered or whole,
        pick=pick if layered else open_block,
        layers=layered,
        layer=state().layer if layered else None,
    ),
)
show_badge(opened)
show_strip(opened, then=lambda: (follow_strip(), rerun_fragment("block")))


def ffn_part(here: PageContext) -> ExportBundle:
    """The feed-forward units, or the computation step by step. Raises RunnerError."""
    held = state().ffn
    words = {"units": _("units"), "own": _("number by number"), "small": _("small numbers")}
    choose(BlockState, "ffn", held, words)
    if held == "units":
        return ffn_view(show_ffn(here))
    return ffn_numbers_view(show_small_ffn() if held == "small" else show_own_ffn(here))


def architecture_part(here: PageContext) -> ExportBundle:
    """The architecture, or the block of 2017 beside a current one at its sizes. Raises RunnerError."""
    choose(BlockState, "blocks", state().blocks, {"own": _("this model"), "two": _("2017 and today")})
    if state().blocks == "two":
        return generations_view(show_generations(here))
    return architecture_view(show_architecture(here))


def view_of(here: PageContext) -> ExportBundle | None:
    """Draw the open view and return its export; None if a sentence is shown instead. Raises RunnerError."""
    view = state().view  # read late: the selector of views is in the fragment
    if view == "embedding":
        return embedding_view(show_embedding(here))
    if view == "context":
        context = show_context(here)
        return None if context is None else context_view(context)
    if view == "stream":
        return stream_view(show_stream(here))
    if view == "streams":
        streams = show_streams(here)
        return None if streams is None else streams_view(streams)
    if view == "norms":
        return norms_view(show_norms(here))
    if view == "ffn":
        return ffn_part(here)
    if view == "experts":
        experts = show_experts(here)
        return None if experts is None else experts_view(experts)
    if view == "learning":
        learned = show_learning(here)
        return None if learned is None else learning_view(learned)
    if view == "sizes":
        sizes = show_sizes(here)
        return None if sizes is None else sizes_view(sizes)
    if view == "lens":
        return lens_view(show_lens(here))
    return architecture_part(here)


def draw(alone: bool) -> list[ExportBundle]:
    """Draw the selector of views and the open view; an empty list if a sentence is shown instead."""
    views = {
        "architecture": _("architecture"),
        "embedding": _("embedding"),
        "context": _("word in context"),
        "stream": _("residual stream"),
        "streams": _("streams"),
        "norms": _("norms"),
        "ffn": _("FFN"),
        "experts": _("experts"),
        "lens": _("Logit lens"),
        "learning": _("learning"),
        "sizes": _("sizes"),
    }
    choose(BlockState, "view", state().view, {name: short_term(words) for name, words in views.items()})
    drawn: list[ExportBundle | None] = []
    show_errors(lambda: drawn.append(view_of(moved(opened) if alone else opened)))
    return [one for one in drawn if one is not None]


explain(state().view, numbers=state().ffn != "units")
for shown in draw_fragment_first("block", draw):
    show_export_menu(one_text(opened), shown, covered())
