"""Effect classes: a table of calls, and the law that one more part never makes a compound look more harmless."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from inspector.core.effect_class import RANK, EffectClass
from inspector.core.effect_tables import BY_ARGUMENTS, COMMAND_TOOLS, TABLES
from inspector.core.effects import TAKES_AWAY, effect_of
from inspector.core.policy import Annotations, Policy, Rule
from inspector.core.shell import LONGEST, script_effect

CORPUS = Path(__file__).resolve().parents[1] / "corpus"

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
    ("codex", "apply_patch", {"input": "*** Update File: a\n*** Move to: b"}, "mutating"),
    ("codex", "wait", {"cell_id": "1"}, "read-only"),
    ("codex", "wait", {"cell_id": "1", "terminate": False}, "read-only"),
    ("codex", "wait", {"cell_id": "1", "terminate": True}, "mutating"),
    ("codex", "wait", {"cell_id": "1", "terminate": "yes"}, "mutating"),
    ("claude-code", "TaskUpdate", {"taskId": "1", "status": "completed"}, "mutating"),
    ("claude-code", "TaskUpdate", {"taskId": "1", "subject": "x"}, "mutating"),
    ("claude-code", "TaskUpdate", {"taskId": "1", "status": "deleted"}, "destructive"),
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


DECLARED = "declared in recorded requests of 2.1.332"
NAMED = "code.claude.com/docs/en/tools-reference, or a list of deferred tools"
EARLIER = "earlier releases"
SPEC = "codex-rs/core/src/tools/spec_plan.rs"
CODE_MODE = "declared in recorded requests, code mode"
CALLED = "called in recorded sessions"
NAMES = "packages/core/src/tools/tool-names.ts"
ITEMS = "kinds of items of the Responses API that name no tool"
NEWER = "later versions of tool-names.ts, agents"

TOOLS: dict[str, list[tuple[str, str, str]]] = {
    "claude-code": [
        ("read-only", "AskUserQuestion CronList DeferredToolPlaceholder ListAgents Read ReportFindings TaskGet TaskList ToolSearch", DECLARED),
        ("read-only", "WebFetch WebSearch", DECLARED),
        ("read-only", "EnterPlanMode ExitPlanMode Glob Grep LSP TaskOutput TodoWrite WaitForMcpServers", NAMED),
        ("read-only", "AgentOutputTool BashOutput LS NotebookRead SendUserMessage Sleep StructuredOutput TodoRead exit_plan_mode", EARLIER),
        ("mutating", "CronCreate Edit EnterWorktree NotebookEdit ScheduleWakeup TaskCreate TaskStop Write", DECLARED),
        ("mutating", "Artifact EndConversation PushNotification SendFeedback SendUserFile ShareOnboardingGuide", NAMED),
        ("mutating", "Config KillBash KillShell MultiEdit TeamCreate", EARLIER),
        ("unknown", "Agent Bash Monitor SendMessage Skill Workflow", DECLARED),
        ("unknown", "ArtifactComments ArtifactData DesignSync ListMcpResourcesTool PowerShell ReadMcpResourceDirTool", NAMED),
        ("unknown", "ReadMcpResourceTool RemoteTrigger", NAMED),
        ("unknown", "REPL SlashCommand Task", EARLIER),
        ("destructive", "CronDelete ExitWorktree TaskUpdate", DECLARED),
        ("destructive", "TeamDelete", EARLIER),
    ],
    "codex": [
        ("read-only", "clock list_agents request_user_input request_user_input_async send_message_to_user_async sleep wait_agent", CODE_MODE),
        ("read-only", "get_goal list_available_plugins_to_install request_permissions test_sync_tool tool_search update_plan view_image", SPEC),
        ("read-only", "web_search", CALLED),
        ("read-only", "current_time grep_files list_dir read_file", EARLIER),
        ("mutating", "interrupt_agent wait", CODE_MODE),
        ("mutating", "close_agent create_goal image_generation report_agent_job_result request_plugin_install update_goal", SPEC),
        ("unknown", "exec followup_task send_message spawn_agent", CODE_MODE),
        ("unknown", "exec_command local_shell shell", CALLED),
        ("unknown", "list_mcp_resource_templates list_mcp_resources read_mcp_resource resume_agent send_input shell_command", SPEC),
        ("unknown", "spawn_agents_on_csv write_stdin", SPEC),
        ("unknown", "container.exec js_repl", EARLIER),
        ("destructive", "apply_patch", CALLED),
    ],
    "gemini-cli": [
        ("read-only", "ask_user enter_plan_mode exit_plan_mode get_internal_docs glob google_web_search grep_search list_directory", NAMES),
        ("read-only", "read_file read_many_files search_file_content tracker_get_task tracker_list_tasks tracker_visualize update_topic", NAMES),
        ("read-only", "web_fetch write_todos", NAMES),
        ("read-only", "complete_task list_background_processes read_background_output", NEWER),
        ("mutating", "write_file", CALLED),
        ("mutating", "replace save_memory tracker_add_dependency tracker_create_task tracker_update_task", NAMES),
        ("unknown", "run_shell_command", CALLED),
        ("unknown", "activate_skill cli_help codebase_investigator", NAMES),
        ("unknown", "delegate_to_agent generalist invoke_agent list_mcp_resources read_mcp_resource", NEWER),
    ],
    "openai-agents": [
        ("read-only", "tool_search", ITEMS),
        ("unknown", "computer shell local_shell", ITEMS),
        ("destructive", "apply_patch", ITEMS),
    ],
}  # fmt: skip
"""Client -> (class without known arguments, tools, where the names were found). Every tool that we know of."""
KNOWN = [(client, tool, expected) for client, groups in TOOLS.items() for expected, tools, _ in groups for tool in tools.split()]
NOT_KNOWN = ("a tool of an MCP server", "not a tool of the client's own", "the name of the tool says")


@pytest.mark.parametrize(("client", "tool", "expected"), KNOWN)
def test_every_known_tool_is_in_the_tables(client, tool, expected):
    """Also those that stay unknown: for a reason of their own, not because nobody looked."""
    effect = effect_of(client, tool, None)
    assert effect.name.value == expected, effect.why
    assert not effect.why.startswith(NOT_KNOWN)


def test_the_tables_hold_no_tool_without_a_vector():
    tables = [(client, tool) for table in (TABLES, COMMAND_TOOLS, BY_ARGUMENTS) for client, tools in table.items() for tool in tools]
    assert sorted(tables) == sorted((client, tool) for client, tool, _ in KNOWN)


def test_every_tool_called_in_a_recorded_session_is_known():
    found = {
        name.decode()
        for path in (CORPUS / "claude-code").glob("*/source/*.jsonl")
        for name in re.findall(rb'"type": ?"tool_use", ?"id": ?"[^"]*", ?"name": ?"([^"]*)"', path.read_bytes())
    }
    assert found >= {"Bash", "Write", "Read", "Agent"}
    assert found - {tool for client, tool, _ in KNOWN if client == "claude-code"} == {"NoSuchTool"}, "only a case made by hand calls that one"


CHANGES = (
    "write_file replace save_memory Write Edit MultiEdit NotebookEdit apply_patch Bash shell exec_command exec write_stdin run_shell_command "
    "Agent Task Skill spawn_agent invoke_agent CronCreate CronDelete TaskStop KillShell SendMessage PushNotification RemoteTrigger Artifact"
).split()


@pytest.mark.parametrize("client", ["claude-code", "codex", "gemini-cli", "unheard-of"])
@pytest.mark.parametrize("tool", CHANGES)
def test_a_tool_that_changes_something_is_read_only_nowhere(client, tool):
    """Whatever its arguments say, and in the client that has it as in those that have not."""
    for arguments in (None, {}, {"command": "touch a", "cmd": "touch a", "readOnlyHint": True}, "read only", []):
        assert effect_of(client, tool, arguments).name is not EffectClass.READ_ONLY


SERVED = ["look", "delete_it", "Write"]
"""Tools of a server that policies may trust."""
CALLED_AS = st.sampled_from([(client, tool) for client, tool, _ in KNOWN]).flatmap(
    lambda known: st.sampled_from([known, known, (known[0], known[1] + " "), (known[0], known[1].swapcase()), ("unheard-of", known[1])])
) | st.tuples(st.sampled_from([*TABLES, "unheard-of"]), st.sampled_from([start + tool for start in ("mcp__s__", "mcp_s_", "") for tool in SERVED]))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
)
GIVEN = JSON | st.fixed_dictionaries(
    {}, optional={"command": st.sampled_from(["ls", "rm a", ["ls"], 5]), "cmd": st.sampled_from(["ls", "make"]), "terminate": JSON, "action": JSON}
)
HINTED = st.builds(Annotations, *[st.booleans()] * 4)
RULE = st.builds(
    Rule, st.sampled_from(["*", "Read", "mcp__s__*", "*a*"]), st.sampled_from(EffectClass), st.just("so"), st.sampled_from(["", "codex"]),
)  # fmt: skip


@settings(max_examples=1500, deadline=None)
@given(
    CALLED_AS | st.tuples(st.sampled_from([*TABLES]), st.text(max_size=12)),
    GIVEN, st.lists(RULE, max_size=2), st.dictionaries(st.sampled_from(SERVED), HINTED),
)  # fmt: skip
def test_read_only_is_only_what_a_rule_a_trusted_server_a_table_or_the_shell_says(called, arguments, rules, trusted):
    client, tool = called
    policy = Policy(1, tuple(rules), {"s": trusted})
    effect = effect_of(client, tool, arguments, policy)
    ruled = next((rule for rule in rules if rule.client in ("", client) and fnmatchcase(tool, rule.tool)), None)
    prefix = "mcp_s_" if client == "gemini-cli" else "mcp__s__"
    hinted = trusted.get(tool.removeprefix(prefix)) if tool.startswith(prefix) else None
    if ruled is not None:
        allowed = ruled.effect is EffectClass.READ_ONLY
    elif hinted is not None:
        allowed = hinted.read_only and not any(word in tool.lower() for word in TAKES_AWAY)
    elif tool in COMMAND_TOOLS.get(client, {}):
        said = arguments.get(COMMAND_TOOLS[client][tool]) if isinstance(arguments, dict) else None
        allowed = said == "ls" or said == ["ls"]
    elif (client, tool) == ("codex", "wait"):
        allowed = isinstance(arguments, dict) and not arguments.get("terminate")
    else:
        allowed = (client, tool, "read-only") in KNOWN
    assert allowed or effect.name is not EffectClass.READ_ONLY, effect.why


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
