"""Resolves a model id to a local folder with the hub's own library, by cache or download. Used only if a user asks."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from huggingface_hub import HfApi, constants, snapshot_download
from huggingface_hub.errors import (
    DryRunError,
    GatedRepoError,
    HFValidationError,
    HTTPError,  # pyright: ignore[reportPrivateImportUsage]  # of whichever HTTP library this version of the hub's uses
    RepositoryNotFoundError,
    RevisionNotFoundError,
    SafetensorsParsingError,
    XetDownloadError,
)
from tqdm.auto import tqdm

from model_runner import memory
from model_runner.errors import (
    DiskFull,
    DownloadBroken,
    HubNotAsked,
    HubUnreachable,
    ModelGated,
    ModelNotFound,
    ModelPickled,
    ModelRevisionMissing,
)
from model_runner.local.loading.checkpoint import read_config
from model_runner.local.loading.config_preview import StoredWeights
from model_runner.local.loading.folder_files import CONFIG
from model_runner.local.loading.other_formats import refuse_names

Progress = Callable[[str, int, int], None]  # stage, done, total (bytes; 0 where unknown)
Look = Callable[[Mapping[str, Any], StoredWeights], None]  # given config.json before any weights are downloaded
NAMES = 2  # parts of a model id: owner and name; further parts are folders in it
WANTED = ("*.safetensors", "*.json", "*.model", "*.spm", "*.txt", "*.jinja", "*.tiktoken")


def fetch(name: str, revision: str | None, progress: Progress, look: Look, *, ask_hub: bool = True) -> Path:
    """The folder of a hub model, downloaded if it is not cached yet; HubNotAsked if downloading is not allowed.

    For owner/name/folder, it is that folder of the model, and no other file is downloaded.

    Raises ModelNotFound, ModelRevisionMissing, ModelGated, HubUnreachable and ModelPickled; before any weights are
    downloaded, DiskFull and whatever ``look`` raises; after that, DownloadBroken, once the hub's library has given up
    retrying.
    """
    owner_and_name, inside = "/".join(name.split("/")[:NAMES]), "".join(f"{part}/" for part in name.split("/")[NAMES:])
    wanted: dict[str, Any] = {"revision": revision, "allow_patterns": [inside + pattern for pattern in WANTED]}
    if not ask_hub:
        if folder := _held(owner_and_name, inside, wanted):
            return folder
        raise HubNotAsked(name=name)
    return _fetched(owner_and_name, inside, wanted, progress, look)


def _fetched(name: str, inside: str, wanted: dict[str, Any], progress: Progress, look: Look) -> Path:
    """``inside`` is a folder of the model followed by a slash, or empty for the whole model."""
    revision: str | None = wanted["revision"]
    progress("asking", 0, 0)
    missing: int | None = None  # bytes to download, once known
    try:
        files = snapshot_download(name, dry_run=True, tqdm_class=_reporting(progress), **wanted)
        sizes = {file.filename: file.file_size or 0 for file in files if file.filename.endswith(".safetensors")}
        weights = sum(sizes.values())
        if not weights:
            refuse_names(name, _names_of_files(name, revision))
            raise ModelPickled(name=name, file="no .safetensors")
        missing = sum(file.file_size or 0 for file in files if file.will_download)
        if missing and any(
            file.filename == inside + CONFIG for file in files
        ):  # without config.json it is incomplete, which is reported later
            config: dict[str, Any] = {"revision": revision, "allow_patterns": [inside + CONFIG]}
            folder = Path(snapshot_download(name, tqdm_class=_reporting(lambda *_: None), **config)) / inside
            look(read_config(folder), StoredWeights(weights, _parameters(name, revision, sizes), missing))
        if missing > _free_on_disk():
            raise _disk_full(name, missing)
        return Path(snapshot_download(name, tqdm_class=_reporting(progress), **wanted)) / inside
    except HFValidationError as error:
        raise ModelNotFound(name=name) from error
    except (OSError, HTTPError, XetDownloadError) as error:  # every failure of the hub's library, its offline mode too
        if missing is not None and _is_full(error):
            raise _disk_full(name, missing) from error
        return _cached(name, inside, wanted, error, begun=missing is not None)


def _parameters(name: str, revision: str | None, sizes: dict[str, int]) -> int | None:
    """How many numbers files of these sizes hold: exact for the first one by its header, in proportion for the others.

    Their dtype is not always the one that config.json names.
    """
    first = min(sizes)
    with suppress(SafetensorsParsingError, OSError, HTTPError):  # then the count is unknown
        api = HfApi(endpoint=constants.ENDPOINT)
        counted = api.parse_safetensors_file_metadata(name, first, revision=revision).parameter_count
        return round(sum(counted.values()) * sum(sizes.values()) / sizes[first]) if sizes[first] else None
    return None


def _names_of_files(name: str, revision: str | None) -> list[str]:
    """The files listed on the model's page, if the hub still answers."""
    with suppress(OSError, HTTPError):
        listed = HfApi(endpoint=constants.ENDPOINT).list_repo_files(name, revision=revision)
        return [file for file in listed if "/" not in file]
    return []


def _held(name: str, inside: str, wanted: dict[str, Any]) -> Path | None:
    """The model's folder on this machine, if it holds more than the configuration that a preview needs."""
    with suppress(OSError, HFValidationError):
        folder = Path(snapshot_download(name, local_files_only=True, **wanted)) / inside
        return folder if any(folder.glob("*.safetensors")) else None
    return None


def _cached(name: str, inside: str, wanted: dict[str, Any], error: Exception, *, begun: bool) -> Path:
    """The cached copy; without one, raises the hub's error, or DownloadBroken if a download had ``begun``."""
    if folder := _held(name, inside, wanted):
        return folder
    cause = error.__cause__ if isinstance(error, DryRunError) else error
    if isinstance(cause, GatedRepoError):
        raise ModelGated(name=name) from error
    if isinstance(cause, RevisionNotFoundError):
        raise ModelRevisionMissing(name=name, revision=wanted["revision"] or constants.DEFAULT_REVISION) from error
    if isinstance(cause, RepositoryNotFoundError):
        raise ModelNotFound(name=name) from error
    if begun:
        raise DownloadBroken(name=name) from error
    raise HubUnreachable(name=name) from error


def _free_on_disk() -> int:
    """Free bytes where the hub's library keeps its downloads."""
    place = Path(constants.HF_HUB_CACHE).expanduser().absolute()
    return shutil.disk_usage(next(folder for folder in (place, *place.parents) if folder.exists())).free


def _disk_full(name: str, missing: int) -> DiskFull:
    return DiskFull(name=name, needed=memory.readable(missing), free=memory.readable(_free_on_disk()))


def _is_full(error: BaseException | None) -> bool:
    """Whether a write failed for lack of space: an error of the system, or of a library that wraps it."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            return True
        error = error.__cause__ or error.__context__
    return False


def _reporting(progress: Progress) -> type[Any]:
    """A progress bar class that reports bytes to ``progress`` instead of drawing."""

    class Reporting(tqdm):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **{**options, "disable": False, "file": _Silent()})

        def update(self, n: int | float | None = 1) -> bool | None:
            result = super().update(n)
            if self.unit == "B" and self.total:
                progress("downloading", min(int(self.n), int(self.total)), int(self.total))
            return result

    return Reporting


class _Silent:
    def write(self, _: str) -> int:
        return 0

    def flush(self) -> None:
        pass
