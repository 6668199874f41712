"""Calls paired with results -> the operations of a session, with graded evidence and the class of their effect.

Nothing here asks the world: a state says what the transcript proves. A call whose result does not tell stays uncertain, however sure the model
sounds, until a person says what happened.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .calls import ORDER, Answer, Call, Calls, LeftOut, Outcome, WithoutRow, message_of
from .calls import Evidence as Evidence
from .effects import Effect, EffectClass, effect_of, policy_version, worst
from .kept import Kept
from .later import Later
from .policy import BUILT_IN, Policy
from .session import BlockKind, Row, RowKind, Session
from .state import RuntimeState
from .wording import count

STATES = {
    Outcome.RESULT: "confirmed",
    Outcome.REFUSED: "failed",
    Outcome.DENIED: "not-started",
    Outcome.WAITING: "waiting-approval",
    Outcome.ASKED: "waiting-approval",
    Outcome.LAUNCHED: "confirmed",
    Outcome.HAPPENED: "resolved",
    Outcome.DID_NOT_HAPPEN: "resolved",
}
"""What a result settles; every other outcome leaves the operation uncertain, unless it only reads."""
SAYS = {
    Outcome.RESULT: "A result was saved. We did not check the target.",
    Outcome.REFUSED: "The tool refused the call and did nothing.",
    Outcome.DENIED: "The row records that the call was denied before it ran.",
    Outcome.HAPPENED: "A person decided at the repair: it happened.",
    Outcome.DID_NOT_HAPPEN: "A person decided at the repair: it did not happen.",
    Outcome.WAITING: "It waits for a person's answer. What its code does before it asks has run, and runs again at a resume.",
    Outcome.ASKED: "It waits for a person's yes or no, and was not started before the last save.",
    Outcome.LAUNCHED: "The result only says that it was started in the background; how it ended is not in it.",
    Outcome.REJECTED: "The result only says that the call was rejected, interrupted, cancelled or timed out. It may have run all the same.",
    Outcome.STAND_IN: "The client wrote this in place of a result that was never saved. It knows nothing of what happened.",
    Outcome.MARKED: "A repair wrote this in place of a result that was never saved. Nobody knows what happened.",
}
GRADES = {Outcome.RESULT: "strong", Outcome.REFUSED: "strong", Outcome.DENIED: "strong", Outcome.HAPPENED: "strong", Outcome.DID_NOT_HAPPEN: "strong"}
UNIQUE = 16
"""Characters from which a call's id is one of its own in all sessions: those that providers make are longer."""
KEPT = "ledger"
"""Kind of the evidence that says what the kept ledger holds."""
LEFT_OUT = "left-out"
"""Kind of the evidence that a repair's note gives of a call that it took out."""
LOST_ANSWER = "lost answer"
"""Stands for the tool where an answer may have called any."""
ENDED = frozenset(("completed", "failed"))
"""Words of a notice that say that a background task came to its end."""


@dataclass(frozen=True)
class Operation:
    """A tool call with its effect class and what is known of it. `key` survives repair and fork."""

    key: str
    call_id: str | None
    """None for what no call speaks of by itself: work that a call left running, a tool that was used without a row."""
    tool: str
    arguments: Any
    effect: str
    """read-only | idempotent | mutating | destructive | unknown"""
    why_effect: str
    state: str
    """confirmed | failed | uncertain | resolved | waiting-approval | not-started"""
    on_branch: bool
    call: str | None
    result: str | None
    evidence: tuple[Evidence, ...] = ()
    target: str | None = None
    """What the call acts on (a path, a host, an order), where it can be told."""
    policy: str = policy_version(BUILT_IN)
    """Versions of the tables and of the operator's policy by which the effect was judged."""
    declared_target: str = ""
    """Name of the target that the operator's rule for this call declares; blank without one."""


class _Recorded(Operation):
    """An operation of a session: what needs the call's arguments is worked out when it is first asked for."""

    def __init__(self, ledger: _Ledger, state: str, on_branch: bool, call: Call, answers: list[Answer], background: bool = False) -> None:
        self.__dict__.update(
            call_id=None if background else call.id, tool=call.tool, state=state, on_branch=on_branch, call=call.row.ref,
            result=answers[0].row.ref if answers else None, policy=ledger.version, _ledger=ledger, _call=call, _answers=answers,
        )  # fmt: skip

    def __getattribute__(self, name: str) -> Any:
        if name not in LAZY:
            return object.__getattribute__(self, name)
        own = object.__getattribute__(self, "__dict__")
        if name not in own:
            own[name] = own["_ledger"].work_out(name, self, own["_call"], own["_answers"])
        return own[name]


