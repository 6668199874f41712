"""What a resume does: chain, clean-up, interruption, added rows, messages. One function a stage, in the client's order."""

from __future__ import annotations

from functools import partial
from typing import Any

from ...session import RowKind, Session
from ...state import AddedRow, ResumeAs, RuntimeState
from ...verdicts import Drop, Reason, Stage
from .assemble import Assembly
from .chain import Chain, Walker
from .cleanup import Cleanup
from .facts import facts_of
from .fates import explain
from .items import Item, item_of
from .notify import notifications
from .outside import add_outside
from .profiles import Profile, profile_for
from .read import Light

DIALECT = "anthropic-messages"
DEFAULT_PROMPT = "continue"
"""The new user message that a preview assumes when nobody gave one."""
CONTINUATION = "Continue from where you left off."
SENTINEL = "No response requested."
OUTCOME_UNKNOWN = (
    "[Tool call interrupted: the session ended before this call's result was recorded, so its outcome is unknown. "
    "Check whether it took effect before relying on it or running it again.]"
)
INTERRUPTED = "[Request interrupted by user"
CAVEAT = "<local-command-caveat>"
COMMAND = ("<command-name>", "<command-message>")
COMMAND_OUTPUT = ("<local-command-stdout>", "<local-command-stderr>")


def resume(session: Session, resume_as: ResumeAs) -> RuntimeState:
    """Derive the state that a resume of this session builds, and the messages that it would send."""
    profile = profile_for(resume_as.version)
    walker = Walker(session, profile)
    chain = walker.run()
    explain(walker)
    state = RuntimeState(client="claude-code", version=profile.version, model=resume_as.model, dialect=DIALECT)
    state.branch = [row.ref for row in chain.rows]
    state.leaf = chain.leaf.ref if chain.leaf else None
    state.rehung = chain.rehung
    state.drops = list(chain.drops.values())
    state.refused = chain.refused or unreadable(session, chain, profile)
    if state.refused is not None:
        state.drops += [Drop(row.ref, Stage.CHAIN, Reason.REFUSED) for row in chain.rows]
    else:
        Resume(session, resume_as, profile, chain, state).run()
        add_outside(session, chain.rows, profile, state)
    state.facts_from = partial(facts_of, session, resume_as, profile.version, state.branch, state.leaf, state.model)
    return state


def unreadable(session: Session, chain: Chain, profile: Profile) -> str | None:
    """Why this client fails on a row of the chain, or None."""
    for row in chain.rows:
        light: Light = row.extra
        if row.kind is RowKind.MESSAGE and profile.needs_message and (light.message_missing or (row.type == "user" and light.content_missing)):
            return f"Failed to resume session: row {row.ref} has no message"
        if (
            row.type == "assistant"
            and ((light.string_content and (light.text or not row.blocks[0].blank)) or light.content_missing)
            and profile.string_assistant == "refuse"
        ):
            return f"no request was sent: the content of row {row.ref} is not a list of blocks"
        if row.kind is RowKind.CONTEXT and profile.needs_attachment:
            attachment = session.value(row).get("attachment")
            needs = {"invoked_skills": "skills", "file": "content"}.get(light.attachment or "")
            if attachment is None or (needs and needs not in attachment):
                return f"Failed to resume session: the context of row {row.ref} lacks its fields"
    return None


