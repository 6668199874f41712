"""The two git probes, on a real repository and a bare remote: what they say, and that they run nothing and change nothing."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from inspector.probes import KINDS, Expected, Reading, Template, run, validate
from inspector.probes import git as runner
from tests.probes.targets import Repositories, git, tree

ANY = r"[\s\S]+"


def remote(target: object, ref: str, sha: str) -> Reading:
    return run(Template("push", "git-remote", {"remote": str(target)}, {"ref": ANY, "sha": ANY}), {"ref": ref, "sha": sha})


def log(repository: Path, sha: str, ref: str | None = None) -> Reading:
    values = {"sha": sha} | ({"ref": ref} if ref else {})
    return run(Template("commit", "git-log", {"repository": str(repository)}, dict.fromkeys(values, ANY)), values)


def test_the_remote_ref_decides(repositories: Repositories) -> None:
    was = tree(repositories.folder)
    found = remote(repositories.remote, "refs/heads/main", repositories.first)
    assert found.verdict == "applied"
    assert repositories.first in found.output.decode()
    assert remote(repositories.remote, "refs/heads/main", repositories.first[:7].upper()).verdict == "applied"
    assert remote(repositories.remote, "refs/heads/main", repositories.second).verdict == "unclear"
    assert remote(repositories.remote, "refs/heads/feature", repositories.second).verdict == "not-applied"
    assert remote(repositories.remote, "refs/tags/v1", repositories.first).verdict == "applied"
    assert tree(repositories.folder) == was


def test_only_the_ref_of_exactly_this_name_counts(repositories: Repositories) -> None:
    git(repositories.remote, "update-ref", "refs/heads/copy/refs/heads/feature", repositories.first)
    assert remote(repositories.remote, "refs/heads/feature", repositories.first).verdict == "not-applied"


def test_a_remote_that_is_not_there_is_no_answer(repositories: Repositories) -> None:
    for target in (repositories.folder / "gone.git", "https://127.0.0.1:9/x.git", "ssh://127.0.0.1:9/x.git"):
        reading = remote(target, "refs/heads/main", repositories.first)
        assert reading.verdict == "failed"
        assert "Check its address" in reading.says


def test_the_repository_decides(repositories: Repositories) -> None:
    git(repositories.work, "branch", "old", repositories.first)
    git(repositories.work, "update-ref", "refs/remotes/origin/main", repositories.first)
    was = tree(repositories.folder)
    assert log(repositories.work, repositories.second).verdict == "applied"
    assert log(repositories.work, repositories.second[:7], "refs/heads/main").verdict == "applied"
    assert log(repositories.work, repositories.second, "refs/heads/old").verdict == "not-applied"
    stale = log(repositories.work, repositories.second, "refs/remotes/origin/main")
    assert (stale.verdict, "fetched last" in stale.says) == ("unclear", True)
    assert log(repositories.remote, repositories.first, "refs/heads/main").verdict == "applied"
    assert log(repositories.remote, repositories.second).verdict == "unclear"
    assert log(repositories.work, repositories.second, "refs/heads/none").verdict == "unclear"
    assert tree(repositories.folder) == was


def test_a_tree_or_a_branch_with_the_name_of_a_commit_is_none(repositories: Repositories) -> None:
    tree_id = git(repositories.work, "rev-parse", "HEAD^{tree}")
    git(repositories.work, "branch", "deadbeef", repositories.first)
    assert log(repositories.work, tree_id).verdict == "unclear"
    assert log(repositories.work, "deadbeef").verdict == "unclear"


def test_a_folder_without_a_repository_is_no_answer_even_inside_one(repositories: Repositories) -> None:
    inner = repositories.work / "inner"
    inner.mkdir()
    assert log(inner, repositories.first).verdict == "failed"


HOSTILE = [
    "--upload-pack=touch HERE", "-uHERE", "refs/heads/--upload-pack=x y", "refs/heads/../../x", "refs/heads/main\nrefs/heads/other", "refs/heads/*",
    "main", "HEAD", "refs/heads/main^{/x}", "refs/heads/a..b", "refs/heads/a.lock", "$(touch HERE)", "refs/heads/main@{1}", "refs/heads/x/", "",
]  # fmt: skip


@pytest.mark.parametrize("typed", HOSTILE)
def test_hostile_refs_and_commits_are_refused(repositories: Repositories, typed: str) -> None:
    mark = repositories.folder / "mark"
    typed = typed.replace("HERE", str(mark))
    readings = [
        remote(repositories.remote, typed, repositories.first), remote(repositories.remote, "refs/heads/main", typed),
        log(repositories.work, typed), log(repositories.work, repositories.first, typed or "\0"),
    ]  # fmt: skip
    assert {reading.verdict for reading in readings} == {"failed"}
    assert not mark.exists()


@pytest.mark.parametrize(
    "address",
    ["ext::sh -c 'touch x'", "--upload-pack=x", "https://user:word@example.com/x", "http://example.com/x", "git://example.com/x", "fd::3", "x/y",
     "ssh://-oProxyCommand=x/y", "-oProxyCommand=x:y", "user@-oProxyCommand=x:y", "file::/x"],
)  # fmt: skip
def test_addresses_that_could_run_something_are_no_template(address: str) -> None:
    assert validate(Template("push", "git-remote", {"remote": address}, {"ref": ANY, "sha": ANY}))


@pytest.mark.parametrize("address", ["https://example.com/a/b.git", "ssh://git@example.com/a.git", "git@example.com:a/b.git", "/srv/a b.git"])
def test_usual_addresses_are(address: str) -> None:
    assert validate(Template("push", "git-remote", {"remote": address, "ref": "refs/heads/main"}, {"sha": ANY})) == []


def test_what_the_repository_configures_is_not_run(repositories: Repositories) -> None:
    """Hooks, the file system monitor, pagers, signature programs and remote helpers of the repository itself."""
    mark = repositories.folder / "mark"
    script = repositories.folder / "script"
    script.write_text(f"#!/bin/sh\ntouch {mark}\nexit 1\n")
    script.chmod(0o755)
    for name in ("core.fsmonitor", "core.pager", "core.sshCommand", "gpg.program", "core.askPass", "diff.external", "credential.helper"):
        git(repositories.work, "config", name, str(script))
        git(repositories.remote, "config", name, str(script))
    git(repositories.remote, "config", "uploadpack.packObjectsHook", str(script))
    git(repositories.work, "config", "log.showSignature", "true")
    for hook in ("post-checkout", "pre-auto-gc", "reference-transaction", "post-index-change"):
        (repositories.work / ".git/hooks").mkdir(exist_ok=True)
        (repositories.work / ".git/hooks" / hook).write_text(script.read_text())
        (repositories.work / ".git/hooks" / hook).chmod(0o755)
    assert log(repositories.work, repositories.second, "refs/heads/main").verdict == "applied"
    assert remote(repositories.remote, "refs/heads/main", repositories.first).verdict == "applied"
    assert not mark.exists()


def test_a_partial_clone_fetches_nothing(repositories: Repositories) -> None:
    """Asking a partial clone for what it lacks would fetch it, and run what the clone's configuration names for that."""
    mark = repositories.folder / "mark"
    script = repositories.folder / "pack"
    script.write_text(f'#!/bin/sh\ntouch {mark}\nexec git-upload-pack "$@"\n')
    script.chmod(0o755)
    for name, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.uploadpack": str(script),
    }.items():
        git(repositories.work, "config", name, value)
    git(repositories.remote, "config", "uploadpack.allowAnySHA1InWant", "true")
    git(repositories.folder, "clone", "-q", str(repositories.remote), "other")
    (repositories.folder / "other/new").write_text("new")
    git(repositories.folder / "other", "add", "new")
    git(repositories.folder / "other", "commit", "-q", "-m", "elsewhere")
    git(repositories.folder / "other", "push", "-q", "origin", "HEAD:refs/heads/elsewhere")
    elsewhere = git(repositories.folder / "other", "rev-parse", "HEAD")
    (repositories.work / ".git/refs/heads/lacks").write_text(elsewhere + "\n")
    was = tree(repositories.work)
    assert log(repositories.work, elsewhere).verdict == "unclear"
    assert log(repositories.work, repositories.second, "refs/heads/lacks").verdict in ("unclear", "failed")
    assert tree(repositories.work) == was
    assert not mark.exists()
    # The trap is real: git as a developer runs it falls into it.
    git(repositories.work, "cat-file", "-t", elsewhere)
    assert mark.exists()


