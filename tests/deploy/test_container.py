"""The files of deploy/: the names in them exist, and the container stays locked down. Built where docker exists."""

from __future__ import annotations

import fnmatch
import os
import re
import shutil
import subprocess
import time
import tomllib
import urllib.request
from collections.abc import Iterator
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import pytest
import yaml

from hosting.drain import LONGEST
from hosting.settings import Settings, in_bytes, read
from scripts.wheel_backend import BESIDE, PACKAGE, ROOMS
from tests.browser import ROOT, free_port

DEPLOY = ROOT / "deploy"
DOCKERFILE = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
BUILDERS = ("gcc", "g++", "make", "apt-get", "git", "build-essential", "curl")
GB = 2**30


def instructions(text: str) -> list[tuple[str, str]]:
    """(instruction, arguments) of each, comments and line ends left out."""
    plain = "\n".join(line for line in text.splitlines() if not line.startswith("#")).replace("\\\n", " ")
    return [(one.split(maxsplit=1)[0], one.split(maxsplit=1)[1]) for one in plain.splitlines() if one.strip()]


def last_stage() -> list[tuple[str, str]]:
    found = instructions(DOCKERFILE)
    begins = [number for number, (name, _) in enumerate(found) if name == "FROM"][-1]
    return found[begins:]


def copied(stage: list[tuple[str, str]]) -> Iterator[str]:
    """What is copied from the repository."""
    for name, arguments in stage:
        if name == "COPY" and not arguments.startswith("--from"):
            *sources, _target = arguments.split()
            yield from sources


def of_compose(text: str | None = None) -> dict[str, Any]:
    return yaml.safe_load(text or (DEPLOY / "compose.yaml").read_text(encoding="utf-8"))


# -- the image --------------------------------------------------------------------------------------------------------


def test_everything_that_is_copied_exists_and_is_sent_to_the_builder():
    sources = list(copied(instructions(DOCKERFILE)))
    assert [one for one in sources if not (ROOT / one).exists()] == []
    lines = (DEPLOY / "Dockerfile.dockerignore").read_text(encoding="utf-8").splitlines()
    sent = {line[1:] for line in lines if line.startswith("!")}
    assert lines[1] == "*"  # after the comment: nothing else is sent
    assert sent == set(sources)
    assert not any(
        fnmatch.fnmatch(secret, one) for one in sent for secret in (".git", "hosting.toml", "deploy", "tests")
    )


def test_the_image_has_what_the_wheel_has():
    assert set(copied(last_stage())) == {PACKAGE, *ROOMS, *BESIDE} - {".streamlit/config.toml"} | {".streamlit"}


def test_the_image_runs_as_nobody_in_particular_and_cannot_build():
    stage = last_stage()
    names = [name for name, _ in stage]
    users = [arguments for name, arguments in stage if name == "USER"]
    assert len(users) == 1
    assert all(int(part) > 1000 for part in users[0].split(":"))
    after = stage[names.index("USER") + 1 :]
    assert {"ENTRYPOINT", "CMD", "HEALTHCHECK"} <= {name for name, _ in after}
    assert not {"RUN", "COPY", "ADD"} & {name for name, _ in after}
    commands = " ".join(arguments for name, arguments in stage if name == "RUN")
    assert not [one for one in BUILDERS if re.search(rf"(?<![\w-]){re.escape(one)}(?![\w-])", commands)]
    assert "pip uninstall" in commands
    assert len([name for name, _ in instructions(DOCKERFILE) if name == "FROM"]) == 2


def test_its_health_is_that_of_the_local_port():
    (check,) = [arguments for name, arguments in last_stage() if name == "HEALTHCHECK"]
    assert f"http://127.0.0.1:{Settings().server.local_port}/healthz" in check
    code = re.search(r'"-c", "(.*)"\]', check)
    compile(code[1], "healthcheck", "exec")
    assert f"EXPOSE {Settings().server.port}" in DOCKERFILE


def test_torch_is_that_of_a_build_argument_at_the_version_that_is_pinned():
    assert "ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu" in DOCKERFILE
    pins = (ROOT / "requirements-package.txt").read_text(encoding="utf-8")
    assert len(re.findall(r"^torch==[\d.]+$", pins, re.MULTILINE)) == 1
    versions = re.findall(r"^FROM python:(3\.\d+)-slim", DOCKERFILE, re.MULTILINE)
    assert len(versions) == 2
    assert len(set(versions)) == 1
    assert f"Python :: {versions[0]}" in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


# -- compose ----------------------------------------------------------------------------------------------------------


