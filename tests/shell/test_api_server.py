"""The commands of the README, word by word, and a race for the right to send: against the server as a person starts it."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from tests.conftest import ROOT, Serve, address_of

README = (ROOT / "README.md").read_text()


def send(url: str, auth: str, body: str, method: str = "POST") -> tuple[int, Any]:
    """As curl sends `-d`: a form by its header, JSON by its body."""
    try:
        with urlopen(Request(url, body.encode(), dict([auth.split(": ", 1)]), method=method)) as answer:
            return answer.status, json.load(answer)
    except HTTPError as refused:
        return refused.code, json.load(refused)


def token_of(tmp_path: Path, command: str) -> str:
    """What a `manage.py` command of the README prints, on the database of the server."""
    environment = {"INSPECTOR_DATA_DIR": str(tmp_path / "data"), "PATH": "/usr/bin"}
    ended = subprocess.run([sys.executable, *command.split()[1:]], cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    return ended.stdout.strip()


def test_the_commands_of_the_readme_and_a_race_for_the_right_to_send(serve: Serve, tmp_path: Path) -> None:
    home = address_of(serve("--port", "0")).split("launch/")[0]
    block = re.search(r"^```\n(export AUTH=.*?)^```", README, re.MULTILINE | re.DOTALL)
    assert block
    first, *lines = block[1].splitlines()
    made = re.search(r"\$\((.*?)\)", first)
    assert made
    auth = f"Authorization: Bearer {token_of(tmp_path, made[1])}"
    digest, states, answer = "", [], {}
    for line in lines:
        words = shlex.split(line, comments=True)
        assert words[:3] == ["curl", "-H", "$AUTH"] and words[4] == "-d"
        url, body = words[3].replace("$API", home + "api"), words[5].replace("…", digest)
        if url.endswith("/dispatch/"):
            with ThreadPoolExecutor(8) as pool:
                raced = list(pool.map(lambda _, url=url, body=body: send(url, auth, body), range(8)))
            assert sorted(status for status, _ in raced) == [200] + [409] * 7
            answer = next(answer for status, answer in raced if status == 200)
        else:
            status, answer = send(url, auth, body)
            assert status in (200, 201), (line, answer)
        if "operation" in answer:
            digest = answer["operation"]["digest"]
            states.append(answer["operation"]["state"])
    assert states == ["proposed", "approved", "dispatched", "confirmed"] and answer["operation"]["approvals"][0]["alone"]
