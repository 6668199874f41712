"""Stored values -> inert ones, by the type that the serializer wrote beside them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from ... import msgpack, tablerow
from ...jsonspans import NotJson, loads
from ...msgpack import DEPTH, Inert, Undecodable

JSON_CODE = -1
"""`Inert.code` of a constructor that was written as JSON."""
ALIASES = ("langchain", "schema")


@dataclass(frozen=True, slots=True)
class Opaque:
    """A value that is not read: encrypted without a key, pickled, damaged, of an unknown type."""

    kind: str
    """The serializer's word (`msgpack+aes`, `pickle`), or `damaged`."""
    size: int
    why: str = ""


def stored(record: dict[str, Any], column: str) -> Any:
    """The value of a typed blob column: `type` says how it was written. Never raises."""
    kind, data = record.get("type"), tablerow.plain(record, column)
    if isinstance(kind, str) and kind.endswith("+aes"):
        opened = tablerow.decrypted(record, column)
        if opened is None:
            return Opaque(kind, len(data or b""), "it is encrypted, and no key is set that opens it")
        kind, data = kind.removesuffix("+aes"), opened
    if kind is None and isinstance(data, str):
        kind, data = "json", data.encode("utf-8", "surrogatepass")
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogateescape")
    return typed(str(kind), data if isinstance(data, bytes) else b"")


def typed(kind: str, data: bytes) -> Any:
    """The value of one serialized (type, bytes)."""
    if kind in ("null", "empty"):
        return None
    if kind in ("bytes", "bytearray"):
        return data
    try:
        if kind == "msgpack":
            return msgpack.decode(data)
        if kind == "json":
            if len(data) > msgpack.SIZE:
                raise Undecodable(f"{len(data)} bytes; at most {msgpack.SIZE} are read")
            return _revived(loads(data), 0)
    except (Undecodable, NotJson) as error:
        return Opaque("damaged", len(data), str(error))
    return Opaque(kind, len(data), "values of this type are not read")


def serialized(value: Any, as_json: bool = False) -> tuple[str, bytes]:
    """(type, bytes) of a value as the serializer writes them. Raises Undecodable."""
    if value is None and not as_json:
        return "null", b""
    if isinstance(value, bytes):
        return "bytes", value
    if as_json:
        return "json", json.dumps(_as_json(value), ensure_ascii=False).encode()
    return "msgpack", msgpack.encode(value)


def _as_json(value: Any) -> Any:
    if isinstance(value, Inert):
        path = value.module.split(".") if value.code == JSON_CODE else ["langchain", "schema", "messages"]
        return {"lc": 1, "type": "constructor", "id": [*path, value.name], "kwargs": _as_json(value.fields)}
    if isinstance(value, dict):
        return {key: _as_json(each) for key, each in value.items()}
    return [_as_json(each) for each in value] if isinstance(value, list) else value


def plain_json(data: Any) -> dict[str, Any]:
    """The JSON object of a metadata column, as text or bytes; empty where there is none."""
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogatepass")
    try:
        value = loads(data) if isinstance(data, bytes) else None
    except NotJson:
        return {}
    return value if isinstance(value, dict) else {}


def _revived(value: Any, depth: int) -> Any:
    """JSON with its constructors as inert values; what asks for a secret or is not of a known form stays as it is."""
    if depth > DEPTH:
        raise Undecodable("nested too deeply")
    if isinstance(value, list):
        return [_revived(each, depth + 1) for each in value]
    if not isinstance(value, dict):
        return value
    inner = {key: _revived(each, depth + 1) for key, each in value.items()}
    path = value.get("id")
    if value.get("lc") in (1, 2) and value.get("type") == "constructor" and isinstance(path, list) and path and all(isinstance(s, str) for s in path):
        argument = inner.get("kwargs") or inner.get("args") or {}
        method = value.get("method")
        return Inert(JSON_CODE, ".".join(path[:-1]), path[-1], argument, method if isinstance(method, str) else None)
    return inner


def shown(value: Any, depth: int = 0) -> Any:
    """A decoded value as JSON, for pages and answers: objects as `{"module.Name": arguments}`, bytes by their number."""
    if depth > DEPTH:
        return "…"
    if isinstance(value, Inert):
        name = ".".join(filter(None, (value.module, value.name))) or f"extension {value.code}"
        return {name: shown(value.argument, depth + 1)}
    if isinstance(value, Opaque):
        return {"not read": value.kind, "bytes": value.size, "why": value.why}
    if isinstance(value, dict):
        return {str(key): shown(each, depth + 1) for key, each in value.items()}
    if isinstance(value, list):
        return [shown(each, depth + 1) for each in value]
    if isinstance(value, bytes):
        return {"bytes": len(value)}
    return value
