"""What the page Generation film gives away: the film as a page, its numbers, its last frame, and the code behind it."""

from __future__ import annotations

import numpy as np

from analysis.film import attention_rows
from model_runner.sampling import Sampling
from ui.film import Film
from ui.film_views import film_payload, frames_of, words_of
from ui.i18n import _
from ui.page import Opened
from ui.take_away import TakeAway, caption, imports_of, show_take_away
from viz.components.film import film as picture
from viz.components.film.frame_svg import frame_svg
from viz.export import csv_bytes, npz_bytes, standalone_html


def take_film_away(opened: Opened, film: Film, *, every_head: bool) -> None:
    """The menu of the page; what it gives is the open way as far as it was generated."""
    take = film.take
    words = caption(opened, f"{len(take.ids)} generated tokens, {settings(take.sampling)}")
    columns = ["id", "probability", "rank", "log-probability", "entropy (bits)", "tokens kept"]
    rows = [
        [one.token, one.probability, one.rank, one.log_probability, one.entropy, one.n_kept] for one in take.choices[1:]
    ]
    labels = [f"{film.n_prompt + i} {token.text}" for i, token in enumerate(take.tokens)]
    numbers = np.array(rows, dtype=np.float64).reshape(len(rows), len(columns))
    row = attention_rows(opened.capture, opened.layer, opened.head, first=len(opened.capture.tokens) - 1, bin=1)[0]
    arrays = {
        "prompt_ids": np.array([token.id for token in film.prompt.tokens], dtype=np.int64),
        "ids": np.array(take.ids, dtype=np.int64),
        "log_probabilities": np.array(take.log_probabilities, dtype=np.float64),
        "entropies": np.array([one.entropy for one in take.choices[1:]], dtype=np.float64),
        "attention_row": row,
    }
    texts = words_of(film)

    def page(lang: str) -> bytes:
        payload = film_payload(opened, film, every_head=every_head, base=0, alive=False, texts=texts)
        return standalone_html(picture.SOURCE, payload, title=title, caption=words, lang=lang)

    title = "".join(token.text for token in film.prompt.tokens[-6:]).replace("·", " ").strip()
    show_take_away(
        TakeAway(
            name="film",
            html=page,
            csv=lambda: csv_bytes(numbers, labels, columns, words),
            npz=lambda: npz_bytes(arrays, words),
            snippet=snippet(film),
            svg=lambda: _last_frame(opened, film, words),
        )
    )


def settings(sampling: Sampling) -> str:
    """The settings in a file's caption: those that differ from the model's own distribution, and the seed."""
    plain = Sampling()
    names = ("temperature", "top_k", "top_p", "min_p", "typical_p", "repetition_penalty", "seed")
    changed = [
        f"{name} {getattr(sampling, name):g}" for name in names if getattr(sampling, name) != getattr(plain, name)
    ]
    return ", ".join(changed) or "the model's own distribution, seed 0"


def _last_frame(opened: Opened, film: Film, words: str) -> str:
    frame = frames_of(opened, film, base=len(film.take.choices) - 1, heads=(), bin=1)[-1]
    tokens = opened.capture.tokens
    return frame_svg(
        frame,
        labels={token: film.runner.token_text(token) for token in frame.tokens},
        columns=[token.text for token in tokens[: frame.position + 1]],
        title=_("L{layer}H{head}: where {label} looks, and how it was chosen").format(
            layer=opened.layer, head=opened.head, label=frame.label
        ),
        caption=words,
        texts=words_of(film),
    )


def snippet(film: Film) -> str:
    """The same tokens over the public API: the generator, begun anew where a token was forced."""
    take, request = film.take, film.prompt.request
    plain = Sampling()
    names = ("temperature", "top_k", "top_p", "min_p", "typical_p", "repetition_penalty", "order", "seed")
    given = [
        f"{name}={getattr(take.sampling, name)!r}"
        for name in names
        if getattr(take.sampling, name) != getattr(plain, name)
    ]
    rest = (", chat=True" if request.chat else "") + (f", edits={request.edits!r}" if request.edits else "")
    return "\n".join(
        [
            "from model_runner import CaptureRequest, GenerateRequest, Sampling, load_runner\n"
            + imports_of(request.edits),
            f"runner = load_runner({request.model!r})",
            f"text, forced = {request.text!r}, {dict(take.forced)!r}  # generated token → its forced id",
            f"sampling, ids = Sampling({', '.join(given)}), ()",
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
