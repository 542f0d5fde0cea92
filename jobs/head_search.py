"""The search for heads that matter: a job on the model for each layer, pulled while somebody looks, and kept."""

from __future__ import annotations

from weakref import ref

from analysis.head_effects import LayerEffects, layer_effects
from jobs.incremental_task import IncrementalTask
from model_runner import Capture, CaptureRequest, Runner
from model_runner.job import Job
from model_runner.questions import HeadAnswers, WhichHeads

MOST = 32  # answers kept: small arrays, by text and target

Key = tuple[CaptureRequest, int, int | None]


class Search:
    """The layers that are done, of this target and of earlier ones; ``name`` stands for the session at the runner."""

    resumable = True

    def __init__(self, name: str) -> None:
        self._name = name
        self._known: dict[Key, list[LayerEffects]] = {}
        self._key: tuple[ref[Runner], Key] | None = None  # of the pull; weak: a search keeps no model in memory
        self._pull: IncrementalTask[LayerEffects] | None = None

    def aim(
        self, runner: Runner, capture: Capture, target: int, against: int | None = None
    ) -> IncrementalTask[LayerEffects]:
        """The layers of this text, target and token that it is compared with: those known, the others from now on."""
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
        """End the job under way; the layers that are done stay."""
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
        pull.items = done  # the same list: what is added to it stays known
        return pull


def layers_of(capture: Capture) -> tuple[int, ...]:
    """Those with softmax attention, the last one first: of it there is the least to compute."""
    return tuple(layer for layer in reversed(range(capture.n_layers)) if capture.has_weights(layer))
