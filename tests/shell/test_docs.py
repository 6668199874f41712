"""README.md names every setting and every command, and no other."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()


def test_every_setting_is_in_the_table_and_every_line_of_it_is_a_setting() -> None:
    read = set(re.findall(r'\b(?:setting|number|switch)\("([A-Z_]+)"', (ROOT / "inspector/settings.py").read_text()))
    listed = set(re.findall(r"^\| `([A-Z_]+)` \|", README, re.MULTILINE))
    assert read == listed


def test_every_command_is_in_the_readme() -> None:
    commands = {file.stem for file in (ROOT / "inspector/management/commands").glob("*.py")} - {"__init__"}
    assert commands - set(re.findall(r"^\| `(\w+)", README, re.MULTILINE)) == set()


def test_every_address_of_the_api_is_in_the_table_and_every_line_of_it_is_one() -> None:
    from inspector.views.api import urls

    pairs = [(method, str(each.pattern)) for each in urls.urlpatterns for method in each.callback.methods]
    served = {f"{method} /api/{re.sub(r'<int:([a-z]+)>', lambda found: found[1].upper(), route)}" for method, route in pairs}
    assert served == set(re.findall(r"^\| `([A-Z]+ /api/\S*)` \|", README, re.MULTILINE))


def test_every_field_of_the_api_is_in_its_line() -> None:
    source = "".join(file.read_text() for file in (ROOT / "inspector/views/api").glob("*.py"))
    fields = set(re.findall(r'"([a-z_0-9]+)": (?:str|int|bool|list|object)\b', source))
    table = "".join(line for line in README.splitlines() if "/api/" in line and line.startswith("|"))
    assert "source_sha256" in fields and [name for name in sorted(fields) if f"`{name}`" not in table] == []


def test_defaults_of_the_limits_are_those_of_the_settings() -> None:
    source = (ROOT / "inspector/settings.py").read_text()
    for name, default in re.findall(r'number\("(INSPECTOR_\w+)", ([\d_]+)\)', source):
        line = next(line for line in README.splitlines() if f"`{name}`" in line)
        assert line.split("|")[2].strip(" `").replace(",", "") == default.replace("_", "")


def test_the_two_commands_are_one_line_each() -> None:
    blocks = re.findall(r"^```\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    assert blocks[0] == ("python3 -m venv .venv && .venv/bin/pip install -q -r requirements.txt && .venv/bin/python manage.py serve --demo\n")
    assert blocks[1] == "bash tests/run\n"


def test_links_of_the_documents_lead_somewhere() -> None:
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=ROOT, capture_output=True, text=True).stdout.split()
    for name in listed:
        if name.startswith("tests/corpus/"):
            continue
        for target in re.findall(r"\]\(([^)#:]+)\)", (ROOT / name).read_text()):
            assert (ROOT / name).parent.joinpath(target).exists(), f"{name}: {target}"
