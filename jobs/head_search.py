"""The search for heads that matter: one job on the model per layer, run incrementally and cached."""

from __future__ import annotations

from weakref import ref

from analysis.head_effects import LayerEffects, layer_effects
from jobs.incremental_task import IncrementalTask
from model_runner import Capture, CaptureRequest, Runner
from model_runner.job import Job
from model_runner.questions import HeadAnswers, WhichHeads

MOST = 32  # cached answers: small arrays, by text and target

Key = tuple[CaptureRequest, int, int | None]


class Search:
    """The finished layers of this target and of earlier ones; ``name`` identifies the session at the runner."""

    resumable = True

    def __init__(self, name: str) -> None:
        self._name = name
        self._known: dict[Key, list[LayerEffects]] = {}
        # of the pull; a weak reference, so that a search keeps no model in memory
        self._key: tuple[ref[Runner], Key] | None = None
        self._pull: IncrementalTask[LayerEffects] | None = None

    def aim(
        self, runner: Runner, capture: Capture, target: int, against: int | None = None
    ) -> IncrementalTask[LayerEffects]:
        """The layers for this text, target and contrast token: those known at once, the others incrementally."""
        known = capture.request, target, against
        key = ref(runner), known
        if self._pull is None or key != self._key:
            self.close()
            self._key, self._pull = key, self._begin(runner, capture, known, self._known.setdefault(known, []))
            while len(self._known) > MOST:
                self._known.pop(next(iter(self._known)))
        elif not (self._pull.running or self._pull.stopped or self._pull.error):
            self._pull.running = len(self._pull.items) < len(layers_of(capture))  # it was closed with the browser
        return self._pull

    def close(self) -> None:
        """Cancel the running job; finished layers stay."""
        if self._pull is not None:
            self._pull.close()

    def _begin(
        self, runner: Runner, capture: Capture, known: Key, done: list[LayerEffects]
    ) -> IncrementalTask[LayerEffects]:
        layers, (request, target, against) = layers_of(capture), known

        def submit(index: int) -> Job[HeadAnswers] | None:
            if index == len(layers):
                return None
            return runner.submit(WhichHeads(request, layers[index], target, against), session=self._name)

        pull = IncrementalTask[LayerEffects](
            submit, lambda _, answers: layer_effects(answers), running=len(done) < len(layers)
        )
        pull.items = done  # the same list, so that new items are cached
        return pull


def layers_of(capture: Capture) -> tuple[int, ...]:
    """Layers with softmax attention, the last one first, since it needs the least computation."""
    return tuple(layer for layer in reversed(range(capture.n_layers)) if capture.has_weights(layer))
