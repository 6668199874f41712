"""The workflow's own fields: which step comes next, which fields exist, in which encodings; and whether they fit together.

One rule decides everything: a field that exists means that its step is done and the model is not called for it; a missing field means that its
step runs. Absent and null are the same. Encodings are recognised, named, and kept where a repair writes a field.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from ...session import Row, RowKind, Session

STEPS = ("plan", "gather", "decide", "act", "done")
OUTPUT = {"plan": ("plan",), "gather": ("gathered",), "decide": ("decision",), "act": ("actionResult", "result")}
"""Step -> names of the field that it fills; the first is the one that the course uses."""
PROMPTS = ("userPrompt", "prompt")
REDACTED = ("redactedPrompt", "redactedUserPrompt", "userPromptRedacted")
"""Fields with a prompt from which something was taken out on purpose. Such a text goes before the original, which is never used then."""
KNOWN = frozenset(("id", "schemaVersion", "step", "userPrompt", "prompt", "plan", "gathered", "decision", "actionResult", "result",
                   "transcriptData", "transcript", "updatedAt", "isResponding", *REDACTED))  # fmt: skip
APPLE_EPOCH = 978_307_200
"""Seconds from 1970 to 2001-01-01, from which Swift counts by default."""
VOTE = re.compile(r"vote|quorum|ballot|consensus", re.IGNORECASE)
OPEN_WORDS = frozenset(("open", "pending", "waiting", "undecided", "inprogress", "in-progress", "in_progress", "voting"))
CLOSED_WORDS = frozenset(("closed", "passed", "approved", "accepted", "rejected", "decided", "done", "denied", "failed", "resolved", "unanimous"))
ASSUMED = {
    "iso8601": "ISO 8601",
    "apple": "seconds since 2001-01-01, as Swift counts by default",
    "s1970": "seconds since 1970",
    "ms1970": "milliseconds since 1970",
}


@dataclass(frozen=True, slots=True)
class Written:
    """A field as it stands in the file."""

    name: str
    value: Any
    row: str


@dataclass(slots=True)
class Checkpoint:
    """The fields of a checkpoint. Outputs are None where the field is absent or null."""

    fields: dict[str, Written]
    step: str | None = None
    """One of STEPS, or None where it is missing or none of them."""
    step_form: str = ""
    """string | object | number"""
    outputs: dict[str, Written] = field(default_factory=dict)
    """Step -> its output, where it exists. A list of gathered texts exists when it holds one."""

    def text(self, *names: str) -> Written | None:
        """The first of these fields that exists."""
        return next((self.fields[name] for name in names if name in self.fields and self.fields[name].value is not None), None)

    @property
    def prompt(self) -> Written | None:
        """The prompt that the work began with; the redacted one where there is one."""
        return self.text(*REDACTED) or self.text(*PROMPTS)

    @property
    def gathered(self) -> list[str]:
        """The gathered texts."""
        held = self.outputs.get("gather")
        return texts(held.value) if held else []

    @property
    def responding(self) -> bool | None:
        """What the checkpoint itself says of a response that was being made; None: nothing."""
        held = self.fields.get("isResponding")
        return held.value if held is not None and isinstance(held.value, bool) else None


def texts(value: Any) -> list[str]:
    """Texts of a list, of a dictionary's values, or one text."""
    if isinstance(value, str):
        return [value]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [each if isinstance(each, str) else json.dumps(each, ensure_ascii=False) for each in items if each is not None]


def checkpoint_of(session: Session) -> Checkpoint | None:
    """The checkpoint that the session's file is, or None for a transcript without a workflow."""
    fields: dict[str, Written] = {}
    for row in session.main():
        if row.kind is RowKind.RECORD and isinstance(row.extra, Member):
            fields[row.extra.key] = Written(row.extra.key, row.extra.read(session, row), row.ref)
    return checkpoint(fields)


def is_checkpoint(value: dict[str, Any]) -> bool:
    """Whether a document is a workflow's checkpoint: it names a step and has one of the other fields."""
    others = ("userPrompt", "plan", "gathered", "decision", "actionResult", "transcriptData", "updatedAt")
    if "step" not in value:
        return "transcriptData" in value and any(name in value for name in ("userPrompt", "plan", "gathered"))
    known = step_of(value["step"])[0] is not None
    number = sum(name in value for name in others)
    return number >= 2 or (known and number == 1) or "transcriptData" in value


def checkpoint(fields: dict[str, Written]) -> Checkpoint | None:
    if not is_checkpoint({name: each.value for name, each in fields.items()}):
        return None
    made = Checkpoint(fields)
    if "step" in fields:
        made.step, made.step_form = step_of(fields["step"].value)
    for step, names in OUTPUT.items():
        held = made.text(*names)
        if held is not None and (step != "gather" or texts(held.value)):
            made.outputs[step] = held
    return made


@dataclass(frozen=True, slots=True)
class Member:
    """`extra` of a row that is a member of the document."""

    key: str
    holds_transcript: bool = False

    def read(self, session: Session, row: Row) -> Any:
        """The member's value; of the transcript's member whether one is there."""
        return True if self.holds_transcript else session.record(row).get(self.key)


