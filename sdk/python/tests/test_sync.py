"""The blocking client, written from the asynchronous one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_the_two_clients_are_the_same() -> None:
    script = Path(__file__).parent.parent / "generate_sync.py"
    checked = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
    assert (checked.stdout, checked.returncode) == ("", 0)
