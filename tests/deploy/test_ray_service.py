"""The manifest for KubeRay: its settings are read, and its applications match the settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from hosting.settings import WrongSetting
from served.ray import replica
from served.ray.layout import layout
from served.settings import ServedSettings, read
from tests.test_repository import ROOT

FOLDER = ROOT / "deploy" / "ray"
LIBRARY = "attention_atlas."  # before the names of modules, where the wheel is installed


@pytest.fixture
def manifests() -> dict[str, Any]:
    written = yaml.safe_load_all((FOLDER / "rayservice.yaml").read_text(encoding="utf-8"))
    return {one["kind"]: one for one in written}


@pytest.fixture
def settings_file(manifests: dict[str, Any], tmp_path: Path) -> Path:
    path = tmp_path / "served.toml"
    path.write_text(manifests["ConfigMap"]["data"]["served.toml"], encoding="utf-8")
    return path


@pytest.fixture
def service(manifests: dict[str, Any]) -> dict[str, Any]:
    return yaml.safe_load(manifests["RayService"]["spec"]["serveConfigV2"])


def test_its_applications_are_those_of_its_settings(service, settings_file, monkeypatch):
    settings = read(settings_file)
    deployed: list[tuple[ServedSettings, str]] = []
    monkeypatch.setattr(replica, "deployed", lambda settings, about: deployed.append((settings, about.name)))
    for one in service["applications"]:
        assert one["import_path"] == f"{LIBRARY}{replica.__name__}:{replica.built.__name__}"
        assert one["args"].pop("settings") == "/etc/atlas/served.toml"
        replica.built({"settings": str(settings_file), **one["args"]})
    assert deployed == [(settings, one.about.name) for one in layout(settings)]
    assert {one["name"]: one["route_prefix"] for one in service["applications"]} == {
        about.name: route for about, route in layout(settings)
    }
    assert (service["http_options"]["host"], service["http_options"]["port"]) == (
        settings.server.address,
        settings.server.port,
    )
    with pytest.raises(WrongSetting, match="There is no application other; there are small, llama"):
        replica.built({"settings": str(settings_file), "application": "other"})


def test_its_settings_are_mounted_where_the_applications_look_and_ray_asks_for_a_token(manifests):
    cluster = manifests["RayService"]["spec"]["rayClusterConfig"]
    assert cluster["authOptions"] == {"mode": "token"}
    wanted = f"ray[data,serve]=={cluster['rayVersion']}"
    assert wanted in (ROOT / "requirements-ray.txt").read_text(encoding="utf-8").splitlines()
    pods = [one["template"]["spec"] for one in (cluster["headGroupSpec"], *cluster["workerGroupSpecs"])]
    for pod in pods:
        (container,) = pod["containers"]
        assert {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]} == {
            "settings": "/etc/atlas",
            "models": "/models",
        }
    assert "HF_HOME=/models" in (FOLDER / "Dockerfile").read_text(encoding="utf-8")


def test_a_worker_has_the_gpus_and_cpus_that_a_replica_asks_for(manifests, settings_file):
    groups = manifests["RayService"]["spec"]["rayClusterConfig"]["workerGroupSpecs"]
    limits = [one["template"]["spec"]["containers"][0]["resources"]["limits"] for one in groups]
    for about, _ in layout(read(settings_file)):
        assert any(
            float(one["cpu"]) >= about.cpus and float(one.get("nvidia.com/gpu", 0)) >= about.gpus for one in limits
        )


def test_serve_takes_the_configuration(service):
    schema = pytest.importorskip("ray.serve.schema", reason="requirements-ray.txt is not installed")
    assert len(schema.ServeDeploySchema.model_validate(service).applications) == 2
