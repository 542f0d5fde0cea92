"""Makes a runner from a name: a model to be loaded here, or the URL of one on a server."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, overload

from model_runner.byte_lru import ByteBudgetCache
from model_runner.local.loading import loader
from model_runner.local.loading.hub import Progress
from model_runner.local.loading.model_folder import DEFAULT
from model_runner.local.runner import LocalRunner
from model_runner.model_cache import Device, Dtype
from model_runner.preview import ModelPreview
from model_runner.remote.models import remote_runner
from model_runner.remote.runner import RemoteRunner


@overload
def load_runner(name: str, *, key: str, seconds: float = 600.0) -> RemoteRunner: ...
@overload
def load_runner(
    name: str | Path = DEFAULT,
    *,
    revision: str | None = None,
    device: Device = "auto",
    dtype: Dtype | str = "auto",
    progress: Progress = ...,
    preview: Callable[[ModelPreview], None] = ...,
    make_room: Callable[[], None] = ...,
    check: Callable[[], None] = ...,
    sandboxed: bool = False,
    ask_hub: bool = True,
    agreed: Collection[str] | None = None,
    adapter: bool = True,
    kept: ByteBudgetCache | None = None,
) -> LocalRunner: ...
def load_runner(
    name: str | Path = DEFAULT, *, key: str | None = None, seconds: float = 600.0, **options: Any
) -> LocalRunner | RemoteRunner:
    """A runner for an embedded model, a local folder or a hub id; a Path is a folder. Raises RunnerError.

    With a ``key``, ``name`` is the URL of a model server (``attention-atlas runner``) whose path is the model's name
    there, such as ``https://gpu.example.org/default``; requests time out after ``seconds``. Without a key, see
    :func:`model_runner.local.loading.loader.load_runner` for the options.
    """
    if key is not None:
        return remote_runner(str(name), key, seconds=seconds)
    return loader.load_runner(name, **options)
