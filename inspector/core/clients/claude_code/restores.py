"""What each release brings back at a resume besides the messages, as named behaviours.

`2.1.332` was observed: the same rows were resumed by session id, by file path (inside and outside the projects folder) and as a fork,
and the metadata that the client wrote again was compared. For 2.1.197 the sessions of the format facts were observed. What older
releases leave out when a transcript is named by its path comes from the analysis of the March 2026 snapshot.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from .profiles import profile_for


@dataclass(frozen=True, slots=True)
class Restores:
    """Which state a release restores."""

    by_path: bool = True
    """Title, tag, agent, mode, cost, worktree and replacements also come back when the transcript is named by its path."""
    permission_mode: bool = True
    """The interactive client goes back into the stored permission mode, unless that bypasses permissions."""
    worktree: bool = True
    """A normal resume goes back into the stored worktree."""
    cost: bool = True
    """Cost so far is read from the transcript (`cost-state`) and carried on, in a fork too."""
    from_other_folders: bool = True
    """`--resume ID` finds the session from any folder."""
    reads_rendered: bool = True
    """Stored renderings and the stored system prompt are sent."""


NEWEST = Restores()
V281 = replace(NEWEST, by_path=False, permission_mode=False, worktree=False, from_other_folders=False, reads_rendered=False)
V197 = replace(V281, cost=False)

BY_PROFILE: dict[str, Restores] = {"2.1.332": NEWEST, "2.1.315": NEWEST, "2.1.281": V281, "2.1.277": replace(V197, cost=True)}
"""Profiles that differ from 2.1.197."""


def restores_of(version: str) -> Restores:
    """The behaviours of the profile that stands for a release."""
    return BY_PROFILE.get(profile_for(version).version, V197)
