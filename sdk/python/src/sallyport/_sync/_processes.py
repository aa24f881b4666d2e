# Written by generate_sync.py from the module of the same name in _async.
"""Processes of a sandbox, which outlive the request that started them."""

from __future__ import annotations

from collections.abc import Iterator

from .._errors import connection_lost
from .._paths import given, session_path, with_query
from .._results import OutputEvent, ProcessInfo, process_info_of
from ._streams import follow_output
from ._transport import Transport


class Process:
    def __init__(self, client: Transport, session_id: str, process_id: str) -> None:
        self._client = client
        self.session_id = session_id
        self.process_id = process_id

    def _path(self, *names: str) -> str:
        return session_path(self.session_id, "processes", self.process_id, *names)

    def output(self, offset: int = 0) -> Iterator[OutputEvent]:
        """Follows its output from an offset to its end; the last event is `exit`."""
        for event in follow_output(
            self._client, self.session_id, process_id=self.process_id, offset=offset
        ):
            yield event

    def wait(self) -> OutputEvent:
        """Waits for its end."""
        for event in self.output():
            if event.type == "exit":
                return event
        raise connection_lost()

    def info(self) -> ProcessInfo:
        return process_info_of(self._client.request("GET", self._path()))

    def write(self, data: str | bytes, *, is_last: bool = False) -> None:
        """Writes into its stdin; `is_last` closes that. Nothing is sent twice."""
        content = data.encode() if isinstance(data, str) else data
        path = with_query(self._path("stdin"), eof=1 if is_last else None)
        self._client.send("POST", path, content=content)

    def close_input(self) -> None:
        self.write(b"", is_last=True)

    def signal(self, name: str) -> None:
        """Sends a signal by its name, such as `SIGINT`."""
        self._client.request("POST", self._path("signal"), {"signal": name})

    def resize(self, cols: int, rows: int) -> None:
        body = {"cols": cols, "rows": rows}
        self._client.request("POST", self._path("resize"), body, repeat="lost")

    def kill(self) -> None:
        """Ends it and all that it started."""
        self._client.request("DELETE", self._path())


class Processes:
    def __init__(self, client: Transport, session_id: str) -> None:
        self._client = client
        self._session_id = session_id

    def start(
        self,
        command: str,
        *,
        args: list[str] | None = None,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        pty: tuple[int, int] | None = None,
        timeout_seconds: float | None = None,
    ) -> Process:
        """Starts a process. `pty` is the size of its terminal: columns and rows."""
        size = None if pty is None else {"cols": pty[0], "rows": pty[1]}
        body = given(
            command=command, args=args, cwd=cwd, env=env, pty=size, timeoutSeconds=timeout_seconds
        )
        path = session_path(self._session_id, "processes")
        answer = self._client.request("POST", path, body, repeat="refused")
        return self.get(answer["processId"])

    def list(self) -> list[ProcessInfo]:
        answer = self._client.request("GET", session_path(self._session_id, "processes"))
        return [process_info_of(one) for one in answer["processes"]]

    def get(self, process_id: str) -> Process:
        return Process(self._client, self._session_id, process_id)
