# Written by generate_sync.py from the module of the same name in _async.
"""Commands that are run to their end, and code.

Output that is wanted as it comes is read as events from the start, since those name the process.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import httpx

from .._collect import OutputCollector
from .._errors import SallyportError, connection_lost
from .._paths import session_path
from .._results import CodeResult, ExecResult, code_result_of, exec_result_of
from ._streams import follow_output

if TYPE_CHECKING:
    from ._client import Sallyport

#: The server answers after 45 seconds at the latest, once a sandbox has started.
ANSWER_SECONDS_MAX = 240.0
#: Besides the time that the code itself may take.
CODE_MARGIN_SECONDS = 200.0

OnText = Callable[[str], None]


def run_command(
    client: Sallyport,
    session_id: str,
    body: dict[str, Any],
    on_stdout: OnText | None,
    on_stderr: OnText | None,
) -> ExecResult:
    path = session_path(session_id, "exec")
    started_at = time.monotonic()
    first: httpx.Response | None = None
    process_id: str | None = None
    if on_stdout is None and on_stderr is None:
        answer = client.request(
            "POST", path, body, repeat="refused", timeout_seconds=ANSWER_SECONDS_MAX
        )
        if "processId" not in answer:
            return exec_result_of(answer)
        process_id = answer["processId"]
    else:
        first = client.send(
            "POST",
            path,
            content=json.dumps(body).encode(),
            headers={"content-type": "application/json", "accept": "text/event-stream"},
            repeat="refused",
            timeout_seconds=ANSWER_SECONDS_MAX,
            is_stream=True,
        )
    output = OutputCollector()

    def on_start(started: str) -> None:
        nonlocal process_id
        process_id = started

    try:
        for event in follow_output(
            client, session_id, process_id=process_id, first=first, on_start=on_start
        ):
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
        if process_id is not None and not isinstance(error, SallyportError):
            _end_process(client, session_id, process_id)
        raise
    raise connection_lost()


def _end_process(client: Sallyport, session_id: str, process_id: str) -> None:
    try:
        client.request("DELETE", session_path(session_id, "processes", process_id))
    except SallyportError:
        pass


def run_code(client: Sallyport, session_id: str, body: dict[str, Any]) -> CodeResult:
    timeout_seconds = CODE_MARGIN_SECONDS + body.get("timeoutSeconds", 30)
    path = session_path(session_id, "code")
    return code_result_of(
        client.request("POST", path, body, repeat="refused", timeout_seconds=timeout_seconds)
    )
