"""One text for one JSON value: what digests are made of."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def canonical(value: Any) -> str:
    """`value` as JSON with sorted keys and no spaces. Raises TypeError for what is no JSON."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest(value: Any) -> str:
    """Hex SHA-256 of the canonical text."""
    return hashlib.sha256(canonical(value).encode("utf-8", "surrogatepass")).hexdigest()
