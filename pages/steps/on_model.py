"""The same steps for the loaded model's open head: a few of its tokens, its own numbers."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from analysis.head_names import group_size
from analysis.joined import n_looked_at
from analysis.number_text import significant
from analysis.score_formula import root_of
from analysis.sentences import joined
from analysis.step_chain import ChainStep, MatrixPart, StepChain, step_chain
from model_runner.repeated_keys import RepeatedKeys
from model_runner.token_bias import KeyBias
from pages.steps.projected import spelled_out
from pages.steps.small import events
from pages.steps.state import cover, open_step, state
from ui.shared.code_pane import show_code
from ui.shared.export_bundle import ExportBundle, component_page
from ui.shared.finding import key_name, query_name, show_finding
from ui.shared.model_code import attention_lines
from ui.shell.components import mount
from ui.shell.page import PageContext, translated
from ui.state import session
from ui.wording.i18n import _
from ui.wording.sentences import number, sentence
from viz.components.step_by_step import step_by_step
from viz.components.step_by_step.chain import DrawnChain, DrawnMatrix, DrawnStep, StepSettings, rows_of
from viz.matrices_svg import Table, matrices_svg

VECTORS = {"Q": "q", "QR": "q", "K": "k", "KR": "k"}


@dataclass(frozen=True, eq=False)
class StepsOnModel:
    """What is in view: the chain, its query, and how it is drawn."""

    chain: StepChain
    query: int
    payload: bytes


def show_on_model(opened: PageContext, query: int) -> StepsOnModel:
    """Show what part of the open head is shown, and the steps. Raises RunnerError."""
    chain = step_chain(opened.capture, opened.layer, opened.head, query)
    st.html(f"<p class='atlas-caption'>{escape(_said(opened, chain, query))}</p>")
    held, texts = state(), translated(step_by_step.TEXTS)
    if not held.ask:  # the finding would give a hidden weight away
        show_finding(*_finding(opened, query))
    step = open_step([step.id for step in chain.steps])
    payload = step_by_step.StepByStepPicture(
        usual=None,
        edits="",
        settings=StepSettings(head=opened.head),
        chain=_drawn(opened, chain, query),
        step=step,
        ask=cover(held.ask),
        texts=texts,
        room=session.room() is not None,
    ).packed()
    numbers = {step.id: chain.matrices[step.result].values for step in chain.steps}
    mount(step_by_step.SOURCE, payload, key="step_by_step_model", on=events(numbers))
    lines = attention_lines(opened.capture, opened.layer, query=query if chain.refused is None else None)
    if lines:
        words = _("The whole layer in PyTorch, all heads and tokens: runnable by copy, ◀ is the open step")
        show_code(lines, step, words)
    return StepsOnModel(chain, query, payload)


def _finding(opened: PageContext, query: int) -> tuple[str, str]:
    """The key that the query attends to most in the whole row; HTML."""
    row = opened.capture.weights(opened.layer, opened.head, queries=slice(query, query + 1), shares=True)[0]
    key = int(row.argmax())
    said = _("{query} puts {value} on {key}").format(
        query=query_name(opened.capture, query),
        value=escape(number(float(row[key]), "share")),
        key=key_name(opened.capture, key),
    )
    return said, f"L{opened.layer}H{opened.head}"


def _said(opened: PageContext, chain: StepChain, query: int) -> str:
    """How much of the head is shown, which heads share the keys, and why a step is missing."""
    capture, layer = opened.capture, opened.layer
    count, total = len(chain.window.keys), n_looked_at(capture)
    token = f"{capture.tokens[query].text} {query}"
    said = _("The model’s own numbers: {query} and the tokens that it looks at most, {count} of {total}.")
    words = [said.format(query=token, count=count, total=total), _("Click a token above for another.")]
    size = group_size(capture, layer)
    if size > 1:
        first = opened.head // size * size
        heads = ", ".join(f"H{head}" for head in range(first, first + size))
        words.append(_("{heads} share these keys and values (GQA).").format(heads=heads))
    if chain.refused is not None:
        words.append(_("W_O is not shown.") + " " + sentence(chain.refused))
    return joined(*words)


# -- for the component ------------------------------------------------------------------------------------------------


def _drawn(opened: PageContext, chain: StepChain, query: int) -> DrawnChain:
    matrices = {name: _matrix(opened, name, shown) for name, shown in chain.matrices.items()}
    return spelled_out(opened, chain, matrices, [_step(opened, chain, step, query) for step in chain.steps])


def _matrix(opened: PageContext, name: str, shown: MatrixPart) -> DrawnMatrix:
    return DrawnMatrix(
        name=shown.name,
        values=rows_of(shown.values),
        rows=_names(opened, shown.kinds[0], shown.rows),
        columns=_names(opened, shown.kinds[1], shown.columns),
        shape=shown.shape,
        side=shown.side,
        unit="share" if shown.share else "",
        vector=VECTORS.get(name, ""),
    )


def _names(opened: PageContext, kind: str, places: tuple[int, ...]) -> list[str]:
    if kind == "token":
        return token_names(opened, places)
    return [f"L{opened.layer}H{place}" if kind == "head" else str(place) for place in places]


def token_names(opened: PageContext, places: tuple[int, ...]) -> list[str]:
    """Tokens with their positions, which distinguish repeated ones."""
    return [f"{opened.capture.tokens[place].text} {place}" for place in places]


def _step(opened: PageContext, chain: StepChain, step: ChainStep, query: int) -> DrawnStep:
    numbers: dict[str, Any] = {
        name: one.tolist() if isinstance(one, np.ndarray) else one for name, one in step.numbers.items()
    }
    return DrawnStep(
        step.id,
        step.kind,
        step.result,
        left=step.left,
        right=step.right,
        more=step.more,
        rest=None if step.rest is None else step.rest.tolist(),
        note=_note(opened, chain, step.id, query) or None,
        **numbers,
    )


def _note(opened: PageContext, chain: StepChain, step: str, query: int) -> str:
    """A note on a step that differs between a model and the small numbers."""
    token = f"{opened.capture.tokens[query].text} {query}"
    wide = next((chain.matrices[name].shape[1] for name in "XY" if name in chain.matrices), 0)
    notes = {
        "x": _("The residual stream as it enters layer {layer}: {count} numbers a token, the largest are shown."),
        "scale": _note_of_scale(opened),
        "softmax": _note_of_shares(chain),
        "concat": _("Every head’s output at {token}. In the model they form one row; here they are stacked."),
        "out": _("W_O turns each head’s output into {count} numbers; their sum, and the bias of W_O if it has one, is "
                 "what attention adds at {token}."),
    }  # fmt: skip  # a step a line
    return notes.get(step, "").format(count=wide, layer=opened.layer, token=token)


def _note_of_scale(opened: PageContext) -> str:
    """What else the layer does to its scores besides scaling them; empty if nothing."""
    record = opened.capture.record(opened.layer)
    words = _("This model multiplies by a scale of its own, {scale}.").format(scale=significant(record.scale, 4))
    if (root := root_of(record.scale)) is not None:
        words = _("Divided by √{d}.").format(d=root)
    more = []
    if record.softcap is not None:
        more.append(_("The soft-cap keeps every score between −{cap} and {cap}.").format(cap=f"{record.softcap:g}"))
    if isinstance(record.bias, RepeatedKeys):
        more.append(_("Then ln n is added where a key is counted n times."))
    elif isinstance(record.bias, KeyBias):
        more.append(_("Then a bias b of each key is added."))
    elif record.bias is not None:
        more.append(_("Then a bias b for the distance is added."))
    return joined(words, *more) if more else ""


def _note_of_shares(chain: StepChain) -> str:
    """Say that the rows shown do not sum to 1; empty if they do."""
    shown = chain.matrices["A"].values.sum(axis=1)
    if shown.min() > 0.9995:  # 100 % when rounded
        return ""
    words = _("e to the score, divided by the sum of its whole row. The rows shown sum to {low} to {high}, not to 1: "
              "tokens that are not in view have the rest.")  # fmt: skip
    return words.format(low=number(float(shown.min()), "share"), high=number(float(shown.max()), "share"))


# -- export -----------------------------------------------------------------------------------------------------------


def model_view(opened: PageContext, found: StepsOnModel) -> ExportBundle:
    """Every matrix that is shown, the weights first."""
    layer, head, query = opened.layer, opened.head, found.query
    shown = found.chain.matrices
    order = ["A", *(name for name in shown if name != "A")]
    tables = [
        Table(
            one.name, _names(opened, one.kinds[0], one.rows), _names(opened, one.kinds[1], one.columns), one.values,
            share=one.share,
        )
        for one in shown.values()
    ]  # fmt: skip  # one table a line
    frames = dict(zip(shown, tables, strict=True))
    name = f"L{layer}H{head}"
    return ExportBundle(
        name=f"steps-{name}-{query}",
        title=name,
        what=f"the steps of attention at query {query}: tokens {found.chain.window.keys}, the largest dimensions",
        tables=lambda: {
            f"{name} · {frames[key].name}": pd.DataFrame(
                frames[key].values, list(frames[key].rows), list(frames[key].columns)
            )
            for key in order
        },
        page=component_page(step_by_step.SOURCE, found.payload),
        picture=lambda title, words: matrices_svg(tables, title=title, caption=words),
        arrays={key: one.values for key, one in shown.items()},
        code="\nfrom attention_atlas.analysis.step_chain import step_chain\n\n"
        f"chain = step_chain(capture, {layer}, {head}, {query})\n"
        "weights = chain.matrices['A'].values  # of tokens chain.window.queries and chain.window.keys",
    )
