"""Stores made to harm whoever reads them: everything that the real serializer would call, read under an audit hook that names what happens."""

from __future__ import annotations

import json
import pickle
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import ormsgpack
import pytest

from inspector.core import msgpack
from inspector.core.msgpack import Inert, Undecodable

ROOT = Path(__file__).resolve().parents[2]
ID = "1f1ec9d0-84aa-6a3a-8001-c6c1833a795c"
WATCHED = """
import sys
sys.path.insert(0, {root!r})
from contextlib import closing
from pathlib import Path
from inspector.capture.store import open_store
from inspector.core import inspection, report, rulebook
import json, tempfile

def look(path):
    with closing(open_store(Path(path))) as store:
        for thread in store.threads():
            looked = inspection.inspect(store.source(thread.id))
            json.dumps(report.answer("store", looked, rulebook.diagnose(looked)))

look({harmless!r})
seen = []
own = ({hostile!r}, tempfile.gettempdir())
WATCHED = ("import", "exec", "compile", "open", "subprocess.Popen", "os.system", "os.exec", "os.spawn", "os.posix_spawn", "os.putenv",
    "pickle.find_class", "socket.connect", "socket.getaddrinfo", "code.__new__", "ctypes.dlopen", "marshal.loads", "sqlite3.load_extension")

def hook(event, args):
    if armed and event in WATCHED and not (event == "open" and str(args[0]).startswith(own)):
        seen.append((event, str(args)[:200]))

armed = False
sys.addaudithook(hook)
armed = True
look({hostile!r})
armed = False
print(json.dumps(seen))
"""


class Harm:
    def __init__(self, marker: Path) -> None:
        self.marker = str(marker)

    def __reduce__(self) -> Any:
        import os

        return os.mkdir, (self.marker,)


def extension(code: int, *payload: Any) -> bytes:
    return ormsgpack.packb(ormsgpack.Ext(code, ormsgpack.packb(list(payload))))


def constructs(marker: Path) -> dict[str, tuple[str, bytes]]:
    """Name -> (type, bytes) of a value that makes a folder `marker` when it is built as the serializer of some release would."""
    place = str(marker)
    nested = extension(1, "os", "mkdir", [place])
    values: dict[str, tuple[str, bytes]] = {
        "one argument": ("msgpack", extension(0, "os", "mkdir", place)),
        "arguments": ("msgpack", nested),
        "named arguments": ("msgpack", extension(2, "os", "mkdir", {"path": place})),
        "method": ("msgpack", extension(3, "shutil", "os", place, "mkdir")),
        "model 1": ("msgpack", extension(4, "os", "mkdir", {"path": place})),
        "model 2": ("msgpack", extension(5, "os", "mkdir", {"path": place}, "model_validate_json")),
        "array": ("msgpack", extension(6, "object", [1], "C", pickle.dumps(Harm(marker)))),
        "snapshot": ("msgpack", ormsgpack.packb(ormsgpack.Ext(7, nested))),
        "unknown code": ("msgpack", extension(99, "os", "mkdir", [place])),
        "inside": ("msgpack", ormsgpack.packb({"a": [ormsgpack.Ext(5, ormsgpack.packb(["m", "HumanMessage", {"content": ormsgpack.Ext(
            1, ormsgpack.packb(["os", "mkdir", [place]]))}, "x"]))]})),
        "pickle": ("pickle", pickle.dumps(Harm(marker))),
        "deep": ("msgpack", b"\x91" * 900 + b"\xc0"),
        "deeper": ("msgpack", b"\x91" * 100_000 + b"\xc0"),
        "large": ("msgpack", b"\xdd\xff\xff\xff\xff"),
        "cut": ("msgpack", nested[:-3]),
        "text": ("json", b'"\\ud800"'),
        "encrypted": ("msgpack+aes", b"\0" * 64),
    }  # fmt: skip
    for name, value in {
        "constructor": {"lc": 2, "type": "constructor", "id": ["os", "mkdir"], "kwargs": {"path": place}},
        "json method": {"lc": 2, "type": "constructor", "id": ["os", "path"], "method": "join", "args": [place, "x"]},
        "secret": {"lc": 1, "type": "secret", "id": ["PATH"]},
        "module": {"lc": 1, "type": "constructor", "id": ["antigravity", "fly"], "kwargs": {}},
    }.items():
        values[name] = ("json", json.dumps(value).encode())
    values["deep json"] = ("json", b"[" * 5000 + b"]" * 5000)
    return values


