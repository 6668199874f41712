"""Clean-up at load: what a resume removes from the chain, or answers, before anything is sent."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from ...verdicts import Drop, Reason, Stage
from .items import Item, group_of, message_groups
from .profiles import Profile

NO_CONTENT = "(no content)"
Pairs = list[tuple[dict[str, Any], str]]
"""Blocks, each with the ref of its row."""
THINKING = ("thinking", "redacted_thinking")


class Cleanup:
    """Removes items step by step; `items` is what is left, `drops` says why the others went."""

    def __init__(self, items: list[Item], profile: Profile) -> None:
        self.items, self.profile = items, profile
        self.drops: dict[str, Drop] = {}
        self.to_answer: list[tuple[Item, str]] = []
        """(assistant item, call id) that get a stored result saying that the outcome is unknown."""

    def run(self, keep_tail: bool, drop_tail: bool = False) -> None:
        """All steps in the client's order. `keep_tail`: unresolved calls of the last message may be answered; `drop_tail`: a last message
        none of whose calls is answered goes as a whole."""
        if not self.profile.needs_attachment:
            self.malformed()
        if drop_tail:
            self.unanswered_tail()
        self.unresolved_calls(keep_tail)
        if self.profile.drops_thinking_only:
            self.thinking_only()
        self.blank_messages()

    def drop(self, item: Item, reason: Reason, because: str | None = None) -> None:
        for ref in item.refs or [item.ref]:
            self.drops[ref] = Drop(ref, Stage.CLEANUP, reason, because)

    def malformed(self) -> None:
        """Rows whose content is of no kind that can be sent."""
        kept: list[Item] = []
        for item in self.items:
            if item.light.content_missing:
                self.drop(item, Reason.MALFORMED)
            else:
                kept.append(item)
        self.items = kept

    def unresolved_calls(self, keep_tail: bool) -> None:
        """Rows whose calls all lack a result go, unless they belong to the tail message of a client that answers it."""
        answered = {call for item in self.items if item.type == "user" for call in item.results()}
        open_items = [item for item in self.items if item.type == "assistant" and any(call not in answered for call in item.calls())]
        tail = self.tail_group() if keep_tail and open_items else None
        asked = {call for item in open_items if group_of(item) == tail for call in item.calls() if call not in answered}
        whole = {group_of(item) for item in self.items if item.type == "assistant" and asked & set(item.calls())}
        kept: list[Item] = []
        for item in self.items:
            calls = item.calls() if item.type == "assistant" else []
            missing = [call for call in calls if call not in answered]
            if missing and tail is not None and group_of(item) == tail:
                self.to_answer += [(item, call) for call in missing]
            elif missing and len(missing) == len(calls) and group_of(item) not in whole:
                self.drop(item, Reason.UNRESOLVED_CALL)
                continue
            kept.append(item)
        self.items = kept

    def unanswered_tail(self) -> None:
        """Drop the last message when it has calls and no result at all."""
        answered = {call for item in self.items if item.type == "user" for call in item.results()}
        key = self.tail_group()
        calls = [call for item in self.items if item.type == "assistant" and group_of(item) == key for call in item.calls()]
        if not calls or answered & set(calls):
            return
        for item in self.items:
            if item.type == "assistant" and group_of(item) == key:
                self.drop(item, Reason.UNRESOLVED_CALL)
        self.items = [item for item in self.items if item.type != "assistant" or group_of(item) != key]

    def tail_group(self) -> str | None:
        """Message of the last assistant item, if nothing but results and error texts follows it and no other message stands between its rows."""
        key: str | None = None
        left = 0
        failed = False
        for item in reversed(self.items):
            if item.type == "assistant" and key is None:
                if item.light.api_error:
                    failed = True
                    continue
                key, left = group_of(item), sum(1 for one in self.items if one.type == "assistant" and group_of(one) == group_of(item))
            elif item.type == "assistant" and group_of(item) != key:
                break
            if item.type == "assistant":
                left -= 1
            elif item.type == "user" and key is None and not item.results():
                return None
        return None if left or (failed and self.ends_in_reply()) else key

    def ends_in_reply(self) -> bool:
        """Whether the last item that says something, calls without a result apart, is the model's: an error text behind it closes the turn."""
        answered = {call for item in self.items if item.type == "user" for call in item.results()}
        for item in reversed(self.items):
            open_call = bool(item.calls()) and not answered & set(item.calls())
            silent = item.light.api_error or open_call or only_thinks(item) or (item.type == "assistant" and is_blank(item))
            if item.is_conversation() and not silent:
                return item.type == "assistant"
        return False

    def thinking_only(self) -> None:
        """Messages of which nothing but thinking is left."""
        groups = message_groups(self.items)
        blank_too = self.profile.blank_text == "message"
        speaks = {
            key for key, group in groups.items() if not all(is_silent(block, blank_too) for item in group if item.content for block in item.blocks())
        }
        kept = []
        for item in self.items:
            if item.type == "assistant" and only_thinks(item, blank_too) and group_of(item) not in speaks:
                self.drop(item, Reason.THINKING_ONLY)
            else:
                kept.append(item)
        self.items = kept

    def blank_messages(self) -> None:
        """Assistant text that is white space only; users that become neighbours are merged at once."""
        whole_of = {key: (all(map(is_blank, group)), says_nothing(group)) for key, group in message_groups(self.items).items()}
        kept: list[Item] = []
        for item in self.items:
            alone = self.profile.blank_text == "row" or self.profile.blank_text == "spaces" and any(block.get("text") for block in item.blocks())
            blank, stand_in = whole_of.get(group_of(item), (False, False))
            if item.type == "assistant" and ((is_blank(item) and (alone or blank)) or (self.profile.drops_no_content and stand_in)):
                self.drop(item, Reason.EMPTY_TEXT)
            else:
                kept.append(item)
        if len(kept) == len(self.items) or self.profile.interruption == "sentinel":
            self.items = kept
            return
        self.items = []
        for users, run in groupby(kept, key=lambda item: item.type == "user"):
            neighbours = list(run)
            self.items += [self.one_user(neighbours)] if users and len(neighbours) > 1 else neighbours

    def one_user(self, run: list[Item]) -> Item:
        """Neighbouring user items as one: results first, a newline at the seam of two texts; a side without content is left out."""
        first, blocks, outcome = run[0], pairs(run[0]), run[0].result
        results: int | None = None
        for item in run[1:]:
            more = pairs(item)
            if bool(more) != bool(blocks):
                self.drop(item if blocks else first, Reason.EMPTY_TEXT)
            results = merge_into(blocks, more, results)
            first, outcome = item if first.light.meta else first, outcome or item.result
        return Item(
            first.ref, "user", first.light, content=[block for block, _ in blocks], result=outcome, refs=[ref for _, ref in blocks], uuid=first.uuid
        )


