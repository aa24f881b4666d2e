"""Streams that resume by themselves: server-sent events, and the output of a process."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import httpx

from .._clock import sleep_async
from .._errors import SallyportError, connection_lost, refusal_in
from .._paths import session_path
from .._results import OutputEvent
from .._retry import back_off_seconds, is_lost
from .._server_events import EventParser, ServerEvent
from ._transport import AsyncTransport

#: The server sends a comment each 15 seconds: a connection that is silent for longer is dead.
SILENCE_SECONDS_MAX = 60.0
FAILURES_MAX = 10
#: A connection that stood for so long was no failure.
STANDING_SECONDS_MIN = 10.0
#: Where the server does not know the exit code: that of a program which SIGKILL ended.
UNKNOWN_EXIT_CODE = 137


async def open_stream(client: AsyncTransport, path: str) -> AsyncIterator[ServerEvent]:
    response = await client.send(
        "GET",
        path,
        headers={"accept": "text/event-stream"},
        timeout_seconds=SILENCE_SECONDS_MAX,
        is_stream=True,
    )
    return read_events(response)


@asynccontextmanager
async def pieces_of(response: httpx.Response) -> AsyncIterator[AsyncIterator[bytes]]:
    """The pieces of an answer as they come; it is closed when they are no longer read."""
    try:
        yield response.aiter_bytes()
    except httpx.TransportError as error:
        raise connection_lost() from error
    finally:
        await response.aclose()


async def read_events(response: httpx.Response) -> AsyncIterator[ServerEvent]:
    parser = EventParser()
    try:
        async for chunk in response.aiter_bytes():
            for event in parser.feed(chunk):
                yield event
    finally:
        await response.aclose()


async def resume_events(
    open_next: Callable[[], Awaitable[AsyncIterator[ServerEvent]]],
) -> AsyncIterator[ServerEvent]:
    """Events of one answer after the other, until the reader of the last one closes it."""
    failures = 0
    while True:
        if failures > 0:
            await sleep_async(back_off_seconds(failures))
        opened_at = time.monotonic()
        failures += 1
        cause: Exception | None = None
        try:
            async for event in await open_next():
                if event.event == "error":
                    raise refusal_in(0, event.data) or connection_lost()
                if event.event != "start":
                    failures = 0
                yield event
        except httpx.TransportError as error:
            cause = error
        except SallyportError as error:
            if not is_lost(error):
                raise
            cause = error
        if time.monotonic() - opened_at > STANDING_SECONDS_MIN:
            failures = 0
        if failures > FAILURES_MAX:
            raise connection_lost() from cause


async def name_of(events: AsyncIterator[ServerEvent]) -> str:
    """Reads the event that names a process, which is the first of its output."""
    try:
        async for event in events:
            if event.event == "start":
                return str(event.data["processId"])
            raise refusal_in(0, event.data) or connection_lost()
    except httpx.TransportError as error:
        raise _command_lost() from error
    raise _command_lost()


def _command_lost() -> SallyportError:
    return SallyportError(0, "command_lost", "the connection was lost before the command had a name")


async def follow_output(
    client: AsyncTransport,
    session_id: str,
    *,
    process_id: str,
    offset: int = 0,
    first: AsyncIterator[ServerEvent] | None = None,
) -> AsyncIterator[OutputEvent]:
    """The output from an offset to its end; `first` is the rest of an answer."""
    at = offset

    async def open_next() -> AsyncIterator[ServerEvent]:
        nonlocal first
        if first is not None:
            unread, first = first, None
            return unread
        path = session_path(session_id, "processes", process_id, "output")
        return await open_stream(client, f"{path}?offset={at}")

    async for event in resume_events(open_next):
        data = event.data
        if event.event == "output":
            start, text, count = _unseen(data, at)
            if count <= 0:
                continue
            if start > at:
                yield OutputEvent("gap", offset=at, to=start)
            at = start + count
            yield OutputEvent("output", text, data["stream"], start)
        elif event.event == "gap":
            at = max(at, data["to"])
            yield OutputEvent("gap", offset=data["from"], to=data["to"])
        elif event.event == "exit":
            exit_code = data.get("exitCode")
            yield OutputEvent(
                "exit",
                exit_code=UNKNOWN_EXIT_CODE if exit_code is None else exit_code,
                signal=data.get("signal"),
                is_lost=data.get("lost", False),
                is_output_lost=data.get("outputLost", False),
            )
            return


def _unseen(data: dict[str, object], at: int) -> tuple[int, str, int]:
    """Offset, text and bytes of a piece without what was given out before."""
    text, offset = str(data["text"]), int(str(data["offset"]))
    encoded = text.encode()
    count = int(str(data.get("bytes", len(encoded))))
    seen = at - offset
    if seen <= 0:
        return offset, text, count
    return at, encoded[seen:].decode(errors="replace"), count - seen
