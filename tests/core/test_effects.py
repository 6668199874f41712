"""Effect classes: a table of calls, and the law that one more part never makes a compound look more harmless."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from inspector.core.effect_class import RANK, EffectClass
from inspector.core.effects import COMMAND_TOOLS, TABLES, effect_of
from inspector.core.shell import LONGEST, script_effect

SCRIPTS = {
    "read-only": [
        "ls", "ls -la src", "/bin/ls", "cat README.md", "cat 'a b' \"c d\" e\\ f", "head -20 x.py | tail -5", "grep -rn 'rm -rf' src", "pwd",
        "echo hello > /dev/null", "echo 'rm -rf /'", "ls *.py", "wc -l src/*.py", "ls 2>&1 >/dev/null", "ls 2>/dev/null", "echo hi >&2",
        "git status", "git log --oneline -5", "git diff HEAD~1 -- src/a.py", "git show --stat HEAD", "git branch", "git branch -a",
        "git --no-pager log -3", "git rev-parse HEAD", "git ls-files", "git remote -v", "git stash list", "git worktree list", "git tag",
        "git config --get user.name", "find . -name '*.py' -type f", "find . -maxdepth 2", "rg -n 'todo' src", "sed -n 1,20p a.py",
        "sed -n '5p' a.py", "sort a.txt", "sort -k2 -n a.txt | uniq -c", "diff a b", "du -sh .", "stat a", "which python", "sleep 5",
        "timeout 5 ls", "time ls -la", "nice -n 5 cat a", "stdbuf -oL cat a", "cat < input.txt", "cat <<'EOF'\n$(rm -rf /)\nEOF",
        "cat <<EOF\nplain\nEOF", "cat <<< 'text'", "cd src && ls", "ls; pwd; whoami", "! grep -q x y", "ls || true", "ls # rm -rf /", "\\ls",
        "l's' -la", "ls \\\n -la", "true", "find . > /dev/null", "echo a#b",
    ],
    "idempotent": [
        "git push", "git push origin main", "git push -u origin main", "git push --tags", "git fetch", "git fetch origin main",
        "mkdir -p build/out", "mkdir --parents x", "ls && git push", "git status; mkdir -p a",
    ],
    "mutating": [
        "touch a", "cp a b", "mv a b", "ln -s a b", "chmod +x run.sh", "chown me a", "tee out.txt", "ls | tee out.txt", "mkdir x", "rmdir x",
        "kill 12", "echo x > a.txt", "echo x >> a.txt", "echo x >| a.txt", "ls &> a.txt", "echo x >& a.txt", "> a.txt", "cat a 2> errors.txt",
        "ls; >| a ls", "ls |& >& a ls",
        "echo x >> effect.txt; sleep 60", "cat > a.txt <<'EOF'\nbody\nEOF", "cat <<'EOF' > a.txt\n$(rm x)\nEOF",
        "cat <<A | tee f\nhi\nA", "git add -A", "git commit -m 'drop it'", "git add . && git commit -m x && git push", "git merge dev",
        "git rebase main", "git pull", "git checkout dev", "git checkout -b new", "git stash", "git reset HEAD a", "git restore --staged a",
        "git branch new", "git tag v1", "git config user.name x", "git worktree add ../w", "git fetch --prune", "git fetch -f",
        "git branch -m new", "git init", "sed -i s/a/b/ f", "sed -i.bak s/a/b/ f", "sort -o out a", "sort -uo out a", "sort --outp=out a",
        "uniq a b", "find . -fprint out", "find . -fprintf out x", "tar xf a.tar", "patch -p1", "rsync -a a b", "timeout 10 touch a",
        "sort < a -o b", "git clone https://h/r",
    ],
    "unknown": [
        "", "   ", "python script.py", "python -c 'print(1)'", "npm test", "npm install", "make", "pytest -q", "curl https://example.org",
        "./run.sh", "curl -X POST https://h/pay", "FOO=1 ls", "X=1", "export PATH=x", "ls &", "sleep 9 & ls", "(ls)", "{ ls; }",
        "for f in a b; do ls; done", "if true; then ls; fi", "while true; do ls; done", "f() { ls; }; f", "[ -f a ]", "[[ -f a ]] && ls",
        "test -f a", "case x in x) ls;; esac", "eval ls", "source env.sh", ". env.sh", "bash -c ls", "sh x.sh", "sudo ls", "env ls", "xargs cat",
        "exec ls", "command ls", "nohup ls", "ssh h ls", "docker run x", "kubectl get pods", "npx tsc", "echo $HOME", "echo ${x:-y}",
        "echo $((1+1))", "echo \"$x\"", "echo `pwd`", "echo $(pwd)", "cat <<EOF\n$HOME\nEOF", "cat <<< \"$x\"", "diff <(ls a) <(ls b)", "$cmd",
        "\"$cmd\" x", "echo {a,b}", "echo {1..3}", "echo $'a'", "ls > $out", "ls > *.txt", "find . -name *.py", "find . -exec cat {} ;",
        "find . -execdir ls ;", "find . -ok ls ;", "sort *.txt", "uniq *", "rg x *", "rg --pre cat x", "rg -z x",
        "cat x \\ # y", "cat x\\\n# y > f", "rg -iz x", "echo *2>&1\\\nx", "ls >& \\ 2>&1 a",
        "rg --hostname-bin=x y", "git -c core.pager=x log", "git -C /tmp status", "git log --output=x", "git diff --ext-diff",
        "git show --textconv", "git log --outp=x", "git unknown", "git rebase -x make main", "git bisect run make", "git push --receive-pack=x",
        "cd a && git status", "sed s/a/b/ f", "sed -n '1,5w out' f", "sed -n -e 1p f", "awk 1 f", "time -o out ls", "timeout -x ls",
        "cat < /dev/tcp/h/80", "echo 'open", "cat <> a.txt", "ls )", "if", "ls\u00a0-la", "ls\r\n", "ls \x00", "sort --compress-program=x a",
        "sort -T d a", "diff -l a b", "mkdir -p $d", "cat <<E\\OF\nx\nEOF\n", "printf -v 'a[$(id)]' x", "coproc ls", "exec 3> f", "ls >&$x",
        "psql -c 'select 1'", "jq . a", "ls " + "x" * LONGEST,
    ],
    "destructive": [
        "rm a", "ls\n\\rm a", "ls > /dev/null\n\\rm a", "rm -rf build", "/bin/rm a", "\\rm a", "'rm' a", "r''m a", "unlink a", "shred a",
        "cat x \\ # ; rm a", "truncate -s 0 a", "dd if=a of=b",
        "mkfs.ext4 /dev/x", "ls && rm a", "rm a || ls", "ls; rm a", "ls | rm a", "ls & rm a", "FOO=1 rm a", "(rm a)", "{ rm a; }",
        "for f in *; do rm $f; done", "ls $(rm a)", "echo `rm a`", "echo \"$(rm a)\"", "cat <<EOF\n$(rm a)\nEOF", "cat <<< \"$(rm a)\"",
        "diff <(rm a) b", "f() { rm a; }", "if rm a; then ls; fi", "sudo rm a", "sudo -u me rm a", "xargs rm", "ls | xargs -n1 rm -f",
        "env X=1 rm a", "nohup rm a", "timeout 5 rm a", "time rm a", "nice rm a", "bash -c 'rm a'", "sh -lc \"ls; rm a\"", "eval 'rm a'",
        "eval rm a", "ssh host 'rm a'", "find . -delete", "find . -exec rm {} \\;", "find . > /dev/null -delete", "find . <<A -delete\nA\n",
        "ls && find . 2>&1 -delete", "> /dev/null rm a", "rm a > /dev/null", "rm $x", "rm *", "git push -f", "git push --force",
        "git push --force-with-lease", "git push origin +main", "git push origin :old", "git push -d origin old", "git push --delete origin old",
        "git push --mirror", "git push -fu origin x", "git push --forc", "git reset --hard", "git reset --hard HEAD~3", "git clean -fd",
        "git checkout -- a", "git checkout .", "git checkout -f", "git restore a", "git branch -D x", "git branch -d x", "git tag -d v1",
        "git stash drop", "git stash clear", "git rm a", "git worktree remove w", "git reflog expire --all", "git filter-branch x",
        "git update-ref -d x", "git -C x push -f", "git remote remove o", "docker rm x", "docker system prune", "kubectl delete pod x",
        "terraform destroy", "helm uninstall x", "npm uninstall x", "aws s3 rm s3://b --recursive", "gh repo delete x",
        "curl -X DELETE https://h/1", "curl --request delete https://h/1", "psql -c 'drop table orders'", "psql -c 'DELETE FROM orders'",
        "python -c 'import shutil; shutil.rmtree(1)'", "rsync -a --delete a b", "crontab -r", "rm a 'open", "cd x && git reset --hard",
        "ls \\\n && rm \\\n a", "time -o out rm a", "reboot",
    ],
}  # fmt: skip
VECTORS = [(script, name) for name, scripts in SCRIPTS.items() for script in scripts]


@pytest.mark.parametrize(("script", "expected"), VECTORS)
def test_scripts(script, expected):
    effect = effect_of("claude-code", "Bash", {"command": script})
    assert effect.name.value == expected, effect.why
    assert effect.why


CALLS = [
    ("claude-code", "Read", {"file_path": "a"}, "read-only"),
    ("claude-code", "WebFetch", {}, "read-only"),
    ("claude-code", "TodoWrite", {}, "read-only"),
    ("claude-code", "AskUserQuestion", {}, "read-only"),
    ("claude-code", "Write", {"file_path": "a", "content": ""}, "mutating"),
    ("claude-code", "Edit", {}, "mutating"),
    ("claude-code", "NotebookEdit", {}, "mutating"),
    ("claude-code", "Agent", {}, "unknown"),
    ("claude-code", "Task", {}, "unknown"),
    ("claude-code", "Skill", {}, "unknown"),
    ("claude-code", "ExitWorktree", {"action": "keep"}, "mutating"),
    ("claude-code", "ExitWorktree", {"action": "remove"}, "destructive"),
    ("claude-code", "ExitWorktree", None, "destructive"),
    ("claude-code", "Bash", None, "unknown"),
    ("claude-code", "Bash", {"command": 5}, "unknown"),
    ("claude-code", "Bash", {"command": ["ls"]}, "read-only"),
    ("claude-code", "bash", {"command": "ls"}, "unknown"),
    ("claude-code", "mcp__stripe__create_refund", {}, "unknown"),
    ("claude-code", "mcp__fs__read_file", {}, "unknown"),
    ("claude-code", "mcp__db__delete_rows", {}, "destructive"),
    ("claude-code", "mcp__db__dropTable", {}, "destructive"),
    ("claude-code", "NoSuchTool", {}, "unknown"),
    ("claude-code", "read_file", {}, "unknown"),
    ("codex", "shell", {"command": ["bash", "-lc", "ls -la"]}, "read-only"),
    ("codex", "shell", {"command": ["bash", "-lc", "rm a"]}, "destructive"),
    ("codex", "shell", {"command": ["git", "status"]}, "read-only"),
    ("codex", "shell", {"command": ["echo", "a'; rm b; '"]}, "read-only"),
    ("codex", "shell", {"command": ["rm", "a b"]}, "destructive"),
    ("codex", "shell", {"command": ["bash", "x.sh"]}, "unknown"),
    ("codex", "shell", {"command": []}, "unknown"),
    ("codex", "exec_command", {"cmd": "echo eff >> effect.txt; sleep 37.7"}, "mutating"),
    ("codex", "exec", "tools.exec_command()", "unknown"),
    ("codex", "apply_patch", "*** Begin Patch\n*** Update File: a", "mutating"),
    ("codex", "apply_patch", {"input": "*** Delete File: a"}, "destructive"),
    ("codex", "update_plan", {}, "read-only"),
    ("codex", "Read", {}, "unknown"),
    ("gemini-cli", "read_file", {}, "read-only"),
    ("gemini-cli", "replace", {}, "mutating"),
    ("gemini-cli", "write_file", {}, "mutating"),
    ("gemini-cli", "run_shell_command", {"command": "git push"}, "idempotent"),
    ("gemini-cli", "save_memory", {}, "mutating"),
    ("unheard-of", "Read", {}, "unknown"),
    ("unheard-of", "remove_all", {}, "destructive"),
]


@pytest.mark.parametrize(("client", "tool", "arguments", "expected"), CALLS)
def test_calls(client, tool, arguments, expected):
    assert effect_of(client, tool, arguments).name.value == expected


def test_the_tables_name_the_tools_of_three_clients_and_no_command_tool():
    assert set(TABLES) == set(COMMAND_TOOLS) == {"claude-code", "codex", "gemini-cli"}
    assert all(not set(TABLES[client]) & set(COMMAND_TOOLS[client]) for client in TABLES)


PART = st.sampled_from([script for script, _ in VECTORS if script.strip() and "<<" not in script and "#" not in script and len(script) < 500])
WHOLE = PART.filter(lambda script: script not in ("echo 'open", "rm a 'open", "ls )", "if") and not script.endswith(";"))
JOINT = st.sampled_from([" && ", " || ", "; ", " | ", "\n", " & "])


@settings(max_examples=1500, deadline=None)
@given(st.lists(WHOLE, min_size=1, max_size=4), WHOLE, st.lists(JOINT, min_size=4, max_size=4))
@example(parts=["unlink a", "echo $HOME"], more="echo *2>&1\\\nx", joints=[" && "] * 4)
def test_one_more_part_never_lowers_the_class(parts, more, joints):
    script = parts[0]
    for joint, part in zip(joints, parts[1:], strict=False):
        script += joint + part
    before = script_effect(script).rank
    for longer in (script + joints[-1] + more, more + joints[-1] + script):
        assert script_effect(longer).rank >= before, longer
        assert script_effect(longer).rank >= script_effect(more).rank, longer


@settings(max_examples=1000, deadline=None)
@given(st.text(alphabet="lsrm cat><&|;()$`'\"\\{}\n#=*-x1/", max_size=40))
def test_any_text_gets_a_class(script):
    assert script_effect(script).name in EffectClass


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(["$({})", "`{}`", "({})", "{{ {}; }}", "bash -c '{}'", "sudo {}", "X=1 {}", "if {}; then ls; fi", "f() {{ {}; }}"]))
def test_what_wraps_a_command_never_lowers_it(wrapper):
    for inner in ("rm a", "git push -f", "find . -delete"):
        assert script_effect(wrapper.replace("{}", inner).replace("{{", "{").replace("}}", "}")).rank == RANK[EffectClass.DESTRUCTIVE]


def test_deep_nesting_is_read_without_running_out_of_stack():
    assert script_effect("( " * 200 + "rm a" + " )" * 200).name is EffectClass.DESTRUCTIVE
    assert script_effect("echo " + "$(" * 3000 + "ls" + ")" * 3000).name is EffectClass.UNKNOWN
