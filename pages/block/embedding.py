"""A token's embedding: its id, its row of the embedding matrix, the nearest rows, and the lookup as a product."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import numpy as np
import pandas as pd
import streamlit as st

from analysis.number_text import three_digits
from model_runner.block_questions import EmbeddingRow, TokenEmbedding
from model_runner.errors import NoSuchPlace, RunnerError
from pages.block.state import LONGEST, BlockState, state
from pages.block.which_text import chosen_text
from ui.shared.export_bundle import ExportBundle, component_page
from ui.shared.finding import bare, show_finding
from ui.shared.typed_token import vocabulary_token
from ui.shell.components import mount, show_heading, show_html
from ui.shell.page import PageContext, asked, translated
from ui.state.inputs import on_change, widget_key
from ui.state.page_state import address_of, change, refuse
from ui.wording.i18n import _
from ui.wording.sentences import sentence
from viz.components.model_stages import model_stages
from viz.components.model_stages.model_stages import StageRow
from viz.markdown import plain
from viz.stages_svg import stages_svg

N_ = str  # marks a text for Babel without translating it here

COLUMNS = 6  # columns of the matrix that are shown


@dataclass(frozen=True, eq=False)
class EmbeddingView:
    """What is drawn: a token's row, and the input of the first layer if it is a token of the text."""

    found: TokenEmbedding
    rows: list[StageRow]
    vectors: np.ndarray
    names: list[str]
    beside: list[str]
    payload: bytes


def follow_strip() -> None:
    """Return to the text's tokens after one was chosen in the token strip."""
    if state().view == "embedding":
        change(BlockState, word="", token=None)


def show_embedding(opened: PageContext) -> EmbeddingView:
    """Show the row, its neighbours and the product. Raises RunnerError."""
    opened = chosen_text(opened)
    position = len(opened.capture.tokens) - 1 if opened.query is None else opened.query
    controls = st.container(key="block_controls", horizontal=True, vertical_alignment="center", gap="small")
    with controls:
        _show_box()
    token = _token(opened)
    own = token is None
    found = _row(opened, opened.capture.tokens[position].id if token is None else token)
    entering = opened.capture.residual(0)[position].double().numpy() if own else None
    names = [opened.runner.token_text(int(one)) for one in (found.token, *found.nearest)]
    rows, vectors = _rows(found, names, entering)
    with controls:
        words = _("The same row wherever the token is, whatever the text is. Click a neighbour to go there.")
        st.html(f"<p class='atlas-caption'>{escape(words)}</p>", width="stretch")
    show_finding(*_finding(found, names), of_several=True)
    columns = [_("token · id"), "", _("cosine with the row"), _("the row: one column a dimension")]
    payload = model_stages.ModelStagesPicture(
        rows, vectors, columns=columns, texts=translated(model_stages.TEXTS)
    ).packed()
    mount(model_stages.SOURCE, payload, key="embedding_rows", on={"block": _go})
    beside = [opened.runner.token_text(one) for one in found.ids]
    show_heading(escape(_("One-hot times the table is the row")))
    show_html(product_table(found, beside), key="one_hot")
    return EmbeddingView(found, rows, vectors, names, beside, payload)


def _row(opened: PageContext, token: int) -> TokenEmbedding:
    """Raises RunnerError, also for a token that is not in the vocabulary."""
    return asked(opened, EmbeddingRow(opened.capture.request, token))


def _token(opened: PageContext) -> int | None:
    """Return the id to look up, or None for the text's token. Invalid input is reported and stays in the box."""
    held = state()
    if held.token is not None:
        try:
            return _row(opened, held.token).token
        except NoSuchPlace as error:
            refuse(BlockState, "token", sentence(error))
    if not held.word.strip():
        return None
    try:
        return vocabulary_token(opened.runner, held.word)
    except RunnerError as error:
        st.warning(plain(sentence(error)))
        return None


def _show_box() -> None:
    key = widget_key(address_of(BlockState, "word"), state().word)
    st.text_input(
        _("Another token of the vocabulary"),
        state().word,
        key=key,
        max_chars=LONGEST,
        placeholder=_("Another token of the vocabulary"),
        label_visibility="collapsed",
        width=260,
        on_change=on_change(key, lambda typed: change(BlockState, word=typed, token=None)),
    )


def _go(token: int | None) -> None:
    if token is not None:
        change(BlockState, token=int(token), word="")


def _finding(found: TokenEmbedding, names: list[str]) -> tuple[str, str]:
    """The token and its nearest neighbour; HTML."""
    token = f"<bdi>{escape(bare(names[0]))}</bdi>"
    said = _("“{token}” is row {id} of {count}").format(token=token, id=f"{found.token:,}", count=f"{found.n_rows:,}")
    if len(names) == 1:
        return said, escape(_("a row of zeros: it points nowhere"))
    words = _("nearest: “{token}”, cosine {cosine}")
    return said, words.format(token=f"<bdi>{escape(bare(names[1]))}</bdi>", cosine=_signed(float(found.cosines[0])))


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")


