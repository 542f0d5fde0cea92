"""The same endpoints on Ray: replicas that hang or die are replaced, and clients lose nothing but time."""

from __future__ import annotations

import importlib.util
import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch

from analysis.mapped_texts import map_texts
from attention import own_metrics
from attention.own_metrics import Offset, register_metric
from attention_atlas.command import main
from hosting.settings import WrongSetting
from model_runner import load_runner
from served.ray import cluster, replica, start
from served.ray.layout import layout, options, shortage, threads
from served.settings import RayApplication, RayCluster, ServedSettings, read
from tests.model_runner.cases import FAMILY, runner_of
from tests.served.namespace import inside, missing
from tests.served.server import TheseModels, settings
from tests.served.test_served_settings import KEY

SMALL = '[[applications]]\nname = "small"\nmodels = ["default", "encoder"]\n'
LARGE = '[[applications]]\nname = "large"\nmodels = ["owner/large"]\nreplicas = 2\nmost = 6\ngpus = 2\ncpus = 4\n'
LISTED = '[models]\nlisted = ["default", "encoder", "owner/large"]\n'


def on_ray(test: Any) -> Any:
    """What happened on Ray takes minutes, and the first test that asks for it waits."""
    skipped = pytest.mark.skipif(bool(missing()), reason=missing() or "it can")
    return pytest.mark.long(pytest.mark.timeout(1300)(skipped(test)))


def written(folder: Path, text: str) -> Path:
    path = folder / "served.toml"
    path.write_text(text + KEY, encoding="utf-8")
    return path


def told(folder: Path, text: str) -> ServedSettings:
    return read(written(folder, text))


def test_without_applications_one_has_all_models(tmp_path):
    ((about, route),) = layout(told(tmp_path, '[models]\nlisted = ["default", "encoder"]\n'))
    assert (about.models, about.replicas, about.at_most, route) == (("default", "encoder"), 1, 1, "/")


def test_a_large_model_answers_below_its_own_path(tmp_path):
    found = layout(told(tmp_path, LISTED + LARGE + SMALL))
    assert {about.name: route for about, route in found} == {"large": "/v1/models/owner/large", "small": "/"}
    alone = layout(told(tmp_path, '[models]\nlisted = ["owner/large"]\n' + LARGE))
    assert [route for _, route in alone] == ["/"]


def test_options_of_a_deployment(tmp_path):
    large, small = (one.about for one in layout(told(tmp_path, LISTED + LARGE + SMALL)))
    found = options(large, RayCluster())
    assert found["autoscaling_config"]["min_replicas"] == 2
    assert found["autoscaling_config"]["max_replicas"] == 6
    assert found["autoscaling_config"]["target_ongoing_requests"] == large.questions == 8
    assert found["ray_actor_options"] == {"num_cpus": 4, "num_gpus": 2}
    assert options(small, RayCluster())["num_replicas"] == 1
    assert threads(0.5) == 1
    assert threads(4) == 4


@pytest.mark.parametrize(
    "text, words",
    [
        (LISTED + SMALL, "models.listed has owner/large, and no application"),
        (LISTED + LARGE + SMALL + SMALL.replace("small", "other"), "models.listed has default, and two applications"),
        (SMALL, "An application names encoder, which is not in models.listed."),
        (LISTED + LARGE + SMALL.replace('"small"', '"a b"'), "needs a name of its own"),
        (
            LISTED + LARGE.replace("gpus = 2", "gpus = 1.5") + SMALL,
            "large has gpus = 1.5; it must be below 1, or whole.",
        ),
        (LISTED + LARGE.replace("gpus = 2", "gpus = -1") + SMALL, "applications.gpus is -1; it must be a number from"),
        (LISTED + LARGE.replace("most = 6", "most = 1") + SMALL, "most = 1, fewer than its 2 replicas"),
        ('[[applications]]\nname = "none"\n' + LISTED + SMALL + LARGE, "The application none has no models."),
        ('[ray]\ndashboard = "yes"\n', "ray.dashboard is “yes”; it must be one of off, on."),
        (
            '[models]\nlisted = ["a", "b", "c", "d"]\n[[applications]]\nname = "x"\nmodels = ["a", "b"]\n'
            '[[applications]]\nname = "y"\nmodels = ["c", "d"]\n',
            "x and y have several models each",
        ),
        (
            '[models]\nlisted = ["a", "a/b"]\n[[applications]]\nname = "x"\nmodels = ["a"]\n'
            '[[applications]]\nname = "y"\nmodels = ["a/b"]\n',
            "The path of a has another model below it",
        ),
    ],
)
def test_a_wrong_application_is_one_sentence(tmp_path, text, words):
    with pytest.raises(WrongSetting) as error:
        told(tmp_path, text)
    assert words in str(error.value)


