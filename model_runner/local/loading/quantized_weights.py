"""Checks, before any download, what transformers (5.23) needs to read weights that were published quantized."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Mapping
from typing import Any

from model_runner.errors import N_, RunnerError
from model_runner.local.loading.devices import best_device
from model_runner.model_cache import Device

PACKAGES = {  # method → modules to import, and their pip names where different
    "aqlm": ("aqlm", "accelerate"),
    "auto-round": ("auto_round", "accelerate"),
    "awq": ("gptqmodel", "accelerate"),
    "bitnet": ("accelerate",),
    "bitsandbytes": ("bitsandbytes", "accelerate"),
    "compressed-tensors": ("compressed_tensors",),
    "eetq": ("kernels", "accelerate"),
    "fbgemm_fp8": ("fbgemm_gpu", "accelerate"),
    "fouroversix": ("fouroversix", "accelerate"),
    "fp8": ("accelerate",),
    "gptq": ("gptqmodel", "optimum"),
    "hqq": ("hqq",),
    "mxfp4": ("accelerate",),
    "mxfp8": ("accelerate",),
    "quanto": ("optimum.quanto", "accelerate"),
    "quark": ("quark",),
    "spqr": ("spqr_quant", "accelerate"),
    "torchao": ("torchao",),
    "vptq": ("vptq", "accelerate"),
}
PIP = {
    "auto_round": "auto-round", "compressed_tensors": "compressed-tensors", "fbgemm_gpu": "fbgemm-gpu",
    "optimum.quanto": "optimum-quanto", "quark": "amd-quark", "spqr_quant": "spqr-quant",
}  # fmt: skip
PACKED = {"awq": ".qweight", "gptq": ".qweight"}  # suffixes of the names of their integer tensors
ON_A_GPU = ("eetq", "fbgemm_fp8", "fp_quant", "higgs", "spqr")


class QuantizedNeedsPackages(RunnerError):
    message = N_(
        "The weights of {name} are quantized ({method}); reading them needs Python packages that are not installed "
        "here: {packages}."
    )
    hint = N_("Install them (pip install {packages}), or open a version of the model that is not quantized.")


class QuantizedNeedsGpu(RunnerError):
    message = N_("The weights of {name} are quantized ({method}); only a CUDA GPU computes with them.")
    hint = N_("Open a version of the model that is not quantized.")


class QuantizedFails(RunnerError):
    message = N_("The weights of {name} are quantized ({method}), and cannot be read here: {reason}.")
    hint = N_("Open a version of the model that is not quantized.")


class NotQuantized(RunnerError):
    message = N_("config.json of {name} says that its weights are quantized ({method}), but its files hold plain ones.")
    hint = N_("Take quantization_config out of config.json, then open it again.")


def method_of(config: Mapping[str, Any]) -> str:
    """How the weights of this configuration are quantized; empty if they are not."""
    given = config.get("quantization_config")
    if isinstance(given, Mapping):
        usual = "bitsandbytes" if given.get("load_in_4bit") or given.get("load_in_8bit") else "?"
        return str(given.get("quant_method") or usual)[:40].removesuffix("_4bit").removesuffix("_8bit")
    return "?" if given else ""


def check_quantized(name: str, config: Mapping[str, Any], device: Device) -> None:
    """Raises QuantizedNeedsPackages, QuantizedNeedsGpu if the weights cannot be read on this machine."""
    method = method_of(config)
    missing = [package for package in PACKAGES.get(method, ()) if not _installed(package)]
    if method in ON_A_GPU and best_device(device).type != "cuda":
        raise QuantizedNeedsGpu(name=name, method=method)
    if missing:
        names = " ".join(PIP.get(package, package) for package in missing)
        raise QuantizedNeedsPackages(name=name, method=method, packages=names)


def check_claim(name: str, config: Mapping[str, Any], weights: Iterable[str]) -> None:
    """Raises NotQuantized if the names of the weights show that none is quantized, whatever the configuration says."""
    method = method_of(config)
    if method in PACKED and not any(weight.endswith(PACKED[method]) for weight in weights):
        raise NotQuantized(name=name, method=method)


def _installed(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:  # the parent package is missing
        return False
