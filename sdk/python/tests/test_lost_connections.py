"""Lost connections: output, events and files arrive whole, in order and once, in both clients."""

from __future__ import annotations

import asyncio
import json
import signal
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from sallyport import AsyncSallyport, Sallyport, SallyportError
from sallyport._errors import unreachable
from wire_server import WireServer, text_of


@pytest.fixture
def server() -> Iterator[WireServer]:
    wire = WireServer()
    yield wire
    wire.close()


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses between tries are as long as they are documented, on a faster clock."""
    wait, wait_async = time.sleep, asyncio.sleep
    monkeypatch.setattr(time, "sleep", lambda seconds: wait(seconds / 50))
    monkeypatch.setattr(asyncio, "sleep", lambda seconds, *_: wait_async(seconds / 50))


@pytest.fixture
def client(server: WireServer) -> Iterator[Sallyport]:
    with Sallyport(server.url, "t") as sallyport:
        yield sallyport


def test_output_that_is_cut_50_times_has_no_gap_and_no_repeat(
    server: WireServer, client: Sallyport
) -> None:
    server.cuts = 50
    process = client.sandboxes.create().processes.get("p")
    events = list(process.output())
    assert server.cuts == 0
    assert "".join(event.text for event in events) == text_of()
    assert "gap" not in {event.type for event in events}
    assert process.wait().exit_code == 3


def test_the_same_asynchronously(server: WireServer) -> None:
    async def follow() -> str:
        async with AsyncSallyport(server.url, "t") as sallyport:
            sandbox = await sallyport.sandboxes.create()
            return "".join([event.text async for event in sandbox.processes.get("p").output()])

    server.cuts = 50
    assert asyncio.run(follow()) == text_of()
    assert server.cuts == 0


def test_a_command_whose_live_output_is_cut_runs_once(
    server: WireServer, client: Sallyport
) -> None:
    from wire_server import output_from

    server.cuts = 50
    server.replies["POST /exec"] = lambda handler, _: handler.stream(output_from(0))
    live: dict[str, list[str]] = {"stdout": [], "stderr": []}
    result = client.sandboxes.create().exec(
        "make", on_stdout=live["stdout"].append, on_stderr=live["stderr"].append
    )
    assert (result.exit_code, result.stdout, result.stderr) == (3, text_of("stdout"), text_of("stderr"))
    assert "".join(live["stdout"]) == text_of("stdout")
    assert server.asked.count("POST /exec") == 1


def test_a_command_longer_than_one_answer_is_followed(
    server: WireServer, client: Sallyport
) -> None:
    server.replies["POST /exec"] = lambda handler, _: handler.answer(202, {"processId": "p"})
    assert client.sandboxes.create().exec("make").stdout == text_of("stdout")


Answer = Callable[[Any], None]


@pytest.mark.parametrize("end", ['{"exitCode":null,"lost":true}', '{"exitCode":0,"outputLost":true}'])
@pytest.mark.parametrize("is_followed", [False, True])
def test_a_command_whose_sandbox_is_lost_is_no_command_that_was_killed(
    server: WireServer, client: Sallyport, is_followed: bool, end: str
) -> None:
    start = 'event: start\ndata: {"processId":"p"}\n\n'
    lost = f"{start}event: exit\ndata: {end}\n\n"
    if is_followed:
        server.cuts = 1
        server.replies["POST /exec"] = lambda handler, _: handler.stream(f"{start}{start}".encode())
    else:
        server.replies["POST /exec"] = lambda handler, _: handler.answer(202, {"processId": "p"})
    server.replies["GET /processes/p/output"] = lambda handler, _: handler.stream(lost.encode())
    with pytest.raises(SallyportError) as failed:
        client.sandboxes.create().exec("make", on_stdout=(lambda _: None) if is_followed else None)
    assert failed.value.code == "tool_outcome_unknown"
    assert "DELETE /processes/p" not in server.asked


def name_it(handler: Any) -> None:
    handler.answer(202, {"processId": "p"})


def name_it_as_event(handler: Any) -> None:
    handler.stream(b'event: start\ndata: {"processId": "p"}\n\n')


def refuse_it(handler: Any) -> None:
    error = {"code": "sandbox_starting", "message": "soon", "requestId": "r"}
    handler.answer(503, {"error": error}, retry_after="0.01")


class AbandonedCommand:
    """A command whose request is answered when its caller has given up."""

    def __init__(self, server: WireServer, answer: Answer) -> None:
        self.is_asked = threading.Event()
        self.is_given_up = threading.Event()
        self.on_asked: Callable[[], object] = self.is_asked.set

        def reply(handler: Any, _: bytes) -> None:
            self.on_asked()
            self.is_given_up.wait(30)
            answer(handler)

        server.replies["POST /exec"] = reply
        server.replies["DELETE /processes/p"] = lambda handler, _: handler.answer(200, {})


DELETION = "DELETE /processes/p"


@pytest.mark.parametrize(
    ("answer", "is_live", "last"),
    [
        (name_it, False, DELETION),
        (name_it_as_event, True, DELETION),
        (refuse_it, False, "POST /exec"),
    ],
)
def test_a_command_that_is_cancelled_before_it_has_a_name_is_ended_when_it_gets_one(
    server: WireServer, answer: Answer, is_live: bool, last: str
) -> None:
    command = AbandonedCommand(server, answer)

    async def give_up() -> None:
        async with AsyncSallyport(server.url, "t") as sallyport:
            sandbox = await sallyport.sandboxes.create()
            hear = print if is_live else None
            running = asyncio.ensure_future(sandbox.exec("sleep 60", on_stdout=hear))
            await asyncio.to_thread(command.is_asked.wait, 30)
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            command.is_given_up.set()

    asyncio.run(give_up())
    assert server.asked[-1] == last
    assert server.asked.count("POST /exec") == 1


@pytest.mark.parametrize(("answer", "is_live"), [(name_it, False), (name_it_as_event, True)])
def test_ctrl_c_before_a_command_has_a_name_ends_it_when_it_gets_one(
    server: WireServer, client: Sallyport, answer: Answer, is_live: bool
) -> None:
    command = AbandonedCommand(server, answer)
    main = threading.main_thread().ident or 0
    command.on_asked = lambda: signal.pthread_kill(main, signal.SIGINT)
    sandbox = client.sandboxes.create()
    with pytest.raises(KeyboardInterrupt):
        sandbox.exec("sleep 60", on_stdout=print if is_live else None)
    command.is_given_up.set()
    client.close()
    assert server.asked[-1] == DELETION


def test_ctrl_c_while_the_thread_of_a_command_starts_ends_it_when_it_gets_a_name(
    server: WireServer, client: Sallyport, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = AbandonedCommand(server, name_it)
    sandbox = client.sandboxes.create()
    start = threading.Thread.start

    def start_late(thread: threading.Thread) -> None:
        start(thread)
        if thread.name == "sallyport-request":
            command.is_asked.wait(30)
            raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", start_late)
    with pytest.raises(KeyboardInterrupt):
        sandbox.exec("sleep 60")
    command.is_given_up.set()
    client.close()
    assert server.asked[-1] == DELETION


def test_ctrl_c_before_the_thread_of_a_command_runs_sends_nothing(
    server: WireServer, client: Sallyport, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox = client.sandboxes.create()
    before = len(server.asked)
    begun: list[threading.Thread] = []
    start = threading.Thread.start

    def interrupt(thread: threading.Thread) -> None:
        if thread.name != "sallyport-request":
            return start(thread)
        begun.append(thread)
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", interrupt)
    with pytest.raises(KeyboardInterrupt):
        sandbox.exec("sleep 60")
    client.close()
    start(begun[0])
    begun[0].join(30)
    assert len(server.asked) == before


@pytest.mark.parametrize("route", ["GET /files/a.txt", "GET /api/audit/export"])
def test_a_stream_that_breaks_off_is_a_lost_connection(
    server: WireServer, client: Sallyport, route: str
) -> None:
    def open_stream() -> Iterator[bytes]:
        server.cuts = 1
        server.replies[route] = lambda handler, _: handler.stream(b"x" * 5000)
        is_file = route == "GET /files/a.txt"
        return client.sandboxes.create().files.stream("a.txt") if is_file else client.export_audit()

    got: list[bytes] = []
    with pytest.raises(SallyportError) as lost:
        got.extend(open_stream())
    assert (lost.value.code, lost.value.status) == ("connection_lost", 0)
    assert len(got) > 0


@pytest.mark.parametrize("tries_max", [1, 6])
def test_a_command_whose_listener_fails_is_ended_even_by_a_client_that_repeats_nothing(
    server: WireServer, tries_max: int
) -> None:
    from wire_server import output_from

    answers: list[tuple[int, object]] = [(429, {"error": {"code": "rate_limited", "message": "slow down"}}), (200, {})]
    server.replies["POST /exec"] = lambda handler, _: handler.stream(output_from(0))
    server.replies[DELETION] = lambda handler, _: handler.answer(*answers.pop(0))

    def fail(_: str) -> None:
        raise ValueError("enough")

    with Sallyport(server.url, "t", tries_max=tries_max) as client:
        with pytest.raises(ValueError, match="enough"):
            client.sandboxes.create().exec("make", on_stdout=fail)
    assert server.asked.count(DELETION) == 2


def serve_turn(server: WireServer) -> None:
    def accept(handler: Any, body: bytes) -> None:
        message_id = json.loads(body)["messageId"]
        if not any(event["data"].get("messageId") == message_id for event in server.log):
            server.log.append({"type": "message", "data": {"messageId": message_id}})
            server.log += [{"type": "system", "data": {"index": index}} for index in range(9)]
            server.log.append({"type": "completion", "data": {"stopReason": "end_turn"}})
        handler.answer(202, {"messageId": message_id, "lastSeq": -1})

    server.replies["POST /messages"] = accept


def test_events_of_a_turn_arrive_once_and_in_order(server: WireServer, client: Sallyport) -> None:
    serve_turn(server)
    server.log.append({"type": "completion", "data": {"of": "an earlier turn"}})
    session = client.sessions.create()
    server.lost_answers = 3
    events = list(session.send("hello"))
    assert server.lost_answers == 0
    assert [event.seq for event in events] == list(range(1, 12))
    assert events[-1].type == "completion"


def test_a_message_that_is_sent_again_under_its_id_gives_the_events_of_its_first_time(
    server: WireServer, client: Sallyport
) -> None:
    serve_turn(server)
    session = client.sessions.create()
    first = list(session.send("hello", message_id="one"))
    list(session.send("hello", message_id="two"))
    assert first[0].seq == 0
    assert list(session.send("hello", message_id="one")) == first
    assert server.asked.count("POST /messages") == 2


def test_a_message_that_is_sent_again_after_its_events_were_dropped_is_told_so(
    server: WireServer, client: Sallyport
) -> None:
    kept = {"index": 7, "type": "system", "data": {}, "at": "", "sessionId": "s"}
    pages = [[kept], []]
    server.replies["GET /events"] = lambda handler, _: handler.answer(
        200, {"lastIndex": 7, "events": pages.pop(0)}
    )
    said = {"role": "user", "messageId": "one", "text": "hello"}
    server.replies["GET /messages"] = lambda handler, _: handler.answer(200, {"messages": [said]})
    with pytest.raises(SallyportError) as lost:
        list(client.sessions.create().send("hello", message_id="one"))
    assert (lost.value.code, lost.value.status) == ("events_purged", 410)


def test_parts_whose_answers_are_lost_are_sent_again(server: WireServer, client: Sallyport) -> None:
    content = bytes(index % 251 for index in range(9 * 1_048_576))
    sandbox = client.sandboxes.create()
    server.lost_answers = 3
    sandbox.files.write("d/a b.bin", content)
    assert server.files["PUT /files/d/a%20b.bin"] == content
    assert sum(route.startswith("PUT") for route in server.asked) == 6
    assert len(set(server.upload_ids)) == 1


def test_the_parts_of_an_upload_have_one_id(server: WireServer, client: Sallyport) -> None:
    files = client.sandboxes.create().files
    for _ in range(2):
        files.write("a", b"wxyz", part_bytes=2)
    files.upload("b", b"wxyz", part_bytes=3)
    files.write("a", b"wxyz")
    one, _, other, _, archive, _, whole = server.upload_ids
    assert server.upload_ids == [one, one, other, other, archive, archive, None]
    assert len({one, other, archive, whole}) == 4
    assert uuid.UUID(str(one)).version == 4


def test_a_deletion_whose_answer_was_lost_is_done(server: WireServer, client: Sallyport) -> None:
    sandbox = client.sandboxes.create()
    server.lost_answers = 1
    sandbox.files.remove("a.txt")
    assert server.asked.count("DELETE /files/a.txt") == 2
    with pytest.raises(SallyportError) as refused:
        sandbox.files.remove("a.txt")
    error = refused.value
    assert (error.status, error.code, error.suggestions, error.request_id) == (
        404,
        "not_found",
        ["Look."],
        "r",
    )


def test_a_deletion_that_a_gateway_did_not_wait_for_is_done(
    server: WireServer, client: Sallyport
) -> None:
    sandbox = client.sandboxes.create()
    lost = {"error": {"code": "sandbox_unavailable", "message": "it broke off", "requestId": "r"}}
    answers: list[tuple[int, object]] = [(504, None), (503, lost)]

    def answer(handler: Any, _: bytes) -> None:
        error = {"code": "not_found", "message": "gone", "suggestions": [], "requestId": "r"}
        handler.answer(*(answers.pop() if len(server.asked) % 2 == 0 else (404, {"error": error})))

    server.replies["DELETE /files/a.txt"] = answer
    sandbox.files.remove("a.txt")
    sandbox.files.remove("a.txt")
    assert server.asked.count("DELETE /files/a.txt") == 4


def test_what_may_have_been_done_is_not_sent_twice(server: WireServer, client: Sallyport) -> None:
    sandbox = client.sandboxes.create()
    session = client.sessions.create()
    acts: list[Callable[[], object]] = [
        lambda: sandbox.exec("rm -r x"),
        lambda: sandbox.processes.start("rm -r x"),
        lambda: sandbox.processes.get("p").write("y\n"),
        # It ends the turn that runs, so that a second one would end the next.
        lambda: session.cancel(),
    ]
    for act in acts:
        server.lost_answers = 1
        before = len(server.asked)
        with pytest.raises(SallyportError) as failed:
            act()
        assert (failed.value.code, failed.value.status) == ("unreachable", 0)
        assert len(server.asked) - before == 1
    server.replies["POST /cancel"] = lambda handler, _: handler.answer(202, {"cancelled": "below"})
    assert session.cancel() == "below"


@pytest.mark.parametrize("cause", [httpx.ReadTimeout("late"), httpx.WriteTimeout("late")])
def test_a_server_that_was_silent_was_reached(cause: httpx.TimeoutException) -> None:
    error = unreachable("https://x.example", cause)
    assert (error.code, error.message) == ("unreachable", "https://x.example did not answer in time")
    assert error.suggestions == ["Check the URL. Check whether it was done. If not, send it again."]


def test_a_server_that_took_no_connection_was_not_reached() -> None:
    error = unreachable("https://x.example", httpx.ConnectTimeout("late"))
    assert error.message == "https://x.example cannot be reached: no answer in time"


def test_a_busy_server_is_asked_again_after_the_pause_that_it_names(
    server: WireServer, client: Sallyport
) -> None:
    left = [2]
    seconds = ["0.01"]

    def answer(handler: Any, _: bytes) -> None:
        left[0] -= 1
        if left[0] < 0:
            ok = {"exitCode": 0, "stdout": "ok", "stderr": "", "durationMs": 1}
            handler.answer(200, ok)
            return
        error = {"code": "rate_limited", "message": "slow down"}
        handler.answer(429, {"error": error}, retry_after=seconds[0])

    server.replies["POST /exec"] = answer
    sandbox = client.sandboxes.create()
    assert sandbox.exec("true").stdout == "ok"
    left[0], seconds[0] = 1, "86400"
    with pytest.raises(SallyportError) as failed:
        sandbox.exec("true")
    # Kept up to an hour, as the library for JavaScript keeps it.
    assert (failed.value.code, failed.value.retry_after_seconds) == ("rate_limited", 3600)


def test_an_error_says_after_what_pause_another_try_is_wanted(server: WireServer, client: Sallyport) -> None:
    error = {"error": {"code": "resource_limit_exceeded", "message": "no", "requestId": "r"}}
    named: list[dict[str, str]] = [{"retry_after": "90"}, {"retry_after": "soon"}, {}]
    server.replies["POST /api/sessions"] = lambda handler, _: handler.answer(429, error, **named.pop(0))
    pauses: list[float | None] = []
    while named:
        with pytest.raises(SallyportError) as failed:
            client.sandboxes.create()
        pauses.append(failed.value.retry_after_seconds)
    assert pauses == [90, None, None]


def test_a_function_that_ended_before_its_answer_is_asked_again(server: WireServer, client: Sallyport) -> None:
    failed = {"error": {"code": "internal_error", "message": "the request failed"}}
    answers = [(500, failed), (200, {"sessions": []})]
    server.replies["GET /api/sessions"] = lambda handler, body: handler.answer(*answers.pop(0))
    assert list(client.sessions.list()) == []
    assert answers == []
