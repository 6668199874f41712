"""What each observed release does at a resume, as named behaviours. Code asks the behaviour and never compares version strings.

Sources: black-box recordings of the real client (formats facts of 2.0.76, 2.1.89, 2.1.197 and 2.1.332) and, for the releases between
2.1.197 and 2.1.332, the seven behaviours that were tried release by release. What was not tried in such a release is taken from the
older neighbour, and `note` says so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from ...errors import ReadError


@dataclass(frozen=True, slots=True)
class Profile:
    """The rules of one release. Groups follow the order in which a resume applies them."""

    version: str
    note: str
    default_model: str

    # reading lines
    reads_leading_record: bool = True
    """Of a line that holds more than one JSON text, the first is read; otherwise the whole line is skipped."""
    null_line: str = "skip"
    """`null` as a line: skip | fatal (the resume fails) | stop (reading ends there, silently)."""
    needs_message: bool = False
    """A user or assistant row without `message` on the chain makes the resume fail."""
    needs_attachment: bool = False
    """An attachment row without the fields of its type makes the resume fail."""
    bad_replacement: str = "skip"
    """A content-replacement row without a list of replacements: skip | fatal | stop."""
    string_assistant: str = "accept"
    """Assistant content that is a plain string: accept | refuse."""

    # choosing the leaf
    leaf: str = "last-prompt"
    """last-prompt: physical order and `last-prompt` rows; latest-timestamp: the newest row, the first one on a tie; latest-tip: the newest tip."""
    leaf_follows_children: bool = True
    """The physically last row is followed down to its tip before it counts."""
    leaf_needs_timestamp: bool = False
    """A leaf without a valid timestamp means that the session is not found."""

    # walking the chain
    bridge_seconds: float | None = 5.0
    """A missing parent is bridged to the newest row that is at most this much older; None: never."""
    unknown_types_in_chain: bool = True
    """A row of an unknown type in the chain is stepped over; otherwise it breaks the chain."""
    cycle: str = "cut"
    """A cycle of parents: bridge (as a missing parent) | cut | hang."""
    recovers_by_call: bool = True
    """Results beside the chain are found by the id of their call, wherever they hang, and keep the order of the file; otherwise only
    those that hang from a row of the message are found, and come before the ones on the chain."""
    recovers_in_order: bool = True
    """Calls of a message that hang beside the chain take their place in file order; otherwise they come behind its last row on the chain."""

    preserved_list: bool = True
    """A compaction's list of preserved rows counts before its segment, in the order of the list."""

    # clean-up
    answers_unresolved_tail: bool = True
    """Unresolved calls of the last message are kept and answered by a stored result that says the outcome is unknown."""
    cleans_pairs: bool = True
    """Orphans, duplicates and missing results are repaired before sending."""
    drops_thinking_only: bool = True
    blank_text: str = "message"
    """White-space text in assistant messages: message (dropped when the whole message is blank; blank blocks of kept messages too) |
    spaces (a row of spaces by itself, an empty one only with its whole message) | row (each row by itself)."""
    drops_no_content: bool = True
    """An assistant message that is only the client's `(no content)` is dropped like an empty one."""
    blank_user_block: bool = True
    """A white-space user block is sent as `(no content)`."""

    # interruption
    interruption: str = "sentinel"
    """When the model is asked to continue: sentinel (never; a closing assistant message only) | any-sentinel (the same, whatever the tail) |
    results-and-context (after a result, or context behind an open message) | last-row (also after context behind anything)."""
    parent_skips_context: bool = False
    """Rows that the resume adds hang from the last message, not from the context behind it."""
    caveat_is_quiet: bool = True
    """A local-command caveat row at the tail means that nothing was interrupted."""
    notifies: str | None = "reminder"
    """Background work without completion record: reminder (wrapped as a system notification) | plain | None."""

    # sending
    context_prefix: bool = False
    """The first message starts with context from outside the transcript, so that a removed first row leaves no gap."""
    calls_last: bool = True
    """Within a message calls are moved behind the other blocks, unless a run of calls stands between two thinking blocks."""
    call_keys: bool = True
    """Unknown keys of a stored call are sent; otherwise only its type, id, name and input."""
    wraps_own_notes: bool = True
    """User rows that the client marked as its own notes are sent as reminders."""
    thinking_of_other_models: bool = False
    """Thinking of another model than the request's is sent all the same."""
    context_as_system: bool = True
    """Stored context can be sent as a message of role `system` where the model takes one."""
    rendered: bool = True
    """The stored rendering of context (`rendered`, `prompt_snapshot`) is sent as it stands."""
    queued_as_user: bool = True
    """A prompt that a person typed while the model was working is sent as user text, not as context."""
    context_types: frozenset[str] = frozenset()
    """Attachment types whose text is sent."""

    # writing
    newline_before_append: bool = True
    """An unterminated last line is ended before rows are appended; otherwise the first new row is glued to it and lost."""
    restores_model: bool = True
    """The request's model is that of the last surviving assistant row."""
    known_models: tuple[str, ...] = ()
    """How the names begin of the models that are restored: others are retired or not recognised, and the default is used. Empty: all are."""
    renamed_tools: tuple[tuple[str, str], ...] = ()
    """Old and new names of tools: stored calls are sent under the new one."""


