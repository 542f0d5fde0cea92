"""The session's text through a model of each kind, one after another: each one's result, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.families import FamilyMask, Kind, ruled_mask
from analysis.hidden_word import MARK, hide, seen_before, usual_word, without_marks, words_in
from attention.patterns import BY_NAME
from hosting.listed import listed_models
from jobs.families import KINDS, MODEL_OF, ReadBy, read_by, with_a_model
from model_runner import CaptureRequest, Runner, RunnerError
from model_runner.edits import Masked
from model_runner.errors import EmptyText
from pages.families.state import FamiliesState, state
from ui.shared import cached
from ui.shell.models_offered import EMBEDDED
from ui.shell.page import PageContext
from ui.state import session
from ui.state.frame_slots import frame_slots
from ui.state.page_state import refuse
from ui.wording.i18n import _
from ui.wording.loading_stages import STAGES
from ui.wording.sentences import sentence

PREFIX = BY_NAME["prefix"]


@dataclass(frozen=True, eq=False)
class OfKind:
    """A kind's result for this text: what its model ``read``, or the ``problem``, and its mask."""

    kind: Kind
    mask: FamilyMask
    read: ReadBy | None
    problem: str = ""


def of_every_kind(opened: PageContext) -> dict[Kind, OfKind]:
    """All kinds in order; models that are not in memory are loaded one after another."""
    found: dict[Kind, OfKind] = {}
    as_loaded = ("families", session.model_options().device, session.model_options().dtype)
    for kind in KINDS:
        causal = found["causal"].read if "causal" in found else None
        tokens = opened.capture.tokens if causal is None else causal.capture.tokens
        try:
            request = request_of(kind, len(tokens))
            read = cached.made((*as_loaded, kind, repr(request)), lambda kind=kind, asked=request: _read(kind, asked))
            found[kind] = OfKind(kind, read.mask, read)
        except RunnerError as error:
            mask = ruled_mask(kind, tokens, prefix_length(len(tokens)))
            found[kind] = OfKind(kind, mask, None, _problem(kind, error))
    frame_slots().status.empty()
    return found


def request_of(kind: Kind, n_tokens: int) -> CaptureRequest:
    """The request for a kind's model, with the text in the form it reads; ``n_tokens`` is the causal model's count."""
    text, model = session.text(), MODEL_OF[kind]
    if kind == "encoder":
        return CaptureRequest(hide(text, hidden_word()), model=model)
    if kind == "two":
        target = session.model_options().target or None
        return CaptureRequest(without_marks(text), model=model, target=target, attention="decoder")
    edits = (Masked(PREFIX.name, (("length", prefix_length(n_tokens)),)),) if kind == "prefix" else ()
    return CaptureRequest(seen_before(text), model=model, edits=edits)


def hidden_word() -> int | None:
    """Index of the word masked for the encoder; an invalid one is reported and replaced."""
    text, word = session.text(), state().word
    count = len(words_in(text))
    if MARK in text:
        return None
    if word is not None and word >= count:
        words = _("The text has no word with the number {word} to hide; its words are {count}.")
        refuse(FamiliesState, "word", words.format(count=count, word=word))
        word = None
    return usual_word(text) if word is None else word


def prefix_length(n_tokens: int) -> int:
    """Number of tokens that attend bidirectionally: as chosen, at most the whole text."""
    held = state().length
    return min(n_tokens, PREFIX.parameters[0].usual(n_tokens) if held is None else held)


def _read(kind: Kind, request: CaptureRequest) -> ReadBy:
    return with_a_model(lambda: _runner(MODEL_OF[kind]), lambda runner: read_by(runner, request))


def _runner(name: str) -> Runner:
    """Return the model, loading it if needed. The open model is requested first, so that it is not evicted."""
    if name != session.model():
        session.runner(session.model(), _say, lambda _preview: None)
    return session.runner(name, _say, lambda _preview: None)


def _say(stage: str, _done: int, _total: int) -> None:
    frame_slots().status.progress(0.0, text=_(STAGES[stage]))


def _problem(kind: Kind, error: RunnerError) -> str:
    listed = listed_models()
    if listed and MODEL_OF[kind] not in listed:
        return _("This server shows no model of this kind: only the rule of its mask is drawn.")
    told = sentence(error)
    # another model than the open one
    return told if isinstance(error, EmptyText) else f"{_(EMBEDDED[MODEL_OF[kind]][0])}: {told}"
