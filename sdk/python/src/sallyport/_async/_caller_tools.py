"""Tools of a program: offered to an agent while the program reads the events of a turn, and run when the agent calls them.

A call is an event of the log, which comes once whatever happens to the connection.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

from .._errors import SallyportError
from .._paths import session_path
from .._results import Event
from .._tool_runs import Answer, AsyncToolRuns, CallerTool, already_followed
from ._transport import AsyncTransport


async def answer_calls(
    client: AsyncTransport,
    session_id: str,
    *,
    tools: list[CallerTool],
    caller_id: str,
    events: AsyncIterator[Event],
) -> AsyncGenerator[Event, None]:
    # A second listener would run each call again.
    if session_id in client._followed:
        raise already_followed()
    client._followed.add(session_id)
    try:
        path = session_path(session_id, "caller-tools")
        named = {tool.name: tool for tool in tools}
        offered = [tool.offered() for tool in tools]
        declared = await client.request("PUT", path, {"callerId": caller_id, "tools": offered})
        last, requests, offer = declared["lastSeq"], declared["requests"], declared["offer"]

        async def answer(request_id: str, body: Answer) -> None:
            await _answer(client, f"{path}/{request_id}", body)

        runs = AsyncToolRuns(answer)
        try:
            async for event in events:
                # Another program may offer a tool of the same name.
                if event.type == "caller_tool:request" and event.data["callerId"] == caller_id:
                    request_id, tool = event.data["requestId"], named.get(event.data["name"])
                    if tool is not None and (event.seq > last or request_id in requests):
                        await runs.begin(request_id, tool, event.data["args"])
                yield event
        finally:
            await runs.end()
            # Another program may have offered its own since.
            await _withdraw(client, path, {"callerId": caller_id, "tools": [], "offer": offer})
    finally:
        client._followed.discard(session_id)


async def _answer(client: AsyncTransport, path: str, body: Answer) -> None:
    try:
        # A second answer is refused, and changes nothing.
        await client.request("POST", path, body, repeat="lost")
    except SallyportError as error:
        # One that is over takes no answer. One that was refused for itself leaves the agent waiting.
        if error.status in (400, 413) and "error" not in body:
            await _answer(client, path, {"error": f"its result was refused: {error}"})


async def _withdraw(client: AsyncTransport, path: str, body: dict[str, Any]) -> None:
    try:
        await client.request("PUT", path, body)
    except SallyportError:
        # Tools that stay offered are replaced by the next offer, and their calls fail after their time.
        pass
