"""The screen form against recorded terminal screens (`screen*.txt`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from inspector.capture.folder import session_files, source_of
from inspector.core import inspection
from inspector.core.clients.claude_code import read, resume, screen, screen_items
from inspector.core.screen import ScreenItem
from inspector.core.session import Session
from inspector.core.source import Part, Source
from inspector.core.state import ResumeAs

CORPUS = Path(__file__).parents[1] / "corpus/claude-code"
WHOLE = [
    ("e2_esc_tool", "screen.txt"),
    ("e9b_perm_reject", "screen.txt"),
    ("live332-e13_autocompact", "screen.txt"),
    ("live332-e2b_esc_parallel", "screen.txt"),
    ("live332-e4_queued", "screen.txt"),
    ("live332-e6_rename_mode", "screen.txt"),
    ("live332-e6_rename_mode", "screen-resume.txt"),
    ("live332-e6b_resume_mode_acceptEdits", "screen-resume.txt"),
    ("live332-e7_compact_tui", "screen.txt"),
    ("live332-e9c_reject_feedback", "screen.txt"),
]
"""Screens that show every row of their file. The others show a branch, or were taken before the file's last rows were written."""
STUB = re.compile(r"(Ran|Read|No result recorded|did not run|no result recorded|Thought for)\b")


def session_of(name: str) -> Session:
    return read(source_of(session_files(CORPUS / name / "source")[0]))


def of_rows(*rows: bytes) -> list[ScreenItem]:
    return screen(read(Source("x", (Part("x.jsonl", b"\n".join(rows) + b"\n"),))))


def message(role: str, content: bytes, more: bytes = b"") -> bytes:
    return b'{"type":"%s","uuid":"u","message":{"role":"%s","content":%s}%s}' % (role.encode(), role.encode(), content, more)


def seen_lines(text: str) -> Iterator[tuple[str, str]]:
    """(mark, text) of each thing on a terminal screen: prompts, answers, `!` commands, results and worked-for lines; stubs of calls."""
    text = re.split(r"\n─{20,}", text)[0]
    for line in text.split("\n"):
        if found := re.match(r"\s*(❯|●|⎿|!|✻)\s+(\S.*?)\s*$", line):
            mark, says = found[1], found[2]
            if mark == "✻":
                took = re.search(r"for (\d+)s", says)
                yield mark, f"Worked for {took[1]}s" if took else says
            elif not (mark == "⎿" and says.startswith("$ ")):
                yield ("❯", f"! {says}") if mark == "!" else (mark, re.sub(r"^User rejected", "Rejected", says))
        elif STUB.match(line.strip()):
            yield "stub", line.strip()


MARKS = {"user": "❯", "assistant": "●", "tool": "●", "result": "⎿", "error": "⎿"}


def shown_lines(items: list[ScreenItem], stubs: bool) -> list[tuple[str, str]]:
    """The same of our items; where the client shows stubs, shell and read calls count as folded into them."""
    lines = []
    for item in items:
        if item.folded or (stubs and item.role == "tool" and item.text.startswith(("Bash(", "Read("))):
            continue
        mark = MARKS.get(item.role) or ("✻" if item.text.startswith("Worked for") else "⎿")
        lines.append((mark, re.sub(r"\x1b\[\d+m", "", item.text.split("\n")[0]).rstrip()))
    return lines


@pytest.mark.parametrize(("name", "file"), WHOLE, ids=lambda value: value)
def test_the_screen_of_a_whole_file(name: str, file: str) -> None:
    seen = list(seen_lines((CORPUS / name / file).read_text()))
    stubs = any(mark == "stub" for mark, _ in seen)
    assert [line for line in seen if line[0] != "stub"] == shown_lines(screen(session_of(name)), stubs)


@pytest.mark.parametrize("name", ["e11_tui_resume_interrupted", "live332-e11_tui_resume_interrupted", "e1_esc_stream"])
def test_the_screen_of_a_resumed_branch_begins_as_recorded(name: str) -> None:
    file = next((CORPUS / name).glob("screen*.txt"))
    seen = [line for line in seen_lines(file.read_text()) if line[0] != "stub"]
    session = session_of(name)
    lines = shown_lines(screen(session), stubs=False)
    assert seen[: min(len(seen), len(lines))] == lines[: len(seen)] and len(lines) >= 2