def test_too_few_gpus_are_a_sentence_before_anything_is_deployed(tmp_path):
    large = told(tmp_path, LISTED + LARGE + SMALL)
    assert shortage(large, {"CPU": 16, "GPU": 8}) == ""
    assert shortage(large, {"CPU": 16, "GPU": 3}) == "The applications ask for 4 GPUs, and the cluster has 3."
    assert shortage(large, {"CPU": 8}) == "The applications ask for 9 CPUs, and the cluster has 8."


def test_without_ray_one_sentence_says_how_to_get_it(tmp_path, capsys, monkeypatch):
    found: Callable[..., Any] = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *more: None if name == "ray" else found(name, *more))
    assert main(["runner", "--ray", str(written(tmp_path, ""))]) == 1
    said = 'Ray is not installed. Run: pip install "attention-atlas[ray]"\n'
    assert capsys.readouterr().err == said
    assert main(["map", str(tmp_path), "--ray", "2", "--out", str(tmp_path / "out")]) == 1
    assert capsys.readouterr().err == said


def test_a_port_that_is_taken_is_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda *_: object())
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(WrongSetting, match=f"server.address 127.0.0.1, server.port {port}: Address already in use"):
            start.check_start(told(tmp_path, f"[server]\nport = {port}\n"))


@pytest.mark.parametrize("mode, refused", [("", True), ("disabled", True), ("token", False)])
def test_a_cluster_without_tokens_is_refused(tmp_path, monkeypatch, mode, refused):
    monkeypatch.setattr(importlib.util, "find_spec", lambda *_: object())
    monkeypatch.setenv(cluster.MODE, mode)
    there = told(tmp_path, '[ray]\naddress = "10.0.0.1:6379"\n')
    if refused:
        with pytest.raises(WrongSetting, match="could run code on it"):
            start.check_start(there)
    else:
        start.check_start(there)
        start.check_start(told(tmp_path, "[server]\nport = 0\n"))  # one of its own has a token


@pytest.mark.parametrize(
    "address, words", [("auto", "it must be like 10.0.0.11:6379."), ("127.0.0.1:1", "cannot be joined: ")]
)
def test_a_cluster_that_is_not_there_is_a_sentence_at_once(address, words):
    with pytest.raises(WrongSetting, match=words):
        cluster._knock(address)


@pytest.mark.parametrize("gpus, shares", [(0.0, []), (0.25, [(0.25, 0), (0.25, 1)]), (1.0, []), (2.0, [])])
def test_of_a_shared_gpu_a_replica_takes_its_share_of_the_memory(monkeypatch, gpus, shares):
    found: list[tuple[float, int]] = []
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "set_per_process_memory_fraction", lambda *given: found.append(given))
    monkeypatch.setattr(torch, "set_num_threads", lambda _: None)
    replica.set_up_torch(RayApplication("one", ("default",), gpus=gpus))
    assert found == shares


def test_a_replica_in_which_a_model_hung_is_not_well_although_the_model_was_loaded_again(monkeypatch):
    monkeypatch.setattr(replica, "set_up_torch", lambda _: None)
    models = TheseModels({"llama": runner_of(FAMILY["llama"])})
    monkeypatch.setattr(replica.Replica, "models", lambda _: models)
    one = replica.Replica(settings(), RayApplication("one", ("llama",)))
    one.check_health()
    held = models.open("llama").result()
    monkeypatch.setattr(held.worker, "lost", True)
    with pytest.raises(RuntimeError, match="a model hangs"):
        one.check_health()
    models.open("llama")
    assert not models.lost
    with pytest.raises(RuntimeError, match="a model hangs"):
        one.check_health()


