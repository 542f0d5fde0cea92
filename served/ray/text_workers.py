"""Parallel capture of many texts for ``map_texts``: Ray workers that each hold the model.

    aa.map_texts(aa.RayWorkers("gpt2", count=4, gpus=1), "texts", "metrics.parquet")

The rows return to this process, which writes them as usual, so that the machines need no shared folder.
"""

from __future__ import annotations

import io
import logging
import os
import sys
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Any

import pandas as pd

from analysis.mapped_texts import NamedText, RunnerReader, TextReader
from attention.metrics import METRICS, Metric
from attention.own_metrics import all_metrics, register_metric
from hosting.settings import WrongSetting
from model_runner.local.loading.loader import load_runner
from served.ray.cluster import check_cluster, join, leave
from served.settings import RayApplication, RayCluster

ADDRESS = "RAY_ADDRESS"  # of the cluster, in the environment; without it, Ray is started on this machine
STORE = "512 MB"  # memory for texts in transit


class RayWorkers(TextReader):
    """``count`` processes with this model, each with ``cpus`` and ``gpus``, which may be fractions.

    Joins the cluster of RAY_ADDRESS, or starts Ray on this machine. Use it in a ``with``, or let it last until the
    process ends. Raises WrongSetting, a ValueError, if Ray or a resource is missing.
    """

    def __init__(self, model: str = "default", *, count: int = 2, cpus: float = 1.0, gpus: float = 0.0) -> None:
        self._about = RayApplication("map", (model,), replicas=count, cpus=cpus, gpus=gpus)
        cluster = RayCluster(address=os.environ.get(ADDRESS, ""), store=STORE)
        check_cluster(cluster)
        ray = sys.modules.get("ray")
        self._joined = ray is None or not ray.is_initialized()
        there: dict[str, float] = join(cluster) if ray is None or self._joined else ray.cluster_resources()
        for kind, wanted in (("CPU", count * cpus), ("GPU", count * gpus)):
            if wanted > there.get(kind, 0.0):
                raise WrongSetting(
                    f"{count} workers ask for {wanted:g} {kind}s, and the cluster has {there.get(kind, 0.0):g}."
                )

    def __enter__(self) -> RayWorkers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Leave the cluster, ending one that was started here."""
        if self._joined:
            leave()

    def fingerprint(self) -> str:
        """Fingerprint of the weights as a worker loads them. Raises the RunnerError of a model that fails to load."""
        import ray  # pyright: ignore[reportMissingModuleSource]  # optional

        asked = ray.remote(_fingerprint).options(num_cpus=self._about.cpus, num_gpus=self._about.gpus, max_retries=0)
        try:
            return ray.get(asked.remote(self._about))
        except ray.exceptions.RayTaskError as error:
            raise error.cause from error

    def read(
        self, texts: Iterable[NamedText], weights: str, batch_size: int
    ) -> Iterator[tuple[NamedText, pd.DataFrame | str]]:
        """Yield results as they are finished."""
        from ray import data  # pyright: ignore[reportMissingModuleSource]  # optional

        listed = list(texts)
        if not listed:
            return
        data.DataContext.get_current().enable_progress_bars = False
        logging.getLogger("ray.data").setLevel(logging.ERROR)  # otherwise it prints its plan on standard error
        own = tuple(metric for metric in all_metrics() if metric not in METRICS)
        blocks = max(self._about.replicas, -(-len(listed) // batch_size))
        asked = data.from_items(
            [{"at": at, "name": one.name, "text": one.text} for at, one in enumerate(listed)],
            override_num_blocks=min(blocks, len(listed)),
        ).map_batches(
            _Worker,
            fn_constructor_args=(self._about, own, weights, batch_size),
            batch_size=batch_size,
            batch_format="numpy",
            compute=data.ActorPoolStrategy(size=self._about.replicas),
            num_cpus=self._about.cpus,
            num_gpus=self._about.gpus or None,
        )
        for row in asked.iter_rows():
            problem = row["problem"]
            yield listed[row["at"]], problem or pd.read_parquet(io.BytesIO(row["rows"]))


class _Worker:
    """A process with the model, as Ray Data calls it."""

    def __init__(self, about: RayApplication, own: tuple[Metric, ...], weights: str, batch_size: int) -> None:
        from served.ray.replica import set_up_torch

        set_up_torch(about)
        for one in own:  # they were registered in the calling process
            register_metric(
                one.name, one.of, label=one.label, definition=one.definition, unit=one.unit, across=one.across
            )
        self._reader, self._weights, self._batch_size = RunnerReader(load_runner(about.models[0])), weights, batch_size

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[Any]]:
        texts = [NamedText(str(name), str(text)) for name, text in zip(batch["name"], batch["text"])]
        found = [rows for _, rows in self._reader.read(texts, self._weights, self._batch_size)]
        return {
            "at": list(batch["at"]),
            "problem": [one if isinstance(one, str) else "" for one in found],
            "rows": [b"" if isinstance(one, str) else one.to_parquet(index=False) for one in found],
        }


def _fingerprint(about: RayApplication) -> str:
    return RunnerReader(load_runner(about.models[0])).fingerprint()
