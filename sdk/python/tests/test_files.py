"""Files: failures that an answer to HEAD cannot carry, and those that come after the status of an answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from sallyport import Files, Sallyport, SallyportError
from wire_server import WireServer


@pytest.fixture
def server() -> Iterator[WireServer]:
    wire = WireServer()
    yield wire
    wire.close()


@pytest.mark.parametrize(
    ("status", "code", "expected"),
    [(404, "file_not_found", "file_not_found"), (400, "invalid_request", "unexpected_answer")],
)
def test_a_path_that_cannot_be_described_is_refused_with_the_reason(
    server: WireServer, status: int, code: str, expected: str
) -> None:
    server.replies["HEAD /files/a"] = lambda handler, _: handler.answer(404, None)
    error = {"error": {"code": code, "message": "no", "requestId": "r"}}
    server.replies["GET /files"] = lambda handler, _: handler.answer(status, error)
    with Sallyport(server.url, "t") as sallyport:
        with pytest.raises(SallyportError) as refused:
            sallyport.sandboxes.get("s").files.stat("a")
    assert (refused.value.status, refused.value.code) == (404, expected)


@pytest.mark.parametrize(("code", "expected"), [("file_not_found", False), ("session_not_found", None)])
def test_a_path_exists_does_not_or_cannot_be_looked_for(
    server: WireServer, code: str, expected: bool | None
) -> None:
    described = {"x_sallyport_type": "file", "x_sallyport_modified_at": ""}
    server.replies["HEAD /files/a"] = lambda handler, _: handler.answer(200, None, **described)
    server.replies["HEAD /files/b"] = lambda handler, _: handler.answer(404, None)
    error = {"error": {"code": code, "message": "no", "requestId": "r"}}
    server.replies["GET /files"] = lambda handler, _: handler.answer(404, error)
    with Sallyport(server.url, "t") as sallyport:
        files = sallyport.sandboxes.get("s").files
        assert files.exists("a")
        if expected is None:
            with pytest.raises(SallyportError):
                files.exists("b")
        else:
            assert files.exists("b") is expected


CHANGES: list[tuple[str, Callable[[Files], None]]] = [
    ("PUT /files/a", lambda files: files.write("a", "x")),
    ("PUT /files/a", lambda files: files.upload("a", b"x")),
    ("POST /files/a", lambda files: files.mkdir("a")),
    ("POST /files/a", lambda files: files.move("a", "b")),
    ("POST /files/a", lambda files: files.copy("a", "b")),
    ("DELETE /files/a", lambda files: files.remove("a")),
]


@pytest.mark.parametrize(("route", "change"), CHANGES)
def test_a_change_fails_when_its_answer_does_also_after_its_status(
    server: WireServer, route: str, change: Callable[[Files], None]
) -> None:
    error = {"error": {"code": "resource_limit_exceeded", "message": "no", "requestId": "r"}}
    server.replies[route] = lambda handler, _: handler.answer(200, error)
    with Sallyport(server.url, "t") as sallyport:
        with pytest.raises(SallyportError) as refused:
            change(sallyport.sandboxes.get("s").files)
    assert (refused.value.status, refused.value.code) == (200, "resource_limit_exceeded")


def test_a_write_that_met_no_sandbox_is_sent_again_also_when_that_was_told_late(
    server: WireServer,
) -> None:
    error = {"error": {"code": "sandbox_unavailable", "message": "no", "requestId": "r"}}
    answers = [error, {"size": 1}]
    server.replies["PUT /files/a"] = lambda handler, _: handler.answer(200, answers.pop(0))
    with Sallyport(server.url, "t") as sallyport:
        sallyport.sandboxes.get("s").files.write("a", "x")
    assert answers == []


def test_a_file_that_holds_an_error_is_read_as_it_is(server: WireServer) -> None:
    error = {"error": {"code": "sandbox_unavailable", "message": "no", "requestId": "r"}}
    server.replies["GET /files/a"] = lambda handler, _: handler.answer(200, error)
    with Sallyport(server.url, "t") as sallyport:
        assert "sandbox_unavailable" in sallyport.sandboxes.get("s").files.read("a")
