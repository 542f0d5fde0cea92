"""Cross-attention as one row of tokens: the source, then the target.

Keys that stand for several tokens are drawn alike: first these keys, then the tokens. A picture of self-attention can
then show two texts: the target's tokens are queries, the source's are keys, and all other cells are masked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TypedDict

import torch
from jaxtyping import Float
from torch import Tensor

from attention.masks import Across, And, Chosen, Full, Rule, moved
from model_runner.capture import COMPRESSED, Capture, Check, index
from model_runner.edits import Blocked, Edit
from model_runner.errors import EncoderSaysNothing, OtherText
from model_runner.layer_edit import LayerEdit
from model_runner.mask_rule import MaskEdit, MaskRule
from model_runner.record import LayerRecord
from model_runner.request import CaptureRequest
from model_runner.token_questions import LikelyTokens
from model_runner.tokens import Token


@dataclass(frozen=True, eq=False, repr=False)
class Joined(Capture):
    """``cross`` is the capture that it was made of; its queries come after its keys, the first at ``n_read``."""

    cross: Capture | None = None

    @property
    def n_read(self) -> int:
        return len(self.cross.keys) if self.cross is not None else 0

    def logits(self, position: int = -1) -> Float[Tensor, "vocab"]:
        """Logits for a target token. Raises EncoderSaysNothing for a source token, and as Capture's."""
        return self._written().logits(self._query(position))

    def likely(self, position: int = -1, *, top: int) -> LikelyTokens:
        """As Capture's, for a target token."""
        return self._written().likely(self._query(position), top=top)

    def direct_logits(self, layer: int, head: int, position: int) -> Float[Tensor, "vocab"]:
        """As Capture's, for a target token."""
        return self._written().direct_logits(layer, head, self._query(position))

    def head_writes(self, layer: int, position: int) -> Float[Tensor, "heads d_model"]:
        """As Capture's, for a target token."""
        return self._written().head_writes(layer, self._query(position))

    def verify(self, layer: int) -> Check:
        """Verify the rows of the target tokens."""
        return self._written().verify(layer)

    def _written(self) -> Capture:
        if self.cross is None:
            raise EncoderSaysNothing()
        return self.cross

    def _query(self, position: int) -> int:
        position = index("position", position, len(self.tokens))
        if position < self.n_read:
            raise EncoderSaysNothing()
        return position - self.n_read


def joined(cross: Capture) -> Joined:
    """The square capture of a rectangular one; O((read + written) × heads × d) memory."""
    n_read, of_one_text = len(cross.keys), cross.request.attention == COMPRESSED
    read = "" if of_one_text else cross.attention("encoder").text
    keys = [_relabelled(key, n_read) for key in cross.keys] if of_one_text else cross.keys
    text = f"{read}\n{cross.text}"
    written = [_moved(token, len(read) + 1) for token in cross.tokens]
    return Joined(
        request=cross.request,
        tokens=(*keys, *written),
        kinds=cross.kinds,
        records=tuple(None if record is None else _square(record, n_read) for record in cross.records),
        residuals=(),
        hidden=cross.hidden,
        asked=cross.asked,
        class_logits=cross.class_logits,
        written=text,
        others=cross.others,
        cross=cross,
    )


def apart(capture: Capture) -> Capture:
    """The capture of which a combination of two texts was made; any other unchanged."""
    return capture.cross if isinstance(capture, Joined) and capture.cross is not None else capture


def decoder_side(capture: Capture) -> Capture:
    """The capture whose last token predicts the next one: for an encoder-decoder the decoder's."""
    return capture.attention("decoder") if capture.attentions else capture


def encoder_side(capture: Capture) -> Capture:
    """The capture of the text's own tokens: for an encoder-decoder the encoder's."""
    return capture.attention("encoder") if capture.attentions else capture


def same_tokens(capture: Capture, edits: tuple[Edit, ...]) -> CaptureRequest:
    """A request for the same tokens with these edits; an encoder-decoder's target is passed to the edited model."""
    request = replace(capture.request, edits=edits)
    if not capture.attentions or capture.class_logits is not None:
        return request
    return replace(request, target="", continuation=tuple(token.id for token in decoder_side(capture).tokens[1:]))


def as_square(capture: Capture) -> Capture:
    """A capture for pictures: combined if it is cross-attention."""
    return capture if capture.source is None else joined(capture)


