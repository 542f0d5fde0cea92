"""The contents of the model's KV cache at each frame of a film, requested once for the prompt."""

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
    """Return None if transformers has no such cache for this model."""
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