COMMON_CONTEXT = frozenset(
    "file directory edited_text_file selected_lines_in_ide opened_file_in_ide nested_memory queued_command output_style diagnostics plan_mode "
    "plan_mode_reentry plan_mode_exit plan_file_reference auto_mode auto_mode_exit date_change critical_system_reminder token_usage budget_usd "
    "compact_file_reference task_status mcp_resource hook_blocking_error hook_additional_context hook_success hook_stopped_continuation "
    "async_hook_response agent_mention relevant_memories deferred_tools_delta mcp_instructions_delta ultrathink_effort invoked_skills".split()
)
NEWER_CONTEXT = frozenset("agent_listing_delta skill_listing task_reminder".split())
NEWEST_CONTEXT = frozenset("environment model session_context date remote_session_change total_tokens_reminder".split())

V332 = Profile(
    version="2.1.332",
    note="observed; the newest",
    default_model="claude-opus-5-5",
    known_models=tuple(f"claude-{name}" for name in "opus-5 opus-4-8 opus-4-7 opus-4-6 opus-4-5 sonnet-5 sonnet-4-6 haiku-4-5".split()),
    renamed_tools=(("Task", "Agent"),),
    cycle="bridge",
    context_types=COMMON_CONTEXT | NEWER_CONTEXT | NEWEST_CONTEXT,
)
V197 = Profile(
    version="2.1.197",
    note="observed",
    default_model="claude-opus-4-8",
    null_line="fatal",
    needs_message=True,
    needs_attachment=True,
    bad_replacement="fatal",
    string_assistant="refuse",
    context_prefix=True,
    recovers_by_call=False,
    call_keys=False,
    wraps_own_notes=False,
    leaf_follows_children=False,
    leaf_needs_timestamp=True,
    cycle="bridge",
    answers_unresolved_tail=False,
    blank_text="spaces",
    interruption="results-and-context",
    caveat_is_quiet=False,
    notifies="plain",
    rendered=False,
    queued_as_user=False,
    context_types=COMMON_CONTEXT | NEWER_CONTEXT | {"new_file", "new_directory", "todo_reminder"},
    newline_before_append=False,
)
V89 = Profile(
    version="2.1.89",
    note="observed; nearest to the snapshot of March 2026",
    default_model="claude-sonnet-4-6",
    reads_leading_record=False,
    null_line="stop",
    preserved_list=False,
    needs_message=True,
    needs_attachment=True,
    bad_replacement="stop",
    string_assistant="refuse",
    context_prefix=True,
    recovers_by_call=False,
    calls_last=False,
    call_keys=False,
    wraps_own_notes=False,
    leaf="latest-timestamp",
    leaf_follows_children=False,
    bridge_seconds=None,
    unknown_types_in_chain=False,
    cycle="cut",
    recovers_in_order=False,
    answers_unresolved_tail=False,
    blank_text="row",
    blank_user_block=False,
    drops_no_content=False,
    interruption="last-row",
    parent_skips_context=True,
    caveat_is_quiet=False,
    notifies=None,
    thinking_of_other_models=True,
    context_as_system=False,
    rendered=False,
    queued_as_user=False,
    context_types=COMMON_CONTEXT | {"new_file", "new_directory", "todo_reminder", "compaction_reminder"},
    newline_before_append=False,
    restores_model=False,
)
V76 = replace(
    V89,
    version="2.0.76",
    note="observed on thirteen files only; what was not seen is taken from 2.1.89",
    default_model="claude-sonnet-4-5-20250929",
    null_line="skip",
    leaf="latest-tip",
    cycle="hang",
    cleans_pairs=False,
    drops_thinking_only=False,
    interruption="any-sentinel",
)
BETWEEN = "tried for seven behaviours only; what was not tried is taken from the older neighbour"
V232 = replace(V197, version="2.1.232", note=BETWEEN, null_line="skip")
V266 = replace(V232, version="2.1.266", leaf_follows_children=True)
V277 = replace(V266, version="2.1.277", string_assistant="accept")
V281 = replace(
    V277,
    version="2.1.281",
    answers_unresolved_tail=True,
    interruption="sentinel",
    caveat_is_quiet=True,
)
V315 = replace(V332, version="2.1.315", note=BETWEEN.replace("older", "newer"))

PROFILES: dict[str, Profile] = {p.version: p for p in (V332, V315, V281, V277, V266, V232, V197, V89, V76)}
"""Newest first; the first one is simulated unless another is asked for."""


def profile_for(version: str | None) -> Profile:
    """The profile of a release: itself, or the newest one that is not newer; None asks for the newest observed. Raises ReadError."""
    if version is None:
        return V332
    if not re.fullmatch(r"\d+(\.\d+)*", version):
        raise ReadError(f"client version {version!r} is no version number", hint=f"Observed: {', '.join(PROFILES)}")
    wanted = _key(version)
    return next((p for p in PROFILES.values() if _key(p.version) <= wanted), V76)


def _key(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))