# -- on Ray ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def happened() -> dict[str, Any]:
    done = inside("-m", "tests.served.on_ray", seconds=1200)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"name"')]
    assert lines, done.stderr[-3000:]
    return {line["name"]: line["found"] for line in lines}


@on_ray
def test_ray_listens_for_this_machine_but_for_what_the_document_names(happened):
    """docs/scale.md: each replica has a port of Serve's own at every address, which a token guards."""
    found = happened["addresses"]
    assert len(found["open"]) == 3
    assert all("ray::ServeRepli" in one for one in found["open"])
    assert found["stranger"] != 0
    assert "InvalidAuthToken" in found["told"]


@on_ray
def test_each_model_is_asked_at_its_application(happened):
    found = happened["applications"]
    assert found["names"] == ["default", "encoder"]
    assert found["wrong key"] == 401
    assert found["tokens"] == {"default": 3, "encoder": 4}
    assert found["health"] == "ok"


@on_ray
def test_a_text_is_kept_where_it_was_read(happened):
    first, *later = happened["affinity"]["seconds"]
    assert max(later) < first / 2


@on_ray
@pytest.mark.parametrize("what, longest", [("killed", 30), ("stopped", 60), ("rolling", 60)])
def test_nobody_loses_anything_but_time(happened, what, longest):
    found = happened[what]
    assert found["errors"] == []
    assert found["asked"] > 20
    assert found["longest"] < longest


@on_ray
def test_a_text_grows_on_at_another_replica_with_the_same_tokens(happened):
    assert happened["growing"]["found"] == happened["growing"]["expected"]
    assert happened["rolling"]["same"]
    assert happened["rolling"]["stayed"] == 0


@on_ray
def test_a_replica_that_hangs_is_replaced(happened):
    assert happened["hung"]["tokens"] == 6
    assert happened["hung"]["replaced"] < 90


@on_ray
def test_more_replicas_come_while_many_ask(happened):
    assert happened["grows"]["before"] == 1
    assert happened["grows"]["seconds"] < 90


@on_ray
def test_a_model_that_does_not_load_is_a_sentence_and_the_others_go_on(happened):
    found = happened["too_many"]
    assert found["gpus"] == "The applications ask for 4 GPUs, and the cluster has 0."
    assert found["absent"].startswith("The application absent does not start: The hub cannot be reached")
    assert found["health"] == 200


@on_ray
def test_many_texts_have_the_same_rows_as_in_one_process_and_are_not_read_twice(tmp_path):
    texts = {f"{number}": f"The dog {number} sat because it was late" for number in range(40)} | {"bad": "x" * 200_000}
    (tmp_path / "texts.json").write_text(json.dumps(texts))
    done = inside("-m", "tests.served.mapped_on_ray", str(tmp_path), seconds=350)
    first, second, too_much = map(json.loads, done.stdout.splitlines()[-3:])
    assert first[:2] == [40, 0], done.stderr[-2000:]
    assert [name for name, _ in first[2]] == ["bad"]
    assert second[:2] == [1, 40]
    assert too_much == "2 workers ask for 2 GPUs, and the cluster has 0."
    del texts["bad"]
    register_metric("test_back", Offset(2))
    try:
        map_texts(load_runner("default", device="cpu"), texts, tmp_path / "here", batch_size=4)
    finally:
        own_metrics._own.clear()
    keys = ["text", "layer", "head"]
    here, there = (
        pd.read_parquet(tmp_path / name).sort_values(keys).reset_index(drop=True) for name in ("here", "out")
    )
    there = there[there["text"] != "new"].reset_index(drop=True)
    assert "test_back" in there
    pd.testing.assert_frame_equal(here, there, atol=1e-5)
