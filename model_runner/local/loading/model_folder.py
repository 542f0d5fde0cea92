"""From a model's name, and the version of it that is asked for, to a folder on this machine."""

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
HUB_ID = re.compile(r"[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)?(/(?!\.+(/|$))[A-Za-z0-9_.-]+)*")  # owner/name, folders in it
VERSION = re.compile(r"(?!.*\.\.)[A-Za-z0-9_][A-Za-z0-9_./-]*")  # a branch, a tag or a commit


def versioned(name: str, revision: str | None) -> tuple[str, str | None]:
    """A hub id and the version of it that is asked for, where the name holds both: owner/name@version.

    A folder may have an @ in its name.
    """
    hub_id, mark, version = name.partition("@")
    if revision is None and mark and HUB_ID.fullmatch(hub_id) and not os.path.isdir(name):
        return hub_id, version
    return name, revision


def folder_of(name: str, revision: str | None, progress: Progress, look: Look, *, ask_hub: bool) -> Path:
    """Of an embedded model, a local folder, or what the hub's library has or downloads. Raises RunnerError.

    ``look`` is shown the configuration before weights are downloaded, and raises to leave them.
    """
    if name in EMBEDDED and revision is None:
        return EMBEDDED[name]
    as_path = name.startswith(("/", "~", ".")) or "\\" in name
    try:
        folder = Path(name).expanduser()
        is_folder = folder.is_dir()
    except (OSError, RuntimeError, ValueError) as error:  # a name too long; the home of a user who does not exist
        raise (ModelFolderMissing if as_path else ModelNameInvalid)(name=name) from error
    here = is_folder or as_path or name in EMBEDDED
    if revision is not None and (here or not VERSION.fullmatch(revision)):
        raise ModelNameInvalid(name=f"{name}@{revision}")  # only the hub has versions
    if name and here:
        if not _has_config(folder):  # one sentence, whether there is such a folder or not
            refuse_names(name, [folder.name])  # of a path to a file; whether there is one is not looked at
            refuse_models(folder)
            raise ModelFolderMissing(name=name)
        return folder
    if not HUB_ID.fullmatch(name):
        raise ModelNameInvalid(name=name if revision is None else f"{name}@{revision}")
    return fetch(name, revision, progress, look, ask_hub=ask_hub)


def names_folder(name: str) -> bool:
    """Whether this is a folder's path, or would be taken for one, and no model that comes with the app."""
    if name.startswith(("/", "~", ".")) or "\\" in name:
        return True
    try:
        return name not in EMBEDDED and bool(name) and Path(name).is_dir()
    except (OSError, ValueError):
        return False


def _has_config(folder: Path) -> bool:
    """Whether it says what it is: a model, or an adapter of one."""
    try:
        files = (folder / name for name in (CONFIG, ADAPTER_CONFIG))
        return any(file.is_file() and os.access(file, os.R_OK) for file in files)
    except (OSError, ValueError):
        return False
