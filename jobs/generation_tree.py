"""The film of a session: the ways one text went on, and the generator that takes the open one a token further.

Nothing runs by itself: a token is generated when somebody pulls. What was generated stays whatever happens later; a way
is determined by the settings and the tokens forced, so what is not kept of it can be made again.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace

from analysis.film import How, TokenChoice, choice
from analysis.joined import as_square, decoder_side, first_query
from analysis.token_tree import Branch
from jobs.branches import BranchKey, GenerationBranch
from jobs.interruptible_steps import InterruptibleSteps, Say
from jobs.waiting import await_job
from model_runner import Capture, Runner, Sampling, Step
from model_runner.errors import RunnerError
from model_runner.sampling import stages, uniforms

BUDGET = 0.2  # seconds of generating before what is there is shown


class GenerationTree:
    """What a session generated from one prompt.

    For the screen: ``base`` frames it has, ``wanted`` more it asked for in its ask number ``answered``, ``idle`` for
    none, ``playing``; a newly opened way, of another ``name``, opens ``at`` a frame. ``leaving``: the whole page is to
    run again; ``to_heads``: the text is to open there. ``searching``: a beam search of that width was asked for;
    ``width``: that of the ``beams``. ``refused``: why what was typed is no token.
    """

    resumable = True  # closed, it only lets its generator go: the next pull begins another

    def __init__(self, runner: Runner, prompt: Capture, sampling: Sampling, *, name: str, limit: int) -> None:
        """``prompt`` is the capture of the text alone; ``name`` stands for the session where it asks the runner."""
        self.runner, self.prompt, self.limit = runner, prompt, limit
        self.base = self.wanted = self.answered = self.at = self.searching = self.width = 0
        self.leaving = self.to_heads = self.idle = self.playing = False
        self.refused = ""
        self.name = _new_name()
        self.beams: list[Branch] = []
        self._session = name
        self._steps = InterruptibleSteps(name)
        self._advancing = threading.Lock()
        self._capture: Capture | None = prompt
        self.takes = [self._new_take(sampling, {})]
        self._open = 0

    # -- what there is ------------------------------------------------------------------------------------------------

    @property
    def take(self) -> GenerationBranch:
        """The open way."""
        return self.takes[self._open]

    @property
    def parts(self) -> tuple[object, ...]:
        """What it keeps; others may keep the captures as well."""
        return tuple(self.takes), self.prompt, self._capture

    @property
    def n_prompt(self) -> int:
        return len(self.prompt.tokens)

    @property
    def room(self) -> int:
        """How many tokens may be generated: the length set, as far as the model's context holds them."""
        return max(0, min(self.limit, self.runner.info.room - len(decoder_side(self.prompt).tokens)))

    @property
    def stop(self) -> str:
        """Why the open way has no more tokens: "end", "limit", or "" while it may go on."""
        if self.take.ended:
            return "end"
        return "limit" if len(self.take.tokens) >= self.room else ""

    @property
    def ahead(self) -> TokenChoice | None:
        """What may follow the newest token of the open way, nothing chosen; None where the text ended there."""
        if self.take.ended:
            return None
        capture = self.capture(lambda: None)
        return self._choice(capture, len(capture.tokens), self.take.sampling)

    def capture(self, say: Say) -> Capture:
        """The prompt and everything generated on the open way. Raises RunnerError."""
        if self._capture is None:
            self._capture = self._read(self.take.ids, say)
        return self._capture

    def start(self, say: Say) -> None:
        """Have one token ready, so that the first step is at once there, and what forbids it is known at once.

        Raises ContextFull, CannotContinue and every other RunnerError.
        """
        if not self.room:
            raise self.runner.info.no_room(len(decoder_side(self.prompt).tokens))
        if not self.take.ids:
            self.pull(1, say)

    def go_on_with(self, runner: Runner, prompt: Capture) -> None:
        """The same model loaded anew."""
        self.close()
        self.runner, self.prompt, self._capture = runner, prompt, None

    def keep_to(self, limit: int) -> None:
        """At most so many tokens from now on; what a way has beyond them goes, and can be made again."""
        self.limit = limit
        cut = len(self.take.tokens) > self.room
        self.takes = [take.to(self.room) for take in self.takes]
        if cut:
            self._switch(self._open, at=self.at)

    # -- taking it further --------------------------------------------------------------------------------------------

    def pull(self, wanted: int, say: Say) -> None:
        """Up to so many tokens more, as far as a moment takes, but one at least. Raises RunnerError."""
        began = time.monotonic()
        target = len(self.take.tokens) + wanted
        while len(self.take.tokens) < target and not self.stop:
            with self._advancing:  # a run that is about to end and the one that follows it may both be here
                self._advance(say)
            if time.monotonic() - began > BUDGET:
                break

    def _advance(self, say: Say) -> None:
        take, forced = self.take, dict(self.take.forced)
        run: list[int] = []
        while (index := len(take.ids) + len(run)) in forced and index < self.room:
            run.append(forced[index])
        if run:
            self._force(tuple(run), say)
            return
        room = max(1, self.room - len(take.ids))
        request = self.prompt.request.going_on(max_new_tokens=room, sampling=take.sampling, continuation=take.ids)
        step = self._steps.next(self.runner, request, say)
        if step is None:  # the generator's own limit; a longer one was set since
            self.close()
        else:
            self._add(step)

    def _add(self, step: Step) -> None:
        take = self.take
        greedy = take.sampling.temperature == 0
        uniform = None if greedy else uniforms(take.sampling.seed, step.position, 1)[0]
        how: How = "greedy" if greedy else "sampled"
        chosen = choice(step.stages, step.token.id, how, uniform=uniform, seconds=step.seconds)
        prefill, of = take.prefill, self.prompt.request.attention
        if step.index == 0:
            prefill = (first_query(self.prompt) + step.position, step.prefill_seconds)
        self._replace(
            choices=(*take.choices, chosen),
            tokens=(*take.tokens, step.token),
            prefill=prefill,
            ended=step.stop == "end",
        )
        self._capture = step.capture if of is None else as_square(step.capture.attention(of))

    def _force(self, run: tuple[int, ...], say: Say) -> None:
        """The open way with these tokens after it: one forward reads them all."""
        take = self.take
        capture = self._read((*take.ids, *run), say)
        first = self.n_prompt + len(take.ids)
        chosen = [
            self._choice(capture, first + i, take.sampling, token=token, how=take.forced_how)
            for i, token in enumerate(run)
        ]
        self.close()
        self._replace(choices=(*take.choices, *chosen), tokens=(*take.tokens, *capture.tokens[first:]))
        self._capture = capture

    def _read(self, ids: tuple[int, ...], say: Say) -> Capture:
        job = self.runner.submit(replace(self.prompt.request, continuation=ids), session=self._session)
        return as_square(await_job(job, say))

    def _choice(
        self, capture: Capture, position: int, sampling: Sampling, *, token: int | None = None, how: How = "prompt"
    ) -> TokenChoice:
        """What was to be chosen for a position, by the logits before it."""
        previous = [one.id for one in capture.tokens[first_query(capture) : position]]
        return choice(stages(capture.logits(position - 1), sampling, previous), token, how)

    def _replace(self, **changes: object) -> None:
        self.takes[self._open] = replace(self.take, **changes)  # type: ignore[arg-type]  # the fields of a Take

    # -- other ways ---------------------------------------------------------------------------------------------------

    def ways(self) -> tuple[list[BranchKey], int]:
        """What determines each way, and the number of the open one."""
        return [take.way for take in self.takes], self._open

    def open(self, ways: Sequence[BranchKey], index: int, *, at: int) -> None:
        """Hold these ways and no others, each as far as it says, and show number ``index`` at a frame.

        What is not there yet is generated: of the open way when it is pulled, of the others by :meth:`restore`.
        """
        known = {replace(take.way, steps=0): take for take in self.takes}
        self.takes = []
        for way in ways:
            take = known.get(replace(way, steps=0)) or self._new_take(way.sampling, dict(way.forced), way.how)
            self.takes.append(replace(take.to(way.steps), goal=way.steps))
        self._open = index
        self._switch(index, at=at)

    @property
    def pending(self) -> int | None:
        """The number of the first way beside the open one that is not as far as it is to be."""
        for i, take in enumerate(self.takes):
            if i != self._open and not take.ended and len(take.tokens) < min(take.goal, self.room):
                return i
        return None

    def restore(self, say: Say) -> None:
        """Take the other ways further, one after the other, as far as a moment takes. Raises RunnerError."""
        index = self.pending
        if index is None:
            return
        other = GenerationTree(
            self.runner, self.prompt, self.take.sampling, name=f"{self._session} ways", limit=self.limit
        )
        other.takes = [self.takes[index]]
        try:
            other.pull(other.take.goal - len(other.take.tokens), say)
            self.takes[index] = other.take
        except RunnerError:
            self.takes[index] = replace(other.take, goal=0)
            raise
        finally:
            other.close()

    def change(self, sampling: Sampling) -> None:
        """Other settings: a way of its own from the prompt on; the one so far stays in the tree."""
        if sampling != self.take.sampling:
            self.go(sampling, {}, at=0)

    def force(self, frame: int, token: int) -> None:
        """Token number ``frame`` (from 1) of the open way replaced: a branch."""
        index = frame - 1
        if index < 0 or index > len(self.take.ids) or self.take.ids[index : index + 1] == (token,):
            return
        forced = {i: one for i, one in self.take.forced if i < index} | {index: token}
        self.wanted = 1
        self.go(self.take.sampling, forced, at=frame, shared=index)

    def follow(self, ids: tuple[int, ...]) -> None:
        """Show the way that begins with these tokens, at the last of them."""
        if self.take.ids[: len(ids)] == ids:
            self.at, self.base, self.name = len(ids), 0, _new_name()  # the same way under a new name opens at its frame
            return
        for i, take in enumerate(self.takes):
            if take.ids[: len(ids)] == ids:
                self._switch(i, at=len(ids))
                return
        self.wanted = len(ids)
        self.go(self.take.sampling, dict(enumerate(ids)), at=len(ids), how="beam")

    def go(
        self, sampling: Sampling, forced: Mapping[int, int], *, at: int, shared: int = 0, how: How = "forced"
    ) -> None:
        """Open the way of these settings and forced tokens; the first ``shared`` tokens are those of the open one."""
        kept = tuple(sorted(forced.items()))
        for i, take in enumerate(self.takes):
            if (take.sampling, take.forced) == (sampling, kept):
                self._switch(i, at=at)
                return
        new, old = self._new_take(sampling, forced, how), self.take
        if shared:
            new = replace(new, choices=old.choices[: shared + 1], tokens=old.tokens[:shared], prefill=old.prefill)
        self.takes.append(new)
        self._switch(len(self.takes) - 1, at=at)

    def _switch(self, index: int, *, at: int) -> None:
        self.close()
        left = self._open
        if left != index and len(self.take.ids) <= 1 and not self.take.forced:
            del self.takes[left]  # settings only tried: nothing was generated but the token that is always ready
            index -= left < index
        self._open, self.at, self.base, self._capture = index, min(at, self.room), 0, None
        self.name, self.playing = _new_name(), False

    def _new_take(self, sampling: Sampling, forced: Mapping[int, int], how: How = "forced") -> GenerationBranch:
        first = self._choice(self.prompt, self.n_prompt, sampling)
        return GenerationBranch(sampling, tuple(sorted(forced.items())), how, (first,))

    def branches(self) -> list[Branch]:
        """Every way with tokens of its own, and the beams found."""
        return [take.branch() for take in self.takes if take.tokens] + self.beams

    def close(self) -> None:
        """Let the generator go; what was generated stays."""
        self._steps.close()


def _new_name() -> str:
    return uuid.uuid4().hex[:8]
