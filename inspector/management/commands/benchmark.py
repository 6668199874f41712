"""`manage.py benchmark`: import and paging of a large transcript on this machine, next to one orjson pass over the same file in the same run.

It works in a database and a folder of its own, which are gone at the end, and prints one JSON document. Import means: bytes stored, rows
indexed, verdict known.
"""

from __future__ import annotations

import json
import platform
import random
import resource
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.core.servers.basehttp import get_internal_wsgi_application
from django.db import connection
from django.test import Client
from django.test.utils import override_settings
from django.urls import reverse
from django.utils import timezone

from inspector.capture import folder
from inspector.management import base
from inspector.models import Session
from inspector.queries import rows
from inspector.queries.screen import with_screen
from inspector.services import launch
from inspector.services.import_sessions import Outcome, import_sessions

PAGES = 60
AIMS = {"import_to_orjson": 8.0, "peak_mib": 400.0, "page_ms_p95": 40.0}
SESSION = "0b5e55ed-0000-4000-8000-000000000001"


def peak_mib() -> float:
    """Most memory that this process has had, in MiB. Linux's own count starts anew with the program; `ru_maxrss` keeps that of the parent."""
    status = Path("/proc/self/status")
    if status.exists():
        return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM:")) / 1024
    unit = 1024 * 1024 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


class Command(base.Command):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--mb", type=int, default=100, help="size of the transcript that is made (default: 100)")
        parser.add_argument("--transcript", type=Path, help="measure this transcript instead")
        parser.add_argument("--out", type=Path, help="record the result here too")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["transcript"] and not options["transcript"].is_file():
            raise CommandError(f"{options['transcript']}: no such file. Check --transcript, or leave it out", returncode=2)
        with tempfile.TemporaryDirectory(prefix="inspector-benchmark-") as place:
            made = Path(place, f"{SESSION}.jsonl")
            if not options["transcript"]:
                make_transcript(made, options["mb"] * 1_000_000)
            result = measured(options["transcript"] or made, Path(place))
        text = json.dumps(result, indent=1)
        if options["out"]:
            options["out"].write_text(text + "\n")
        self.stdout.write(text)


def measured(transcript: Path, place: Path) -> dict[str, Any]:
    """All figures, in a test database of the configured kind."""
    connection.settings_dict["TEST"]["NAME"] = str(place / "benchmark.sqlite3") if connection.vendor == "sqlite" else "inspector_benchmark"
    name = connection.settings_dict["NAME"]
    storage = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": place / "artifacts"}}
    connection.creation.create_test_db(verbosity=0, autoclobber=True)
    try:
        with override_settings(STORAGES={**settings.STORAGES, "artifacts": storage}, ALLOWED_HOSTS=["testserver"], DATA_DIR=place):
            return _figures(transcript)
    finally:
        connection.creation.destroy_test_db(name, verbosity=0)


def _figures(transcript: Path) -> dict[str, Any]:
    passes = [timed(lambda: orjson_pass(transcript))]
    outcomes: list[Outcome] = []
    imported = timed(lambda: outcomes.extend(import_sessions(candidates=folder.candidates(transcript))))
    session, revision = outcomes[0].session, outcomes[0].revision
    get_internal_wsgi_application()  # pages as the server serves them
    browser = Client()
    user = launch.redeem_token(token=launch.issue_token())
    assert user is not None
    browser.force_login(user)
    address = reverse("session", args=[session.pk])
    first = timed(lambda: get(browser, address))
    peak = peak_mib()
    passes.append(timed(lambda: orjson_pass(transcript)))
    chance = random.Random(1)
    starts = [chance.randrange(max(1, session.rows - rows.WINDOW)) for _ in range(PAGES)]
    data = [timed(lambda at=at: window(revision, at)) for at in starts]
    part = reverse("session-rows", args=[session.pk])
    drawn = [timed(lambda at=at: get(browser, f"{part}?from={at}&count={rows.WINDOW}")) for at in starts]
    best = Timed(min(one.wall for one in passes), min(one.cpu for one in passes))
    return {
        "at": timezone.now().isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "database": connection.vendor,
        "transcript": {"bytes": session.size, "rows": session.rows, "verdict": Session.objects.get(pk=session.pk).verdict},
        "orjson_pass_s": best.said(),
        "import_s": imported.said(),
        "import_to_orjson": {"wall": round(imported.wall / best.wall, 1), "cpu": round(imported.cpu / best.cpu, 1)},
        "first_page_s": first.said(),
        "peak_mib": round(peak),
        "page_of_200_rows_data_ms": percentiles(data),
        "page_of_200_rows_html_ms": percentiles(drawn),
        "aims": AIMS,
    }


@dataclass(frozen=True, slots=True)
class Timed:
    """Seconds by the clock and of the processor: they differ by as much as the machine is busy with other things."""

    wall: float
    cpu: float

    def said(self) -> dict[str, float]:
        return {"wall": round(self.wall, 3), "cpu": round(self.cpu, 3)}


