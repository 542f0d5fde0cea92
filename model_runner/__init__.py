"""Models: load, tokenize, capture. The public API of Attention Atlas."""

from model_runner.beams import BeamSearch
from model_runner.capture import Capture, Check
from model_runner.errors import RunnerError
from model_runner.local.loading import load_runner
from model_runner.request import CaptureRequest, GenerateRequest
from model_runner.runner import ModelInfo, Runner
from model_runner.step import Step
from model_runner.tokens import Token
from model_runner.transforms import Sampling

__all__ = [
    "BeamSearch",
    "Capture",
    "CaptureRequest",
    "Check",
    "GenerateRequest",
    "ModelInfo",
    "Runner",
    "RunnerError",
    "Sampling",
    "Step",
    "Token",
    "load_runner",
]
