"""The embedded cloud, as `npm start` starts it."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[3]


@pytest.fixture(scope="session")
def deployment() -> Iterator[dict[str, str]]:
    """The variables that name it to a program."""
    node = REPOSITORY / "node_modules" / ".bin" / "node"
    with tempfile.TemporaryDirectory(prefix="sallyport-python-") as home:
        environment = {
            "PATH": os.environ["PATH"],
            "PORT": "0",
            "SALLYPORT_HOME": home,
            "RATE_LIMIT_PER_SECOND": "500",
            "RATE_LIMIT_BURST": "20000",
        }
        server = subprocess.Popen(
            [node, REPOSITORY / "local" / "main.ts"],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            printed = ""
            assert server.stdout is not None
            for line in server.stdout:
                printed += line
                found = re.search(r"(http://\S+?)/?#token=(\S+)", printed)
                if found is not None:
                    yield {"SALLYPORT_URL": found[1], "SALLYPORT_TOKEN": found[2]}
                    break
            else:
                raise AssertionError(f"it did not start: {printed}")
        finally:
            server.terminate()
            server.wait(60)
