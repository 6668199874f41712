"""`manage.py judge_again`: judge what the policy in force touches, where the page had no time for all sessions or was cut short."""

from __future__ import annotations

from typing import Any

from inspector.core import wording
from inspector.core.policy import Policy
from inspector.management import base
from inspector.models import PolicyVersion
from inspector.queries import policies
from inspector.services.apply_policy import apply_policy


class Command(base.Command):
    help = __doc__

    def handle(self, *args: Any, **options: Any) -> None:
        version = PolicyVersion.objects.first()
        if version is None:
            self.stdout.write("No policy was saved yet: the built-in tables need no judging again.")
            return
        done = apply_policy(before=policies.before(version), after=Policy.from_json(version.policy), actor=None)
        failed = f", {len(done.failed)} could not be read" if done.failed else ""
        self.stdout.write(f"policy {version.number}: {wording.count(done.sessions, 'session')} judged again{failed}, {done.found} newly uncertain")
