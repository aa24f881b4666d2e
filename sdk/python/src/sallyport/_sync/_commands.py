# Written by generate_sync.py from the module of the same name in _async.
"""Commands that are run to their end, and code.

Output that is wanted as it comes is read as events from the start, since those name the process. A command that its caller gives up
is ended by that name: the request that may have started it goes on until it is known.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Callable
from dataclasses import dataclass, field
from typing import Any

import httpx

from .._abandoned import IsWanted, until_named_sync
from .._collect import OutputCollector
from .._errors import SallyportError, connection_lost, outcome_unknown
from .._paths import session_path
from .._results import CodeResult, ExecResult, code_result_of, exec_result_of
from .._server_events import ServerEvent
from ._streams import follow_output, name_of, read_events
from ._transport import Transport

#: The server answers after 45 seconds at the latest, once a sandbox has started.
ANSWER_SECONDS_MAX = 240.0
#: Besides the time that the code itself may take.
CODE_MARGIN_SECONDS = 200.0
#: An abandoned command is ended even by a client that repeats no request.
END_TRIES_MAX = 6

OnText = Callable[[str], None]


@dataclass
class _Begun:
    """A command that has a name, and the rest of the events that name it; or one that has ended before."""

    process_id: str | None
    answer: dict[str, Any] = field(default_factory=dict)
    events: Iterator[ServerEvent] | None = None
    response: httpx.Response | None = None


def run_command(
    client: Transport,
    session_id: str,
    body: dict[str, Any],
    on_stdout: OnText | None,
    on_stderr: OnText | None,
) -> ExecResult:
    path = session_path(session_id, "exec")
    started_at = time.monotonic()
    is_followed = on_stdout is not None or on_stderr is not None

    def begin(is_wanted: IsWanted) -> _Begun:
        options: dict[str, Any] = {
            "repeat": "refused",
            "timeout_seconds": ANSWER_SECONDS_MAX,
            "is_wanted": is_wanted,
        }
        if not is_followed:
            answer = client.request("POST", path, body, **options)
            return _Begun(answer.get("processId"), answer=answer)
        response = client.send(
            "POST",
            path,
            content=json.dumps(body).encode(),
            headers={"content-type": "application/json", "accept": "text/event-stream"},
            is_stream=True,
            **options,
        )
        events = read_events(response)
        return _Begun(name_of(events), events=events, response=response)

    def end(begun: _Begun) -> None:
        if begun.response is not None:
            begun.response.close()
        if begun.process_id is not None:
            _end_process(client, session_id, begun.process_id)

    begun = until_named_sync(client._ends, begin, end)
    if begun.process_id is None:
        return exec_result_of(begun.answer)
    output = OutputCollector()
    try:
        for event in follow_output(
            client, session_id, process_id=begun.process_id, first=begun.events
        ):
            if event.is_lost or event.is_output_lost:
                raise outcome_unknown(None if event.is_lost else event.exit_code)
            if event.type == "exit":
                duration_ms = (time.monotonic() - started_at) * 1000
                exit_code = event.exit_code or 0
                return ExecResult(exit_code=exit_code, duration_ms=duration_ms, **output.fields())
            if event.type == "gap":
                output.leave_out((event.to or 0) - (event.offset or 0))
                continue
            output.add(event.stream, event.text)
            listener = on_stderr if event.stream == "stderr" else on_stdout
            if listener is not None:
                listener(event.text)
    except BaseException as error:
        # A command that its caller gave up does not go on.
        if not isinstance(error, SallyportError):
            _end_process(client, session_id, begun.process_id)
        raise
    raise connection_lost()


def _end_process(client: Transport, session_id: str, process_id: str) -> None:
    try:
        path = session_path(session_id, "processes", process_id)
        client.request("DELETE", path, tries_max=END_TRIES_MAX)
    except SallyportError:
        pass


def run_code(client: Transport, session_id: str, body: dict[str, Any]) -> CodeResult:
    timeout_seconds = CODE_MARGIN_SECONDS + body.get("timeoutSeconds", 30)
    path = session_path(session_id, "code")
    return code_result_of(
        client.request("POST", path, body, repeat="refused", timeout_seconds=timeout_seconds)
    )