def timed(work: Callable[[], object]) -> Timed:
    """How long `work` takes, all threads of this process together."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return Timed(time.perf_counter() - wall, time.process_time() - cpu)


def orjson_pass(transcript: Path) -> None:
    with transcript.open("rb") as file:
        for line in file:
            if line.strip():
                orjson.loads(line)


def get(browser: Client, address: str) -> None:
    answer = browser.get(address)
    if answer.status_code != 200:
        sys.exit(f"{address} answered {answer.status_code}")


def window(revision: Any, at: int) -> None:
    """What a page of 200 rows needs: index rows, their bytes, what they showed."""
    found = with_screen(revision=revision, rows=rows.window(revision=revision, after=at))
    rows.slices(revision=revision, rows=found)


def percentiles(values: list[Timed]) -> dict[str, dict[str, float]]:
    """p50 and p95 in milliseconds."""
    out = {}
    for name in ("wall", "cpu"):
        times = [getattr(value, name) * 1000 for value in values]
        out[name] = {"p50": round(statistics.median(times), 1), "p95": round(statistics.quantiles(times, n=20)[18], 1)}
    return out


# --- A transcript of any size ----------------------------------------------------------------------------------------------------------------------

WORDS = (
    "ledger refund queue worker retry index schema commit branch deploy token cache order invoice stream buffer test fixture the of and to in".split()
)


def make_transcript(path: Path, size: int) -> None:
    """Write a clean conversation of about `size` bytes, always the same: prompts, thinking, parallel calls, long results, compactions."""
    written = 0
    with path.open("wb") as file:
        for record in records(random.Random(7)):
            line = orjson.dumps(record) + b"\n"
            file.write(line)
            written += len(line)
            if written >= size and record["type"] == "system":
                return


def records(chance: random.Random) -> Iterator[dict[str, Any]]:
    """Records without end; each turn ends with a `system` record."""
    clock, parent = 1_780_000_000_000, None

    def words(low: int, high: int) -> str:
        return " ".join(chance.choices(WORDS, k=chance.randint(low, high)))

    def record(kind: str, **more: Any) -> dict[str, Any]:
        nonlocal clock, parent
        clock += chance.randint(50, 4000)
        at = f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(clock / 1000))}.{clock % 1000:03d}Z"
        own = str(uuid.UUID(int=chance.getrandbits(128), version=4))
        made = {
            "parentUuid": parent, "isSidechain": False, "userType": "external", "cwd": "/home/dev/shop", "sessionId": SESSION, "version": "2.1.332",
            "gitBranch": "main", "type": kind, "uuid": own, "timestamp": at,
        }  # fmt: skip
        if kind != "progress":
            parent = own
        return made | more

    def said(message: str, block: dict[str, Any]) -> dict[str, Any]:
        usage = {
            "input_tokens": chance.randint(3, 900),
            "cache_read_input_tokens": chance.randint(9000, 150000),
            "output_tokens": chance.randint(1, 1200),
        }
        body = {"model": "claude-opus-5-5", "id": message, "type": "message", "role": "assistant", "content": [block], "usage": usage}
        return record("assistant", message=body | {"stop_reason": "tool_use" if block["type"] == "tool_use" else "end_turn"})

    def identifier(prefix: str) -> str:
        return f"{prefix}_01{chance.getrandbits(88):022x}"

    turn = 0
    while True:
        turn += 1
        if turn % 120 == 0:
            boundary = record(
                "system", subtype="compact_boundary", content="Conversation compacted", compactMetadata={"trigger": "auto", "preTokens": 155000}
            )
            yield boundary | {"logicalParentUuid": boundary["parentUuid"], "parentUuid": None}
            yield record("user", message={"role": "user", "content": words(300, 600)}, isCompactSummary=True, isVisibleInTranscriptOnly=True)
        yield record("user", message={"role": "user", "content": words(6, 60)}, permissionMode="default")
        for _ in range(chance.randint(1, 9)):
            message = identifier("msg")
            if chance.random() < 0.35:
                yield said(message, {"type": "thinking", "thinking": words(15, 200), "signature": f"{chance.getrandbits(1200):0300x}"})
            if chance.random() < 0.4:
                yield said(message, {"type": "text", "text": words(6, 60)})
            calls = []
            for _ in range(chance.choice((1, 1, 1, 1, 2, 3))):
                call = identifier("toolu")
                command = {"command": f"pytest -q tests/{chance.choice(WORDS)}", "description": words(3, 6)}
                asked = said(message, {"type": "tool_use", "id": call, "name": "Bash", "input": command})
                yield asked
                calls.append((call, asked["uuid"]))
            for call, source in calls:
                for second in range(chance.randint(0, 4)):
                    yield record(
                        "progress", data={"type": "bash_progress", "output": words(8, 8), "elapsedTimeSeconds": second}, parentToolUseID=call
                    )
                out = words(10, 700)
                content = [{"tool_use_id": call, "type": "tool_result", "content": out, "is_error": False}]
                result = {"stdout": out, "stderr": "", "interrupted": False, "isImage": False}
                yield record("user", message={"role": "user", "content": content}, toolUseResult=result, sourceToolAssistantUUID=source)
        yield said(identifier("msg"), {"type": "text", "text": words(20, 200)})
        yield record("system", subtype="turn_duration", durationMs=chance.randint(900, 90000), isMeta=False)
