"""Attention Atlas: capture and draw how a transformer attends.

    import attention_atlas as aa

    runner = aa.load_runner("default")
    capture = runner.capture("The capital of France is")
    aa.show(capture, 3, 7)

Its subpackages are ``model_runner`` (models and captures), ``attention`` (the mathematics), ``analysis`` (numbers for
figures), ``viz`` (figures) and ``inline`` (notebooks), as in ``attention_atlas.analysis.head_grid``. Names are imported
on first access, since importing torch alone takes seconds.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attention_atlas.version import __version__ as __version__

if TYPE_CHECKING:
    from analysis.head_grid import head_grid as head_grid
    from analysis.head_map import Reading as Reading
    from analysis.mapped_texts import MappedTexts as MappedTexts
    from analysis.mapped_texts import map_texts as map_texts
    from attention.own_metrics import Offset as Offset
    from attention.own_metrics import register_metric as register_metric
    from inline import CellOutput as CellOutput
    from inline import show as show
    from model_runner import BeamSearch as BeamSearch
    from model_runner import Capture as Capture
    from model_runner import CaptureRequest as CaptureRequest
    from model_runner import Check as Check
    from model_runner import GenerateRequest as GenerateRequest
    from model_runner import ModelInfo as ModelInfo
    from model_runner import Runner as Runner
    from model_runner import RunnerError as RunnerError
    from model_runner import Sampling as Sampling
    from model_runner import Sound as Sound
    from model_runner import Step as Step
    from model_runner import Token as Token
    from model_runner import load_capture as load_capture
    from model_runner import load_runner as load_runner
    from model_runner import read_wav as read_wav
    from model_runner import rising_tone as rising_tone
    from model_runner import runner_of as runner_of
    from model_runner import sound_of as sound_of
    from model_runner.edits import Blocked as Blocked
    from model_runner.edits import ChosenKeys as ChosenKeys
    from model_runner.edits import Documents as Documents
    from model_runner.edits import Int8Cache as Int8Cache
    from model_runner.edits import KeepLast as KeepLast
    from model_runner.edits import Masked as Masked
    from model_runner.edits import MeanHead as MeanHead
    from model_runner.edits import OfAttention as OfAttention
    from model_runner.edits import ScaledHead as ScaledHead
    from model_runner.edits import SharedKeys as SharedKeys
    from model_runner.edits import SharpenedHead as SharpenedHead
    from model_runner.edits import SwappedHeads as SwappedHeads
    from model_runner.matrix_edit import ScaledSingulars as ScaledSingulars
    from model_runner.rotation_edit import NtkTheta as NtkTheta
    from model_runner.rotation_edit import RestartedPositions as RestartedPositions
    from model_runner.rotation_edit import ScaledTheta as ScaledTheta
    from model_runner.rotation_edit import ShiftedPositions as ShiftedPositions
    from model_runner.rotation_edit import Unrotated as Unrotated
    from model_runner.rotation_edit import YarnTheta as YarnTheta
    from model_runner.substitution import Substituted as Substituted
    from served.ray.text_workers import RayWorkers as RayWorkers

# in the repository, where the subpackages are top-level packages
if not Path(__file__).with_name("model_runner").is_dir():
    from attention_atlas import _repository

    _repository.find_rooms()

_MODULES = {
    "analysis.head_grid": ("head_grid",),
    "analysis.head_map": ("Reading",),
    "analysis.mapped_texts": ("MappedTexts", "map_texts"),
    "attention.own_metrics": ("Offset", "register_metric"),
    "inline": ("CellOutput", "show"),
    "served.ray.text_workers": ("RayWorkers",),
}
_FROM = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = import_module(f"{__name__}.{_FROM.get(name, 'model_runner')}")
    if hasattr(found, name):
        return getattr(found, name)
    edits = import_module(f"{__name__}.model_runner.edits").KINDS
    if name in edits:
        return edits[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    offered, edits = (import_module(f"{__name__}.model_runner{room}") for room in ("", ".edits"))
    return sorted(["__version__", *_FROM, *offered.__all__, *edits.KINDS])
