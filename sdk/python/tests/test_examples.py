"""The examples of docs/sdk-python.md, executed: each prints what its comments say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[3] / "docs" / "sdk-python.md").read_text()
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
#: `…` stands for a part that differs each time.
EXPECTED = re.compile(r"print\(.*\)  # (.*)")


def test_the_page_has_examples() -> None:
    assert len(EXAMPLES) > 3


@pytest.mark.parametrize("example", EXAMPLES)
def test_example(example: str, deployment: dict[str, str], tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", example],
        env={**os.environ, **deployment},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (ran.stderr, ran.returncode) == ("", 0)
    patterns = [
        ".*".join(re.escape(part) for part in text.split("…")) for text in EXPECTED.findall(example)
    ]
    printed = ran.stdout.splitlines()
    assert len(printed) == len(patterns)
    for line, pattern in zip(printed, patterns, strict=True):
        assert re.fullmatch(pattern, line), (line, pattern)
