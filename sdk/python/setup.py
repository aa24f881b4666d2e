"""Writes the blocking client (`_sync`) from the asynchronous one before each build and installation. The rest is in pyproject.toml.

After a change of `_async`, install it again: `pip install --editable .`, as test.sh does.
"""

from __future__ import annotations

import re
from pathlib import Path

from setuptools import setup

PACKAGE = Path(__file__).parent / "src" / "sallyport"

REPLACEMENTS = [
    (r"\basync (def|for|with) ", r"\1 "),
    (r"\bawait ", ""),
    (r"Callable\[\[\], Awaitable\[([\w.]+)\]\]", r"Callable[[], \1]"),
    (r"AsyncIterator, Awaitable, Callable", "Callable, Iterator"),
    (r"__a(enter|exit)__", r"__\1__"),
    (r"\baclose\b", "close"),
    (r"\baread\b", "read"),
    (r"\baiter_bytes\b", "iter_bytes"),
    (r"\bsleep_async\b", "sleep_sync"),
    (r"\bAsync([A-Z]\w+)", r"\1"),
]

HEADER = "# Written by setup.py from the module of the same name in _async.\n"


def write_sync() -> None:
    target = PACKAGE / "_sync"
    target.mkdir(exist_ok=True)
    for source in (PACKAGE / "_async").glob("*.py"):
        text = source.read_text()
        for pattern, replacement in REPLACEMENTS:
            text = re.sub(pattern, replacement, text)
        (target / source.name).write_text(HEADER + text)


write_sync()
setup()