def is_silent(block: dict[str, Any], blank_too: bool) -> bool:
    """Whether a block is thinking or, with `blank_too`, text that can't be seen."""
    return block.get("type") in THINKING or (blank_too and block.get("type") == "text" and not str(block.get("text") or "").strip())


def only_thinks(item: Item, blank_too: bool = False) -> bool:
    """Whether it holds thinking and nothing that speaks."""
    return any(block.get("type") in THINKING for block in item.blocks()) and all(is_silent(block, blank_too) for block in item.blocks())


def is_blank(item: Item) -> bool:
    """Whether an assistant item holds white-space text and nothing else."""
    if isinstance(item.content, str):
        return not item.content.strip()
    if not item.content:
        return False
    return all(isinstance(b, dict) and b.get("type") == "text" and not str(b.get("text") or "").strip() for b in item.content)


def says_nothing(items: list[Item]) -> bool:
    """Whether a message is the client's own stand-in for an empty one, and nothing else."""
    return [block.get("text") for item in items for block in item.blocks()] == [NO_CONTENT]


def pairs(item: Item) -> Pairs:
    """(block, row) of an item."""
    refs = item.refs
    return [(block, refs[n] if refs else item.ref) for n, block in enumerate(item.blocks())]


def merge_into(blocks: Pairs, more: Pairs, results: int | None) -> int:
    """Grow the blocks of a user message by those of the next one: results first, a newline at the seam of two texts.

    `results` is the answer of the merge before (how many results stand in front), None for blocks that were not merged yet: so a message
    of thousands of rows takes linear time.
    """
    if blocks and more and blocks[-1][0].get("type") == "text" and more[0][0].get("type") == "text":
        block, ref = blocks[-1]
        blocks[-1] = ({**block, "text": f"{block.get('text', '')}\n"}, ref)
    if results is None:
        answers = [pair for pair in blocks if pair[0].get("type") == "tool_result"]
        blocks[:], results = answers + [pair for pair in blocks if pair[0].get("type") != "tool_result"], len(answers)
    answers = [pair for pair in more if pair[0].get("type") == "tool_result"]
    blocks[results:results] = answers
    blocks += [pair for pair in more if pair[0].get("type") != "tool_result"]
    return results + len(answers)
