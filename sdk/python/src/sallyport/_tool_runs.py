"""Tools of a program, and their runs for both kinds of programs: beside each other, or one after another."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from ._errors import SallyportError
from ._paths import given

#: The server waits no longer for an answer.
ANSWER_SECONDS_MAX = 60.0
#: The server takes no longer error.
ERROR_CHARACTERS_MAX = 10_000
STOPPED = {"error": "the program does not follow the turn any more"}

Answer = dict[str, Any]


@dataclass(frozen=True)
class CallerTool:
    """A function of the program that an agent may call."""

    name: str
    #: Takes the arguments, which come from a model and are not checked against the schema. Its result reaches the agent: a text as it
    #: is, content of MCP as such, any other value as JSON. An exception is the error of the call. With the asynchronous client it may
    #: be a coroutine function.
    handler: Callable[[dict[str, Any]], Any]
    description: str = ""
    #: JSON schema of the arguments; absent: any object.
    input_schema: dict[str, Any] | None = None

    def offered(self) -> dict[str, Any]:
        return given(
            name=self.name, description=self.description, inputSchema=self.input_schema
        )


def already_followed() -> SallyportError:
    return SallyportError(
        0,
        "conflict",
        "this client follows a turn of the session with tools already",
        suggestions=["Read its events to their end first."],
    )


class ToolRuns:
    """Runs each call where its event is read, so that the event comes after its answer."""

    def __init__(self, answer: Callable[[str, Answer], None]) -> None:
        self._answer = answer
        #: Requests without an answer: their handlers were interrupted.
        self._open: set[str] = set()

    def begin(self, request_id: str, tool: CallerTool, args: dict[str, Any]) -> None:
        self._open.add(request_id)
        try:
            body = _body_of(tool.handler(args))
        except Exception as error:
            body = _error_of(error)
        self._open.discard(request_id)
        self._answer(request_id, body)

    def end(self) -> None:
        for request_id in self._open:
            self._answer(request_id, STOPPED)


class AsyncToolRuns:
    """Runs calls beside each other, and beside the program that reads the events."""

    def __init__(self, answer: Callable[[str, Answer], Awaitable[None]]) -> None:
        self._answer = answer
        self._tasks: set[asyncio.Task[None]] = set()
        self._open: dict[str, asyncio.Task[None]] = {}

    async def begin(self, request_id: str, tool: CallerTool, args: dict[str, Any]) -> None:
        task = asyncio.create_task(self._run(request_id, tool, args))
        self._open[request_id] = task
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self, request_id: str, tool: CallerTool, args: dict[str, Any]) -> None:
        try:
            result = tool.handler(args)
            if inspect.isawaitable(result):
                result = await asyncio.wait_for(result, ANSWER_SECONDS_MAX)
            body = _body_of(result)
        except Exception as error:
            body = _error_of(error)
        del self._open[request_id]
        await self._answer(request_id, body)

    async def end(self) -> None:
        left = dict(self._open)
        for task in left.values():
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(*(self._answer(request_id, STOPPED) for request_id in left))


def _body_of(result: Any) -> Answer:
    # A value that is no JSON is an error of the tool, too.
    json.dumps(result, allow_nan=False)
    return given(result=result)


def _error_of(error: Exception) -> Answer:
    return {"error": (str(error) or type(error).__name__)[:ERROR_CHARACTERS_MAX]}
