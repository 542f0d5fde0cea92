"""Load models, tokenize texts and capture attention: the public API of Attention Atlas."""

from model_runner.beams import BeamSearch
from model_runner.capture import Capture, Check
from model_runner.capture_file import load_capture
from model_runner.errors import RunnerError
from model_runner.local.loading.model_in_memory import runner_of
from model_runner.local.loading.runner_by_name import load_runner
from model_runner.request import CaptureRequest, GenerateRequest
from model_runner.runner import ModelInfo, Runner
from model_runner.sound import Sound, rising_tone, sound_of
from model_runner.step import Step
from model_runner.tokens import Token
from model_runner.transforms import Sampling
from model_runner.wav import read_wav

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
    "Sound",
    "Step",
    "Token",
    "load_capture",
    "load_runner",
    "read_wav",
    "rising_tone",
    "runner_of",
    "sound_of",
]
