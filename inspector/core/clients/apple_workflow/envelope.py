"""Where a document holds a FoundationModels transcript, in whatever wrapper and form; and whether Apple's strict decoder would take it.

Sources: Apple's own fixtures and documentation of the transcript's JSON (versions 1 and "1.1"), and files written by the `fm` tool. What the decoder
demands was tried with hand-written files: an unknown role or segment, a missing key, or arguments that are no JSON refuse the whole transcript.
"""

from __future__ import annotations

import binascii
import json
from base64 import b64decode
from collections.abc import Iterator
from typing import Any, NamedTuple

import orjson

from ...documents import Form, Opened
from ...jsonspans import NotJson, loads

TYPE = "FoundationModels.Transcript"
DEPTH = 64
TEXTS = 64 << 20
"""Bytes of text in which an envelope is looked for."""
DATA_FIELDS = ("transcriptData", "transcript", "transcriptJSON", "transcriptString")
"""Members that hold a saved transcript, whatever is in them."""


def is_envelope(value: Any) -> bool:
    """Whether a value is a transcript's envelope, versions and entries aside."""
    if not isinstance(value, dict):
        return False
    inner = value.get("transcript")
    entries = inner.get("entries") if isinstance(inner, dict) else None
    return value.get("type") == TYPE or (isinstance(entries, list) and "version" in value)


def found_in(document: dict[str, Any]) -> Opened | None:
    """Where the document holds an envelope whose entries are a list. The document itself may be the envelope."""
    if is_envelope(document):
        return Opened(("transcript",), "object", ("entries",)) if has_entries(document) else None
    likely = {name: document[name] for name in DATA_FIELDS if name in document}
    return next(_inside({**likely, **document}, (), DEPTH), None)


def has_entries(envelope: Any) -> bool:
    """Whether the envelope's entries are a list."""
    inner = envelope.get("transcript") if isinstance(envelope, dict) else None
    return isinstance(inner, dict) and isinstance(inner.get("entries"), list)


def _inside(value: dict[str, Any], path: tuple[str, ...], depth: int) -> Iterator[Opened]:
    for key, inner in value.items():
        here = (*path, key)
        if isinstance(inner, dict) and depth:
            if is_envelope(inner) and has_entries(inner):
                yield Opened(here, "object", ("transcript", "entries"))
            else:
                yield from _inside(inner, here, depth - 1)
        elif isinstance(inner, str | list):
            form, data = decoded(inner)
            held = _json(data)
            if form is not None and isinstance(held, dict):
                nested = ("transcript", "entries") if is_envelope(held) and has_entries(held) else None
                wrapped = next(_inside(held, (), 2), None) if nested is None else None
                if nested is not None:
                    yield Opened(here, form, nested)
                elif wrapped is not None and wrapped.form == "object":
                    yield Opened(here, form, (*wrapped.path, *wrapped.list_path))


def decoded(value: Any) -> tuple[Form | None, bytes]:
    """The bytes that a `Data` or text field holds, and in which form; (None, b"") where it holds none."""
    if isinstance(value, str) and 0 < len(value) <= TEXTS:
        if value.lstrip()[:1] == "{":
            return "text", value.encode("utf-8", "surrogatepass")
        try:
            return "base64", b64decode(value, validate=True)
        except (binascii.Error, ValueError):
            return None, b""
    if isinstance(value, list) and value and all(type(each) is int and 0 <= each < 256 for each in value):
        return "bytes", bytes(value)
    return None, b""


def _json(data: bytes) -> Any:
    if data.lstrip()[:1] != b"{":
        return None
    try:
        return loads(data)
    except NotJson:
        return None


class Fault(NamedTuple):
    """Why the strict decoder refuses a transcript: the id of the rule, the entry's number (None: the envelope) and a sentence."""

    rule: str
    entry: int | None
    says: str


def strict(data: bytes) -> list[Fault]:
    """Faults of an envelope's bytes; empty where Apple's decoder would take them."""
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        return [Fault("F1", None, f"it is no JSON text: {str(error).split(': line')[0]}")]
    return faults(value)


def faults(envelope: Any) -> list[Fault]:
    """Faults of a parsed envelope."""
    found = list(_envelope(envelope))
    if found:
        return found
    version = envelope["version"]
    return [fault for number, entry in enumerate(envelope["transcript"]["entries"]) for fault in _entry(number, entry, version)]


def _envelope(value: Any) -> Iterator[Fault]:
    if not isinstance(value, dict) or value.get("type") != TYPE:
        yield Fault("F1", None, f"the envelope is not of the type {TYPE}")
    elif not isinstance(value.get("version"), int | str) or isinstance(value.get("version"), bool):
        yield Fault("F1", None, "the envelope names no version")
    elif not has_entries(value):
        yield Fault("F1", None, "the envelope holds no list of entries")


