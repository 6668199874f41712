"""Stored context (attachment rows) -> text blocks: the stored rendering where there is one, known wordings, else a stand-in that says so."""

from __future__ import annotations

import json
from typing import Any

from .items import Item
from .profiles import Profile

LEGACY = ("new_file", "new_directory")
"""Kinds that the newest client no longer reads, whatever rendering is stored."""


def attachment_blocks(item: Item, profile: Profile) -> tuple[list[dict[str, Any]] | None, bool]:
    """(blocks, whether their text is a stand-in for one that the client makes at send time); (None, False): not sent at all."""
    kind = item.light.attachment
    if profile.rendered and item.rendered is not None and kind and kind not in LEGACY and (kind != "file" or _has_text(item)):
        texts = [entry.get("content") for entry in item.rendered if isinstance(entry, dict)]
        bare = is_persons_message(item, profile)
        return [_text(unframed(text) if bare else text) for text in texts if isinstance(text, str)] or None, False
    if kind not in profile.context_types or not _has_text(item):
        return None, False
    text = _wording(kind, item.attachment)
    if text is not None:
        return [_text(reminder(text))], False
    return [_text(reminder(f"(text of the stored context `{kind}`, made by the client at send time; not recorded)"))], True


def unframed(text: str) -> str:
    """A text without that frame: what a message of role `system` and a person's own words are sent as."""
    return text.removeprefix("<system-reminder>\n").removesuffix("\n</system-reminder>")


def reminder(text: str) -> str:
    """Text framed as the client frames what no person wrote."""
    return f"<system-reminder>\n{text}\n</system-reminder>"


def is_persons_message(item: Item, profile: Profile) -> bool:
    """A prompt that a person typed while the model was working: sent as user text, without the frame."""
    return profile.queued_as_user and item.light.attachment == "queued_command" and item.attachment.get("humanTurn") is True


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _has_text(item: Item) -> bool:
    """Whether a sent kind of context has anything to say in this row."""
    attachment, kind = item.attachment, item.light.attachment
    if kind == "hook_success":
        names = (str(attachment.get("hookEvent")), str(attachment.get("hookName")))
        sent = any(name.startswith(("SessionStart", "UserPromptSubmit")) for name in names)
        return sent and bool(attachment.get("content"))
    if kind == "invoked_skills":
        return bool(attachment.get("skills"))
    if kind == "file":
        return "content" in attachment
    return True


def _wording(kind: str | None, attachment: dict[str, Any]) -> str | None:
    """Text of the few kinds whose wording was recorded in full."""
    if kind == "hook_additional_context":
        content = attachment.get("content")
        text = "\n".join(map(str, content)) if isinstance(content, list) else content
        return f"{attachment.get('hookName')} hook additional context: {text}"
    if kind == "hook_success":
        return f"{attachment.get('hookName')} hook success: {attachment.get('content')}"
    if kind == "queued_command" and isinstance(attachment.get("prompt"), str):
        return (
            f"The user sent a new message while you were working:\n{attachment['prompt']}\n\n"
            "IMPORTANT: After completing your current task, you MUST address the user's message above. Do not ignore it."
        )
    if kind == "file" and isinstance(attachment.get("filename"), str):
        asked = json.dumps({"file_path": attachment["filename"]}, separators=(",", ":"))
        return f"Called the Read tool with the following input: {asked}"
    return None