def make(path: Path, values: dict[str, tuple[str, bytes]]) -> None:
    """A store with one thread for each value: as the checkpoint itself, as a channel's value, and as a task's write."""
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE checkpoints (thread_id TEXT, checkpoint_ns TEXT, checkpoint_id TEXT, parent_checkpoint_id TEXT, type TEXT, checkpoint BLOB, metadata BLOB)")  # fmt: skip  # noqa: E501
    connection.execute("CREATE TABLE writes (thread_id TEXT, checkpoint_ns TEXT, checkpoint_id TEXT, task_id TEXT, task_path TEXT, idx INTEGER, channel TEXT, type TEXT, value BLOB)")  # fmt: skip  # noqa: E501
    for name, (kind, data) in values.items():
        sound = ormsgpack.packb({"v": 4, "id": ID, "channel_values": {"messages": []}, "channel_versions": {}, "versions_seen": {}})
        held = {"v": 4, "id": ID, "channel_versions": {"messages": "1", "__pregel_tasks": "1"}, "versions_seen": {}, "channel_values": {}}
        if kind == "msgpack":
            whole = ormsgpack.packb(held)
            assert whole.endswith(b"\x80")  # the channels: empty, in last place
            within = whole[:-1] + b"\x82" + ormsgpack.packb("messages") + data + ormsgpack.packb("__pregel_tasks") + data
        else:
            within = sound
        for thread, blob, typed in ((f"{name} 1", data, kind), (f"{name} 2", within, "msgpack"), (f"{name} 3", sound, "msgpack")):
            connection.execute("INSERT INTO checkpoints VALUES (?, '', ?, NULL, ?, ?, ?)", (thread, ID, typed, blob, b'{"step": 1}'))
            for number, channel in enumerate(("messages", "__pregel_tasks", "__interrupt__", "__error__")):
                row = (thread, ID, "64c66fe9-3663-644b-3adb-6e5c85c71c1a", "~__pregel_pull, node", number, channel, kind, data)
                connection.execute("INSERT INTO writes VALUES (?, '', ?, ?, ?, ?, ?, ?, ?)", row)
    connection.commit()
    connection.close()


def test_nothing_in_a_store_is_imported_run_or_opened(tmp_path: Path) -> None:
    marker = tmp_path / "harm"
    hostile, harmless = tmp_path / "hostile.sqlite", tmp_path / "harmless.sqlite"
    make(hostile, constructs(marker))
    plain = {"tool": ("msgpack", extension(5, "langchain_core.messages.tool", "ToolMessage", {"content": "", "tool_call_id": "1"}, "m"))}
    make(harmless, plain | {"broken": ("msgpack", b"\xc1"), "json": ("json", b"\xff[")})
    script = WATCHED.format(root=str(ROOT), harmless=str(harmless), hostile=str(hostile))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []
    assert not marker.exists()


def test_the_constructs_are_those_that_do_harm(tmp_path: Path) -> None:
    """The test above would mean nothing if its pickle did not run: it does, for who loads it."""
    marker = tmp_path / "harm"
    pickle.loads(constructs(marker)["pickle"][1])
    assert marker.exists()


def test_an_object_becomes_what_it_says_it_is() -> None:
    made = msgpack.decode(extension(5, "langchain_core.messages.human", "HumanMessage", {"content": "hi"}, "model_validate_json"))
    assert made == Inert(5, "langchain_core.messages.human", "HumanMessage", {"content": "hi"}, "model_validate_json")
    assert msgpack.decode(msgpack.encode([made, {1: b"x"}])) == [made, {1: b"x"}]


@pytest.mark.parametrize("data", [b"\x91" * 66 + b"\xc0", b"\xc1", b"", b"\xdd\xff\xff\xff\xff"], ids=str)
def test_what_is_no_sound_blob_is_refused(data: bytes) -> None:
    with pytest.raises(Undecodable):
        msgpack.decode(data)


def test_nesting_counts_through_extensions() -> None:
    value: Any = None
    for _ in range(msgpack.DEPTH + 2):
        value = ormsgpack.Ext(0, ormsgpack.packb(["m", "n", value]))
    with pytest.raises(Undecodable):
        msgpack.decode(ormsgpack.packb(value))