def _rows(found: TokenEmbedding, names: list[str], entering: np.ndarray | None) -> tuple[list[StageRow], np.ndarray]:
    """The strips: the token's row, the first layer's input at its position, and its neighbours."""
    vector = found.vector.double().numpy()
    rows = [StageRow("stage", names[0], f"id {found.token}", length=three_digits(float(np.linalg.norm(vector))))]
    vectors = [vector]
    if entering is not None:
        length = float(np.linalg.norm(entering))
        cosine = float(vector @ entering) / (float(np.linalg.norm(vector)) * length or 1.0)
        same = bool(np.allclose(vector, entering, rtol=1e-3, atol=1e-5))
        words = _("the row as it is") if same else _signed(cosine)
        rows.append(StageRow("sum", _("what enters L0"), size=words, length=three_digits(length)))
        vectors.append(entering)
    for place, token in enumerate(found.nearest.tolist()):
        near, cosine = found.vectors[place].double().numpy(), float(found.cosines[place])
        rows.append(
            StageRow(
                "part",
                names[1 + place],
                f"id {token}",
                size=_signed(cosine),
                share=max(0.0, cosine),
                length=three_digits(float(np.linalg.norm(near))),
                depth=1,
                block=token,
            )
        )
        vectors.append(near)
    return rows, np.stack(vectors)


def product_table(found: TokenEmbedding, names: list[str]) -> str:
    """The one-hot vector as a column beside the matrix rows around the token; the sum below is the token's row."""
    columns = min(COLUMNS, len(found.vector))
    more = "<td>…</td>" if columns < len(found.vector) else ""
    head = "".join(f"<th>{place}</th>" for place in range(columns))
    body = ""
    for place, (token, name) in enumerate(zip(found.ids, names, strict=True)):
        here = token == found.token
        cells = "".join(f"<td>{_number(value)}</td>" for value in found.rows[place, :columns].tolist())
        kind = " class='open'" if here else ""
        body += (
            f"<tr{kind}><th>{token}</th><td>{'1' if here else '0'}</td>"
            f"<td><bdi>{escape(name)}</bdi></td>{cells}{more}</tr>"
        )
    sums = "".join(f"<td>{_number(value)}</td>" for value in found.vector[:columns].tolist())
    body += f"<tr class='open'><th>one-hot · E</th><td></td><td></td>{sums}{more}</tr>"
    titles = "".join(f"<th>{escape(one)}</th>" for one in (_("id"), _("one-hot"), _("token")))
    dots = "<th>…</th>" if more else ""
    return (
        "<div class='atlas-wide'><table class='atlas-costs atlas-ranks'>"
        f"<thead><tr>{titles}{head}{dots}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _number(value: float) -> str:
    return f"{value:.3f}".replace("-", "−")


# -- export -----------------------------------------------------------------------------------------------------------


def embedding_view(found: EmbeddingView) -> ExportBundle:
    """The row, its neighbours, and the adjacent rows of the matrix."""
    embedding = found.found
    nearest = [f"{token} {name}" for token, name in zip(embedding.nearest.tolist(), found.names[1:], strict=True)]
    beside = [f"{token} {name}" for token, name in zip(embedding.ids, found.beside, strict=True)]
    return ExportBundle(
        name=f"embedding-{embedding.token}",
        title=_("embedding of {token}").format(token=found.names[0]),
        what=f"row {embedding.token} of the embedding table ({embedding.module}, {embedding.n_rows} rows) as the "
        "model's own look-up gives it, and the rows with the largest cosine",
        tables=lambda: {
            _("nearest rows"): pd.DataFrame({_("cosine"): embedding.cosines.double().numpy()}, index=nearest),
            _("rows beside it in the table"): pd.DataFrame(
                embedding.rows.double().numpy(),
                index=beside,
                columns=[f"d{place}" for place in range(embedding.rows.shape[1])],
            ),
        },
        page=component_page(model_stages.SOURCE, found.payload),
        picture=lambda title, words: stages_svg(
            [(row.depth, row.title, row.module, row.shapes, row.size, row.share) for row in found.rows],
            title=title,
            caption=words,
        ),
        arrays={"vector": embedding.vector.numpy(), "nearest": embedding.nearest.numpy(),
                "cosines": embedding.cosines.numpy(), "vectors": embedding.vectors.numpy()},
        code=CODE.format(token=embedding.token),
    )  # fmt: skip  # arrays in two lines


CODE = """
import torch

from attention_atlas.model_runner.block_questions import EmbeddingRow

row = runner.submit(EmbeddingRow(capture.request, {token})).result()
for token, cosine in zip(row.nearest.tolist(), row.cosines.tolist()):
    print(token, runner.token_text(token), cosine)
one_hot = torch.tensor([float(token == row.token) for token in row.ids])  # of these rows of the table alone
torch.testing.assert_close(one_hot @ row.rows, row.vector)
"""
