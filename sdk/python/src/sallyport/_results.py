"""The results of requests, as Python names them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class ProgramFailure:
    type: str
    message: str
    suggestions: list[str]
    recovery_actions: list[str]


@dataclass(frozen=True)
class ExecResult:
    exit_code: int
    stdout: str
    stderr: str
    duration_ms: float
    stdout_truncated: bool = False
    stderr_truncated: bool = False
    error: ProgramFailure | None = None
    #: Files that were not restored or not saved, and what was lost with an earlier sandbox.
    notices: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class CodeResult(ExecResult):
    #: One MIME bundle for each display, and one for the value of the last expression.
    results: list[dict[str, Any]] = field(default_factory=list)
    #: Variables of earlier calls are lost.
    state_lost: bool = False
    #: The number of results over the limits of one call.
    results_left_out: int = 0


@dataclass(frozen=True)
class OutputEvent:
    """A part of the output, a gap in it, or its end. Adding up the texts gives the whole output."""

    type: Literal["output", "gap", "exit"]
    text: str = ""
    stream: Literal["stdout", "stderr", "pty"] | None = None
    #: In bytes of the one joined log.
    offset: int | None = None
    #: The end of a gap.
    to: int | None = None
    #: By the rule of shells for one that a signal ended: 128 and its number. 137 where it is not known.
    exit_code: int | None = None
    signal: str | None = None
    #: The process ended with its sandbox.
    is_lost: bool = False
    #: It had ended before its sandbox, and what was left of its output went with that.
    is_output_lost: bool = False


@dataclass(frozen=True)
class ProcessInfo:
    process_id: str
    command: str
    state: Literal["running", "exited", "lost"]
    started_at: str
    exit_code: int | None = None
    ended_at: str | None = None


@dataclass(frozen=True)
class FileEntry:
    name: str
    type: Literal["file", "directory", "symlink"]
    size: int
    modified_at: str
    #: Relative to the workspace.
    path: str | None = None


@dataclass(frozen=True)
class FileStat:
    path: str
    type: str
    size: int
    modified_at: str


@dataclass(frozen=True)
class FileChange:
    path: str
    kind: Literal["created", "modified", "removed"]


@dataclass(frozen=True)
class FileLink:
    url: str
    expires_at: str


@dataclass(frozen=True)
class Snapshot:
    id: str
    at: str
    files: int
    bytes: int
    name: str | None = None


@dataclass(frozen=True)
class Event:
    """An event of a session's log; `data` has the fields of its type."""

    type: str
    session_id: str
    seq: int
    at: str
    data: dict[str, Any]


def failure_of(error: dict[str, Any] | None) -> ProgramFailure | None:
    if error is None:
        return None
    return ProgramFailure(
        error["type"], error["message"], error["suggestions"], error["recoveryActions"]
    )


def exec_result_of(answer: dict[str, Any]) -> ExecResult:
    return ExecResult(**_exec_fields(answer))


def code_result_of(answer: dict[str, Any]) -> CodeResult:
    return CodeResult(
        **_exec_fields(answer),
        results=answer["results"],
        state_lost=answer.get("stateLost", False),
        results_left_out=answer.get("resultsLeftOut", 0),
    )


def _exec_fields(answer: dict[str, Any]) -> dict[str, Any]:
    return {
        "exit_code": answer["exitCode"],
        "stdout": answer["stdout"],
        "stderr": answer["stderr"],
        "duration_ms": answer["durationMs"],
        "stdout_truncated": answer.get("stdoutTruncated", False),
        "stderr_truncated": answer.get("stderrTruncated", False),
        "error": failure_of(answer.get("error")),
        "notices": answer.get("notices", []),
    }


def process_info_of(answer: dict[str, Any]) -> ProcessInfo:
    return ProcessInfo(
        process_id=answer["processId"],
        command=answer["command"],
        state=answer["state"],
        started_at=answer["startedAt"],
        exit_code=answer.get("exitCode"),
        ended_at=answer.get("endedAt"),
    )


def file_entry_of(answer: dict[str, Any]) -> FileEntry:
    return FileEntry(
        answer["name"], answer["type"], answer["size"], answer["modifiedAt"], answer.get("path")
    )


def snapshot_of(answer: dict[str, Any]) -> Snapshot:
    return Snapshot(
        answer["id"], answer["at"], answer["files"], answer["bytes"], answer.get("name")
    )
