"""Runtime state facts: everything besides the messages that a resumed client holds, where it is recorded, and which way of resuming restores it.

Each function answers for a group of facts; `facts_of` is the list of them all, in the order of a page. Nothing is guessed: what the
source does not record is a fact with `known` False that says so.
"""

from __future__ import annotations

from ...session import Session
from ...state import Fact, ResumeAs
from .facts_branch import branch_facts
from .facts_files import file_facts
from .facts_record import record_facts
from .facts_work import work_facts
from .gathered import gather
from .restores import restores_of
from .switching import path_facts, switch_facts


def facts_of(session: Session, resume_as: ResumeAs, profile_version: str, branch: list[str], leaf: str | None, model: str | None) -> list[Fact]:
    """All facts of a resume. `branch` and `leaf` are refs of the continued rows, `model` is the request's model."""
    held = gather(session, branch)
    restores = restores_of(profile_version)
    facts = [
        *record_facts(held, resume_as, restores, model),
        *work_facts(held, resume_as, restores),
        *file_facts(held),
        *branch_facts(held, leaf),
    ]
    facts += path_facts(facts, restores)
    if resume_as.how == "switch":
        facts.append(switch_facts(held, facts))
    return facts
