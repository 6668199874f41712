"""All rules in repair order (order is meaning), and `diagnose`."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType

from . import reading
from .findings import Finding, Severity
from .inspection import Inspection
from .rules import (
    already_done,
    api_error_row,
    bad_timestamp,
    bad_tool_input,
    branch_not_restored,
    broken_preserved_segment,
    child_before_parent,
    compacted_bloat,
    content_after_call,
    context_overflow,
    cwd_drift,
    dangling_parent,
    double_dispatch,
    duplicate_call_id,
    duplicate_item_id,
    duplicate_result,
    duplicate_row,
    duplicate_uuid,
    effect_ahead_of_checkpoint,
    effect_without_row,
    emptied_history,
    empty_content,
    empty_text,
    foreign_session_rows,
    half_compaction,
    hidden_late_result,
    image_limits,
    inconsistent_step,
    injected_system_prompt,
    interleaved_writers,
    interrupted_turn,
    invalid_permission_mode,
    later_claim,
    legacy_attachment,
    lone_surrogate,
    long_tool_name,
    lost_checkpoint,
    lost_file_backup,
    lost_replacement,
    lost_tool_output,
    malformed_row,
    missing_final_newline,
    non_object_row,
    nul_block,
    odd_bytes,
    open_background_task,
    open_turn,
    open_vote,
    orphan_reasoning,
    orphan_result,
    oversized_row,
    parent_cycle,
    partial_response,
    pending_approval,
    pending_interrupt,
    progress_bloat,
    queued_prompt,
    reexecution_risk,
    removed_worktree,
    request_hash_mismatch,
    request_problems,
    restored_edit_mode,
    result_not_adjacent,
    resume_refused,
    risky_permission_mode,
    same_intent_new_key,
    second_root,
    several_leaves,
    shared_worktree,
    sibling_branches,
    sidechain_tail,
    spliced_lines,
    split_message,
    split_server_tool_pair,
    stale_attempt,
    stale_last_prompt,
    step_not_advanced,
    stored_cache_control,
    string_content,
    task_outcome_unknown,
    thinking_only,
    thinking_other_model,
    transcript_undecodable,
    truncated_arguments,
    truncated_tail,
    uncertain_operation,
    unmerged_worktree,
    unmerged_writes,
    unparseable_row,
    unresolved_call,
    work_after_saved_step,
)

RULES: tuple[ModuleType, ...] = (
    truncated_tail,
    spliced_lines,
    nul_block,
    unparseable_row,
    non_object_row,
    lone_surrogate,
    odd_bytes,
    missing_final_newline,
    oversized_row,
    malformed_row,
    bad_timestamp,
    resume_refused,
    duplicate_row,
    duplicate_uuid,
    dangling_parent,
    parent_cycle,
    foreign_session_rows,
    stale_last_prompt,
    second_root,
    several_leaves,
    interleaved_writers,
    sidechain_tail,
    child_before_parent,
    half_compaction,
    broken_preserved_segment,
    emptied_history,
    compacted_bloat,
    progress_bloat,
    thinking_only,
    thinking_other_model,
    empty_text,
    empty_content,
    string_content,
    api_error_row,
    unresolved_call,
    orphan_result,
    orphan_reasoning,
    duplicate_item_id,
    truncated_arguments,
    duplicate_call_id,
    duplicate_result,
    hidden_late_result,
    result_not_adjacent,
    split_message,
    content_after_call,
    split_server_tool_pair,
    effect_without_row,
    uncertain_operation,
    later_claim,
    same_intent_new_key,
    double_dispatch,
    stale_attempt,
    lost_checkpoint,
    effect_ahead_of_checkpoint,
    task_outcome_unknown,
    pending_interrupt,
    reexecution_risk,
    sibling_branches,
    branch_not_restored,
    unmerged_writes,
    pending_approval,
    open_turn,
    interrupted_turn,
    open_background_task,
    queued_prompt,
    legacy_attachment,
    invalid_permission_mode,
    risky_permission_mode,
    restored_edit_mode,
    injected_system_prompt,
    request_hash_mismatch,
    lost_tool_output,
    lost_file_backup,
    lost_replacement,
    shared_worktree,
    unmerged_worktree,
    removed_worktree,
    cwd_drift,
    step_not_advanced,
    inconsistent_step,
    transcript_undecodable,
    partial_response,
    work_after_saved_step,
    open_vote,
    already_done,
    context_overflow,
    image_limits,
    long_tool_name,
    bad_tool_input,
    stored_cache_control,
    request_problems,
)
"""Bytes first, then rows, chain, messages, calls, runtime state, provider limits, and last the problems of the derived request: a later
step must not hide an earlier loss."""

ORDER = tuple(Severity)


EVERY = frozenset((uncertain_operation, later_claim, same_intent_new_key, request_problems))
"""Rules about operations and requests, whatever program wrote the session."""
TRANSCRIPTS = ("claude-code", "raw")
"""Clients whose sessions are transcripts in JSON Lines: rules that name no client of their own are about their rows."""


def rules_of(client: str) -> list[ModuleType]:
    """The rules that a client's sessions are tried by, in order: those whose codes it names (`FINDS`); where it names none, those that name it
    (`CLIENTS`) and those for every one."""
    codes: frozenset[str] | None = getattr(reading.CLIENTS[client], "FINDS", None)
    if codes is not None:
        return [rule for rule in RULES if not codes.isdisjoint(rule.CODES) or rule is request_problems]
    return [rule for rule in RULES if rule in EVERY or client in getattr(rule, "CLIENTS", TRANSCRIPTS)]


def diagnose(inspection: Inspection) -> list[Finding]:
    """Findings of every rule, in rule order. A problem of the request that a rule has already named makes that finding no second one,
    but as severe as the problem is. That the client refuses the session can be repaired where one of its causes can."""
    found: list[Finding] = []
    writes = hasattr(reading.CLIENTS[inspection.session.client], "write") and inspection.session.can_be_edited()
    named: dict[tuple[str, str], int] = {}
    for rule in rules_of(inspection.session.client):
        for finding in rule.find(inspection):
            same = {named[finding.code, row] for row in finding.rows if (finding.code, row) in named} if rule is request_problems else set()
            for number in same:
                found[number] = replace(found[number], severity=min(found[number].severity, finding.severity, key=ORDER.index))
            if same:
                continue
            named.update(((finding.code, row), len(found)) for row in finding.rows)
            repairable = finding.severity is not Severity.INFO and mends(inspection.session.client, finding.code)
            repairable = repairable and (not hasattr(rule, "mends") or rule.mends(inspection, finding))
            found.append(replace(finding, repairable=repairable and writes))
    some = any(finding.repairable for finding in found if finding.code not in resume_refused.CODES)
    return [
        finding if finding.code not in resume_refused.CODES or some or resume_refused.misleading(inspection) is not None
        else replace(finding, repairable=False)
        for finding in found
    ]  # fmt: skip


def mends(client: str, code: str) -> bool:
    """Whether a repair of a client's session can mend a finding of this code."""
    codes: frozenset[str] | None = getattr(reading.CLIENTS[client], "MENDS", None)
    return (codes is None or code in codes) and any(code in phase for phase in PHASES)


