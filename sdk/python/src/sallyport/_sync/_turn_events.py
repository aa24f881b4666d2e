# Written by generate_sync.py from the module of the same name in _async.
"""The events of one message and its turn, or of the turn that repeats a failed one, each once and in order.

The log is read again and again: the text of the model comes whole.
"""

from __future__ import annotations

import uuid
from collections.abc import Generator
from typing import Any

from .._clock import sleep_sync
from .._errors import SallyportError, connection_lost, events_purged
from .._paths import session_path, with_query
from .._results import Event
from .._retry import back_off_seconds
from ._transport import Transport

#: Pauses between two looks at the log: short while something happens.
LOOK_SECONDS_FIRST = 0.2
LOOK_SECONDS_MAX = 2.0
FAILURES_MAX = 20
#: An index that no log reaches: the answer has no events.
BEYOND_ANY_LOG = 1_000_000_000


def send_and_follow(
    client: Transport, session_id: str, body: dict[str, Any], message_id: str | None
) -> Generator[Event, None]:
    if message_id is None:
        message_id = str(uuid.uuid4())
        # Of a message that was sent twice, the second answer may come after its events.
        last, is_found = (_read_log(client, session_id, BEYOND_ANY_LOG))["lastIndex"], False
    else:
        last, is_found = _find_message(client, session_id, message_id)
    if not is_found:
        path = session_path(session_id, "messages")
        client.request("POST", path, {**body, "messageId": message_id}, repeat="lost")
    for event in _follow_turn(client, session_id, last, message_id):
        yield event


def retry_and_follow(client: Transport, session_id: str) -> Generator[Event, None]:
    last = (_read_log(client, session_id, BEYOND_ANY_LOG))["lastIndex"]
    answer = client.request("POST", session_path(session_id, "retry"))
    for event in _follow_turn(client, session_id, last, answer["messageId"]):
        yield event


def _find_message(
    client: Transport, session_id: str, message_id: str
) -> tuple[int, bool]:
    """The index before its event and True; or that of the last event, where the log does not say it."""
    last, oldest = -1, 0
    while events := (_read_log(client, session_id, last))["events"]:
        for event in events:
            if event["type"] == "message" and event["data"].get("messageId") == message_id:
                return event["index"] - 1, True
        oldest = events[0]["index"] if last == -1 else oldest
        last = events[-1]["index"]
    # Its events may be among those that are no longer kept: a message of the history is not accepted again.
    path = session_path(session_id, "messages")
    history = [] if oldest == 0 else (client.request("GET", path))["messages"]
    if any(one["role"] == "user" and one["messageId"] == message_id for one in history):
        raise events_purged(oldest)
    return last, False


def _follow_turn(
    client: Transport, session_id: str, last: int, message_id: str
) -> Generator[Event, None]:
    is_seen = False
    for event in _follow(client, session_id, last):
        is_seen = is_seen or event.data.get("messageId") == message_id
        yield event
        if is_seen and event.type == "completion":
            return


def _follow(
    client: Transport, session_id: str, last: int
) -> Generator[Event, None]:
    failures, pause = 0, LOOK_SECONDS_FIRST
    while failures <= FAILURES_MAX:
        try:
            events = (_read_log(client, session_id, last))["events"]
            failures = 0
        except SallyportError as error:
            if 400 <= error.status < 500 and error.code != "rate_limited":
                raise
            events = []
            failures += 1
        for event in events:
            last = event["index"]
            yield Event(event["type"], event["sessionId"], last, event["at"], event["data"])
        pause = LOOK_SECONDS_FIRST if events else min(1.5 * pause, LOOK_SECONDS_MAX)
        sleep_sync(pause if failures == 0 else back_off_seconds(failures))
    raise connection_lost()


def _read_log(client: Transport, session_id: str, since: int) -> Any:
    path = with_query(session_path(session_id, "events"), since_index=since, max_events=500)
    return client.request("GET", path)
