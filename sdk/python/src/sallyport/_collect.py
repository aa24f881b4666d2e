"""The two streams of a program as its result has them: the first and the last part of each."""

from __future__ import annotations

from typing import Any

PART_CHARACTERS_MAX = 256 * 1024


class TextCollector:
    def __init__(self) -> None:
        self._head = ""
        self._tail = ""
        self._left_out = 0

    def add(self, text: str) -> None:
        room = 0 if self._left_out else max(0, PART_CHARACTERS_MAX - len(self._head))
        self._head += text[:room]
        self._tail += text[room:]
        if len(self._tail) > 2 * PART_CHARACTERS_MAX:
            self._cut()

    def leave_out(self, count: int) -> None:
        self._left_out += count

    def _cut(self) -> None:
        over = max(0, len(self._tail) - PART_CHARACTERS_MAX)
        self._left_out += over
        self._tail = self._tail[over:]

    def result(self) -> tuple[str, bool]:
        self._cut()
        if not self._left_out:
            return self._head + self._tail, False
        return f"{self._head}\n[... {self._left_out} bytes left out ...]\n{self._tail}", True


class OutputCollector:
    def __init__(self) -> None:
        self._streams = {"stdout": TextCollector(), "stderr": TextCollector()}

    def add(self, stream: str | None, text: str) -> None:
        self._streams["stderr" if stream == "stderr" else "stdout"].add(text)

    def leave_out(self, count: int) -> None:
        self._streams["stdout"].leave_out(count)

    def fields(self) -> dict[str, Any]:
        stdout, is_stdout_cut = self._streams["stdout"].result()
        stderr, is_stderr_cut = self._streams["stderr"].result()
        return {
            "stdout": stdout,
            "stderr": stderr,
            "stdout_truncated": is_stdout_cut,
            "stderr_truncated": is_stderr_cut,
        }
