"""The model's architecture, one block opened, and the chosen token's vector as it passes through."""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import escape

import numpy as np
import streamlit as st

from analysis.architecture import ArchitectureStage, LikeliestToken, said, stages
from analysis.joined import decoder_side, first_query
from analysis.kv_bytes import Sharing
from analysis.layer_names import short_words
from analysis.number_text import three_digits
from analysis.stories import whole_word
from model_runner import Capture
from model_runner.block_questions import Architecture, Block, Part, StreamAdditions, WhatItIsMadeOf
from model_runner.errors import NoSuchPlace
from pages.block.state import BlockState, state
from pages.block.which_text import chosen_text
from ui.shared.finding import show_finding
from ui.shell.components import mount
from ui.shell.page import PageContext, asked, translated
from ui.state.page_state import change, refuse
from ui.wording.i18n import _
from ui.wording.sentences import listed, number, sentence
from ui.wording.short_counts import counted
from viz.components.model_stages import model_stages
from viz.components.model_stages.model_stages import StageRow

N_ = str  # marks a text for Babel without translating it here

ROLES = {
    "tokenizer": N_("tokenizer"), "embedding": N_("embedding"), "positions": N_("position vectors"),
    "segments": N_("segments"), "head": N_("output layer"), "mixer": N_("mixer"), "cross": N_("cross-attention"),
    "other": N_("transform"), "own": N_("the layer’s own weights"),
}  # fmt: skip
PARTS = {
    "attention": N_("attention"), "cross": N_("cross-attention"), "ffn": "FFN", "mixer": N_("mixer"),
    "head": N_("output layer"),
}  # fmt: skip
NORMS = {"pre": N_("pre-norm"), "post": N_("post-norm"), "after": N_("norm after"), "both": N_("norm before and after")}


@dataclass(frozen=True, eq=False)
class ArchitectureView:
    """What is drawn: the model, the rows, their texts, and the component's payload."""

    made: Architecture
    stages: list[ArchitectureStage]
    rows: list[StageRow]
    payload: bytes
    position: int
    stack: str  # the token's stack: "encoder" or "decoder"; empty for a model with one
    says: LikeliestToken | None
    next_word: str


def show_architecture(opened: PageContext) -> ArchitectureView:
    """Show the picture; a click opens a block. Raises RunnerError."""
    made, here = asked(opened, WhatItIsMadeOf()), chosen_text(opened)
    capture = here.capture
    position = len(capture.tokens) - 1 if here.query is None else here.query
    added = asked(here, StreamAdditions(capture.request, position))
    index = _block(opened, made)
    found = stages(made, index, capture, added, position)
    stack = _stack_of(here)
    says = said(capture, -1 if stack == "encoder" else position)
    rows = [row_of(opened, made, stage) for stage in found]
    rows = [replace(row, title=title) for row, title in zip(rows, _norms_named(found, rows), strict=True)]
    word = "" if says is None else opened.runner.token_text(says.token)
    if says is not None:
        begins = "" if says.hidden else whole_word(capture, word)
        named = _("“{token}” of “{word}”").format(token=word.strip("·"), word=begins) if begins else word
        rows.append(_row_said(decoder_side(capture), says, named, first_query(opened.capture)))
    vectors = np.full((len(rows), made.d_model), np.nan)
    for place, stage in enumerate(found):
        if stage.vector is not None:
            vectors[place] = stage.vector
    token = capture.tokens[position].text
    strips = _("vector of {token} ({position}) there, and its norm").format(token=token, position=here.first + position)
    columns = [_("stage · module"), _("shapes of its matrices"), _("parameters"), strips]
    payload = model_stages.ModelStagesPicture(
        rows, vectors, columns=columns, texts=translated(model_stages.TEXTS)
    ).packed()
    blocks = [stage for stage in found if stage.role == "block" and stage.block is not None]
    inside = sum(stage.n_parameters for stage in blocks if stage.block and stage.block.shares is None)
    words = _("The {count} layers hold {share} of the parameters")
    share = number(inside / made.n_parameters, "share")
    beside = _("top to bottom, as the text passes through; {block} is open").format(block=name_of(made.blocks[index]))
    show_finding(escape(words.format(count=len(made.blocks), share=share)), escape(beside), of_several=True)
    st.html(f"<p class='atlas-caption'>{escape(_summary(opened, made))}</p>")
    mount(model_stages.SOURCE, payload, key="model_stages", on={"block": _open})
    return ArchitectureView(made, found, rows, payload, position, stack, says, word)


def _stack_of(here: PageContext) -> str:
    if not here.runner.info.attentions:
        return ""
    return "encoder" if here.capture.request.attention == "encoder" else "decoder"


def _row_said(capture: Capture, says: LikeliestToken, word: str, first: int) -> StageRow:
    """The final row: the predicted token and its probability. Tokens are numbered from ``first`` on."""
    place = says.position % len(capture.tokens)
    where = _("in place of {token}") if says.hidden else _("after {token}")
    title = _("hidden word") if says.hidden else _("next token")
    token = f"{capture.tokens[place].text} ({first + place})"
    return StageRow("stage", title, where.format(token=token), f"{word} · {number(says.probability, 'share')}")


def _block(opened: PageContext, made: Architecture) -> int:
    """Return the open block: the stored one, or that of the open layer. An invalid one is reported and dropped.

    In an encoder-decoder model the layer is the decoder's, unless encoder self-attention is selected.
    """
    held = state().block
    if held is not None and held >= len(made.blocks):
        problem = NoSuchPlace(what=N_("block"), value=held, count=len(made.blocks))
        refuse(BlockState, "block", sentence(problem))
        held = None
    if held is not None:
        return held
    stack = "encoder" if opened.capture.request.attention == "encoder" else "decoder"
    places = [place for place, block in enumerate(made.blocks) if block.stack in ("", stack)]
    return places[min(opened.layer, len(places) - 1)]