KINDS = {"instructions": "instructions", "user": "prompt", "response": "response", "tool": "toolOutput", "reasoning": "reasoning"}


def kind_of(entry: Any) -> str | None:
    """The entry's Swift case: instructions, prompt, toolCalls, toolOutput, response, reasoning; None for no known one."""
    role = entry.get("role") if isinstance(entry, dict) else None
    if role == "response" and "toolCalls" in entry:
        return "toolCalls"
    return KINDS.get(role) if isinstance(role, str) else None


def demands_options(version: Any) -> bool:
    """Whether prompts must carry `options` and `contextOptions`: true of the form that the 27 releases write."""
    return version not in (1, "1")


def _entry(number: int, entry: Any, version: Any) -> Iterator[Fault]:
    kind = kind_of(entry)
    if kind is None:
        role = entry.get("role") if isinstance(entry, dict) else None
        yield Fault("F2", number, f"entry {number} has the role {json.dumps(role)[:40]}, which is not known")
        return
    named = f"entry {number} ({kind})"
    if not isinstance(entry.get("id"), str):
        yield Fault("F3", number, f"{named} has no id")
    if kind == "toolCalls":
        yield from _calls(number, named, entry["toolCalls"])
        return
    holder = entry.get("reasoning") if kind == "reasoning" else entry
    if not isinstance(holder, dict) or not isinstance(holder.get("contents"), list):
        yield Fault("F3", number, f"{named} has no contents")
        return
    if kind == "toolOutput":
        for key in ("toolCallID", "toolName"):
            if not isinstance(entry.get(key), str):
                yield Fault("F3", number, f"{named} has no {key}")
    if kind == "prompt" and demands_options(version):
        for key in ("options", "contextOptions"):
            if not isinstance(entry.get(key), dict):
                yield Fault("F3", number, f"{named} has no {key}")
    for segment in holder["contents"]:
        yield from _segment(number, named, segment)
    yield from _schemas(number, named, entry)


def _calls(number: int, named: str, calls: Any) -> Iterator[Fault]:
    if not isinstance(calls, list):
        yield Fault("F3", number, f"{named} holds no list of calls")
        return
    for call in calls:
        if not isinstance(call, dict) or not all(isinstance(call.get(key), str) for key in ("id", "name", "arguments")):
            yield Fault("F3", number, f"a call of {named} lacks id, name or arguments")
            continue
        try:
            orjson.loads(call["arguments"].encode("utf-8", "surrogatepass"))
        except orjson.JSONDecodeError:
            yield Fault("F5", number, f"the arguments of call {call['id'][:40]} are no JSON text")


SEGMENTS: dict[str, tuple[tuple[str, type], ...]] = {
    "text": (("text", str),),
    "structure": (("structure", dict),),
    "image": (("image", str),),
    "attachment": (("attachment", dict),),
}


def _segment(number: int, named: str, segment: Any) -> Iterator[Fault]:
    kind = segment.get("type") if isinstance(segment, dict) else None
    demanded = SEGMENTS.get(kind) if isinstance(kind, str) else None
    if demanded is None:
        yield Fault("F4", number, f"{named} has a segment of the type {json.dumps(kind)[:40]}, which is not known")
        return
    for key, type_ in (("id", str), *demanded):
        if not isinstance(segment.get(key), type_):
            yield Fault("F3", number, f"a segment of {named} has no {key}")
    structure = segment.get("structure")
    if isinstance(structure, dict) and "content" not in structure:
        yield Fault("F3", number, f"a structure of {named} has no content")


def _schemas(number: int, named: str, entry: dict[str, Any]) -> Iterator[Fault]:
    """Tools and response formats carry Apple's own form of a schema."""
    tools = entry.get("tools", [])
    format_ = entry.get("responseFormat")
    if not isinstance(tools, list):
        yield Fault("F6", number, f"{named} holds no list of tools")
        return
    schemas = [(tool.get("function") or {}).get("parameters") if isinstance(tool, dict) else None for tool in tools]
    if isinstance(format_, dict):
        held = format_.get("jsonSchema")
        schemas.append(held.get("schema") if isinstance(held, dict) else None)
    for schema in schemas:
        lacks = [key for key in ("title", "x-order", "additionalProperties", "required") if not isinstance(schema, dict) or key not in schema]
        is_object = not isinstance(schema, dict) or schema.get("type") == "object"
        if is_object and lacks:
            yield Fault("F6", number, f"a schema of {named} lacks {', '.join(lacks)}")
