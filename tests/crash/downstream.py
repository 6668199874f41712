"""The system on the other side: a store of its own that does what it is asked, and keeps one row for each time that it did."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path


class NoAnswer(Exception):
    """The connection broke: whoever asked does not know what became of it."""


class Downstream:
    """A target in a file. `knows_keys`: it answers a key that it has seen with what it did the first time, and does nothing."""

    def __init__(self, path: Path, *, knows_keys: bool) -> None:
        self.path, self.knows_keys = path, knows_keys

    def set_up(self) -> None:
        with closing(sqlite3.connect(self.path)) as store, store:
            store.execute("CREATE TABLE inbox (number INTEGER PRIMARY KEY, business_id TEXT, key TEXT)")
            store.execute("CREATE TABLE effects (number INTEGER PRIMARY KEY, business_id TEXT, key TEXT)")

    def receive(self, business_id: str, key: str, reach: Callable[[str], float] = lambda _: 0) -> int:
        """The effect's number. A caller that pauses when it is "sent" loses the connection, and with it the request."""
        with closing(sqlite3.connect(self.path)) as store:
            with store:
                request = store.execute("INSERT INTO inbox (business_id, key) VALUES (?, ?)", (business_id, key)).lastrowid
            if reach("sent"):
                raise NoAnswer
            answer = self._carry_out(store, business_id, key)
            with store:
                store.execute("DELETE FROM inbox WHERE number = ?", (request,))
        if reach("committed"):
            raise NoAnswer
        return answer

    def _carry_out(self, store: sqlite3.Connection, business_id: str, key: str) -> int:
        with store:
            store.execute("BEGIN IMMEDIATE")
            seen = store.execute("SELECT number FROM effects WHERE key = ?", (key,)).fetchone() if self.knows_keys and key else None
            if seen:
                return int(seen[0])
            return int(store.execute("INSERT INTO effects (business_id, key) VALUES (?, ?)", (business_id, key)).lastrowid or 0)

    def deliver_late(self) -> int:
        """Carry out what was under way all the time; returns how many requests that were."""
        with closing(sqlite3.connect(self.path)) as store:
            waiting = store.execute("SELECT business_id, key FROM inbox").fetchall()
            with store:
                store.execute("DELETE FROM inbox")
            for business_id, key in waiting:
                self._carry_out(store, business_id, key)
        return len(waiting)

    def look_up(self, business_id: str) -> int:
        """How often it did this: what the target says when it is asked, or what a person finds in its books."""
        with closing(sqlite3.connect(self.path)) as store:
            return int(store.execute("SELECT count(*) FROM effects WHERE business_id = ?", (business_id,)).fetchone()[0])
