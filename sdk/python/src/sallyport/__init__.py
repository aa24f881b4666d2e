"""The client of Sallyport: sandboxes, agents and their approvals (docs/sdk-python.md)."""

from ._async._client import AsyncSallyport
from ._async._files import AsyncFiles
from ._async._processes import AsyncProcess, AsyncProcesses
from ._async._sandbox import AsyncSandbox
from ._async._sandboxes import AsyncSandboxes
from ._async._sessions import AsyncSession, AsyncSessions
from ._code_results import (
    Chart,
    ChartAxes,
    ChartAxis,
    ChartSeries,
    ChartValue,
    Coordinate,
    Table,
    TableField,
    charts_of,
    table_of,
)
from ._digest import digest_of
from ._errors import SallyportError
from ._results import (
    CodeResult,
    Event,
    ExecResult,
    FileChange,
    FileEntry,
    FileLink,
    FileStat,
    OutputEvent,
    ProcessInfo,
    ProgramFailure,
    Snapshot,
)
from ._sync._client import Sallyport
from ._sync._files import Files
from ._sync._processes import Process, Processes
from ._sync._sandbox import Sandbox
from ._sync._sandboxes import Sandboxes
from ._sync._sessions import Session, Sessions
from ._tool_runs import CallerTool

__all__ = [
    "AsyncFiles",
    "AsyncProcess",
    "AsyncProcesses",
    "AsyncSallyport",
    "AsyncSandbox",
    "AsyncSandboxes",
    "AsyncSession",
    "AsyncSessions",
    "CallerTool",
    "Chart",
    "ChartAxes",
    "ChartAxis",
    "ChartSeries",
    "ChartValue",
    "CodeResult",
    "Coordinate",
    "Event",
    "ExecResult",
    "FileChange",
    "FileEntry",
    "FileLink",
    "FileStat",
    "Files",
    "OutputEvent",
    "Process",
    "ProcessInfo",
    "Processes",
    "ProgramFailure",
    "Sallyport",
    "SallyportError",
    "Sandbox",
    "Sandboxes",
    "Session",
    "Sessions",
    "Snapshot",
    "Table",
    "TableField",
    "charts_of",
    "digest_of",
    "table_of",
]