def test_hidden_rows_show_nothing() -> None:
    for name in ("live332-o1_hooks", "live332-o3_worktree", "live332-e7_compact_tui"):
        session = session_of(name)
        shown = {ref for item in screen(session) for ref in item.rows}
        hidden = [row for row in session.main() if row.type not in ("user", "assistant") and not row.type.startswith("system/")]
        others = {row.ref for row in hidden if row.extra is None or row.extra.attachment not in ("queued_command", "file")}
        assert others and not shown & others
        assert not shown & {row.ref for row in session.main() if row.extra is not None and row.extra.meta}


@pytest.mark.parametrize("name", sorted(path.name for path in CORPUS.iterdir()))
def test_a_window_shows_what_the_whole_shows(name: str) -> None:
    session = session_of(name)
    rows = list(session.main())
    cut = len(rows) // 2
    assert screen_items(session, rows[:cut]) + screen_items(session, rows[cut:]) == screen(session)
    assert all(len(item.rows) == 1 and session.row(item.rows[0]) for item in screen(session))


def test_the_last_branch_alone_after_a_rewind() -> None:
    session = session_of("live332-e5b_rewind_after_resume_kill")
    branch = resume(session, ResumeAs()).branch
    texts = [item.text for item in screen_items(session, map(session.row, branch))]
    assert "prompt two ALT" in texts and "prompt two" not in texts
    assert "prompt two" in [item.text for item in screen(session)]


def test_a_refusal_with_words_shows_them() -> None:
    item = next(item for item in screen(session_of("live332-e9c_reject_feedback")) if item.role == "error")
    assert item.text.startswith("Rejected write to p.txt\n") and len(item.text.split("\n")) > 1


def test_api_errors_are_errors_and_the_sentinel_is_not_shown() -> None:
    assert [item.role for item in screen(session_of("live332-f1_err400"))] == ["user", "error"]
    sentinel = message("assistant", b'[{"type":"text","text":"No response requested."}]').replace(b'"role":', b'"model":"<synthetic>","role":')
    assert of_rows(sentinel) == []


def test_an_interrupted_call_answered_by_a_resume() -> None:
    result = b'[{"type":"tool_result","tool_use_id":"t","is_error":true,"content":"[Tool call interrupted: x]"}]'
    (item,) = of_rows(message("user", result, b',"toolDenialKind":"interrupted"'))
    assert (item.role, item.text, item.folded) == ("notice", "Interrupted · What should Claude do instead?", False)


def test_long_output_is_folded_and_cut_with_its_count() -> None:
    result = b'[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"%s"},{"type":"image"}]}]' % (b"x" * 5000)
    (item,) = of_rows(message("user", result))
    assert item.folded and item.text.endswith("… +3008 characters")


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (b'{"name":"Grep","input":{"pattern":"a b","n":3}}', 'Grep(pattern: "a b", n: 3)'),
        (b'{"name":"Agent","input":{"description":"count","prompt":"p"}}', "Agent(count)"),
        (b'{"name":"Edit","input":{"file_path":"/w/a.py"}}', "Update(/w/a.py)"),
        (b'{"name":"Bash","input":"{broken"}', "Bash({broken)"),
        (b'{"name":7,"input":null}', "7()"),
    ],
)
def test_calls_as_one_line(call: bytes, line: str) -> None:
    (item,) = of_rows(message("assistant", b'[{"type":"tool_use","id":"t",%s]' % call[1:]))
    assert (item.role, item.text) == ("tool", line)


@pytest.mark.parametrize(
    "content",
    [
        b"null",
        b"7",
        b'[null,7,"x"]',
        b'[{"type":"text","text":7}]',
        b'[{"type":"tool_result","content":{"a":1}}]',
        b'[{"type":"image","source":null}]',
    ],
)
def test_malformed_content_never_raises(content: bytes) -> None:
    for role in ("user", "assistant"):
        of_rows(
            message(role, content),
            b'{"type":"system","subtype":"turn_duration","uuid":"s"}',
            b'{"type":"attachment","uuid":"a","attachment":{"type":"queued_command"}}',
        )


def test_an_inspection_works_out_its_screen_once_and_only_when_asked() -> None:
    looked = inspection.inspect(session_of("live332-e6_rename_mode").source)
    assert looked.screen is looked.screen and looked.screen[0].text == "prompt one"
