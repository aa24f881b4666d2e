# Written by generate_sync.py from the module of the same name in _async.
"""A sandbox: the session in which commands and code run, with its files, processes and snapshots."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Literal

from .._errors import SallyportError
from .._paths import given, named_as_sent, session_path
from .._results import CodeResult, ExecResult, Snapshot, snapshot_of
from ._commands import OnText, run_code, run_command
from ._files import Files
from ._processes import Processes
from ._transport import Transport


class Sandbox:
    def __init__(
        self, client: Transport, id: str, session: dict[str, Any] | None = None
    ) -> None:
        self._client = client
        self.id = id
        #: The session as it was when it was created or found.
        self.session = session
        self.files = Files(client, id)
        self.processes = Processes(client, id)

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def exec(
        self,
        command: str,
        *,
        args: list[str] | None = None,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        stdin: str | None = None,
        timeout_seconds: float | None = None,
        on_stdout: OnText | None = None,
        on_stderr: OnText | None = None,
    ) -> ExecResult:
        """Runs a command to its end: a line for bash, or a program with `args`."""
        body = given(
            command=command,
            args=args,
            cwd=cwd,
            env=env,
            stdin=stdin,
            timeoutSeconds=timeout_seconds,
        )
        return run_command(self._client, self.id, body, on_stdout, on_stderr)

    def code(
        self,
        code: str,
        *,
        language: Literal["python", "node"] | None = None,
        context: str | None = None,
        timeout_seconds: float | None = None,
    ) -> CodeResult:
        """Runs code in an interpreter that keeps its variables."""
        body = given(
            code=code, language=language, context=context, timeoutSeconds=timeout_seconds
        )
        return run_code(self._client, self.id, body)

    def end_context(self, name: str) -> None:
        """Ends an interpreter; its variables are lost."""
        self._client.request("DELETE", session_path(self.id, "contexts", name))

    def url(self, port: int, path: str = "/") -> str:
        """The address of a web server inside; requests to it need the token, or a ticket."""
        return f"{self._client.url}{session_path(self.id, 'ports', str(port))}/{path.lstrip('/')}"

    def wait_for_port(self, port: int, *, timeout_seconds: float = 30) -> None:
        """Waits until a server inside listens on a port: an `execution_timeout` if none does in that time."""
        line = f"until (: </dev/tcp/127.0.0.1/{port}) 2>/dev/null; do sleep 0.1; done"
        exit_code = (self.exec(line, timeout_seconds=timeout_seconds)).exit_code
        if exit_code == 0:
            return
        suggestions = ["Read the output of the server."]
        if exit_code == 124:
            message = f"nothing listens on port {port} after {timeout_seconds:g} s"
            raise SallyportError(0, "execution_timeout", message, suggestions=suggestions)
        message = f"the wait for port {port} ended with exit code {exit_code}"
        raise SallyportError(0, "sandbox_unavailable", message, suggestions=suggestions)

    def link(
        self, path: str, *, method: Literal["GET", "PUT"] = "GET", expires_in_seconds: int = 3600
    ) -> str:
        """Makes an address that needs no token; `files.link` says when it expires."""
        options: dict[str, Any] = {"method": method, "expires_in_seconds": expires_in_seconds}
        return (self.files.link(path, **options)).url

    def snapshot(self, name: str | None = None) -> Snapshot:
        """Keeps the files as they are now. `restore` and `sandboxes.create(source=…)` take the snapshot."""
        path = session_path(self.id, "snapshots")
        return snapshot_of(self._client.request("POST", path, given(name=name)))

    def snapshots(self) -> list[Snapshot]:
        answer = self._client.request("GET", session_path(self.id, "snapshots"))
        return [snapshot_of(one) for one in answer["snapshots"]]

    def delete_snapshot(self, snapshot: Snapshot | str) -> None:
        self._client.request("DELETE", session_path(self.id, "snapshots", _id_of(snapshot)))

    def restore(self, snapshot: Snapshot | str) -> None:
        """Replaces the files with those of the snapshot, and ends all processes of the sandbox."""
        body = {"snapshot": _id_of(snapshot)}
        self._client.request("POST", session_path(self.id, "restore"), body, repeat="lost")

    def info(self) -> dict[str, Any]:
        return dict(self._client.request("GET", session_path(self.id)))

    def update(self, **change: Any) -> dict[str, Any]:
        """Changes `title`, `labels`, `archived`, `idle_seconds`, `lifetime_seconds`, `network`, `thinking` or `max_cost_usd`.

        `None` removes one.
        """
        body = named_as_sent(change)
        return dict(self._client.request("PATCH", session_path(self.id), body))

    def pause(self) -> dict[str, Any]:
        """Saves the files and stops the sandbox with its processes. The next call starts it again."""
        path = session_path(self.id, "pause")
        return dict(self._client.request("POST", path, repeat="lost"))

    def stop(self) -> None:
        """Ends the session and its sandbox. Files that no other session uses are deleted."""
        self._client.request("DELETE", session_path(self.id))


def _id_of(snapshot: Snapshot | str) -> str:
    return snapshot if isinstance(snapshot, str) else snapshot.id
