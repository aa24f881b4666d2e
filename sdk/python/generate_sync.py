"""Writes the blocking client from the asynchronous one: `python generate_sync.py` after each change of `_async`.

With `--check` it only says whether they differ.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

PACKAGE = Path(__file__).parent / "src" / "sallyport"

REPLACEMENTS = [
    (r"\basync (def|for|with) ", r"\1 "),
    (r"\bawait ", ""),
    (r"Callable\[\[\], Awaitable\[(\w+\[\w+\])\]\]", r"Callable[[], \1]"),
    (r"AsyncIterator, Awaitable, Callable", "Callable, Iterator"),
    (r"__a(enter|exit)__", r"__\1__"),
    (r"\basynccontextmanager\b", "contextmanager"),
    (r"\baclose\b", "close"),
    (r"\baread\b", "read"),
    (r"\baiter_bytes\b", "iter_bytes"),
    (r"\b(\w+)_async\b", r"\1_sync"),
    (r"\bAsync([A-Z]\w+)", r"\1"),
]

HEADER = "# Written by generate_sync.py from the module of the same name in _async.\n"


def sync_text(text: str) -> str:
    for pattern, replacement in REPLACEMENTS:
        text = re.sub(pattern, replacement, text)
    return HEADER + text


def main() -> int:
    is_check = "--check" in sys.argv
    target = PACKAGE / "_sync"
    target.mkdir(exist_ok=True)
    stale = []
    for source in sorted((PACKAGE / "_async").glob("*.py")):
        path = target / source.name
        text = sync_text(source.read_text())
        if path.exists() and path.read_text() == text:
            continue
        stale.append(path.name)
        if not is_check:
            path.write_text(text)
    if is_check and stale:
        print(f"run generate_sync.py: {', '.join(stale)} differ")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