PAGES: dict[str, str] = {code: rule.__doc__ or "" for rule in RULES for code in rule.CODES}
"""Help page (markdown) of each code."""

PHASES: tuple[dict[str, ModuleType], ...] = tuple(
    {code: rule for rule in rules for code in rule.CODES}
    for rules in (
        (truncated_tail, spliced_lines, nul_block, unparseable_row, non_object_row),
        (lone_surrogate, missing_final_newline, malformed_row, lost_replacement, duplicate_row, duplicate_uuid),
        (dangling_parent, parent_cycle, second_root),
        (resume_refused, bad_timestamp, foreign_session_rows, stale_last_prompt, several_leaves, half_compaction, broken_preserved_segment),
        (string_content, thinking_only, empty_text, empty_content, api_error_row),
        (hidden_late_result, duplicate_call_id, duplicate_result, split_server_tool_pair),
        (result_not_adjacent,),
        (transcript_undecodable,),
        (orphan_result, unresolved_call),
        (lost_checkpoint,),
        (task_outcome_unknown,),
        (orphan_reasoning, duplicate_item_id),
        (reexecution_risk,),
        (partial_response, work_after_saved_step),
        (legacy_attachment, invalid_permission_mode, restored_edit_mode, image_limits, long_tool_name, bad_tool_input, stored_cache_control),
        (step_not_advanced, inconsistent_step),
        (context_overflow,),
        (open_turn,),
    )
)
"""Rules that can mend, by finding code, in the order in which a repair goes: each phase is read again before the next one is planned."""
