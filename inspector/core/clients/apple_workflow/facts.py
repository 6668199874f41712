"""Facts of a workflow: its steps, the encodings that were recognised, and what of a session a file can't bring back."""

from __future__ import annotations

from typing import Any

from ...jsonspans import loads_object
from ...session import Session
from ...state import Fact, Restored
from .checkpoint import ASSUMED, KNOWN, OUTPUT, STEPS, Checkpoint, missing_inputs, moment_of, open_votes, reached
from .entry import Entry
from .profiles import Profile
from .read import envelope_of

SAVED = Restored(normal=True, fork=True, path=True, switch=True)
"""Fields of the file are there again however it is resumed."""
TOKEN = 4
"""Characters of a token, roughly: what a window holds is only estimated."""
FORMS = {"object": "as it is", "text": "JSON in a string", "base64": "base64, as Swift encodes Data by default", "bytes": "a list of byte values"}
STEP_FORMS = {
    "string": "by its name",
    "object": "as the object that a Swift enum without raw values becomes",
    "number": "by its number, counted from 0",
}


def facts_of(session: Session, held: Checkpoint | None, profile: Profile, restored: bool, refused: str | None) -> list[Fact]:
    """All facts, in the order of a page."""
    return [*_workflow(held), *_transcript(session, profile, restored, refused), *_session(held)]


def statuses(held: Checkpoint) -> dict[str, str]:
    """Step -> done | next | inconsistent | later."""
    at = reached(held) or held.step
    found = {}
    for step in STEPS:
        if step == at:
            found[step] = "inconsistent" if missing_inputs(held, step) else "done" if step == "done" else "next"
        elif at is not None and STEPS.index(step) < STEPS.index(at):
            found[step] = "done" if step in held.outputs else "inconsistent"
        else:
            found[step] = "later"
    return found


def _workflow(held: Checkpoint | None) -> list[Fact]:
    if held is None:
        return [Fact("workflow", None, False, note="The file is a transcript without a workflow's checkpoint around it.")]
    step = held.fields.get("step")
    rows = (step.row,) if step else ()
    note = f"Encoded {STEP_FORMS[held.step_form]}." if held.step_form in STEP_FORMS else ""
    facts = [
        Fact("step", held.step or (step.value if step else None), held.step is not None, rows, SAVED, note),
        Fact("steps", statuses(held), True, rows, SAVED, "Done: its field exists, and the model is not called. Next: its field is missing."),
    ]
    for names in OUTPUT.values():
        found = held.text(*names)
        facts.append(Fact(names[0], found.value if found else None, found is not None, (found.row,) if found else (), SAVED))
    prompt = held.prompt
    redacted = prompt is not None and prompt.name in held.fields and prompt.name not in ("userPrompt", "prompt")
    note = "The redacted text is used; the original is never put in its place." if redacted else ""
    facts.append(Fact("prompt", prompt.value if prompt else None, prompt is not None, (prompt.row,) if prompt else (), SAVED, note))
    facts += _dates(held)
    votes = [each for name, each in held.fields.items() if each in open_votes(held)]
    facts.append(Fact("open-votes", [each.name for each in votes], True, tuple(each.row for each in votes), SAVED))
    more = [each for name, each in held.fields.items() if name not in KNOWN]
    note = "Kept as they are; an app that does not know them loses them when it saves." if more else ""
    facts.append(Fact("other-fields", [each.name for each in more], True, tuple(each.row for each in more), SAVED, note))
    return facts


def _dates(held: Checkpoint) -> list[Fact]:
    found = held.fields.get("updatedAt")
    if found is None or found.value is None:
        return [Fact("updated-at", None, False, note="No date is saved.")]
    at, form = moment_of(found.value)
    note = f"Assumed: {ASSUMED[form]}." if form else "It is no date in an encoding that is known."
    return [Fact("updated-at", at, at is not None, (found.row,), SAVED, note)]


def _transcript(session: Session, profile: Profile, restored: bool, refused: str | None) -> list[Fact]:
    entries = [row for row in session.main() if isinstance(row.extra, Entry)]
    document = session.documents.get(0)
    envelope = envelope_of(session)
    if envelope is None or document is None or document.held is None:
        return [Fact("transcript", None, False, note="No transcript can be restored: a clean session gets what was saved as its instructions.")]
    version: Any = loads_object(envelope).get("version")
    rows = tuple(row.ref for row in entries)
    how = "restored into a new session" if restored else "not restored"
    text = sum(len(row.extra.text) for row in entries)
    note = f"About {text // TOKEN:,} tokens of {profile.context_tokens:,}; estimated, four characters to a token."
    listed = [session.record(row).get("tools") for row in entries if row.type == "instructions"]
    tools = [_name(tool) for each in listed if isinstance(each, list) for tool in each]
    instructions = next((row for row in entries if row.type == "instructions"), None)
    return [
        Fact("transcript", how, True, rows, SAVED if restored else Restored(), f"{len(entries)} entries, {FORMS[document.held.form]}."),
        Fact("transcript-version", version, True, (), SAVED, "1 is written by the 26 releases, 1.1 by the 27 releases."),
        Fact("context", {"tokens": text // TOKEN, "window": profile.context_tokens}, True, rows, SAVED, note),
        Fact(
            "instructions", instructions.extra.text if instructions else None, instructions is not None,
            (instructions.ref,) if instructions else (), SAVED if restored else Restored(),
            "The restored transcript replaces the instructions that the new session was made with." if instructions and restored else "",
        ),
        Fact("tools", tools, True, (instructions.ref,) if instructions and tools else (), Restored(),
             "Their definitions are saved, their code is not: the app has to pass them again." if tools else ""),
    ]  # fmt: skip


def _name(tool: Any) -> str:
    function = tool.get("function") if isinstance(tool, dict) else None
    return str(function.get("name", "?")) if isinstance(function, dict) else "?"


def _session(held: Checkpoint | None) -> list[Fact]:
    """What lives in the session object and nowhere else."""
    responding = held.responding if held is not None else None
    rows = (held.fields["isResponding"].row,) if held is not None and responding is not None else ()
    note = "Counts as responding until whoever takes the session over says that it is not: a transcript must not be changed while it is."
    return [Fact("responding", responding, responding is not None, rows, Restored(), "" if responding is False else note)]
