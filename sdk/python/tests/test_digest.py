"""The digest of a call, and the canonical JSON (RFC 8785) of which it is made."""

from __future__ import annotations

import pytest
from sallyport import digest_of
from sallyport._digest import canonical_json


def test_the_digest_is_the_servers() -> None:
    call = {
        **{"turnId": "t-1", "callId": "c-1", "name": "execute_command", "digest": "left out"},
        "args": {"timeout": 5, "command": "a\nb"},
    }
    assert digest_of(call) == "896f2e0a0fe99c84ee880eb7a63ef14f2ede4ba643e9f9d5ba5b2ec6c8916415"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (333333333.33333329, "333333333.3333333"),
        (1e30, "1e+30"),
        (4.50, "4.5"),
        (2e-3, "0.002"),
        (0.000000000000000000000000001, "1e-27"),
        (1e21, "1e+21"),
        (1e20, "100000000000000000000"),
        (123456.789, "123456.789"),
        (1.5e-7, "1.5e-7"),
        (-0.0, "0"),
        (-12, "-12"),
        (9007199254740993, "9007199254740992"),
        (True, "true"),
        (
            {"\u20ac": 1, "\r": 2, "\ufb33": 3, "\U0001f600": 4},
            '{"\\r":2,"\u20ac":1,"\U0001f600":4,"\ufb33":3}',
        ),
        ("\u0007\"\\\u007f", '"\\u0007\\"\\\\\x7f"'),
    ],
)
def test_canonical_json(value: object, text: str) -> None:
    assert canonical_json(value) == text