def test_the_users_configuration_counts_for_nothing(repositories: Repositories, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither HOME nor variables for git nor an alias may change what is asked."""
    home = repositories.folder / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(f'[url "{repositories.work}"]\n\tinsteadOf = {repositories.remote}\n')
    for name, value in {"HOME": str(home), "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "x", "GIT_DIR": "/nowhere", "GIT_TRACE": "2"}.items():
        monkeypatch.setenv(name, value)
    assert remote(repositories.remote, "refs/heads/main", repositories.first).verdict == "applied"
    assert log(repositories.work, repositories.first).verdict == "applied"


def test_a_remote_that_hangs_is_ended_with_all_it_started(repositories: Repositories, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = repositories.folder / "tools"
    tools.mkdir()
    (tools / "ssh").write_text(f"#!/bin/sh\necho $$ > {repositories.folder}/pid\nexec sleep 60\n")
    (tools / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    monkeypatch.setattr(runner, "TIMEOUT", 1)
    begun = time.monotonic()
    reading = remote("git@example.com:a/b.git", "refs/heads/main", repositories.first)
    assert (reading.verdict, time.monotonic() - begun < 10) == ("failed", True)
    pid = int((repositories.folder / "pid").read_text())
    for _ in range(50):
        status = Path(f"/proc/{pid}/stat")
        if not status.exists() or status.read_text().split()[2] == "Z":
            break
        time.sleep(0.1)
    else:
        pytest.fail("the process that git started lives on")


def test_without_git_the_probe_says_so(repositories: Repositories, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(repositories.folder))
    reading = log(repositories.work, repositories.first)
    assert (reading.verdict, "Install git" in reading.says) == ("failed", True)


def test_kinds_are_named_like_their_files() -> None:
    assert [kind.__name__.rpartition(".")[2].replace("_", "-") for kind in KINDS.values()] == list(KINDS)  # type: ignore[attr-defined]
    assert Expected() == Expected(None, None, None)
