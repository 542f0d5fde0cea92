"""Resolves a model's name, with an optional version, to a folder on this machine."""

from __future__ import annotations

import os
import re
from pathlib import Path

from model_runner.errors import ModelFolderMissing, ModelNameInvalid
from model_runner.local.loading.adapter_files import ADAPTER_CONFIG
from model_runner.local.loading.folder_files import CONFIG
from model_runner.local.loading.hub import Look, Progress, fetch
from model_runner.local.loading.other_formats import refuse_models, refuse_names

DEFAULT = "default"
DEFAULT_FOLDER = Path(__file__).parents[2] / "default_model"
EMBEDDED = {DEFAULT: DEFAULT_FOLDER, **{name: DEFAULT_FOLDER.with_name(name) for name in ("encoder", "translator")}}
# owner/name, optionally followed by folders
HUB_ID = re.compile(r"[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)?(/(?!\.+(/|$))[A-Za-z0-9_.-]+)*")
VERSION = re.compile(r"(?!.*\.\.)[A-Za-z0-9_][A-Za-z0-9_./-]*")  # a branch, a tag or a commit


def versioned(name: str, revision: str | None) -> tuple[str, str | None]:
    """Split a name of the form owner/name@version into a hub id and the requested version.

    The name of a folder may contain an @.
    """
    hub_id, mark, version = name.partition("@")
    if revision is None and mark and HUB_ID.fullmatch(hub_id) and not os.path.isdir(name):
        return hub_id, version
    return name, revision


def folder_of(name: str, revision: str | None, progress: Progress, look: Look, *, ask_hub: bool) -> Path:
    """The folder of an embedded model, a local folder, or a cached or downloaded hub model. Raises RunnerError.

    ``look`` is called with the configuration before any weights are downloaded, and may raise to prevent that.
    """
    if name in EMBEDDED and revision is None:
        return EMBEDDED[name]
    as_path = name.startswith(("/", "~", ".")) or "\\" in name
    try:
        folder = Path(name).expanduser()
        is_folder = folder.is_dir()
    except (OSError, RuntimeError, ValueError) as error:  # the name is too long, or it is the home of an unknown user
        raise (ModelFolderMissing if as_path else ModelNameInvalid)(name=name) from error
    here = is_folder or as_path or name in EMBEDDED
    if revision is not None and (here or not VERSION.fullmatch(revision)):
        raise ModelNameInvalid(name=f"{name}@{revision}")  # only the hub has versions
    if name and here:
        if not _has_config(folder):  # the same message whether the folder exists or not
            refuse_names(name, [folder.name])  # for the path of a file; whether the file exists is not checked
            refuse_models(folder)
            raise ModelFolderMissing(name=name)
        return folder
    if not HUB_ID.fullmatch(name):
        raise ModelNameInvalid(name=name if revision is None else f"{name}@{revision}")
    return fetch(name, revision, progress, look, ask_hub=ask_hub)


def names_folder(name: str) -> bool:
    """Whether the name is a folder's path, or would be taken for one, and not an embedded model."""
    if name.startswith(("/", "~", ".")) or "\\" in name:
        return True
    try:
        return name not in EMBEDDED and bool(name) and Path(name).is_dir()
    except (OSError, ValueError):
        return False


def _has_config(folder: Path) -> bool:
    """Whether it holds the configuration of a model or of an adapter."""
    try:
        files = (folder / name for name in (CONFIG, ADAPTER_CONFIG))
        return any(file.is_file() and os.access(file, os.R_OK) for file in files)
    except (OSError, ValueError):
        return False
