"""The answer of `inspect` for a person at a terminal: the same values as the JSON, in lines."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Iterator
from typing import Any

from inspector.core import wording
from inspector.core.dialects.messages import blocks_of, messages_of
from inspector.core.findings import Finding
from inspector.core.operations import Operation
from inspector.models import Session

CUT = 160
"""Characters of a text that one line shows."""


def answer(doc: dict[str, Any]) -> str:
    """All that the answer holds, most wanted first."""
    if "threads" in doc:
        rows = [f"{one['thread']}  {one['rows']:>6} rows  {one['at'] or '-':<24}  {clean(one['title'] or '')}" for one in doc["threads"]]
        return "\n".join([f"{wording.count(len(rows), 'session')}; pick one with --thread", *rows])
    return "\n".join(_lines(doc))


def clean(value: Any, cut: int = CUT) -> str:
    """Text on one line without control characters: what stands in a transcript must not steer a terminal."""
    flat = " ".join(str(value).split())
    shown = "".join(char if char.isprintable() else "\ufffd" for char in flat)
    return shown if len(shown) <= cut else shown[: cut - 1] + "…"


def _lines(doc: dict[str, Any]) -> Iterator[str]:
    yield f"{Session.Verdict(doc['verdict']).label}: {clean(doc['summary'], 400)}"
    yield f"{doc['client']}, simulated {doc['client_version']}, session {doc['session'] or 'without id'}"
    if doc["simulated_note"]:
        yield f"{clean(doc['simulated_note'])}."
    for found in doc.get("findings", []):
        yield f"{found['severity']:<8}{found['code']:<24}{', '.join(found['rows'][:4]) or '-':<16} {clean(found['message'], 400)}"
    operations = doc.get("operations", [])
    for one in operations:
        if one["state"] == "uncertain":
            yield f"open    {clean(wording.operation(one['tool'], one['arguments']))}  {one['effect']}  {one['key']}"
    if "findings" in doc and "operations" in doc:
        yield f"Next: {next_step(doc)}"
    for item in doc.get("screen", []):
        yield f"screen  {item['role']:<10}{clean(item['text'])}"
    if doc.get("request"):
        yield from _request(doc["request"])
    for one in operations:
        if one["state"] != "uncertain":
            yield f"operation  {one['state']:<12}{one['effect']:<12}{one['call'] or '-':<8}{clean(one['tool'])} {clean(json.dumps(one['arguments']))}"
    yield from _facts(doc.get("state", {}).get("facts", []))
    if "rows" in doc:
        yield from (f"row  {row['ref']:<8}{row['type']:<28}{row['at'] or '-':<26}{'branch' if row['on_branch'] else ''}" for row in doc["rows"])


def next_step(doc: dict[str, Any]) -> str:
    """What to do with a session, as a command where there is one."""
    path = clean(shlex.quote(doc["path"]))
    open_keys = [one["key"] for one in doc["operations"] if one["state"] == "uncertain"]
    resolves = f" --resolve {open_keys[0]}=happened (or =did-not-happen)" if open_keys else ""
    if doc["verdict"] == "live":
        return "close the client that has it open"
    if open_keys:
        return f"check the target; then repair {path} --out {new(doc['path'])}{resolves}"
    if any(found["repairable"] for found in doc["findings"]):
        return f"repair {path} --out {new(doc['path'])}"
    return "nothing here can be repaired" if doc["refused"] else "it can be resumed as it is"


def new(path: str) -> str:
    """What a repaired file may be called: with the ending of the one that it comes from."""
    ending = next((each for each in (".json", ".sqlite", ".sqlite3", ".db") if path.endswith(each)), ".jsonl")
    return f"NEW{ending}"


def open_ends(findings: list[Finding], operations: list[Operation], path: str | None = None) -> list[str]:
    """Why an answer is not clean, in lines: the findings above info, and the operations that are open. `path`: what to repair to close them."""
    lines = [f"Remains: {found.code} at {', '.join(found.rows[:3]) or 'the session'}: {clean(found.message, 400)}" for found in findings]
    for one in operations:
        if one.state == "uncertain":
            by = f"repair {clean(shlex.quote(path))} --out {new(path)}" if path else "repair again with"
            named = clean(wording.operation(one.tool, one.arguments))
            lines.append(f"Open: {named}. Check the target, then {by} --resolve {one.key}=happened (or =did-not-happen).")
    return lines


def _facts(facts: list[dict[str, Any]]) -> Iterator[str]:
    """The facts that are known, and in one line the names of the others."""
    for fact in facts:
        if fact["known"]:
            yield f"fact  {fact['name']:<24}{clean(json.dumps(fact['value']))}"
    unknown = [fact["name"] for fact in facts if not fact["known"]]
    if unknown:
        yield f"not recorded: {', '.join(unknown)}"


def _block(block: Any) -> str:
    """One content block or call of a message, whichever provider's."""
    if not isinstance(block, dict):
        return str(block or "")
    return str(block.get("text") or f"{block.get('type')} {block.get('name') or block.get('tool_use_id') or ''}")


def _request(request: dict[str, Any]) -> Iterator[str]:
    messages = messages_of(request["body"])
    yield f"Next request: {wording.count(len(messages), 'message')} to {request['model'] or 'a model'}"
    for number, message in enumerate(messages):
        content = blocks_of(message)
        blocks = [*(content if isinstance(content, list) else [content]), *(message.get("tool_calls") or ())]
        yield f"  {number:>3} {message.get('role') or message.get('type') or '':<10}{clean(' | '.join(filter(None, map(_block, blocks))))}"
    for task in request.get("runs_first") or ():
        yield f"runs first  {clean(task['name'])} ({task['status']})"
    for problem in request["problems"]:
        yield f"problem  {problem['rule']:<4}{problem['pointer']}  {clean(problem['message'])}"
    for reason, count in Counter(drop["reason"] for drop in request["drops"]).most_common():
        yield f"left out  {wording.count(count, 'row')}: {reason}"
    for added in request["added_at_send"]:
        yield f"added at send  {added}"
