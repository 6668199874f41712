"""From the conversation that the client holds to the messages that it sends: merging, pairing, context, thinking."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from ...state import StateMessage
from ...verdicts import Drop, Reason, Stage
from .cleanup import NO_CONTENT, THINKING, Pairs, merge_into
from .context import attachment_blocks, is_persons_message, reminder, unframed
from .items import Item
from .javascript import json_text
from .profiles import Profile

CALL_INTERRUPTED = "[Tool use interrupted]"
ORPHAN_REMOVED = "[Orphaned tool result removed due to conversation resume]"
TOOL_LOADED = "Tool loaded."
RESULT_MISSING = "[Tool result missing due to internal error]"
MID_SYSTEM_MODELS = ("claude-opus-4-8", "claude-opus-5")
"""Models seen to take messages of role `system` inside the conversation."""


@dataclass(slots=True)
class Wire:
    """A message on its way out: blocks with their rows, and the stored context that follows it as a system message."""

    role: str
    blocks: Pairs
    id: str | None = None
    string: bool = False
    """Content was one plain string and nothing was merged with it."""
    context: Pairs = field(default_factory=list)
    ends_in_context: bool = False
    riders: list[tuple[str, str]] = field(default_factory=list)
    """(call id, row) of stored context that was written into a result of this message."""
    empty: str | None = None
    """Row that holds the place of the message if nothing else of it is left."""
    results: int | None = None
    """How many results stand in front, once blocks were merged."""


class Assembly:
    """One pass over the held items. `messages` is the result; `drops` are rows that do not reach it."""

    def __init__(self, items: list[Item], profile: Profile, model: str | None) -> None:
        self.items, self.profile, self.model = items, profile, model
        self.as_system = profile.context_as_system and bool(model) and str(model).startswith(MID_SYSTEM_MODELS)
        self.drops: dict[str, Drop] = {}
        self.wires: list[Wire] = []
        self.open: dict[str | None, Wire] = {}
        """Messages by id that a later row of theirs still joins: nothing but results stands behind them."""
        self.rendered_here: list[str] = []
        """Rows of context whose text the client makes at send time."""

    def run(self) -> list[StateMessage]:
        """Messages in wire order."""
        for item in self.ordered():
            if item.type == "attachment":
                self.attachment(item)
            elif item.type == "system":
                self.system(item)
            elif item.type == "user":
                self.user(item)
            else:
                self.assistant(item)
        for wire in self.wires:
            self.polish(wire)
        if self.profile.drops_thinking_only:
            self.drop_thinking_only()
        self.wires = [wire for wire in self.wires if wire.blocks or wire.context]
        if self.profile.cleans_pairs:
            self.pair()
        else:
            self.drop_unpaired()
        return self.messages()

    def drop(self, ref: str, reason: Reason, because: str | None = None) -> None:
        self.drops.setdefault(ref, Drop(ref, Stage.SEND, reason, because))

    def ordered(self) -> list[Item]:
        """Items with each run of context moved up to the result or assistant message that it follows."""
        out: list[Item] = []
        waiting: list[Item] = []
        for item in reversed(self.items):
            if item.type == "attachment":
                waiting.append(item)
                continue
            first = item.blocks()[0].get("type") if item.type == "user" and item.blocks() else None
            if waiting and (item.type == "assistant" or first == "tool_result"):
                out += waiting
                waiting = []
            out.append(item)
        return (out + waiting)[::-1]

    # one item

    def attachment(self, item: Item) -> None:
        blocks, note = attachment_blocks(item, self.profile)
        if blocks is None:
            self.drop(item.ref, Reason.ATTACHMENT_NOT_SENT)
            return
        if note:
            self.rendered_here.append(item.ref)
        if self.as_system and item.rendered_role != "user" and not is_persons_message(item, self.profile):
            last = self.last_user() or self.push(Wire("user", []))
            last.context += [(block, item.ref) for block in blocks]
            return
        if is_persons_message(item, self.profile):
            self.add_user([(block, item.ref) for block in blocks])
        elif not self.write_into_result(item, blocks):
            self.add_user([(block, item.ref) for block in blocks], context=True)

    def write_into_result(self, item: Item, blocks: list[dict[str, Any]]) -> bool:
        """Context right behind a tool result becomes part of the result's own text, unless its row says otherwise."""
        last = self.last_user()
        if self.as_system or last is None or not last.blocks or item.beside_result:
            return False
        result, ref = last.blocks[-1]
        if result.get("type") != "tool_result" or holds_reference(result):
            return False
        last.blocks[-1] = (
            {**result, "content": joined(result.get("content"), [str(block["text"]) for block in blocks], not self.profile.rendered)},
            ref,
        )
        last.riders.append((str(result.get("tool_use_id")), item.ref))
        return True

    def system(self, item: Item) -> None:
        if item.light.subtype == "local_command" and item.content is not None:
            self.add_user([({"type": "text", "text": item.content}, item.ref)])
        else:
            boundary = item.light.subtype == "compact_boundary"
            self.drop(item.ref, Reason.COMPACTION_BOUNDARY if boundary else Reason.SYSTEM_NOTE)

    def user(self, item: Item) -> None:
        refs = item.refs
        blocks = [(block, refs[n] if refs else item.ref) for n, block in enumerate(item.blocks())]
        if any(holds_reference(block) for block, _ in blocks):
            blocks.append(({"type": "text", "text": TOOL_LOADED}, item.ref))
        if (item.light.own_note or item.light.notification) and self.profile.wraps_own_notes:
            blocks = [({**b, "text": reminder(str(b.get("text") or ""))} if b.get("type") == "text" else b, ref) for b, ref in blocks]
        self.add_user(blocks, string=isinstance(item.content, str))

    def add_user(self, blocks: Pairs, string: bool = False, context: bool = False) -> None:
        """Put blocks into the open user message, or into a new one. Texts of stored context are joined among themselves without a seam."""
        last = self.last_user() or self.push(Wire("user", []))
        if not last.blocks:
            last.blocks, last.string = blocks, string
        elif context and last.ends_in_context:
            last.blocks += blocks
            last.string = False
            if any(block.get("type") == "tool_result" for block, _ in blocks):
                last.results = None
        else:
            last.results = merge_into(last.blocks, blocks, last.results)
            last.string = False
        last.ends_in_context = context

    def assistant(self, item: Item) -> None:
        if item.light.api_error and item.light.model == "<synthetic>":
            self.drop(item.ref, Reason.API_ERROR)
            return
        blocks = [(block, item.ref) for block in item.blocks()]
        kept = [(self.renamed(block), ref) for block, ref in blocks if not self.foreign_thinking(block, item)]
        if not kept and (blocks or item.content is None):
            self.drop(item.ref, Reason.THINKING_OTHER_MODEL if blocks else Reason.MALFORMED)
            return
        message = item.light.message_id
        last = self.last_user()
        if last is not None and last.blocks and last.blocks[0][0].get("type") != "tool_result":
            self.open.clear()
        if message in self.open:
            self.open[message].blocks += kept
        else:
            self.open[message] = self.push(Wire("assistant", kept, id=message, empty=item.ref))

    def renamed(self, block: dict[str, Any]) -> dict[str, Any]:
        """The block; a call of a tool that has another name now, under that name."""
        new = dict(self.profile.renamed_tools).get(str(block.get("name"))) if block.get("type") == "tool_use" else None
        return {**block, "name": new} if new else block

    def foreign_thinking(self, block: dict[str, Any], item: Item) -> bool:
        return block.get("type") in THINKING and not self.profile.thinking_of_other_models and item.light.model not in (self.model, "<synthetic>")

    def last_user(self) -> Wire | None:
        return self.wires[-1] if self.wires and self.wires[-1].role == "user" else None

    def push(self, wire: Wire) -> Wire:
        self.wires.append(wire)
        return wire

    # whole messages

    def polish(self, wire: Wire) -> None:
        """Block by block: what is never sent as stored."""
        out: Pairs = []
        for block, ref in wire.blocks:
            kind = block.get("type")
            if kind == "tool_use":
                if not self.profile.call_keys:
                    block = {key: block[key] for key in ("type", "id", "name", "input") if key in block}
            elif kind == "tool_result" and not isinstance(block.get("content"), str | list | None):
                block = {**block, "content": json_text(block["content"])}
            elif kind == "tool_result" and block.get("is_error") is True and isinstance(block.get("content"), list):
                block = {**block, "content": [b for b in block["content"] if isinstance(b, dict) and b.get("type") == "text"]}
            elif kind == "text" and not str(block.get("text") or "").strip():
                if wire.role == "assistant" and (self.profile.blank_text == "message" or not isinstance(block.get("text"), str)):
                    self.drop(ref, Reason.EMPTY_TEXT)
                    continue
                if wire.role == "user" and not wire.string and self.profile.blank_user_block:
                    wire.empty = wire.empty or ref
                    self.drop(ref, Reason.EMPTY_TEXT)
                    continue
                block = {**block, "text": block.get("text") or ""}
            out.append((block, ref))
        if wire.empty and not out:
            out.append(({"type": "text", "text": NO_CONTENT}, wire.empty))
        wire.blocks = calls_last(out) if wire.role == "assistant" and self.profile.calls_last else out

    def drop_thinking_only(self) -> None:
        """Messages of which only thinking was left on the way. Their neighbours are not merged any more."""
        for wire in self.wires:
            if wire.role == "assistant" and wire.blocks and all(block.get("type") in THINKING for block, _ in wire.blocks):
                for _, ref in wire.blocks:
                    self.drop(ref, Reason.THINKING_ONLY)
                wire.blocks = []

    def pair(self) -> None:
        """Each call answered once, right behind its message; each result with its call before it."""
        out: list[Wire] = []
        seen: set[str] = set()
        wires, at = self.wires, 0
        while at < len(wires):
            wire = wires[at]
            at += 1
            if wire.role == "user":
                if not out or out[-1].role != "assistant":
                    self.strip_results(wire, out)
                if wire.blocks or wire.context:
                    out.append(wire)
                continue
            fresh = self.unique_calls(wire, seen)
            if not wire.blocks:
                wire.blocks = [({"type": "text", "text": CALL_INTERRUPTED}, fresh[1])]
            out.append(wire)
            answers = wires[at] if at < len(wires) and wires[at].role == "user" else None
            if answers is not None:
                self.match(answers, fresh[0])
                out.append(answers)
                at += 1
            elif fresh[0]:
                out.append(Wire("user", [(placeholder(call), ref) for call, ref in fresh[0].items()]))
        self.wires = out

    def strip_results(self, wire: Wire, out: list[Wire]) -> None:
        orphans = [ref for block, ref in wire.blocks if block.get("type") == "tool_result"]
        if not orphans:
            return
        wire.blocks = [pair for pair in wire.blocks if pair[0].get("type") != "tool_result"]
        for ref in orphans:
            self.drop(ref, Reason.ORPHAN_RESULT)
        if not wire.blocks and not out and not self.profile.context_prefix:
            wire.blocks = [({"type": "text", "text": ORPHAN_REMOVED}, orphans[0])]

    def unique_calls(self, wire: Wire, seen: set[str]) -> tuple[dict[str, str], str]:
        """Calls of a message (id -> row) after repeated ids and unanswered server calls are gone; the row of the first block."""
        answered = {str(block.get("tool_use_id")) for block, _ in wire.blocks}
        first = wire.blocks[0][1] if wire.blocks else ""
        calls: dict[str, str] = {}
        kept: Pairs = []
        for block, ref in wire.blocks:
            kind, ident = block.get("type"), str(block.get("id"))
            if kind == "tool_use":
                if ident in seen:
                    self.drop(ref, Reason.DUPLICATE_CALL)
                    continue
                seen.add(ident)
                calls[ident] = ref
            elif kind in ("server_tool_use", "mcp_tool_use") and ident not in answered:
                self.drop(ref, Reason.UNRESOLVED_CALL)
                continue
            kept.append((block, ref))
        wire.blocks = kept
        return calls, first

    def match(self, wire: Wire, calls: dict[str, str]) -> None:
        """Make the user message behind a message with calls answer exactly those."""
        done: set[str] = set()
        kept: Pairs = []
        last = wire.blocks[0][1] if wire.blocks else ""
        for block, ref in wire.blocks:
            if block.get("type") == "tool_result":
                call = str(block.get("tool_use_id"))
                if call not in calls or call in done:
                    self.drop(ref, Reason.ORPHAN_RESULT if call not in calls else Reason.DUPLICATE_RESULT, calls.get(call))
                    continue
                done.add(call)
            kept.append((block, ref))
        missing = [(placeholder(call), ref) for call, ref in calls.items() if call not in done]
        had_results = len(kept) != len(wire.blocks) or bool(missing)
        wire.blocks = missing + kept
        if had_results and not wire.blocks:
            wire.blocks = [({"type": "text", "text": NO_CONTENT}, last)]

    def drop_unpaired(self) -> None:
        """Old clients: calls of a mixed row that lack a result go silently."""
        answered = {str(b.get("tool_use_id")) for wire in self.wires for b, _ in wire.blocks if b.get("type") == "tool_result"}
        for wire in self.wires:
            for block, ref in wire.blocks:
                if block.get("type") == "tool_use" and str(block.get("id")) not in answered:
                    self.drop(ref, Reason.UNRESOLVED_CALL)
            wire.blocks = [p for p in wire.blocks if p[0].get("type") != "tool_use" or str(p[0].get("id")) in answered]

    def messages(self) -> list[StateMessage]:
        """Wire messages, stored context as system messages behind their user message; rows placed anywhere keep no drop."""
        out: list[StateMessage] = []
        for wire in self.wires:
            if wire.blocks:
                rows = [ref for _, ref in wire.blocks]
                text = wire.blocks[0][0].get("text") if wire.string and len(wire.blocks) == 1 else None
                results = {
                    str(block.get("tool_use_id")): number for number, (block, _) in enumerate(wire.blocks) if block.get("type") == "tool_result"
                }
                riders = [(results[call], ref) for call, ref in wire.riders if call in results]
                out.append(StateMessage(wire.role, text if isinstance(text, str) else [block for block, _ in wire.blocks], rows, riders))
            if wire.context:
                text = "\n\n".join(unframed(block["text"]) for block, _ in wire.context)
                out.append(StateMessage("system", text, [ref for _, ref in wire.context]))
        placed = {ref for message in out for ref in (*message.rows, *(rider for _, rider in message.riders))}
        for wire in self.wires:
            for _, ref in wire.riders:
                self.drop(ref, Reason.ORPHAN_RESULT)
        for item in self.items:
            for ref in (item.ref, *item.refs):
                self.drop(ref, Reason.EMPTY_TEXT if item.content == [] else Reason.MALFORMED)
        self.drops = {ref: drop for ref, drop in self.drops.items() if ref not in placed}
        return out