def first_query(capture: Capture) -> int:
    """Position of the first query token: 0, unless two texts are combined."""
    return capture.n_read if isinstance(capture, Joined) else 0


def n_looked_at(capture: Capture) -> int:
    """Number of key tokens, from the first on: all, unless two texts are combined."""
    return capture.n_read if isinstance(capture, Joined) else len(capture.tokens)


def check_side(capture: Capture, name: str, position: int | None) -> None:
    """For two combined texts, raises OtherText for a "query" in the source or a "key" in the target."""
    if position is not None and first_query(capture) and (name == "query") == (position < first_query(capture)):
        raise OtherText(position=position)


class ClickedSide(TypedDict, total=False):
    """The change of the selection by a click."""

    query: int | None
    key: int | None


def side_of(capture: Capture, token: int | None, sets: str = "query") -> ClickedSide:
    """The effect of a click on a token: ``sets``, but for two combined texts it depends on the text; None: no token."""
    if token is not None and first_query(capture):
        sets = "key" if token < first_query(capture) else "query"
    return {"key": token} if sets == "key" and token is not None else {"query": token, "key": None}


@dataclass(frozen=True, eq=False)
class Lower(LayerEdit):
    """An edit of head outputs for rows that come after ``n_read`` others."""

    n_read: int = 0

    def head_output_edited(self, output: Float[Tensor, "batch queries heads d_value"]) -> Tensor:
        """Apply the edit to the rows after the first ``n_read``."""
        below = LayerEdit(heads=self.heads).head_output_edited(output[:, self.n_read :])
        return torch.cat([output[:, : self.n_read], below], dim=1)


def _lower(edit: MaskEdit, n_read: int) -> MaskEdit:
    """A cross-attention mask edit in the row of both texts; there are no other edits of that mask."""
    return replace(edit, cells=lowered(edit.cells, n_read)) if isinstance(edit, Blocked) else edit


def lowered(cells: Iterable[tuple[int, int]], by: int) -> tuple[tuple[int, int], ...]:
    """The cells with their queries shifted by this many positions."""
    return tuple((query + by, key) for query, key in cells)


def _moved(token: Token, by: int) -> Token:
    return replace(token, start=token.start + by, end=token.end + by)


def _relabelled(key: Token, by: int) -> Token:
    """A key that stands for several tokens, labelled by their positions in the row."""
    return replace(key, text=re.sub(r"\d+", lambda place: str(int(place[0]) + by), key.text))


def _square(record: LayerRecord, n_read: int) -> LayerRecord:
    """The record with a mask under which only target rows have keys, and only source columns are keys."""
    n_written, heads = record.q.shape[1], record.q.shape[0]
    unread = record.q.new_zeros(heads, n_read, record.q.shape[2])
    return replace(
        record,
        q=torch.cat([unread, record.q], dim=1),
        k=torch.cat([record.k, record.k.new_zeros(len(record.k), n_written, record.k.shape[2])], dim=1),
        v=torch.cat([record.v, record.v.new_zeros(len(record.v), n_written, record.v.shape[2])], dim=1),
        output=torch.cat([record.output.new_zeros(n_read, *record.output.shape[1:]), record.output]),
        sinks=_lower_sinks(record.sinks, n_read),
        mask=MaskRule(_across(record.mask.own, n_read), tuple(_lower(edit, n_read) for edit in record.mask.edits)),
        choice=record.choice and record.choice.moved(queries=n_read, keys=(0, n_written)),
        edit=record.edit and Lower(heads=record.edit.heads, n_read=n_read),
    )


def _across(own: Rule, n_read: int) -> Rule:
    """The cross-attention mask in the row of both texts: all of the source, or for compressed keys the visible ones."""
    across = Across(n_read)
    if isinstance(own, Full):
        return across
    # keeps the selection outermost, where it is searched for
    if isinstance(own, And) and isinstance(own.second, Chosen):
        return And(And(across, moved(own.first, queries=n_read)), moved(own.second, queries=n_read))
    return And(across, moved(own, queries=n_read))


def _lower_sinks(sinks: Tensor | None, n_read: int) -> Tensor | None:
    """Sinks per query, with a column for each empty row; a sink per head is unchanged."""
    return sinks if sinks is None or sinks.dim() == 1 else torch.nn.functional.pad(sinks, (n_read, 0))
