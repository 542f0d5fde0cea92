"""A network namespace with nothing but the loopback: Ray listens where nobody told it to, and starts there alone."""

from __future__ import annotations

import functools
import importlib.util
import os
import shutil
import socket
import subprocess
import sys

from tests.test_repository import ROOT

START = 'ip link set lo up && exec "$@"'


def alone() -> bool:
    """Whether this process is in one."""
    return [name for _, name in socket.if_nameindex()] == ["lo"]


def command(*arguments: str) -> list[str]:
    """These arguments of Python, in a namespace of their own."""
    return ["unshare", "--map-root-user", "--net", "sh", "-c", START, "sh", sys.executable, *arguments]


@functools.cache
def missing() -> str:
    """Why Ray cannot be started here, if it cannot."""
    if importlib.util.find_spec("ray") is None:
        return 'ray is not installed: pip install "ray[serve,data]"'
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        return "no unshare or no ip on this machine"
    tried = subprocess.run(
        command("-c", "from tests.served.namespace import alone; assert alone()"), cwd=ROOT, capture_output=True
    )
    return "no network namespace can be made here" if tried.returncode else ""


def inside(*arguments: str, seconds: float) -> subprocess.CompletedProcess[str]:
    """What these arguments of Python did there, ended with all of its processes after so long."""
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "RAY_USAGE_STATS_ENABLED": "0"}
    process = subprocess.Popen(
        command(*arguments), cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip  # one line of what and one of how
    try:
        out, errors = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)  # Ray's own processes end with the one that started them
        raise
    return subprocess.CompletedProcess(process.args, process.returncode, out, errors)
