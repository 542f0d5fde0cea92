"""The endpoints of a model server as an ASGI application."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from hosting.settings import in_bytes
from model_runner.errors import RunnerBusy, Unreadable, UserFacingError
from model_runner.local.local_models import LocalModels
from model_runner.local.runner import LocalRunner
from model_runner.remote.runner import TEXTS
from model_runner.wire import from_bytes
from served.access import KeyCheck
from served.answering import ENCODERS, QuestionEndpoint
from served.settings import Access, ServedSettings
from served.told import body_of, model_named, refuse, told

Endpoint = Callable[[Request], Awaitable[Response]]
MODEL = "/v1/models/{name:path}"  # in the path, so that a proxy can route each model to servers of its own
LONGEST_LOOK = 5.0  # longest long-poll for a model that is loading, in seconds


def app(settings: ServedSettings, models: LocalModels) -> Starlette:
    """The application that answers for ``models`` to clients with a key in the settings."""
    keys = KeyCheck(settings)
    small = _Small(settings, models, keys)
    return Starlette(
        routes=[
            Route("/health", small.health),
            Route("/v1/names", small.plain_names),
            Route("/v1/models", small.guarded(small.names)),
            Route(f"{MODEL}/texts", small.guarded(small.texts)),
            Route(f"{MODEL}/ids", small.guarded(small.ids), methods=["POST"]),
            *(
                Route(f"{MODEL}/{what}", QuestionEndpoint(settings, models, keys, what=what), methods=["POST"])
                for what in ENCODERS
            ),
            Route(MODEL, small.guarded(small.model)),
        ]
    )


class _Small:
    """Endpoints that answer immediately, or nearly so."""

    def __init__(self, settings: ServedSettings, models: LocalModels, keys: KeyCheck) -> None:
        self._settings, self._models, self._keys = settings, models, keys

    def guarded(self, answer: Callable[[Request, Access], Awaitable[Response]]) -> Endpoint:
        """Require a key, and turn errors into responses."""

        async def endpoint(request: Request) -> Response:
            try:
                access = self._keys.who(request)
                with self._keys.inside(access):
                    return await answer(request, access)
            except UserFacingError as error:
                return refuse(error)

        return endpoint

    async def health(self, request: Request) -> Response:
        """Health for a supervisor: 503 if a model hangs, so that the process is replaced."""
        lost = self._models.lost
        return PlainTextResponse("a model hangs" if lost else "ok", 503 if lost else 200)

    async def plain_names(self, request: Request) -> Response:
        """The model names as JSON, in any protocol version, for clients without torch."""
        try:
            return JSONResponse(self._settings.models_of(self._keys.key_of(request)))
        except UserFacingError as error:
            return JSONResponse({"error": str(error)}, 401)

    async def names(self, request: Request, access: Access) -> Response:
        """The models that this key may use."""
        return told(self._settings.models_of(access))

    async def model(self, request: Request, access: Access) -> Response:
        """The loading progress of a model, loading it if needed, and then its description."""
        loading = self._models.open(model_named(request, access, self._settings))
        if not loading.future.done():
            await asyncio.to_thread(loading.wait, _seconds(request.query_params.get("wait", "")))
        about: dict[str, Any] = dict.fromkeys(("info", "base_info"), None)
        about |= {"progress": loading.progress, "preview": loading.preview, "chat": False}
        if loading.future.done():
            runner = loading.result()
            about |= {"info": runner.info, "chat": runner.has_chat_template}
            about["base_info"] = None if runner.base is None else runner.base.info
        return told(about)

    async def texts(self, request: Request, access: Access) -> Response:
        """The display texts of the vocabulary's tokens from ``start`` on, one batch."""
        runner = await self._loaded(request, access)
        start = request.query_params.get("start", "")
        if not start.isdecimal() or not 0 <= int(start[:9]) < runner.info.n_vocab:
            raise Unreadable()
        some = range(int(start), min(int(start) + TEXTS, runner.info.n_vocab))
        return told(await asyncio.to_thread(lambda: [runner.token_text(token) for token in some]))

    async def ids(self, request: Request, access: Access) -> Response:
        """The token ids of a text."""
        runner = await self._loaded(request, access)
        text = from_bytes(await body_of(request, in_bytes(self._settings.limits.body)))
        if not isinstance(text, str):
            raise Unreadable()
        return told(await asyncio.to_thread(runner.ids_of, text[: self._settings.limits.text]))

    async def _loaded(self, request: Request, access: Access) -> LocalRunner:
        loading = self._models.open(model_named(request, access, self._settings))
        if not await asyncio.to_thread(loading.wait, LONGEST_LOOK):
            raise RunnerBusy()
        return loading.result()


def _seconds(given: str) -> float:
    try:
        return min(max(float(given), 0.0), LONGEST_LOOK)
    except ValueError:
        return 0.0
