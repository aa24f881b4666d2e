"""A decision about a call that was tried first: it names the effect that was shown, and no other."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

import pytest
from sallyport import Event, Sallyport, SallyportError, digest_of
from wire_server import WireServer

CALL = {"turnId": "t", "callId": "c", "name": "execute_command", "args": {"command": "rm ä"}}
DIGEST = digest_of(CALL)
EFFECT = {
    "files": [{"path": "ä", "change": "removed", "bytes": 3}],
    **{"exitCode": None, "output": "", "hosts": ["a.example:443"], "durationMs": 1.5},
}
CANONICAL = (
    f'{{"digest":"{DIGEST}","effect":{{"durationMs":1.5,"exitCode":null,'
    '"files":[{"bytes":3,"change":"removed","path":"ä"}],"hosts":["a.example:443"],"output":""}}'
)
SHOWN = {
    **CALL,
    **{"digest": DIGEST, "effect": EFFECT, "effectDigest": hashlib.sha256(CANONICAL.encode()).hexdigest()},
}


@pytest.fixture
def server() -> Iterator[WireServer]:
    wire = WireServer()
    yield wire
    wire.close()


def event_of(data: dict[str, Any]) -> Event:
    return Event("tool:approval_required", "s", 1, "2026-01-01T00:00:00.000Z", data)


def sent_by(server: WireServer) -> list[Any]:
    sent: list[Any] = []

    def answer(handler: Any, body: bytes) -> None:
        sent.append(json.loads(body))
        handler.answer(200, {})

    server.replies["POST /approvals/c"] = answer
    return sent


def test_an_approval_names_the_effect_and_a_rejection_need_not(server: WireServer) -> None:
    sent = sent_by(server)
    with Sallyport(server.url, "t") as sallyport:
        session = sallyport.sessions.get("s")
        session.approve(event_of(SHOWN))
        session.reject(event_of(SHOWN), "no")
    named = {"digest": DIGEST, "turnId": "t"}
    assert sent == [
        {"approved": True, **named, "effectDigest": SHOWN["effectDigest"]},
        {"approved": False, "reason": "no", **named},
    ]


@pytest.mark.parametrize("cut", [{}, {"argsTruncated": True}])
def test_an_effect_that_is_not_the_one_its_digest_names_is_not_decided(
    server: WireServer, cut: dict[str, Any]
) -> None:
    sent = sent_by(server)
    other = {**SHOWN, **cut, "effect": {**EFFECT, "files": []}}
    with Sallyport(server.url, "t") as sallyport:
        session = sallyport.sessions.get("s")
        for decide in (session.approve, session.reject):
            with pytest.raises(SallyportError) as refused:
                decide(event_of(other))
            assert refused.value.code == "digest_mismatch"
    assert sent == []
