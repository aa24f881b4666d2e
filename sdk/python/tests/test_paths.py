"""A name or a path of the caller stays in the place of the address that is meant for it."""

from __future__ import annotations

import pytest
from sallyport._errors import SallyportError
from sallyport._paths import file_path, session_path


@pytest.mark.parametrize("name", [".", ".."])
def test_a_name_of_dots_is_no_step_to_another_resource(name: str) -> None:
    assert session_path("s", "processes", name) == f"/api/sessions/s/processes/{name}%00"


def test_a_name_with_a_slash_is_one_name() -> None:
    assert session_path("s/t", "processes", "a/..") == "/api/sessions/s%2Ft/processes/a%2F.."


@pytest.mark.parametrize("names", [("",), ("s", "snapshots", ""), ("", "exec")])
def test_an_empty_name_is_refused_before_the_list_is_addressed(names: tuple[str, ...]) -> None:
    with pytest.raises(SallyportError) as refused:
        session_path(*names)
    assert refused.value.code == "invalid_request"


@pytest.mark.parametrize("path", ["../secret", "a/../../b", "/etc/passwd"])
def test_a_path_outside_the_workspace_is_refused_before_it_is_asked_for(path: str) -> None:
    with pytest.raises(SallyportError) as refused:
        file_path("s", path)
    assert refused.value.code == "path_outside_workspace"


def test_a_path_below_the_workspace_is_relative_to_it() -> None:
    assert file_path("s", "/workspace/./a//b c.txt") == "/api/sessions/s/files/a/b%20c.txt"
