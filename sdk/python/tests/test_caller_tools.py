"""Tools of a program, on a real server: called by an agent, answered while the turn is followed, and withdrawn behind it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import aclosing
from typing import Any

import pytest
from sallyport import AsyncSallyport, CallerTool, Event, Sallyport, SallyportError


def add(args: dict[str, Any]) -> dict[str, Any]:
    return {"sum": args["a"] + args["b"]}


def fail(_: dict[str, Any]) -> None:
    raise LookupError("no such customer")


SCHEMA = {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}}
ADD = CallerTool("add", add, "Adds two numbers.", SCHEMA)
TOOLS = [
    ADD,
    CallerTool("fail", fail),
    CallerTool("long", lambda _: "x" * 5_000_000),
    CallerTool("set", lambda _: {1}),
    CallerTool("quiet", lambda _: None),
]
CALLS = "\n".join(
    f"call program_{call}" for call in ['add {"a": 1, "b": 2}', "fail", "long", "set", "quiet"]
)


def answer_in(events: list[Event]) -> str:
    return str(events[-1].data["text"])


def check_answers(events: list[Event]) -> None:
    text = answer_in(events)
    for part in ('{"sum":3}', "no such customer", "its result was refused", "not JSON serializable"):
        assert part in text
    types = [event.type for event in events]
    assert (types.count("tool:output"), types.count("agent:error")) == (2, 3)


@pytest.fixture
def client(deployment: dict[str, str]) -> Iterator[Sallyport]:
    with Sallyport(deployment["SALLYPORT_URL"], deployment["SALLYPORT_TOKEN"]) as sallyport:
        yield sallyport


def test_results_and_errors_of_tools_reach_the_agent(client: Sallyport) -> None:
    session = client.sessions.create(provider="demo", approvals="auto")
    check_answers(list(session.send(CALLS, tools=TOOLS)))
    # They are withdrawn behind the turn.
    assert "This is the demo provider" in answer_in(list(session.send('call program_add {"a": 1, "b": 2}')))
    again = list(session.send('call shop_add {"a": 2, "b": 2}', tools=[ADD], caller_id="shop"))
    assert '{"sum":4}' in answer_in(again)


def test_a_program_that_died_takes_up_the_call_that_waits_and_none_that_was_answered(client: Sallyport) -> None:
    session = client.sessions.create(provider="demo", approvals="auto")
    path = f"/api/sessions/{session.id}"
    client.request("PUT", f"{path}/caller-tools", {"callerId": "program", "tools": [ADD.offered()]})
    text = 'call program_add {"a": 5, "b": 6}'
    client.request("POST", f"{path}/messages", {"text": text, "messageId": "one"})
    until = time.monotonic() + 60
    while "caller_tool:request" not in [
        event["type"] for event in client.request("GET", f"{path}/events")["events"]
    ]:
        assert time.monotonic() < until
        time.sleep(0.2)
    runs: list[dict[str, Any]] = []

    def counted(args: dict[str, Any]) -> dict[str, Any]:
        runs.append(args)
        return add(args)

    tools = [CallerTool("add", counted)]
    first = list(session.send(text, message_id="one", tools=tools))
    assert '{"sum":11}' in answer_in(first)
    again = list(session.send(text, message_id="one", tools=tools))
    assert ([event.seq for event in again], len(runs)) == ([event.seq for event in first], 1)


def test_a_program_follows_one_turn_of_a_session_with_tools_at_a_time(client: Sallyport) -> None:
    session = client.sessions.create(provider="demo", approvals="auto")
    events = session.send('call program_add {"a": 1, "b": 1}', tools=[ADD])
    first = next(events)
    with pytest.raises(SallyportError, match="already"):
        next(session.send("hello", tools=[ADD]))
    assert '{"sum":2}' in answer_in([first, *events])


def test_an_interrupted_tool_of_a_blocking_program_fails_its_call(client: Sallyport) -> None:
    def interrupt(_: dict[str, Any]) -> None:
        raise KeyboardInterrupt

    session = client.sessions.create(provider="demo", approvals="auto")
    with pytest.raises(KeyboardInterrupt):
        list(session.send("call program_stop", message_id="one", tools=[CallerTool("stop", interrupt)]))
    assert "does not follow the turn any more" in answer_in(list(session.send("", message_id="one")))


def test_tools_of_an_asynchronous_program_run_beside_each_other(deployment: dict[str, str]) -> None:
    async def use() -> None:
        url, token = deployment["SALLYPORT_URL"], deployment["SALLYPORT_TOKEN"]
        async with AsyncSallyport(url, token) as sallyport:
            session = await sallyport.sessions.create(provider="demo", approvals="auto")
            check_answers([event async for event in session.send(CALLS, tools=TOOLS)])
            met = asyncio.Barrier(2) if hasattr(asyncio, "Barrier") else None

            async def meet(args: dict[str, Any]) -> Any:
                if met is not None:
                    await met.wait()
                return f"met {args['n']}"

            text = 'call program_meet {"n": 1}\ncall program_meet {"n": 2}'
            events = [event async for event in session.send(text, tools=[CallerTool("meet", meet)])]
            assert "met 1" in answer_in(events) and "met 2" in answer_in(events)

    asyncio.run(use())


def test_an_asynchronous_program_that_stops_following_fails_its_calls(deployment: dict[str, str]) -> None:
    ended: list[str] = []

    async def endless(_: dict[str, Any]) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("ended")

    async def use() -> None:
        url, token = deployment["SALLYPORT_URL"], deployment["SALLYPORT_TOKEN"]
        async with AsyncSallyport(url, token) as sallyport:
            session = await sallyport.sessions.create(provider="demo", approvals="auto")
            tools = [CallerTool("endless", endless)]
            async with aclosing(
                session.send("call program_endless", message_id="one", tools=tools)
            ) as events:
                async for event in events:
                    if ended == [] and event.type == "caller_tool:request":
                        await asyncio.sleep(0)
                        break
            assert ended == ["ended"]
            again = [event async for event in session.send("", message_id="one")]
            assert "does not follow the turn any more" in answer_in(again)

    asyncio.run(use())