class Resume:
    """The stages behind the chain. Each adds to `state`."""

    def __init__(self, session: Session, resume_as: ResumeAs, profile: Profile, chain: Chain, state: RuntimeState) -> None:
        self.session, self.resume_as, self.profile, self.chain, self.state = session, resume_as, profile, chain, state
        self.items: list[Item] = []
        self.sends_at_once = resume_as.gate("resume-interrupted-turn")

    def run(self) -> None:
        held = [item_of(self.session, row) for row in self.chain.rows]
        cleanup = Cleanup(held, self.profile)
        cleanup.run(keep_tail=self.profile.answers_unresolved_tail and not self.sends_at_once, drop_tail=self.sends_at_once)
        self.items = cleanup.items
        if self.resume_as.gate("content-replacement"):
            self.replace_results()
        background = notifications(held, self.profile)
        self.pick_model()
        for item, call in cleanup.to_answer:
            self.add("interrupted-result", interrupted_result(item, call), parent=item.ref)
        at_once = self.interruption(bool(cleanup.to_answer))
        if not at_once:
            for text in background:
                self.add("notification", {"type": "user", "origin": {"kind": "task-notification"}, "message": _user_text(text)})
            prompt = self.resume_as.prompt if self.resume_as.prompt is not None else DEFAULT_PROMPT
            self.add("prompt", {"type": "user", "message": {"role": "user", "content": prompt}})
        assembly = Assembly(self.items, self.profile, self.state.model)
        self.state.messages = assembly.run()
        self.state.drops += [*cleanup.drops.values(), *(drop for ref, drop in assembly.drops.items() if ref not in cleanup.drops)]
        self.state.added_at_send = [f"text of the stored context in row {ref}" for ref in assembly.rendered_here]

    def replace_results(self) -> None:
        """Put the recorded replacements in the place of the tool results that they name (only behind a gate that no observed client had on)."""
        texts: dict[str, str] = {}
        for row in self.session.main():
            if row.type == "content-replacement":
                for one in self.session.value(row).get("replacements") or []:
                    if isinstance(one, dict) and isinstance(one.get("toolUseId"), str) and isinstance(one.get("replacement"), str):
                        texts[one["toolUseId"]] = one["replacement"]
        for item in self.items:
            if item.type == "user" and isinstance(item.content, list):
                item.content = [
                    {**block, "content": texts[block["tool_use_id"]]} if isinstance(block, dict) and block.get("tool_use_id") in texts else block
                    for block in item.content
                ]

    def pick_model(self) -> None:
        """The model asked for, else the last surviving assistant row's where the client still knows it, else its default."""
        if self.state.model is None and self.profile.restores_model:
            named = (item.light.model for item in reversed(self.items) if item.type == "assistant" and item.light.model != "<synthetic>")
            last = next((name for name in named if name), None)
            self.state.model = last if last and (not self.profile.known_models or last.startswith(self.profile.known_models)) else None
        self.state.model = self.state.model or self.profile.default_model

    def interruption(self, answered: bool) -> bool:
        """Continuation and sentinel, as the profile has them. True: the gate sends the interrupted turn at once, without a prompt."""
        relevant = [item for item in self.items if item.type != "system"]
        if self.sends_at_once and self.is_interrupted(relevant):
            self.add("continuation", {"type": "user", "isMeta": True, "message": _user_text(CONTINUATION)})
            return True
        if self.sends_at_once and is_open_prompt(relevant):
            return True
        if self.profile.interruption in ("results-and-context", "last-row") and self.is_interrupted(relevant):
            self.add("continuation", {"type": "user", "isMeta": True, "message": _user_text(CONTINUATION)})
            relevant = self.items
        if self.profile.interruption == "sentinel":
            if not answered and self.is_quiet(relevant):
                return False
            if relevant and relevant[-1].type == "attachment":  # context behind an error text opens the turn again
                relevant = [item for item in relevant if not item.light.api_error]
            relevant = [item for item in relevant if item.type != "attachment"]
        if relevant[-1].type == "user" if relevant else self.profile.interruption == "sentinel":
            self.add("sentinel", sentinel())
        return False

    def is_interrupted(self, relevant: list[Item]) -> bool:
        """Whether the last turn counts as interrupted, so that the model is asked to continue."""
        rest = [item for item in relevant if not (item.type == "assistant" and item.light.api_error)]
        if not rest:
            return False
        last = rest[-1]
        if last.type == "attachment":
            if self.profile.interruption == "last-row":
                return True
            before = next((item for item in reversed(rest) if item.type != "attachment"), None)
            return before is not None and before.type == "user" and not is_closed(before)
        if last.type != "user" or last.light.meta or last.light.compact_summary:
            return False
        return last.result is not None or next((block.get("type") for block in last.blocks()), None) == "tool_result"

    def is_quiet(self, relevant: list[Item]) -> bool:
        """Whether the tail asks for no answer: a local command, or context behind a closed message."""
        if relevant and relevant[-1].type == "attachment":
            before = next((item for item in reversed(relevant) if item.type != "attachment"), None)
            if before is not None and before.type == "user" and is_closed(before):
                return True
        return self.profile.caveat_is_quiet and ends_in_caveat([item for item in relevant if item.type != "attachment"])

    def add(self, why: str, value: dict[str, Any], parent: str | None = None) -> None:
        """A row that the resume itself writes, held like the others."""
        ref = f"+{len(self.state.added) + 1}"
        hangs_from = parent or self.parent_for_added()
        self.state.added.append(AddedRow(ref, why, value, hangs_from))
        content = value["message"]["content"]
        light = Light()
        light.meta, light.model, light.message_id = value.get("isMeta") is True, value["message"].get("model"), value["message"].get("id")
        self.items.append(Item(ref, value["type"], light, content=content))

    def parent_for_added(self) -> str | None:
        rows = [item for item in self.items if item.is_conversation()] if self.profile.parent_skips_context else self.items
        return rows[-1].ref if rows else None


def is_open_prompt(relevant: list[Item]) -> bool:
    """Whether a person's prompt is the last message."""
    last = next((item for item in reversed(relevant) if not (item.type == "assistant" and item.light.api_error)), None)
    return last is not None and last.type == "user" and not last.light.meta and not is_closed(last)


def is_closed(item: Item) -> bool:
    """A user message that nobody waits on an answer for: a compaction summary or the text of an interruption."""
    return item.light.compact_summary or (item.light.text or "").startswith(INTERRUPTED)


def ends_in_caveat(items: list[Item]) -> bool:
    """Whether the tail is one local command, its output included, right behind its caveat row."""
    rest = [(item.light.text or "") if item.type == "user" else "" for item in items]
    while rest and rest[-1].startswith(COMMAND_OUTPUT):
        rest.pop()
    if rest and rest[-1].startswith(COMMAND):
        rest.pop()
    return bool(rest) and rest[-1].startswith(CAVEAT)


def interrupted_result(item: Item, call: str) -> dict[str, Any]:
    """The client's stored result for a call whose outcome is unknown."""
    block = {"type": "tool_result", "content": OUTCOME_UNKNOWN, "is_error": True, "tool_use_id": call}
    return {
        "type": "user",
        "message": {"role": "user", "content": [block]},
        "toolDenialKind": "interrupted",
        "toolUseResult": OUTCOME_UNKNOWN,
        "sourceToolAssistantUUID": item.uuid,
    }


def sentinel() -> dict[str, Any]:
    """The client's own assistant message behind an unanswered user message."""
    message = {"id": "sentinel", "role": "assistant", "model": "<synthetic>", "content": [{"type": "text", "text": SENTINEL}]}
    return {"type": "assistant", "isApiErrorMessage": False, "message": message}


def _user_text(text: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": text}]}
