"""What the library for JavaScript can do, by its names and by its requests; docs/sdk-python.md has the differences."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sallyport as library
from sallyport import AsyncSallyport, Sallyport, Snapshot
from wire_server import WireServer

SOURCES = Path(__file__).parent.parent.parent
CLASSES = [
    ("sallyport.ts", "Sallyport", "Sallyport"),
    ("sallyport.ts", "AgentSessions", "Sessions"),
    ("sallyport.ts", "Sandboxes", "Sandboxes"),
    ("sandbox.ts", "Sandbox", "Sandbox"),
    ("sandbox-files.ts", "SandboxFiles", "Files"),
    ("sandbox-processes.ts", "SandboxProcess", "Process"),
    ("sandbox-processes.ts", "SandboxProcesses", "Processes"),
    ("agent-session.ts", "AgentSession", "Session"),
]
#: A person's terminal needs a WebSocket.
LEFT_OUT = {"Process": {"attach"}}
METHOD = re.compile(r"^  (?:async )?\*?([a-z]\w*)(?:<[^(]*>)?\(", re.MULTILINE)


@pytest.mark.parametrize(("file", "theirs", "ours"), CLASSES)
def test_every_method_of_the_library_for_javascript_is_here(file: str, theirs: str, ours: str) -> None:
    source = (SOURCES / file).read_text()
    body = re.split(rf"^export class {theirs}\b", source, flags=re.MULTILINE)[1].split("\n}\n")[0]
    named = {re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower() for name in METHOD.findall(body)}
    wanted = named - {"constructor"} - LEFT_OUT.get(ours, set())
    assert wanted, "the class has no methods"
    for kind in (ours, f"Async{ours}"):
        assert {name for name in wanted if not hasattr(getattr(library, kind), name)} == set()


@pytest.mark.parametrize("name", ["ExecResult", "CodeResult"])
def test_a_result_has_every_field_of_the_contract(name: str) -> None:
    contract = json.loads((SOURCES.parent / "functions/api/openapi.json").read_text())
    fields = contract["components"]["schemas"][name]["properties"]
    wanted = {re.sub(r"([A-Z])", r"_\1", one).lower() for one in fields}
    assert {one.name for one in dataclasses.fields(getattr(library, name))} == wanted


@pytest.fixture
def server() -> Iterator[WireServer]:
    wire = WireServer()
    yield wire
    wire.close()


@pytest.fixture
def client(server: WireServer) -> Iterator[Sallyport]:
    with Sallyport(server.url, "t") as sallyport:
        yield sallyport


def asked_of(server: WireServer, route: str, answer: Any) -> list[tuple[str, Any]]:
    """The queries and the bodies of requests to a route."""
    asked: list[tuple[str, Any]] = []

    def reply(handler: Any, body: bytes) -> None:
        asked.append((handler.path.partition("?")[2], json.loads(body) if body else None))
        handler.answer(200, answer)

    server.replies[route] = reply
    return asked


def test_a_file_is_moved_and_copied_over_another_one_when_that_is_wanted(
    server: WireServer, client: Sallyport
) -> None:
    asked = asked_of(server, "POST /files/a", {})
    files = client.sandboxes.create().files
    files.move("a", "b")
    files.move("a", "b", overwrite=True)
    files.copy("a", "b", overwrite=True)
    assert [query for query, _ in asked] == [
        "op=move&to=b",
        "op=move&to=b&overwrite=1",
        "op=copy&to=b&overwrite=1",
    ]


def test_a_link_says_when_it_expires(server: WireServer, client: Sallyport) -> None:
    asked = asked_of(server, "POST /links", {"url": "/api/links/x", "expiresAt": "2026-01-01T00:00:00.000Z"})
    sandbox = client.sandboxes.create()
    link = sandbox.files.link("a.txt", method="PUT", expires_in_seconds=60)
    assert (link.url, link.expires_at) == (f"{server.url}/api/links/x", "2026-01-01T00:00:00.000Z")
    assert sandbox.link("a.txt", method="PUT", expires_in_seconds=60) == link.url
    assert asked == 2 * [("", {"path": "a.txt", "method": "PUT", "expiresInSeconds": 60})]


def test_a_list_that_is_cut_says_so(server: WireServer, client: Sallyport) -> None:
    cut: list[str] = []
    server.replies["GET /files"] = lambda handler, _: handler.answer(200, {"files": [], "truncated": True})
    assert client.sandboxes.create().files.list(on_truncated=lambda: cut.append("cut")) == []
    assert cut == ["cut"]


def test_a_write_reports_its_progress(server: WireServer, client: Sallyport) -> None:
    seen: list[tuple[int, int]] = []
    files = client.sandboxes.create().files
    files.write("a", b"12345", part_bytes=2, on_progress=lambda sent, total: seen.append((sent, total)))
    assert seen == [(2, 5), (4, 5), (5, 5)]
    assert server.files["PUT /files/a"] == b"12345"
    files.write("a", "xy", on_progress=lambda sent, total: seen.append((sent, total)))
    assert seen[3:] == [(2, 2)]


def test_a_file_is_read_as_a_stream(server: WireServer, client: Sallyport) -> None:
    server.replies["GET /files/a"] = lambda handler, _: handler.stream(b"x" * 100_000)
    pieces = client.sandboxes.create().files.stream("a")
    assert b"".join(pieces) == b"x" * 100_000


@pytest.mark.parametrize(
    ("source", "sent"),
    [
        ({"snapshot": "1"}, {"snapshot": "1"}),
        ({"session": "2"}, {"session": "2"}),
        (Snapshot("3", "", 0, 0), {"snapshot": "3"}),
    ],
)
def test_a_sandbox_starts_with_files_that_are_named(
    server: WireServer, client: Sallyport, source: Any, sent: dict[str, str]
) -> None:
    asked = asked_of(server, "POST /api/sessions", {"id": "s", "kind": "execution"})
    client.sandboxes.create(source=source)
    assert asked[-1][1]["from"] == sent


def test_a_session_is_branched_with_settings_of_its_own(server: WireServer, client: Sallyport) -> None:
    session = client.sessions.get("s")
    asked = asked_of(server, "POST /api/sessions", {"id": "t", "kind": "agent"})
    made = session.branch("m", files="now", approvals="ask", max_cost_usd=2.5, idleSeconds=60)
    assert (made.id, made.session) == ("t", {"id": "t", "kind": "agent"})
    session.branch("m")
    source = {"session": "s", "messageId": "m"}
    assert [body for _, body in asked] == [
        {"from": {**source, "files": "now"}, "approvals": "ask", "maxCostUsd": 2.5, "idleSeconds": 60},
        {"from": source},
    ]


def test_sessions_are_found_by_a_label(server: WireServer, client: Sallyport) -> None:
    asked = asked_of(server, "GET /api/sessions", {"sessions": [{"id": "1", "kind": "agent"}]})
    assert [one.id for one in client.sessions.list(label="team:red")] == ["1"]
    assert [one.id for one in client.sessions.list(label=["team:red", "run:7"])] == ["1"]
    assert asked == [
        ("status=active&label=team%3Ared", None),
        ("status=active&label=team%3Ared&label=run%3A7", None),
    ]


def test_every_field_of_a_new_session_is_given_in_snake_case(server: WireServer, client: Sallyport) -> None:
    contract = json.loads((SOURCES.parent / "functions/api/openapi.json").read_text())
    body = contract["paths"]["/api/sessions"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    # The kind is that of the method.
    fields = set(body["properties"]) - {"kind"}
    given: dict[str, Any] = {re.sub(r"([A-Z])", r"_\1", name).lower(): name for name in fields}
    given["from_"] = given.pop("from")
    asked = asked_of(server, "POST /api/sessions", {"id": "s", "kind": "agent"})
    session = client.sessions.create(**given)
    client.sandboxes.create(**{name: value for name, value in given.items() if name != "source"})
    session.branch("m", **{name: value for name, value in given.items() if name not in ("files", "from_")})
    named, sandbox, branch = (body for _, body in asked)
    assert named == {"kind": "agent", **{name: name for name in fields}}
    assert sandbox == {"kind": "execution", **{name: name for name in fields - {"source"}}}
    assert branch["from"] == {"session": "s", "messageId": "m"}
    assert set(branch) == fields


def test_the_names_of_the_api_are_taken_as_they_are(server: WireServer, client: Sallyport) -> None:
    asked = asked_of(server, "POST /api/sessions", {"id": "s", "kind": "agent"})
    client.sandboxes.create(idleSeconds=60, env={"MY_NAME": "a"}, network={"allow": []})
    assert asked[0][1] == {
        "kind": "execution",
        "idleSeconds": 60,
        "env": {"MY_NAME": "a"},
        "network": {"allow": []},
    }


def test_a_change_is_given_in_snake_case_and_none_removes_a_field(
    server: WireServer, client: Sallyport
) -> None:
    asked = asked_of(server, "PATCH ", {})
    client.sandboxes.create().update(idle_seconds=None, max_cost_usd=2, thinking="low")
    assert asked == [("", {"idleSeconds": None, "maxCostUsd": 2, "thinking": "low"})]


def test_a_sandbox_ends_with_its_block_also_after_an_exception(
    server: WireServer, client: Sallyport
) -> None:
    ended = asked_of(server, "DELETE ", {})
    with client.sandboxes.create() as sandbox:
        assert (sandbox.id, ended) == ("s", [])
    with pytest.raises(ValueError, match="the work failed"), client.sandboxes.create():
        raise ValueError("the work failed")
    assert len(ended) == 2

    async def use() -> None:
        async with AsyncSallyport(server.url, "t") as sallyport:
            async with await sallyport.sandboxes.create():
                pass

    asyncio.run(use())
    assert len(ended) == 3


def test_a_conversation_is_exported_with_all_events(server: WireServer, client: Sallyport) -> None:
    rest = {"lastIndex": 2, "status": "idle"}
    pages = [
        {**rest, "events": [{"index": 1}], "droppedEvents": 1, "hasMore": True},
        {**rest, "events": [{"index": 2}], "droppedEvents": 0, "hasMore": False},
    ]
    asked: list[str] = []

    def read(handler: Any, _: bytes) -> None:
        asked.append(handler.path.partition("?")[2])
        handler.answer(200, pages[len(asked) - 1])

    server.replies["GET /events"] = read
    server.replies["GET "] = lambda handler, _: handler.answer(200, {"id": "s", "kind": "agent"})
    exported = json.loads(client.sessions.get("s").export())
    assert exported == {
        "session": {"id": "s", "kind": "agent"},
        "eventsAreMissing": True,
        "events": [{"index": 1}, {"index": 2}],
    }
    assert [query.partition("&")[0] for query in asked] == ["since_index=-1", "since_index=1"]


NAMED = {"callId": "c", "turnId": "t", "digest": "d"}
ROW = {**NAMED, "sessionId": "s", "effectDigest": "e", "args": {"cut": 1}, "argsTruncated": True}


@pytest.mark.parametrize(
    ("call", "sent"),
    [
        (ROW, {"digest": "d", "turnId": "t", "effectDigest": "e"}),
        (NAMED, {"digest": "d", "turnId": "t"}),
        ({"callId": "c", "digest": "d"}, {"digest": "d"}),
    ],
)
def test_a_call_that_was_shown_elsewhere_is_decided_by_its_digest(
    server: WireServer, client: Sallyport, call: dict[str, Any], sent: dict[str, str]
) -> None:
    asked = asked_of(server, "POST /approvals/c", {})
    session = client.sessions.get("s")
    session.approve(call)
    session.reject(call, "no")
    approved, rejected = (body for _, body in asked)
    assert approved == {"approved": True, **sent}
    assert {**rejected, **sent} == {"approved": False, "reason": "no", **sent}


def test_the_audit_log_is_exported_as_it_comes(server: WireServer, client: Sallyport) -> None:
    server.replies["GET /api/audit/export"] = lambda handler, _: handler.stream(b'{"a":1}\n' * 1000)
    assert b"".join(client.export_audit()) == b'{"a":1}\n' * 1000

    async def read() -> bytes:
        async with AsyncSallyport(server.url, "t") as sallyport:
            return b"".join([piece async for piece in sallyport.export_audit()])

    assert asyncio.run(read()) == b'{"a":1}\n' * 1000


def test_a_result_says_what_was_lost(server: WireServer, client: Sallyport) -> None:
    ran = {"exitCode": 0, "stdout": "", "stderr": "", "durationMs": 1}
    notices = ["[The workspace was not saved: the disk is full.]"]
    asked_of(server, "POST /exec", {**ran, "notices": notices})
    asked_of(server, "POST /code", {**ran, "notices": notices, "results": [], "resultsLeftOut": 3})
    sandbox = client.sandboxes.create()
    assert sandbox.exec("true").notices == notices
    code = sandbox.code("1")
    assert (code.notices, code.results_left_out) == (notices, 3)
    asked_of(server, "POST /exec", ran)
    assert sandbox.exec("true").notices == []
