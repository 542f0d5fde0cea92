"""Beam search by transformers itself, observed: every step's beams, those dropped and finished, and the ranking.

Nothing is searched here. ``model.generate(num_beams=…)`` does it, and passes its scores and candidates to a logits
processor and a stopping criterion, which only record them; so the result is transformers' own.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from transformers import GenerationConfig, GenerationMixin
from transformers.generation.logits_process import LogitsProcessor, LogitsProcessorList
from transformers.generation.stopping_criteria import StoppingCriteria, StoppingCriteriaList

from model_runner.beams import Beam, BeamSearch, BeamStep, Finished
from model_runner.errors import BrokenLogits
from model_runner.local.cache_argument import cache_argument
from model_runner.local.cancellation import pause
from model_runner.local.encoder_input import growing_caches, masked
from model_runner.local.recording.rope_switch import crosses, rope_switches
from model_runner.request import GenerateRequest

ALONE: Any = GenerationMixin  # transformers' generation without a class's wrapper, such as Whisper's
UNUSED = 0  # generate() needs an id for padding shorter sequences; the padding is removed here


def search_beams(
    model: Any,
    prompt: Sequence[int],
    request: GenerateRequest,
    *,
    width: int,
    limit: int,
    ends: Sequence[int],
    read: Mapping[str, Tensor] | None = None,
) -> BeamSearch:
    """Up to ``limit`` tokens after the prompt, by the model's log-probabilities alone; ``ends`` are end-of-text ids.

    The request's sampling has no effect, nor has anything that the model's own generation settings add to the scores.
    Raises BrokenLogits if logits are not finite. O(width × tokens) memory for the cache, and one step's
    log-probabilities. For an encoder-decoder ``read`` is its encoder's input, by name, and the prompt is the target.
    """
    if limit < 1:
        return BeamSearch(request, width, tuple(prompt), (), ())
    listener = _Listener(len(prompt), width, limit, frozenset(ends))
    settings = GenerationConfig(
        num_beams=width,
        num_return_sequences=width,
        do_sample=False,
        max_new_tokens=limit,
        eos_token_id=list(ends) or None,
        decoder_start_token_id=None if read is None else prompt[0],
        pad_token_id=UNUSED,
        length_penalty=1.0,
        early_stopping=False,
        use_cache=not crosses(rope_switches(model), len(prompt), len(prompt) + limit),
        return_dict_in_generate=True,
    )
    ids = torch.tensor([list(prompt)], device=model.device)
    given = {"input_ids": ids} if read is None else dict(read)
    written: dict[str, Any] = {} if read is None else {"decoder_input_ids": ids}
    if read is not None and settings.use_cache:
        written |= cache_argument(model, growing_caches(model))
    with _without_own_settings(model):
        output = ALONE.generate(
            model,
            **masked(given),
            **written,
            generation_config=settings,
            logits_processor=LogitsProcessorList([_Scores(listener)]),
            stopping_criteria=StoppingCriteriaList([_Candidates(listener)]),
        )
    lengths = (output.beam_indices >= 0).sum(-1).tolist()  # -1 where a sequence had ended
    rows = output.sequences[:, len(prompt) :].tolist()
    known = {final.beam.ids: final for step in listener.steps for final in step.finished}
    ranking = tuple(known[tuple(row[:length])] for row, length in zip(rows, lengths, strict=True))
    return BeamSearch(request, width, tuple(prompt), tuple(listener.steps), ranking)


@contextmanager
def _without_own_settings(model: Any) -> Generator[None]:
    """Ignore the model's generation_config.json, from which transformers (5.23) fills every unset setting."""
    own = model.generation_config
    model.generation_config = GenerationConfig()
    try:
        yield
    finally:
        model.generation_config = own


@dataclass(eq=False)
class _Listener:
    """Records what transformers passes in every step of the search: first the scores, then the candidates."""

    n_prompt: int
    width: int
    limit: int
    ends: frozenset[int]
    steps: list[BeamStep] = field(default_factory=list)
    before: tuple[Beam, ...] = ()  # what the candidates continue,
    candidates: tuple[Beam, ...] = ()  # best first,
    beams: tuple[Beam, ...] = (Beam(),)  # and those of them that continue
    rows: dict[tuple[int, ...], int] = field(default_factory=dict)  # ids of a beam -> its row in log_probs
    log_probs: Tensor = field(default_factory=lambda: torch.empty(0))

    def take_scores(self, ids: Int[Tensor, "beams tokens"], log_probs: Float[Tensor, "beams vocab"]) -> None:
        """Called before the choice. In the first step all rows are the prompt, and only the first one counts."""
        pause()
        if log_probs.isnan().any():  # one infinite or undefined logit makes its whole row NaN
            raise BrokenLogits()
        rows = [tuple(row) for row in ids[:, self.n_prompt :].tolist()]
        if self.steps:
            known = {beam.ids: beam for beam in self.candidates if not self._stops(beam)}
            self._go_on(tuple(known[row] for row in rows if row in known))
        self.rows = {row: i for i, row in reversed(list(enumerate(rows)))}
        self.log_probs = log_probs

    def take_candidates(self, ids: Int[Tensor, "candidates tokens"]) -> None:
        """Called after the choice: the best continuations of all beams, best first, at least twice as many as beams.

        Of the best ``width``, those that stop have finished; the best ``width`` that do not stop continue. Ties are
        resolved by transformers in its own way, which the next scores reveal.
        """
        self.before = self.beams
        self.candidates = tuple(self._grown(tuple(row)) for row in ids[:, self.n_prompt :].tolist())
        finished = tuple(self._finished(beam) for beam in self.candidates[: self.width] if self._stops(beam))
        self.steps.append(BeamStep((), finished, ()))
        self._go_on(tuple(beam for beam in self.candidates if not self._stops(beam))[: self.width])

    def _go_on(self, beams: tuple[Beam, ...]) -> None:
        finished = self.steps[-1].finished
        alive = {beam.ids[:-1] for beam in (*beams, *(final.beam for final in finished))}
        dropped = tuple(beam for beam in self.before if beam.ids not in alive)
        self.steps[-1] = BeamStep(beams, finished, dropped)
        self.beams = beams

    def _grown(self, ids: tuple[int, ...]) -> Beam:
        parent = next(beam for beam in self.beams if beam.ids == ids[:-1])
        own = self.log_probs[self.rows[parent.ids], ids[-1]]
        return Beam(ids, (*parent.log_probs, own.item()), (own + parent.log_prob).item())

    def _stops(self, beam: Beam) -> bool:
        return beam.ids[-1] in self.ends or len(beam.ids) == self.limit

    def _finished(self, beam: Beam) -> Finished:
        score = torch.tensor(beam.log_prob) / len(beam.ids)  # float32, as transformers divides
        return Finished(beam, score.item(), "end" if beam.ids[-1] in self.ends else "limit")


class _Scores(LogitsProcessor):
    def __init__(self, listener: _Listener) -> None:
        self._listener = listener

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        self._listener.take_scores(input_ids, scores)
        return scores


class _Candidates(StoppingCriteria):
    def __init__(self, listener: _Listener) -> None:
        self._listener = listener

    def __call__(self, input_ids: Any, scores: Any, **_: Any) -> Any:
        self._listener.take_candidates(input_ids)
        return torch.zeros(len(input_ids), dtype=torch.bool, device=input_ids.device)  # never stops the search
