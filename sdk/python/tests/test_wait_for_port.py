"""Waiting for a server of a sandbox, on a real one: until it listens, or until the time is over."""

from __future__ import annotations

import pytest
from sallyport import Sallyport, SallyportError


def test_a_port_is_waited_for_until_a_server_listens_or_the_time_is_over(
    deployment: dict[str, str],
) -> None:
    url, token = deployment["SALLYPORT_URL"], deployment["SALLYPORT_TOKEN"]
    with Sallyport(url, token) as sallyport, sallyport.sandboxes.create(template="python") as sandbox:
        with pytest.raises(SallyportError, match="nothing listens on port 8123 after 1 s") as late:
            sandbox.wait_for_port(8123, timeout_seconds=1)
        assert late.value.code == "execution_timeout"
        sandbox.processes.start("sleep 1; exec python3 -m http.server 8123")
        sandbox.wait_for_port(8123)
