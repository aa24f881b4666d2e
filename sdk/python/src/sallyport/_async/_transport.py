"""Requests of one deployment's REST API, with its token. A request is repeated by the policy of `_retry.py`."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlsplit

import httpx

from .._abandoned import AsyncEnds, IsWanted
from .._clock import sleep_async
from .._errors import (
    SallyportError,
    late_refusal_of,
    refusal_of,
    repeated_page,
    unexpected_answer,
    unreachable,
)
from .._paths import with_query
from .._retry import Repeat, is_lost, repeat_of, retry_pause_seconds

TIMEOUT_SECONDS = 150.0
TRIES_MAX = 6


class AsyncTransport:
    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        http: httpx.AsyncClient | None = None,
        timeout_seconds: float = TIMEOUT_SECONDS,
        tries_max: int = TRIES_MAX,
    ) -> None:
        parts = urlsplit(url or os.environ.get("SALLYPORT_URL") or "")
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise SallyportError(
                0,
                "invalid_request",
                "the URL of the deployment is missing",
                suggestions=["Give `url`, or set SALLYPORT_URL."],
            )
        #: The origin of the deployment.
        self.url = f"{parts.scheme}://{parts.netloc}"
        self.token = token or os.environ.get("SALLYPORT_TOKEN")
        self._timeout_seconds = timeout_seconds
        self._tries_max = tries_max
        self._http = http or httpx.AsyncClient()
        #: Commands whose callers have given up, and that are to be ended.
        self._ends: AsyncEnds = set()
        #: Sessions of which a turn is followed with tools.
        self._followed: set[str] = set()

    async def request(self, method: str, path: str, body: object = None, **options: Any) -> Any:
        """The JSON of an answer; a refusal or a failure is raised as a `SallyportError`."""
        content = None if body is None else json.dumps(body).encode()
        headers = {} if body is None else {"content-type": "application/json"}
        response = await self.send(
            method, path, content=content, headers=headers, fails_late=True, **options
        )
        if not response.content:
            return None
        try:
            return json.loads(response.content)
        except ValueError as error:
            raise unexpected_answer(self.url, "the answer is not JSON", response.status_code) from error

    async def send(
        self,
        method: str,
        path: str,
        *,
        content: bytes | None = None,
        headers: dict[str, str] | None = None,
        repeat: Repeat | None = None,
        timeout_seconds: float | None = None,
        tries_max: int | None = None,
        is_stream: bool = False,
        fails_late: bool = False,
        is_wanted: IsWanted = lambda: True,
    ) -> httpx.Response:
        """The answer, read unless it is a stream; one that is no success is raised.

        `fails_late`: it is no content of a user, and a failure may be in it, since a slow one has sent its status before it failed.
        """
        tries, may_be_done = 0, False
        while True:
            tries += 1
            try:
                request = self._http.build_request(
                    method,
                    self.url + path,
                    content=content,
                    headers={**self._authorization(), **(headers or {})},
                    timeout=httpx.Timeout(timeout_seconds or self._timeout_seconds, connect=10),
                )
                response = await self._http.send(request, stream=is_stream, follow_redirects=False)
                late = late_refusal_of(response) if fails_late and response.is_success else None
                if response.is_success and late is None:
                    return response
                await response.aread()
                await response.aclose()
                error = late or refusal_of(self.url, response)
                # The first one was carried out, and its answer lost.
                if may_be_done and method == "DELETE" and error.status == 404:
                    return httpx.Response(204)
            except httpx.TransportError as cause:
                error = unreachable(self.url, cause)
                error.__cause__ = cause
                # A server that was silent for the whole time is not asked again.
                if isinstance(cause, (httpx.ReadTimeout, httpx.WriteTimeout)):
                    raise error from cause
            # A sandbox that cannot be reached may have gone after its work.
            may_be_done = may_be_done or is_lost(error) or error.code == "sandbox_unavailable"
            pause = retry_pause_seconds(
                error,
                repeat=repeat or repeat_of(method),
                tries=tries,
                tries_max=self._tries_max if tries_max is None else tries_max,
            )
            if pause is None:
                raise error
            await sleep_async(pause)
            if not is_wanted():
                raise error

    def _authorization(self) -> dict[str, str]:
        return {} if self.token is None else {"authorization": f"Bearer {self.token}"}


async def read_pages(
    client: AsyncTransport, path: str, name: str, **query: str | list[str] | None
) -> AsyncIterator[dict[str, Any]]:
    """The items of all pages of a listing."""
    after: str | None = None
    while True:
        answer = await client.request("GET", with_query(path, **{**query, "after": after}))
        for item in answer[name]:
            yield item
        if answer.get("next") is None:
            return
        # It would be asked for again without end, and what was read may not be all.
        if answer["next"] == after:
            raise repeated_page(after)
        after = answer["next"]
