"""Models: load, tokenize, capture. The public API of Attention Atlas."""

from model_runner.capture import Capture, Check
from model_runner.errors import RunnerError
from model_runner.loading import load_runner
from model_runner.request import CaptureRequest
from model_runner.runner import ModelInfo, Runner
from model_runner.tokens import Token

__all__ = ["Capture", "CaptureRequest", "Check", "ModelInfo", "Runner", "RunnerError", "Token", "load_runner"]
