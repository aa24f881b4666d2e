"""The digests that a decision carries: of a call, and of its effect. SHA-256 of canonical JSON (RFC 8785)."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def digest_of(call: dict[str, Any]) -> str:
    """Of what a person approves: `args`, `callId`, `name` and `turnId`."""
    named = {name: call[name] for name in ("args", "callId", "name", "turnId")}
    return _sha256_of(named)


def effect_digest_of(digest: str, effect: dict[str, Any]) -> str:
    """Of the effect of a call, together with the digest of the call itself."""
    return _sha256_of({"digest": digest, "effect": effect})


def is_as_named(shown: dict[str, Any]) -> bool:
    """False for a call, or an effect, that is not the one which its digest names. A call that was cut is not whole."""
    if "effect" in shown and effect_digest_of(shown["digest"], shown["effect"]) != shown.get("effectDigest"):
        return False
    return bool(shown.get("argsTruncated")) or digest_of(shown) == shown["digest"]


def _sha256_of(value: object) -> str:
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


def canonical_json(value: object) -> str:
    if isinstance(value, dict):
        # By UTF-16 code units, as JavaScript compares.
        names = sorted(value, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
        members = (f"{canonical_json(name)}:{canonical_json(value[name])}" for name in names)
        return "{" + ",".join(members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(canonical_json(item) for item in value) + "]"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _number(float(value))
    return json.dumps(value, ensure_ascii=False)


def _number(value: float) -> str:
    """As ECMAScript writes it: the shortest digits, an exponent only below 1e-6 and from 1e21 on."""
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = f"{abs(value)!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    leading = len(whole + fraction) - len(digits)
    # The value is 0.digits times ten to the point.
    point = len(whole) - leading + int(exponent or 0)
    digits = digits.rstrip("0")
    count = len(digits)
    if count <= point <= 21:
        return sign + digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    rest = f".{digits[1:]}" if count > 1 else ""
    return f"{sign}{digits[0]}{rest}e{'+' if point > 0 else '-'}{abs(point - 1)}"