def test_compose_names_what_exists():
    given = of_compose()
    build = given["services"]["atlas"]["build"]
    assert (DEPLOY / build["context"] / build["dockerfile"]).resolve() == DEPLOY / "Dockerfile"
    for service in given["services"].values():
        assert set(service["networks"]) <= set(given["networks"])
        for volume in service["volumes"]:
            source = volume.split(":")[0]
            there = (DEPLOY / source).exists() or source == "./secrets"  # which a host fills
            assert there if source.startswith(".") else source in given["volumes"]


@pytest.mark.parametrize("name", ["atlas", "caddy"])
def test_services_may_do_little(name: str):
    service = of_compose()["services"][name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service.get("cap_add", []) == (["NET_BIND_SERVICE"] if name == "caddy" else [])
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["restart"] == "unless-stopped"
    assert "privileged" not in service
    assert ("ports" in service) == (name == "caddy")  # the app is reached through it alone


def test_the_settings_of_compose_fit_it(tmp_path: Path):
    given, settings = of_compose(), read(DEPLOY / "atlas.compose.toml")
    caddy, atlas = given["services"]["caddy"], given["services"]["atlas"]
    address = caddy["networks"]["inside"]["ipv4_address"]
    (subnet,) = given["networks"]["inside"]["ipam"]["config"]
    assert settings.server.proxies == (address,)
    assert ip_address(address) in ip_network(subnet["subnet"])
    assert caddy["environment"]["ATLAS_APP"] == f"atlas:{settings.server.port}"
    assert in_bytes(settings.limits.process_memory) <= int(atlas["mem_limit"].removesuffix("g")) * GB - GB / 2
    assert atlas["ulimits"]["nofile"] >= settings.limits.connections + 512
    assert settings.server.secure
    assert int(atlas["stop_grace_period"].removesuffix("s")) > 30  # of TLS connections that browsers keep


@pytest.mark.parametrize("name", ["atlas.toml", "atlas.compose.toml"])
def test_with_its_lines_on_sign_in_a_file_of_settings_is_valid(tmp_path: Path, name: str):
    text = (DEPLOY / name).read_text(encoding="utf-8")
    assert read(DEPLOY / name).sign_in.metadata == ""
    begins = text.index("# [sign_in]")
    opened = text[:begins] + re.sub("^# ", "", text[begins:], flags=re.MULTILINE).replace("/etc/atlas", str(tmp_path))
    for secret in ("client-secret", "cookie-secret"):
        (tmp_path / secret).write_text("x" * 32)
    (tmp_path / "a.toml").write_text(opened)
    assert read(tmp_path / "a.toml").sign_in.teachers == ("@school.org",)
    assert tomllib.loads(opened)["server"]["url"].startswith("https://atlas.school.org")


# -- built, where that is possible ------------------------------------------------------------------------------------


def engine() -> str:
    """A program that builds images here; else the test is skipped, with the reason."""
    for name in ("docker", "podman"):
        if shutil.which(name) and subprocess.run([name, "info"], capture_output=True).returncode == 0:
            return name
    pytest.skip("neither docker nor podman runs here")


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_the_image_builds_and_serves_on_a_file_system_that_is_read_only():
    program, port, name = engine(), free_port(), f"atlas-test-{os.getpid()}"
    subprocess.run([program, "build", "-f", "deploy/Dockerfile", "-t", name, "."], cwd=ROOT, check=True)
    settings = DEPLOY / "atlas.compose.toml"
    closed = ["--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL", "--security-opt", "no-new-privileges:true"]
    shared = ["-v", f"{settings}:/etc/atlas.toml:ro", "-p", f"127.0.0.1:{port}:8501", "--name", name]
    subprocess.run([program, "run", "--detach", *closed, *shared, name], check=True)
    try:
        request = urllib.request.Request(f"http://127.0.0.1:{port}/privacy", headers={"host": "atlas.school.org"})
        until = time.monotonic() + 120
        while True:
            try:
                assert b"<main" in urllib.request.urlopen(request, timeout=5).read()
                break
            except OSError:
                assert time.monotonic() < until
                time.sleep(1)
        health = ["python", "-m", "hosting.drain_client", "/etc/atlas.toml", "--minutes", str(LONGEST), "--no-wait"]
        subprocess.run([program, "exec", name, *health], check=True)
        assert subprocess.run([program, "exec", name, "sh", "-c", "which pip gcc"], capture_output=True).stdout == b""
    finally:
        subprocess.run([program, "rm", "--force", name], check=False)
        subprocess.run([program, "rmi", "--force", name], check=False)
