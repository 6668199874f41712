"""The benchmark measures what it says, on a transcript that is clean, and leaves nothing behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from inspector.core import inspection, rulebook
from inspector.core.source import Part, Source
from inspector.management.commands import benchmark

ROOT = Path(__file__).resolve().parents[2]


def test_the_transcript_is_clean_and_always_the_same(tmp_path: Path) -> None:
    made = []
    for name in ("one", "two"):
        benchmark.make_transcript(tmp_path / name, 300_000)
        made.append((tmp_path / name).read_bytes())
    assert made[0] == made[1] and 300_000 <= len(made[0]) < 500_000
    looked = inspection.inspect(Source("x", (Part(f"{benchmark.SESSION}.jsonl", made[0]),)))
    assert looked.state.refused is None and len(looked.state.messages) > 20
    assert [finding for finding in rulebook.diagnose(looked) if finding.severity not in ("info",)] == []


def test_the_command_prints_its_figures_and_leaves_nothing(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("INSPECTOR_", "DATABASE_URL", "DJANGO_"))}
    environment |= {"INSPECTOR_DATA_DIR": str(tmp_path / "data"), "TMPDIR": str(tmp_path)}
    command = [sys.executable, "manage.py", "benchmark", "--mb", "1", "--out", str(tmp_path / "result.json")]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert figures == json.loads((tmp_path / "result.json").read_text())
    assert figures["transcript"]["verdict"] == "ready" and figures["transcript"]["bytes"] >= 1_000_000
    assert figures["import_s"]["cpu"] > figures["orjson_pass_s"]["cpu"] > 0 and 30 < figures["peak_mib"] < 400
    assert 0 < figures["page_of_200_rows_data_ms"]["cpu"]["p50"] <= figures["page_of_200_rows_html_ms"]["cpu"]["p50"]
    assert {path.name for path in tmp_path.rglob("*") if path.is_file()} == {"result.json", "secret-key"}  # the key is the settings' own
