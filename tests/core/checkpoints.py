"""Checkpoints and transcripts of FoundationModels for tests: made in Python, encoded in any of the forms that apps use."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from inspector.core.inspection import Inspection, inspect
from inspector.core.source import Part, Source
from inspector.core.state import ResumeAs

CORPUS = Path(__file__).parents[1] / "corpus" / "apple-workflow"
PROMPT = "Refund order A-7781, the parcel never arrived."
PLAN = "1. Look up the order. 2. Decide. 3. Refund."
FACT = "order A-7781: paid 4250 cents, carrier status: lost"
DECISION = "Refund A-7781 in full."
STEPS = ("plan", "gather", "decide", "act", "done")


def segment(text: str, id: str = "S1") -> dict[str, Any]:
    return {"id": id, "type": "text", "text": text}


def schema(*names: str) -> dict[str, Any]:
    kinds = {name: {"type": "string"} for name in names}
    demanded = {"title": "Arguments", "required": list(names), "x-order": list(names), "additionalProperties": False}
    return {"type": "object", "properties": kinds, **demanded}


@dataclass
class Entries:
    """A transcript in the making."""

    version: int | str = "1.1"
    made: list[dict[str, Any]] = field(default_factory=list)

    def _add(self, role: str, **more: Any) -> Entries:
        self.made.append({"role": role, "id": f"E{len(self.made)}", **more})
        return self

    def instructions(self, text: str = "You handle refunds.", *tools: str) -> Entries:
        named = [{"type": "function", "function": {"name": name, "description": name, "parameters": schema("order")}} for name in tools]
        return self._add("instructions", contents=[segment(text)], **({"tools": named} if named else {}))

    def prompt(self, text: str) -> Entries:
        more = {} if self.version == 1 else {"contextOptions": {}}
        return self._add("user", contents=[segment(text)], options={}, **more)

    def response(self, text: str) -> Entries:
        return self._add("response", contents=[segment(text)], assets=[])

    def calls(self, *calls: tuple[str, str, dict[str, Any]]) -> Entries:
        return self._add("response", toolCalls=[{"id": id, "name": name, "arguments": json.dumps(given)} for id, name, given in calls])

    def output(self, id: str, name: str, text: str) -> Entries:
        self._add("tool", toolCallID=id, toolName=name, contents=[segment(text)])
        self.made[-1]["id"] = id
        return self

    def envelope(self) -> dict[str, Any]:
        return {"type": "FoundationModels.Transcript", "version": self.version, "transcript": {"entries": self.made}}


def planned(version: int | str = "1.1") -> Entries:
    """A transcript whose plan is made and whose order was looked up."""
    made = Entries(version).instructions("You handle refunds.", "lookup_order", "create_refund").prompt(PROMPT).response(PLAN)
    return made.prompt("Gather the facts.").calls(("CALL-1", "lookup_order", {"order": "A-7781"})).output("CALL-1", "lookup_order", FACT)


def decided() -> Entries:
    """The same, with the decision."""
    return planned().response("The parcel is lost.").prompt("Decide.").response(DECISION)


def as_step(step: str, form: str) -> Any:
    return {"string": step, "object": {step: {}}, "number": STEPS.index(step) if step in STEPS else 9}[form]


def as_data(envelope: Any, form: str) -> Any:
    """A value that holds an envelope: base64 | bytes | text | object | slashes (base64 as Swift escapes it, see `encoded`)."""
    said = "" if isinstance(envelope, bytes) else json.dumps(envelope, ensure_ascii=False, separators=(",", ":"))
    data = envelope if isinstance(envelope, bytes) else said.encode("utf-8", "surrogatepass")
    if form == "object":
        return envelope
    if form == "text":
        return data.decode("utf-8", "surrogatepass")
    return list(data) if form == "bytes" else base64.b64encode(data).decode()


def checkpoint(step: Any, entries: Any = None, form: str = "base64", **fields: Any) -> dict[str, Any]:
    """Fields of a checkpoint; those that are None are absent."""
    made = {"id": "C1", "step": step, "userPrompt": PROMPT, **fields}
    if entries is not None:
        made["transcriptData"] = as_data(entries.envelope() if isinstance(entries, Entries) else entries, form)
    made.setdefault("updatedAt", 817640102.25)
    return {name: value for name, value in made.items() if value is not None}


def encoded(value: Any, indent: int | None = 2, slashes: bool = False) -> bytes:
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return (text.replace("/", "\\/") if slashes else text).encode()


def source(value: Any, name: str = "checkpoint.json", **more: Any) -> Source:
    data = value if isinstance(value, bytes) else encoded(value, **more)
    return Source(name, (Part(name, data),))


def looked_at(value: Any, prompt: str | None = None, **more: Any) -> Inspection:
    return inspect(source(value, **more), ResumeAs(prompt=prompt))


def recorded() -> list[Path]:
    """Files of the recorded and constructed cases."""
    return sorted([*CORPUS.glob("*/source/*.json"), *CORPUS.glob("*/input.json")])
