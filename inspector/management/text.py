"""The answer of `inspect` for a person at a terminal: the same values as the JSON, in lines."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

VERDICTS = {
    "ready": "Ready to resume",
    "needs-repair": "Needs repair",
    "needs-reconciliation": "Something may have happened",
    "live": "Live",
    "blocked": "Can't be resumed",
    "finished": "Finished",
}
CUT = 160
"""Characters of a text that one line shows."""


def answer(doc: dict[str, Any]) -> str:
    """All that the answer holds, most wanted first."""
    if "threads" in doc:
        rows = [f"{one['thread']}  {one['rows']:>6} rows  {one['at'] or '-':<24}  {clean(one['title'] or '')}" for one in doc["threads"]]
        return "\n".join([f"{len(rows)} sessions; pick one with --thread", *rows])
    return "\n".join(_lines(doc))


def clean(value: Any) -> str:
    """Text on one line without control characters: what stands in a transcript must not steer a terminal."""
    flat = " ".join(str(value).split())
    shown = "".join(char if char.isprintable() else "\ufffd" for char in flat)
    return shown if len(shown) <= CUT else shown[: CUT - 1] + "…"


def _lines(doc: dict[str, Any]) -> Iterator[str]:
    yield f"{VERDICTS[doc['verdict']]}: {clean(doc['summary'])}"
    yield f"{doc['client']}, simulated {doc['client_version']}, session {doc['session'] or 'without id'}"
    if doc["simulated_note"]:
        yield f"{clean(doc['simulated_note'])}."
    if doc["refused"]:
        yield f"Refused: {clean(doc['refused'])}"
    for found in doc.get("findings", []):
        yield f"{found['severity']:<8}{found['code']:<24}{', '.join(found['rows'][:4]) or '-':<16}{clean(found['message'])}"
    for one in doc.get("operations", []):
        yield f"operation  {one['state']:<12}{one['effect']:<12}{one['call'] or '-':<8}{clean(one['tool'])} {clean(json.dumps(one['arguments']))}"
    for fact in doc.get("state", {}).get("facts", []):
        yield f"fact  {fact['name']:<24}{clean(json.dumps(fact['value'])) if fact['known'] else 'not recorded'}"
    for item in doc.get("screen", []):
        yield f"screen  {item['role']:<10}{clean(item['text'])}"
    if "rows" in doc:
        yield from (f"row  {row['ref']:<8}{row['type']:<28}{row['at'] or '-':<26}{'branch' if row['on_branch'] else ''}" for row in doc["rows"])
    if doc.get("request"):
        yield from _request(doc["request"])


def _request(request: dict[str, Any]) -> Iterator[str]:
    yield f"Next request: {len(request['body'].get('messages', []))} messages to {request['model']}"
    for number, message in enumerate(request["body"].get("messages", [])):
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        shown = " | ".join(block.get("text") or f"{block.get('type')} {block.get('name') or block.get('tool_use_id') or ''}" for block in blocks)
        yield f"  {number:>3} {message['role']:<10}{clean(shown)}"
    for problem in request["problems"]:
        yield f"problem  {problem['rule']:<4}{problem['pointer']}  {clean(problem['message'])}"
    for reason, count in Counter(drop["reason"] for drop in request["drops"]).most_common():
        yield f"left out  {count} rows: {reason}"
    for added in request["added_at_send"]:
        yield f"added at send  {added}"
