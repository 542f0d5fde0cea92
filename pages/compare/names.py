"""Names of the two sides of the page Compare, and the notes under their maps."""

from __future__ import annotations

from analysis.aligned_heads import AlignedHeads
from analysis.alignment import Piece
from analysis.joined import Joined
from analysis.sentences import joined
from model_runner import Capture
from model_runner.errors import NotOverOneText
from ui.shell.models_offered import labelled
from ui.shell.page import PageContext
from ui.wording.i18n import _

MOST_OF_A_TEXT = 44  # characters, in a name


def model_of(side: PageContext) -> str:
    """A side's model as the model box names it, with its revision if one was requested."""
    info = side.runner.info
    name = next(iter(labelled([info.name], _).values())) + (f" @ {info.revision}" if info.revision else "")
    if info.adapter is None:
        return name
    return (_("{name} with its adapter") if info.adapter.on else _("{name} without its adapter")).format(name=name)


def names_of(opened: PageContext, other: PageContext, *, heads: bool = True, layers: bool = False) -> tuple[str, str]:
    """Name both sides by what differs: head or layer, model, text and edits; never empty."""
    sides = opened, other
    parts: list[list[str]] = [[place_of(side, layers)] if heads else [] for side in sides]
    if opened.runner is not other.runner or not heads:
        parts = [[*part, model_of(side)] for part, side in zip(parts, sides, strict=True)]
    if opened.capture.text != other.capture.text:
        parts = [[*part, f"“{_short(side.capture.text)}”"] for part, side in zip(parts, sides, strict=True)]
    if opened.capture.request.edits:
        parts[0].append(_("changed by edits"))
    return " · ".join(parts[0]), " · ".join(parts[1])


def check_over_one_text(opened: PageContext, other: PageContext) -> None:
    """Raises NotOverOneText if a side attends to another text, or to audio, which has no characters."""
    for side in (opened, other):
        hears = side.capture.request.sound is not None and side.capture.request.attention == "encoder"
        if hears or isinstance(side.capture, Joined):
            raise NotOverOneText()


def place_of(side: PageContext, layers: bool) -> str:
    """The open head's name, or its layer and the number of heads averaged."""
    if not layers:
        return f"L{side.layer}H{side.head}"
    return _("L{layer}, mean of {count} heads").format(layer=side.layer, count=len(side.capture.q(side.layer)))


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MOST_OF_A_TEXT else f"{line[: MOST_OF_A_TEXT - 1]}…"


def is_written(piece: Piece, captures: tuple[Capture, Capture]) -> bool:
    """Return True if a piece has characters of either text, unlike ⟨bos⟩."""
    runs = zip(captures, (piece.a, piece.b), strict=True)
    return any(one.tokens[i].end > one.tokens[i].start for one, run in runs for i in run or ())


def note_of(view: AlignedHeads, side: int, captures: tuple[Capture, Capture]) -> str:
    """How the numbers were processed, as part of the figure; side 2 is the difference."""
    told = []
    for place, piece in enumerate(view.pieces):
        if piece.shared and not is_written(piece, captures):
            a, b = (one.labels[one.places.index(place)] for one in (view.first, view.second))
            if a != b:
                told.append(_("{a} of A and {b} of B stand for no text and are matched by position.").format(a=a, b=b))
    if view.merged:
        told.append(
            _("Where the two are cut differently, tokens are aligned by characters: weights are summed "
              "over keys and averaged over queries.")
        )  # fmt: skip
    if side == 2 and any(view.n_unshared):
        words = _("Tokens without a counterpart, for which no difference is drawn: {first} in A, {second} in B.")
        told.append(words.format(first=view.n_unshared[0], second=view.n_unshared[1]))
    return joined(*told)