LAZY = frozenset(("key", "arguments", "effect", "why_effect", "evidence", "target", "declared_target"))


def operations_of(
    session: Session,
    state: RuntimeState,
    book: Calls,
    arguments: Callable[[Session, Call], Any],
    policy: Policy = BUILT_IN,
    kept: Sequence[Kept] = (),
) -> list[Operation]:
    """The operations of all parts in file order, work in the background behind the call that started it, then those that no row holds.

    `book` is what the client's reader says about the calls, `arguments` how it reads those of one call. A call that stands in the file twice
    (same id, tool and arguments) is one operation. Calls of another session's rows are left out unless the branch goes through them.
    What the `kept` ledger says of an operation counts more than what the rows tell.
    """
    return _Ledger(session, state, book, arguments, policy).operations(kept)


class _Ledger:
    def __init__(self, session: Session, state: RuntimeState, book: Calls, arguments: Callable[[Session, Call], Any], policy: Policy) -> None:
        self.session, self.book, self._read = session, book, arguments
        self.policy, self.version = policy, policy_version(policy)
        self.branch = frozenset(state.branch)
        self._effects: dict[int, Effect] = {}
        self._texts: dict[int, str] = {}
        self.by_id: dict[tuple[int, str], list[Call]] = defaultdict(list)
        for call in book.calls:
            if call.id is not None:
                self.by_id[call.row.part, call.id].append(call)

    def operations(self, kept: Sequence[Kept] = ()) -> list[Operation]:
        listed: list[Operation] = []
        done: set[int] = set()
        for call in self.book.calls:
            if call.order in done or (call.foreign and call.row.ref not in self.branch):
                continue
            twins = self._twins(call)
            done.update([twin.order for twin in twins])
            shown = call if len(twins) == 1 else next((twin for twin in twins if twin.row.ref in self.branch), twins[-1])
            listed += self._operation(shown, twins)
        listed += [self._without_row(found) for found in self.book.without_row]
        lost = self.book.lost_answer
        if lost is not None and lost.ref in self.branch and not self.book.without_row:
            listed.append(self._lost_answer(lost))
        notes = self.book.left_out
        held = {operation.key for operation in listed} if notes else set()
        listed += [self._left_out(note) for note in notes if note.key not in held]
        return listed + self._overlay(listed, kept) if kept else listed

    def _overlay(self, listed: list[Operation], kept: Sequence[Kept]) -> list[Operation]:
        """Give each operation the state that the kept ledger has for it; returns those that no row and no note speaks of."""
        by_key = {call_key(each) if each.own and each.call_id else each.key: each for each in kept}
        calls = {each.call_id for each in kept}
        found = set()
        for operation in listed:
            if operation.call_id not in calls:
                continue
            said = by_key.get(operation.key) or by_key.get(call_key(operation))
            if said is not None:
                found.add(said.key)
                evidence = (*operation.evidence, Evidence(KEPT, said.says, None, "strong"))
                operation.__dict__.update(state=said.state, evidence=evidence)
        return [
            Operation(
                key=each.key, call_id=each.call_id, tool=each.tool, arguments=each.arguments, effect=each.effect, why_effect=each.why_effect,
                state=each.state, on_branch=True, call=None, result=None, evidence=(Evidence(KEPT, each.says),), target=each.target,
                policy=each.policy,
            )
            for each in kept if each.own and each.key not in found
        ]  # fmt: skip

    def _twins(self, call: Call) -> list[Call]:
        """This call and its repetitions; calls that only share its id are others."""
        same = self.by_id[call.row.part, call.id] if call.id is not None else [call]
        if len(same) == 1:
            return same
        key = key_of(call.id, call.tool, self._arguments(call))
        return [other for other in same if key_of(other.id, other.tool, self._arguments(other)) == key]

    def _answers(self, twins: list[Call]) -> list[Answer]:
        """Saved results, the best evidence first. Where different calls share an id, each has what follows it in the file."""
        call = twins[0]
        answers = self.book.answers.get((call.row.part, call.id), []) if call.id is not None else []
        same = self.by_id[call.row.part, call.id] if call.id is not None else twins
        if len(twins) < len(same):
            mine = {twin.order for twin in twins}
            answers = [answer for answer in answers if self._owner(same, answer).order in mine]
        return sorted(answers, key=lambda answer: ORDER[answer.outcome]) if len(answers) > 1 else answers

    @staticmethod
    def _owner(same: list[Call], answer: Answer) -> Call:
        asked = (answer.record.parent, getattr(answer.record.extra, "source_assistant", None))
        named = [call for call in same if call.record.id is not None and call.record.id in asked]
        before = [call for call in same if call.row.index < answer.row.index]
        return (named or before or same)[-1]

    def _operation(self, call: Call, twins: list[Call]) -> list[Operation]:
        """The call; and, where its result came at the start of work in the background, that work as an operation of its own."""
        answers = self._answers(twins)
        on_branch = call.row.ref in self.branch
        outcome = answers[0].outcome if answers else None
        state = STATES.get(outcome, "uncertain") if outcome else "uncertain"
        if state == "uncertain" and self._effect(call).name is EffectClass.READ_ONLY:
            asks = outcome is None and call.tool in self.book.only_a_person
            state = "waiting-approval" if asks and self._is_last(call) else "resolved"
        if answers and answers[0].about and answers[0].about == self._background_key(call):
            return [_Recorded(self, "confirmed", on_branch, call, answers), _Recorded(self, state, on_branch, call, answers, background=True)]
        made: list[Operation] = [_Recorded(self, state, on_branch, call, answers)]
        if outcome is Outcome.LAUNCHED and not self._ended(call) and self._effect(call).name is not EffectClass.READ_ONLY:
            made.append(_Recorded(self, "uncertain", on_branch, call, answers, background=True))
        return made

    def _background_key(self, call: Call) -> str:
        return key_of(call.id, call.tool, self._scoped(call, ["in the background", self._arguments(call)]))

    def _ended(self, call: Call) -> bool:
        return any(notice.status in ENDED for notice in self.book.notices.get(call.id or "", ()))

    def _is_last(self, call: Call) -> bool:
        """Whether the conversation ends with the message of this call."""
        last = self._last_messages.get(call.row.part)
        return last is call.row or (last is not None and getattr(last.extra, "message_id", None) == message_of(call) is not None)

    @cached_property
    def _last_messages(self) -> dict[int, Row]:
        """Part -> its last message that is not a result alone."""
        message, result = RowKind.MESSAGE, BlockKind.RESULT
        return {row.part: row for row in self.session.rows if row.kind is message and not any(block.kind is result for block in row.blocks)}

    @cached_property
    def _started_by(self) -> dict[int, Call]:
        """Part of an agent's transcript -> the call that started it."""
        by_id = {call.id: call for call in self.book.calls}
        return {part: by_id[call_id] for call_id, parts in self.book.agents.items() if call_id in by_id for part in parts}

    def work_out(self, name: str, operation: Operation, call: Call, answers: list[Answer]) -> Any:
        """One of the values that need the call's arguments."""
        if name == "key":
            return self._key(call) if operation.call_id == call.id else self._background_key(call)
        if name == "arguments":
            return self._arguments(call)
        if name == "target":
            return target_of(self._arguments(call))
        if name == "declared_target":
            return self._declared(call.tool, self._arguments(call)) if self.policy.rules else ""
        if name == "evidence":
            return tuple(self._evidence(operation, call, answers))
        effect = self._effect(call)
        return str(effect.name) if name == "effect" else effect.why

    def _arguments(self, call: Call) -> Any:
        return self._read(self.session, call)

    def _key(self, call: Call) -> str:
        """That of a call without an id, or with one as short as people and tests write, holds the id of its row: other sessions may have the same."""
        return key_of(call.id, call.tool, self._scoped(call, self._arguments(call)))

    @staticmethod
    def _scoped(call: Call, said: Any) -> Any:
        if call.id is not None and len(call.id) >= UNIQUE:
            return said
        return ["no id" if call.id is None else "short id", call.row.id, said]

    def _effect(self, call: Call) -> Effect:
        """The class by tool and arguments; an agent is as bad as the calls in its transcript."""
        if call.order not in self._effects:
            self._effects[call.order] = effect_of(self.session.client, call.tool, self._arguments(call), self.policy)
            parts = [part for part in self.book.agents.get(call.id or "", ()) if part != call.row.part]
            if parts:
                children = [self._effect(child) for child in self.book.calls if child.row.part in parts]
                self._effects[call.order] = worst([self._effects[call.order], *children])
        return self._effects[call.order]

    def _declared(self, tool: str, arguments: Any) -> str:
        found = self.policy.rule_for(self.session.client, tool, arguments)
        return found[1].target if found else ""

    def _without_row(self, found: WithoutRow) -> Operation:
        says = f"The client noted that it used {found.tool}, the turn is unfinished, and no row holds the call."
        evidence = [Evidence("tools-used", says, found.noted.ref), Evidence("unfinished-turn", "No answer follows this message.", found.after.ref)]
        effect = effect_of(self.session.client, found.tool, None, self.policy)
        reads = effect.name is EffectClass.READ_ONLY
        if reads:
            evidence.append(Evidence("only-reads", "The tool only reads: nothing in the world depends on whether it ran.", found.noted.ref, "strong"))
        return Operation(
            key=key_of(None, found.tool, ["no row", found.after.id]), call_id=None, tool=found.tool, arguments=None, effect=str(effect.name),
            why_effect=f"{effect.why} (judged by the tool alone: the call was never saved)", state="resolved" if reads else "uncertain",
            on_branch=found.after.ref in self.branch, call=None, result=None, evidence=tuple(evidence), policy=self.version,
            declared_target=self._declared(found.tool, None),
        )  # fmt: skip

    def _lost_answer(self, last: Row) -> Operation:
        says = "No answer to this message was saved. Tools start before an answer is saved: some may have run."
        said = self.book.lost_said
        state = STATES.get(said.outcome, "uncertain") if said else "uncertain"
        more = [Evidence(str(said.outcome), SAYS[said.outcome], said.row.ref, GRADES.get(said.outcome, "weak"))] if said else []
        return Operation(
            key=key_of(None, LOST_ANSWER, [last.id]), call_id=None, tool=LOST_ANSWER, arguments=None, effect="unknown",
            why_effect="nobody knows which tools the answer called", state=state, on_branch=True, call=None, result=None,
            evidence=(Evidence("lost-answer", says, last.ref), *more), policy=self.version,
        )  # fmt: skip

    def _left_out(self, note: LeftOut) -> Operation:
        effect = effect_of(self.session.client, note.tool, note.arguments, self.policy)
        says = "A repair left the call out of the conversation; whether it had run was not known."
        evidence = [Evidence(LEFT_OUT, says, note.row.ref)]
        if note.outcome in STATES:
            evidence.append(Evidence(str(note.outcome), SAYS[note.outcome], note.row.ref, "strong"))
        return Operation(
            key=note.key, call_id=note.call_id, tool=note.tool, arguments=note.arguments, effect=str(effect.name), why_effect=effect.why,
            state=STATES.get(note.outcome, "uncertain"), on_branch=True, call=None, result=None, evidence=tuple(evidence),
            target=target_of(note.arguments), policy=self.version, declared_target=self._declared(note.tool, note.arguments),
        )  # fmt: skip

    def _evidence(self, operation: Operation, call: Call, answers: list[Answer]) -> Iterable[Evidence]:
        if call.whole:
            yield Evidence("call", "The call was saved with all its arguments.", call.row.ref)
        else:
            yield Evidence("call-cut-off", "The line breaks off inside the call: its arguments are not known whole.", call.row.ref)
        if call.record is not call.row and call.whole:
            yield Evidence("damaged-line", "The call stands in a damaged line, which the client does not read.", call.row.ref)
        for answer in answers:
            kind = "result-error" if answer.outcome is Outcome.RESULT and answer.error else str(answer.outcome)
            says = "A result was saved that reports an error. We did not check the target." if kind == "result-error" else SAYS[answer.outcome]
            yield Evidence(kind, says, answer.row.ref, GRADES.get(answer.outcome, "weak"))
            if answer.record is not answer.row:
                yield Evidence("damaged-line", "This result stands in a damaged line, which the client does not read.", answer.row.ref)
        if len(answers) > 1 and answers[0].outcome is Outcome.RESULT and answers[-1].outcome is not Outcome.RESULT:
            yield Evidence("real-result", "The real result counts; the client may send the stand-in instead.", answers[0].row.ref)
        if not answers:
            yield Evidence("no-result", "No result was saved: it ran, was waiting for its turn, or was waiting for permission.", None)
        for notice in self.book.notices.get(call.id or "", ()):
            ended = notice.status in ENDED
            says = "It came to its end in the background" if ended else "The client noted of the background task"
            yield Evidence("notice", f"{says}: {notice.status[:40]}.", notice.row.ref, "strong" if ended else "weak")
        if call.id in self.book.progress:
            yield Evidence("progress", "It had started: its progress was shown.", self.book.progress[call.id].ref)
        yield from self._agent_evidence(call)
        yield from self.book.remarks(call, answers)
        if operation.state == "resolved" and (not answers or answers[0].outcome not in STATES):
            yield Evidence("only-reads", "It only reads: nothing in the world depends on whether it ran.", call.row.ref, "strong")
        if operation.state == "uncertain":
            # Made anew: a circle of the ledger and its helper would hold all that was read until the collector comes.
            yield from Later(self.session, self.book, self._arguments, self._effect, self._answers, self._texts).evidence(operation.target, call)

    def _agent_evidence(self, call: Call) -> Iterable[Evidence]:
        for part in self.book.agents.get(call.id or "", ()):
            inside = [child for child in self.book.calls if child.row.part == part]
            open_calls = [child for child in inside if child.id and (part, child.id) not in self.book.answers]
            where = next((row.ref for row in self.session.rows if row.part == part), None)
            says = f"Its agent's transcript holds {count(len(inside), 'call')}, {len(open_calls)} of them without a result."
            yield Evidence("agent-transcript", says, where)
        if call.id in self.book.records:
            says = "An agent was started for this call: it left a record of its own."
            yield Evidence("process", says, self.book.records[call.id].ref)
        parent = self._started_by.get(call.row.part)
        if parent is not None:
            yield Evidence("parent-call", "It belongs to the agent that this call started, and counts for it.", parent.row.ref)