def step_of(value: Any) -> tuple[str | None, str]:
    """The step that a value names, and how: by its name, as an enum's object, or by its number."""
    if isinstance(value, str):
        return (value if value in STEPS else next((step for step in STEPS if step == value.lower()), None)), "string"
    if isinstance(value, dict):
        named = [key for key in value if key in STEPS]
        return (named[0] if len(value) == 1 and named else None), "object"
    if isinstance(value, int) and not isinstance(value, bool):
        return (STEPS[value] if 0 <= value < len(STEPS) else None), "number"
    return None, "unknown"


def step_written(step: str, raw: bytes, form: str) -> bytes:
    """A step's name in the encoding of the value `raw`."""
    if form == "number":
        return b"%d" % STEPS.index(step)
    old = re.search(rb'"(?:' + "|".join(STEPS).encode() + rb')"', raw, re.IGNORECASE) if form == "object" else None
    if old is None:
        return json.dumps({step: {}} if form == "object" else step).encode()
    return raw[: old.start()] + json.dumps(step).encode() + raw[old.end() :]


# --- do the fields fit together? ---


def reached(held: Checkpoint) -> str | None:
    """The step that the saved fields call for, where the saved step lies before it: its own output exists.

    That gathering has ended is known only where something later exists.
    """
    step = held.step
    if step is None or step == "done" or missing_inputs(held, step):
        return None
    at = STEPS.index(step)
    while at < 4 and _is_done(held, STEPS[at]):
        at += 1
    return STEPS[at] if at > STEPS.index(step) else None


def _is_done(held: Checkpoint, step: str) -> bool:
    later = STEPS[STEPS.index(step) + 1 :]
    return step in held.outputs and (step != "gather" or any(other in held.outputs for other in later))


def missing_inputs(held: Checkpoint, step: str) -> list[str]:
    """Steps whose output this one needs and has not; `prompt` where the prompt itself is missing."""
    needs = {"gather": ("plan",), "decide": ("plan", "gather"), "act": ("decide",)}.get(step, ())
    if step == "plan" and held.prompt is None and "plan" not in held.outputs:
        return ["prompt"]
    return [other for other in needs if other not in held.outputs]


def back_to(held: Checkpoint, step: str) -> str | None:
    """The first step before this one that would have to run again, where an input of this one is missing."""
    lacks = missing_inputs(held, step)
    if not lacks or lacks == ["prompt"]:
        return None
    first = next(other for other in STEPS if other not in held.outputs)
    return first if not missing_inputs(held, first) else None


def wrong_types(held: Checkpoint) -> list[Written]:
    """Fields that hold something else than Swift's type of them: the whole checkpoint can't be decoded then."""
    found = [each for name in (*PROMPTS, *REDACTED, "plan") if (each := held.fields.get(name)) and not isinstance(each.value, str | None)]
    gathered = held.fields.get("gathered")
    if gathered is not None and not isinstance(gathered.value, list | dict | str | None):
        found.append(gathered)
    return found


def open_votes(held: Checkpoint) -> list[Written]:
    """Vote gates of the checkpoint that are not decided yet."""
    return [each for name, each in held.fields.items() if VOTE.search(name) and _is_open(each.value)]


def _is_open(value: Any) -> bool:
    if isinstance(value, list):
        return any(isinstance(each, dict) and _is_open(each) for each in value)
    if isinstance(value, str):
        return value.strip().lower() in OPEN_WORDS
    if not isinstance(value, dict):
        return False
    words = [str(each).strip().lower() for key, each in value.items() if key.lower() in ("status", "state", "phase") and isinstance(each, str)]
    words += [key.lower() for each in (value.get("status"), value.get("state")) if isinstance(each, dict) for key in each]
    if any(word in OPEN_WORDS for word in words):
        return True
    if any(word in CLOSED_WORDS for word in words):
        return False
    flags = {key.lower(): each for key, each in value.items()}
    if any(flags.get(name) is True for name in ("isopen", "open", "pending")):
        return True
    if any(flags.get(name) is False for name in ("decided", "closed", "passed")):
        return True
    if any(flags.get(name) for name in ("outcome", "decision", "result", "verdict", "closedat", "decidedat")) or flags.get("decided") is True:
        return False
    if any(name in flags for name in ("outcome", "decision", "result", "verdict")):
        return True
    required, votes = next((flags[name] for name in ("required", "quorum", "needed", "threshold") if name in flags), None), flags.get("votes")
    return isinstance(required, int) and isinstance(votes, list | dict) and len(votes) < required


# --- dates ---


def moment_of(value: Any) -> tuple[str | None, str | None]:
    """A date as ISO 8601 in UTC, and which encoding was assumed (a key of ASSUMED); (None, None) where it is no date."""
    if isinstance(value, str):
        try:
            at = datetime.fromisoformat(value.strip().replace("Z", "+00:00").replace("z", "+00:00"))
        except ValueError:
            return None, None
        return _iso(at if at.tzinfo else at.replace(tzinfo=UTC)), "iso8601"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None, None
    form = "ms1970" if value > 1e11 else "s1970" if value > 1.2e9 else "apple"
    try:
        seconds = value / 1000 if form == "ms1970" else value + APPLE_EPOCH if form == "apple" else value
        return _iso(datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)), form
    except (OverflowError, ValueError):
        return None, None


def _iso(at: datetime) -> str:
    at = at.astimezone(UTC)
    return at.isoformat(timespec="milliseconds" if at.microsecond else "seconds").replace("+00:00", "Z")
