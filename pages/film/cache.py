"""What the cache of the film's model holds at each of its frames: asked of the model once, for the prompt."""

from __future__ import annotations

from dataclasses import replace

from analysis.cache_growth import CacheGrowth, growth_of
from jobs.generation_tree import GenerationTree
from jobs.waiting import await_job
from model_runner import RunnerError
from model_runner.kv import CachedLayer
from model_runner.questions import CacheLayers
from ui.shared import cached


def cache_growth(film: GenerationTree) -> CacheGrowth | None:
    """None where transformers keeps no such cache of this model."""
    return cached.made(repr(film.prompt.request), lambda: _asked(film))


def _asked(film: GenerationTree) -> CacheGrowth | None:
    request = film.prompt.request

    def layers(attention: str | None) -> tuple[CachedLayer, ...]:
        return await_job(film.runner.submit(CacheLayers(replace(request, attention=attention))), lambda: None)

    try:
        if request.attention is None:
            return growth_of(layers(None))
        return growth_of(layers("decoder"), layers("cross"))
    except RunnerError:
        return None