def left_out(operation: Operation) -> bool:
    """Whether its call is in no row any more, because a repair left it out on purpose."""
    return operation.call is None and any(each.kind == LEFT_OUT for each in operation.evidence)


def answered(operation: Operation) -> bool:
    """Whether a row holds the call's own result, or the tool's own refusal."""
    return any(each.kind in (Outcome.RESULT, Outcome.REFUSED) for each in operation.evidence)


def by_ledger(operation: Operation) -> bool:
    """Whether the kept ledger has a word about it."""
    return any(each.kind == KEPT for each in operation.evidence)


def only_kept(operation: Operation) -> bool:
    """Whether the kept ledger alone knows of it: a person reported it, or an application registered it."""
    return operation.call is None and by_ledger(operation) and not left_out(operation)


SURROGATE = re.compile("[\ud800-\udfff]")


def key_of(call_id: str | None, tool: str, arguments: Any) -> str:
    """The operation's name through repair and fork: from call id, tool and arguments, never from a file or a row.

    Halves of surrogate pairs count as U+FFFD, which is what a repair writes in their place.
    """
    said = json.dumps([call_id, tool, arguments], ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=str)
    return "op-" + hashlib.sha256(SURROGATE.sub("\N{REPLACEMENT CHARACTER}", said).encode()).hexdigest()[:20]


def call_key(operation: Operation | Kept) -> str:
    """The name of a call by itself, which an application knows that registers it before any row holds it."""
    return key_of(operation.call_id, operation.tool, operation.arguments)


TARGETS = ("file_path", "notebook_path", "path", "absolute_path", "url", "order_id", "id", "shell_id", "bash_id", "task_id", "taskId")
WRITES_TO = re.compile(r"(?<![0-9&<>])>{1,2}\s*([\w./~+-]+)")
HOST = re.compile(r"https?://(?:[^/\s'\"@]*@)?([^/\s'\"@]+)")
"""The host of an address, without the login before it."""


def target_of(arguments: Any) -> str | None:
    """What a call acts on: a path or an id that it names, a file that its command writes, a host; None where it cannot be told."""
    if not isinstance(arguments, dict):
        return None
    named = next((arguments[name] for name in TARGETS if isinstance(arguments.get(name), str) and arguments[name]), None)
    command = arguments.get("command", arguments.get("cmd"))
    if named is not None or not isinstance(command, str):
        return named
    written = [name for name in WRITES_TO.findall(command[:20_000]) if not name.startswith("/dev/")]
    host = HOST.search(command[:20_000])
    return written[0] if written else host[1] if host else None