def holds_reference(block: dict[str, Any]) -> bool:
    """Whether a result loads a tool by reference."""
    content = block.get("content")
    return (
        block.get("type") == "tool_result"
        and isinstance(content, list)
        and any(isinstance(b, dict) and b.get("type") == "tool_reference" for b in content)
    )


def calls_last(blocks: Pairs) -> Pairs:
    """Calls behind the other blocks. Interleaved thinking (calls right between two thinking blocks) is left as it is."""
    kinds = "".join("c" if b.get("type") == "tool_use" else "t" if b.get("type") in THINKING else "-" for b, _ in blocks)
    if "c" not in kinds or re.search("tc+t", kinds):
        return blocks
    return sorted(blocks, key=lambda pair: pair[0].get("type") == "tool_use")


def joined(content: Any, texts: list[str], flat: bool) -> Any:
    """A result's content with texts written behind it, an empty line between them. `flat`: an array of texts becomes one text."""
    if content is None or isinstance(content, str):
        return "\n\n".join(text for text in ((content or "").strip(), *(one.strip() for one in texts)) if text)
    if flat and all(isinstance(block, dict) and block.get("type") == "text" for block in content):
        return joined("\n\n".join(str(block.get("text", "")) for block in content), texts, flat)
    out = [dict(block) if isinstance(block, dict) else block for block in content]
    for text in texts:
        if out and isinstance(out[-1], dict) and out[-1].get("type") == "text":
            out[-1]["text"] = f"{str(out[-1].get('text', '')).strip()}\n\n{text.strip()}"
        else:
            out.append({"type": "text", "text": text.strip()})
    return out


def placeholder(call: str) -> dict[str, Any]:
    """The client's own stand-in for a result that it can't find."""
    return {"type": "tool_result", "tool_use_id": call, "content": RESULT_MISSING, "is_error": True}
