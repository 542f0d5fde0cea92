"""Export of the page Generation film: the film as a page, its numbers, the open frame, and Python code."""

from __future__ import annotations

import numpy as np

from analysis.film import attention_rows
from jobs.generation_tree import GenerationTree
from model_runner.python_lines import imports_of, runner_line, sound_import, sound_line
from pages.film.tables import position_in_view, tables_of
from pages.film.views import ahead_of, film_labels, film_payload, frames_of
from ui.shared.export_bundle import ExportBundle
from ui.shell.page import PageContext
from ui.wording.i18n import _
from viz.components.film import film as picture
from viz.components.film.frame_svg import frame_svg
from viz.export import standalone_html
from viz.token_text import shortened


def film_view(opened: PageContext, film: GenerationTree, *, every_head: bool) -> ExportBundle:
    """The open branch, as far as it was generated."""
    texts = film_labels(film)

    def page(title: str, words: str, language: str) -> bytes:
        payload = film_payload(opened, film, every_head=every_head, base=0, alive=False, texts=texts)
        return standalone_html(picture.SOURCE, payload, title=title, caption=words, lang=language)

    return ExportBundle(
        name="film",
        title=shortened(_words(film), 40),
        what=_what(film),
        tables=lambda: tables_of(opened, film),
        page=page,
        picture=lambda _title, words: _frame_in_view(opened, film, words),
        code=code(film),
        starts_with_capture=False,
        arrays=lambda: _arrays(opened, film),
    )


def _words(film: GenerationTree) -> str:
    return "".join(token.text for token in film.prompt.tokens if not token.special).replace("·", " ").strip()


def _what(film: GenerationTree) -> str:
    take = film.take
    forced = f", forced {dict(take.forced)}" if take.forced else ""
    return f"{len(take.ids)} generated tokens, {take.sampling}{forced}, frame {min(film.at, len(take.ids))}"


def _arrays(opened: PageContext, film: GenerationTree) -> dict[str, np.ndarray]:
    take, query = film.take, position_in_view(film)
    return {
        "prompt_ids": np.array([token.id for token in film.prompt.tokens], dtype=np.int64),
        "ids": np.array(take.ids, dtype=np.int64),
        "log_probabilities": np.array(take.log_probabilities, dtype=np.float64),
        "entropies": np.array([one.entropy for one in take.choices[1:]], dtype=np.float64),
        "final_probabilities": np.array([one.final for one in take.choices[1:]], dtype=np.float64),
        "final_entropies": np.array([one.final_entropy for one in take.choices[1:]], dtype=np.float64),
        "attention_row": attention_rows(opened.capture, opened.layer, opened.head, first=query)[0],
    }


def _frame_in_view(opened: PageContext, film: GenerationTree, words: str) -> str:
    frames = frames_of(opened, film, base=min(film.at, len(film.take.tokens)), heads=(), bin=1)
    frame, follows = frames[0], frames[1] if len(frames) > 1 else ahead_of(film)
    tokens = opened.capture.tokens
    title = _("L{layer}H{head}: where {label} looks, and what comes after it")
    return frame_svg(
        frame,
        follows,
        labels={token: film.runner.token_text(token) for token in (follows.tokens if follows else ())},
        columns=[token.text for token in tokens[: frame.position + 1]],
        n_vocab=len(film.prompt.logits(-1)),
        title=title.format(layer=opened.layer, head=opened.head, label=frame.label),
        caption=words,
        texts=film_labels(film),
    )


def code(film: GenerationTree) -> str:
    """The same tokens through the public API: a generator, restarted where a token was forced."""
    take, request = film.take, film.prompt.request
    rest = (", chat=True" if request.chat else "") + (f", edits={request.edits!r}" if request.edits else "")
    if request.sound is not None:
        rest += f", sound={sound_line(request.sound)}"
    if request.attention is not None:
        rest += f", target={request.target!r}, attention={request.attention!r}"
    return "\n".join(
        [
            "from attention_atlas import CaptureRequest, GenerateRequest, Sampling, load_runner"
            + f"{sound_import(request)}\n"
            + imports_of(request.edits),
            runner_line(request),
            f"text, forced = {request.text!r}, {dict(take.forced)!r}  # generated token → its forced id",
            f"sampling, ids = {take.sampling}, ()",
            f"while len(ids) < {len(take.ids)}:",
            "    if len(ids) in forced:",
            "        ids += (forced[len(ids)],)",
            "        continue",
            f"    stop = min([i for i in forced if i > len(ids)], default={len(take.ids)})",
            "    request = GenerateRequest(",
            f"        text, stop - len(ids), sampling, continuation=ids{rest}",
            "    )",
            "    ids += tuple(step.token.id for step in runner.generate(request))",
            f"capture = runner.capture(CaptureRequest(text, continuation=ids{rest}))",
        ]
    )
