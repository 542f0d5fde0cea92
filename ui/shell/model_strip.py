"""The strip of the model under every page's title: which parts of the model the page shows, and which head is open.

Layer and head are selected in it. On a page without heads, a click opens the head in Heads. Clicking a part before or
after the layers opens the page that shows it. Phones do not get the strip; their figures name the head.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from weakref import ref

from analysis.head_names import head_name
from analysis.layer_names import layer_name
from analysis.mask_effect import looks_ahead
from analysis.model_rows import StackHeads, changed_places, layer_stacks
from jobs.waiting import await_job
from model_runner import Capture, Runner, RunnerError
from model_runner.block_questions import Architecture, WhatItIsMadeOf
from model_runner.edits import Edit
from model_runner.runner import ModelInfo
from ui.shared import cached
from ui.shell.components import leave_for, mount
from ui.state import session, url_state
from ui.state.frame_slots import frame_slots
from ui.state.page_state import change
from ui.state.run_context import run_context
from ui.state.selection import ModelOptions
from ui.wording.i18n import _
from viz.components.model_strip import model_strip
from viz.components.model_strip.model_strip import LayerKind, LayerRow

PAGES = Path(__file__).resolve().parents[2] / "pages"
# Part → its page and the view of it.
PART_PAGES: dict[str, tuple[str, dict[str, str]]] = {
    "embedding": ("block", {"block.view": "stream"}),
    "logits": ("block", {"block.view": "lens"}),
    "next": ("next_token", {}),
}


@dataclass(frozen=True)
class StripView:
    """What a page declares for the strip: the parts that it shows, as in ``model_strip.LIT``.

    ``here``: a selected head opens on this page, and ``then`` is called afterwards, in the same callback. ``pick``
    handles a selected layer and head; by default the session's selection moves. ``layers``: layers without attention
    can be selected too, and ``layer`` is the open one if it is the page's own. ``edits``: the page edits the model
    itself, and the strip is drawn once the edits are known (see ``edited`` in ui/shell/page.py).
    """

    lit: tuple[str, ...] = ("head",)
    here: bool = True
    then: Callable[[], object] | None = None
    pick: Callable[[int, int], None] | None = None
    layers: bool = False
    layer: int | None = None
    edits: bool = False


def show_model_strip(
    info: ModelInfo, capture: Capture, place: tuple[int, int], view: StripView, runner: Runner | None = None
) -> None:
    """Show the strip of this capture's model in its slot of the frame, now or after the page is drawn.

    ``place`` is the open layer and head. ``runner`` provides the architecture of the layers; without it that is left
    out.
    """
    if view.edits:
        frame_slots().last = lambda: _show(info, capture, place, view, runner)
    else:
        _show(info, capture, place, view, runner)


def _show(info: ModelInfo, capture: Capture, place: tuple[int, int], view: StripView, runner: Runner | None) -> None:
    layer, head = place
    attention = capture.request.attention or ""
    attention = attention if attention in capture.attentions else ""
    if view.layer is not None and view.layer < capture.n_layers:
        layer = view.layer
        head = min(head, len(capture.q(layer)) - 1) if capture.has_weights(layer) else 0
    changed = run_context().edits
    edits = capture.request.edits if changed is None else changed
    architecture = None if runner is None else _architecture(runner)
    data = strip_payload(info, capture, (layer, head, attention), view, edits, architecture)

    def pick(picked: list[object]) -> None:
        at, of, name = int(str(picked[0])), int(str(picked[1])), str(picked[2])
        if name != attention and name in capture.attentions:
            change(ModelOptions, attention=name)
            session.move(query=-1, key=None, window=None)
        if view.pick is not None:
            view.pick(at, of)
        else:
            session.move(layer=at, head=of)
        if not view.here:
            leave_for(PAGES / "heads" / "page.py")
        elif view.then is not None:
            view.then()

    with frame_slots().strip:
        mount(model_strip.SOURCE, data, key="model_strip", on={"head": pick, "part": _open_part}, followed=False)


def strip_payload(
    info: ModelInfo,
    capture: Capture,
    place: tuple[int, int, str],
    view: StripView,
    edits: Sequence[Edit],
    architecture: Architecture | None,
) -> bytes:
    """Return the payload, at most about 3 kB, since every run of a page sends it."""
    layer = place[0]
    stacks = layer_stacks(capture, architecture)
    rows = tuple(_row(info, capture, stack, last=stack is stacks[-1]) for stack in stacks)
    attentions = [name for stack in stacks for name in stack.attentions]
    named = {at: layer_name(capture, at, _) for at in range(capture.n_layers) if capture.origin(at) is not None}
    paired = capture.has_weights(layer) and capture.record(layer).difference is not None
    return model_strip.ModelStripPicture(
        rows=rows,
        open=place,
        lit=view.lit,
        picks="heads" if not view.here else "layers" if view.layers else "here",
        links=[part for part in PART_PAGES if part not in view.lit],
        changed=changed_places(edits, attentions),
        layer_names=named,
        head_names=[head_name(capture, layer, head) for head in range(len(capture.q(layer)))] if paired else (),
        texts={name: _(text) for name, text in _texts(info, capture).items()},
    ).packed()


def _row(info: ModelInfo, capture: Capture, stack: StackHeads, *, last: bool) -> LayerRow:
    kinds = tuple(dict.fromkeys(stack.layers))
    writes = "cross" in stack.attentions and not info.classes
    start = "written" if writes else "sound" if capture.request.sound is not None else "text"
    return LayerRow(
        attentions=stack.attentions,
        before=(start, "embedding"),
        after=("logits", "next") if last else (),
        kinds=tuple(LayerKind(kind.attentions, kind.experts) for kind in kinds),
        layers=tuple(kinds.index(layer) for layer in stack.layers),
    )


def _texts(info: ModelInfo, capture: Capture) -> dict[str, str]:
    """Return the strip's texts. The last part is the classes of a classifier, and the filled-in token of an encoder."""
    texts = dict(model_strip.TEXTS)
    other = "classes" if info.classes else "filled" if looks_ahead(capture) and not capture.attentions else ""
    return texts | ({"next": texts[other]} if other else {})


def _architecture(runner: Runner) -> Architecture | None:
    """Return the model's architecture, cached, or None if it cannot be determined."""

    def ask() -> tuple[Architecture, ...]:
        try:
            return (await_job(runner.submit(WhatItIsMadeOf()), session.text),)
        except RunnerError:
            return ()

    return next(iter(cached.made(("strip", ref(runner)), ask)), None)


def _open_part(part: str) -> None:
    page, chosen = PART_PAGES[part]
    for name, value in chosen.items():
        url_state.choose(name, value, "")
    leave_for(PAGES / page / "page.py")