def _open(block: int | None) -> None:
    if block is not None:
        change(BlockState, block=int(block))


def _summary(opened: PageContext, made: Architecture) -> str:
    """A summary of the model in one line."""
    kinds = list(dict.fromkeys(_kind_of(block) for block in made.blocks))
    tied = _("output layer tied to the embedding") if made.tied else _("output layer of its own")
    dtypes = {weight.dtype for part in made.before for weight in part.weights}
    counts = _("{blocks} blocks").format(blocks=len(made.blocks))
    size = _("{count} parameters").format(count=f"{made.n_parameters:,}")
    wholes = sum(block.origin is None or block.origin.part == 0 for block in made.blocks)
    if wholes < len(made.blocks):
        counts = _("{layers} layers in {blocks} blocks").format(layers=len(made.blocks), blocks=wholes)
    if shared := sum(block.shares is not None for block in made.blocks):
        counts = _("{blocks} blocks, {shared} of which share the parameters of an earlier one (counted once)").format(
            blocks=len(made.blocks), shared=shared
        )
    return " · ".join([opened.runner.info.family, size, ", ".join(sorted(dtypes)), counts, *kinds[:2], tied])


def _kind_of(block: Block) -> str:
    """A block's kind, such as: pre-norm, parallel."""
    words = [_(NORMS[block.norms])] if block.norms else []
    return listed([*words, *([_("parallel")] if block.parallel else [])])


def _norms_named(found: list[ArchitectureStage], rows: list[StageRow]) -> list[str]:
    """The titles of the rows; a norm's names the part before or after which it is applied, if the block says so."""
    titles = [row.title for row in rows]
    for place, stage in enumerate(found):
        if stage.role != "norm" or not titles[place]:
            continue
        norms = stage.block.norms if stage.block is not None else "pre" if place + 2 == len(found) else ""
        step = {"pre": 1, "post": -1, "after": -1}.get(norms, 0)
        other = found[place + step] if step and 0 <= place + step < len(found) else None
        part = "" if other is None else PARTS.get(other.role, "")
        if other is None or other.block is not stage.block or not part:
            continue
        words = _("{norm} before {part}") if step > 0 else _("{norm} after {part}")
        titles[place] = words.format(norm=titles[place], part="FFN" if part == "FFN" else _(part))
    return titles


def name_of(block: Block) -> str:
    """Such as L5; with the name of its stack if there are two."""
    return f"{block.stack} L{block.layer}".strip()


def row_of(opened: PageContext, made: Architecture, stage: ArchitectureStage) -> StageRow:
    """The texts of one row of the picture."""
    length = "" if stage.vector is None else three_digits(float(np.linalg.norm(stage.vector)))
    n = stage.n_parameters
    size = f"{counted(n)} · {number(n / made.n_parameters, 'share')}" if n else ""
    if stage.role == "block" and stage.block is not None:
        block = stage.block
        name = name_of(block)
        kind = _kind_of(block)
        if block.shares is not None:
            size = _("shared with L{layer}").format(layer=block.shares)
        origins = [one.origin for one in made.blocks if one.origin is not None]
        module = " · ".join([*(short_words(block.origin, origins, _) if block.origin else []), block.name])
        return StageRow(
            "block", name, module, kind, size, n / made.n_parameters, length, block=stage.index,
            open=stage.open,
        )  # fmt: skip
    within = "" if stage.block is None else f"{stage.block.name}."
    module = "" if stage.part is None else f"{stage.part.name.removeprefix(within)} · {stage.part.kind}"
    if stage.role == "tokenizer":
        vocab = _("{count} tokens").format(count=f"{opened.runner.info.n_vocab:,}")
        return StageRow("stage", _(ROLES["tokenizer"]), made.tokenizer, vocab)
    shapes = ", ".join(stage.shapes)
    if stage.role == "head" and made.tied:
        size = _("tied: the embedding’s")
    kind = "norm" if stage.role == "norm" else "sum" if stage.adds and stage.vector is not None else "part"
    if stage.block is None:
        kind = "norm" if stage.role == "norm" else "stage"
    share = n / made.n_parameters if n else None
    plus = "+" if stage.adds and length else ""
    depth = 0 if stage.block is None else 1
    return StageRow(kind, title_of(stage), module, shapes, size, share, plus + length, depth)


def title_of(stage: ArchitectureStage) -> str:
    """A row's title, such as: Attention: GQA 8 → 4."""
    block = stage.block
    if stage.role == "norm" and stage.part is not None:
        return stage.part.note
    if stage.role == "attention" and block is not None:
        kind = Sharing(block.n_kv_heads, 0, own=False).kind(block.n_heads)
        heads = f"{block.n_heads}" if block.n_heads == block.n_kv_heads else f"{block.n_heads} → {block.n_kv_heads}"
        return _("attention: {kind} {heads}").format(kind=kind, heads=heads)
    if stage.role == "ffn" and block is not None:
        return _ffn_title(block, stage.part)
    return _(ROLES.get(stage.role, stage.role))


def _ffn_title(block: Block, part: Part | None) -> str:
    if block.n_experts and (part is None or not block.experts or f"{block.experts}.".startswith(f"{part.name}.")):
        return _("FFN: {used} of {count} experts").format(used=block.n_used, count=block.n_experts)
    if not block.activation:
        return "FFN"
    words = _("FFN: gated {name}") if block.gated else _("FFN: {name}")
    return words.format(name=block.activation)
