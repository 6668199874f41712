"""Bring sessions in by upload: with counts while it runs, and nothing left behind when it is cancelled."""

from __future__ import annotations

import json
import logging
import queue
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import AbstractBaseUser
from django.db import connection
from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from inspector.capture import layout, upload, uploaded_stores
from inspector.core.errors import CoreError
from inspector.models.roles import HANDLE
from inspector.services import import_sessions as service
from inspector.services.permit import permit
from inspector.templatetags.words import safe_text, titled

log = logging.getLogger(__name__)
TICK = 1.0
"""Seconds between two lines while nothing happens: writing one is how a closed connection is noticed."""
LINKED = 20
"""Sessions that the message of an import links to."""
WORDS = {"imported": "brought in", "changed": "changed since the last import", "unchanged": "here already with the same bytes"}


@require_POST
def imports(request: HttpRequest) -> HttpResponseBase:
    """Import the uploaded `files`; `names` are their relative names where a script sent them. Lines of JSON for a script, else a redirect."""
    permit(request.user, HANDLE)  # before the answer begins: a stream has no other status than 200
    files = request.FILES.getlist("files")
    names = request.POST.getlist("names")
    if len(names) != len(files):
        names = [file.name or "upload" for file in files]
    pairs = list(zip(names, files, strict=True))
    if request.headers.get("Accept") == "application/x-ndjson":
        answer = StreamingHttpResponse(_stream(pairs, request.user), content_type="application/x-ndjson")
        answer["X-Accel-Buffering"] = "no"
        return answer
    try:
        outcomes, left = _run(pairs, request.user, lambda _: None)
    except (CoreError, OSError) as error:
        messages.error(request, safe_text(f"Nothing was imported. {error}"))
        return redirect("inbox")
    messages.success(request, said(outcomes))
    if warning := _warning(outcomes, left):
        messages.warning(request, warning)
    return redirect(reverse("session", args=[outcomes[0].session.pk]) if len(outcomes) == 1 else reverse("inbox"))


def _run(pairs: list[tuple[str, Any]], actor: AbstractBaseUser, progress: Any) -> tuple[list[service.Outcome], list[str]]:
    """What became of each session, and the files given by themselves (not in a folder) that belong to none."""
    with ExitStack() as stack:
        tree = stack.enter_context(upload.tree_of(pairs, service.limits()))
        threads, rest = uploaded_stores.threads_in(tree, settings.STORE_KEY or None, service.limits(), stack)
        found = list(layout.sessions_of(rest)) if rest.files or not threads else []
        taken = {name for one in found for name in (one.main, *one.parts.values(), *one.plans.values(), *one.registry)}
        left = sorted(name for name in rest.files if "/" not in name and name not in taken)
        return service.import_sessions(candidates=[*threads, *found], actor=actor, progress=progress), left


def _stream(pairs: list[tuple[str, Any]], actor: AbstractBaseUser) -> Iterator[str]:
    """Lines of JSON: `words`, `done`, `of` while it runs; at last `finished` or `error`. Closed early: the import is cancelled and undone."""
    lines: queue.Queue[dict[str, Any]] = queue.Queue()
    cancelled = threading.Event()

    def progress(at: service.Progress) -> None:
        if cancelled.is_set():
            raise service.Cancelled
        lines.put(
            {
                "words": f"{at.done:,} of {at.total:,} sessions read, {at.bytes / 1e6:,.1f} of {at.total_bytes / 1e6:,.1f} MB",
                "done": at.bytes,
                "of": at.total_bytes,
            }
        )

    def work() -> None:
        try:
            lines.put(_finished(*_run(pairs, actor, progress)))
        except (CoreError, OSError) as error:
            lines.put({"error": str(error)})
        except service.Cancelled:
            lines.put({"error": "cancelled"})
        except Exception as error:
            log.exception("an import failed")
            lines.put({"error": f"the inspector could not read this ({type(error).__name__})"})
        finally:
            connection.close()

    worker = threading.Thread(target=work, name="import")
    worker.start()
    last: dict[str, Any] = {"words": "reading"}
    try:
        while not ("finished" in last or "error" in last):
            yield json.dumps(last) + "\n"
            try:
                last = lines.get(timeout=TICK)
            except queue.Empty:
                continue
        yield json.dumps(last) + "\n"
    finally:
        cancelled.set()
        worker.join()


def said(outcomes: list[service.Outcome]) -> str:
    counts = {what: sum(1 for outcome in outcomes if outcome.what == what) for what in WORDS}
    return "; ".join(f"{count:,} session{'s' if count != 1 else ''} {WORDS[what]}" for what, count in counts.items() if count) + "."


def _warning(outcomes: list[service.Outcome], left: list[str]) -> str:
    """The warning about files that no known program wrote, and about those `left` out; blank without any."""
    raw = [outcome.session.name for outcome in outcomes if outcome.session.client == "raw"]
    says = []
    if raw:
        says.append(f"{_named(raw)}: no known program wrote this. It is kept as raw rows, which can be read and exported but not resumed.")
    if left:
        says.append(f"{_named(left)}: not brought in, because it is no transcript and belongs to none of these.")
    return " ".join(says)


def _named(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3:,} more" if len(names) > 3 else "")


def _finished(outcomes: list[service.Outcome], left: list[str]) -> dict[str, Any]:
    """The last line: what came in, with links; `open` is the one session that is worth going to at once, where nothing else must be read first."""
    shown = [
        {"href": reverse("session", args=[outcome.session.pk]), "words": titled(outcome.session)[:80], "what": WORDS[outcome.what]}
        for outcome in outcomes[:LINKED]
    ]
    warning = _warning(outcomes, left)
    at_once = len(outcomes) == 1 and outcomes[0].what != "unchanged" and not warning
    return {"finished": True, "words": said(outcomes), "warning": warning, "sessions": shown, "open": shown[0]["href"] if at_once else ""}
