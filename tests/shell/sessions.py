"""Small transcripts and folders that the tests of capture, import and export share."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from inspector.capture import upload
from inspector.capture.layout import Candidate, sessions_of
from inspector.capture.limits import Limits
from inspector.management.commands.import_sessions import candidates
from inspector.services.import_sessions import Outcome, import_sessions

SID = "11111111-2222-4333-8444-555555555555"
OTHER = "99999999-2222-4333-8444-555555555555"


def row(kind: str, number: int, parent: int | None, content: Any, session: str = SID, **more: Any) -> bytes:
    """One transcript line as client 2.1.332 writes it."""
    message: dict[str, Any] = {"role": kind, "content": content}
    if kind == "assistant":
        message |= {"id": f"msg_{number}", "model": "claude-opus-5-5", "type": "message"}
    value = {
        "parentUuid": None if parent is None else uuid(parent), "isSidechain": False, "type": kind, "uuid": uuid(number),
        "timestamp": f"2026-05-04T09:00:{number % 60:02d}.000Z", "cwd": "/home/dev/shop", "sessionId": session, "version": "2.1.332",
        "message": message,
    }  # fmt: skip
    return json.dumps(value | more, separators=(",", ":")).encode() + b"\n"


def uuid(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012d}"


def transcript(session: str = SID, turns: int = 2, word: str = "retry the refund") -> bytes:
    """A clean conversation of `turns` prompts, each with an answer."""
    lines = []
    for turn in range(turns):
        number = turn * 2
        lines.append(row("user", number, number - 1 if number else None, f"{word} {turn}", session))
        lines.append(row("assistant", number + 1, number, [{"type": "text", "text": f"done {turn}"}], session))
    return b"".join(lines)


DAMAGED = {
    "truncated": transcript()[:-40],
    "no-final-newline": transcript()[:-1],
    "nul-block": transcript() + b"\0" * 512 + b"\n" + transcript(OTHER),
    "nul-tail": transcript() + b"\0" * 300,
    "spliced": transcript()[:-60] + transcript(),
    "blank-lines": b"\n\n" + transcript().replace(b"\n", b"\n  \n"),
    "scalars": b'null\n42\n["x"]\n{}\n' + transcript(),
    "crlf-and-bom": b"\xef\xbb\xbf" + transcript().replace(b"\n", b"\r\n"),
    "no-utf8": transcript().replace(b"refund", b"ref\xff\xfend"),
    "lone-surrogate": transcript().replace(b"refund", b"ref\\ud83dnd"),
    "escaped-nul": transcript().replace(b"refund", b"ref\\u0000nd"),
    "line-separator": transcript().replace(b"refund", "ref\u2028und".encode()),
    "deep": transcript() + b'{"type":"user","uuid":"x","message":' + b"[" * 3000 + b"]" * 3000 + b"}\n",
    "big-numbers": transcript() + b'{"type":"user","uuid":"y","sessionId":"s","n":1e400,"i":123456789012345678901234567890}\n',
    "one-long-line": transcript() + row("user", 9, 3, "x" * 3_000_000),
    "hostile-type": transcript()
    + b'{"type":"'
    + b"t" * 5000
    + b'","uuid":"'
    + b"u" * 5000
    + b'","timestamp":"'
    + b"9" * 500
    + b'","sessionId":"s"}\n',
    "only-garbage": b"\x80\x81 no json here\n",
    "empty": b"",
}
"""Damage by name; none of it may be refused, and all of it must come out as it went in."""


def write_home(folder: Path) -> Path:
    """A `.claude` folder with two sessions, side files of each kind, and files that belong to nobody."""
    home = folder / ".claude"
    files = {
        f"projects/-home-dev-shop/{SID}.jsonl": transcript().replace(b'"version"', b'"slug":"calm-river","version"'),
        f"projects/-home-dev-shop/{OTHER}.jsonl": transcript(OTHER, word="ship it"),
        f"projects/-home-dev-shop/{SID}/subagents/agent-a1.jsonl": transcript().replace(b'"isSidechain":false', b'"isSidechain":true'),
        f"projects/-home-dev-shop/{SID}/subagents/agent-a1.meta.json": b'{"agentType":"Explore"}',
        f"projects/-home-dev-shop/{SID}/tool-results/t1.txt": b"long output",
        "projects/-home-dev-shop/agent-0ld.jsonl": transcript(OTHER, turns=1).replace(b'"isSidechain":false', b'"isSidechain":true'),
        f"file-history/{SID}/abc@v1": b"backup",
        f"tasks/{SID}/1.json": b'{"id":"1"}',
        "plans/calm-river.md": b"# plan",
        "plans/other-plan.md": b"# not of these sessions",
        "sessions/999999.json": json.dumps({"pid": 2**22 + 1, "sessionId": OTHER}).encode(),
        "sessions/999999.abc.key": b"never read",
        "history.jsonl": b'{"display":"x","sessionId":"' + SID.encode() + b'"}\n',
    }
    for name, data in files.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_bytes(data)
    return home


PARTS_OF_SID = [
    f"{SID}.jsonl",
    f"{SID}/subagents/agent-a1.jsonl",
    f"{SID}/subagents/agent-a1.meta.json",
    f"{SID}/tool-results/t1.txt",
    f"file-history/{SID}/abc@v1",
    "plans/calm-river.md",
    f"tasks/{SID}/1.json",
]
PARTS_OF_OTHER = [f"{OTHER}.jsonl", "agent-0ld.jsonl", "sessions/999999.json"]


def packed(folder: Path, kind: str) -> io.BytesIO:
    """The folder as zip, tar or tar.gz, with the folder's own name as the first piece."""
    out = io.BytesIO()
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    if kind == "zip":
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in paths:
                archive.write(path, path.relative_to(folder.parent))
    else:
        with tarfile.open(fileobj=out, mode="w:gz" if kind == "tar.gz" else "w") as archive:
            for path in paths:
                archive.add(path, path.relative_to(folder.parent).as_posix())
    out.seek(0)
    return out


def bring(path: Path, **asked: Any) -> list[Outcome]:
    """Import what lies at a path."""
    with ExitStack() as stack:
        return import_sessions(candidates=candidates(path, stack), **asked)


def bring_bytes(data: bytes, name: str = f"{SID}.jsonl", **asked: Any) -> Outcome:
    """Import one uploaded file."""
    with upload.tree_of([(name, io.BytesIO(data))]) as tree:
        return import_sessions(candidates=list(sessions_of(tree)), **asked)[0]


def uploaded(*files: tuple[str, bytes], limits: Limits = Limits()) -> list[Candidate]:
    return list(sessions_of(upload.tree_of([(name, io.BytesIO(data)) for name, data in files], limits)))
