"""The kinds of target and their window of uncertainty: the time in which nobody can say whether an operation happened.

Each is a help page. The window opens when a request may have left and closes when its answer is saved; what differs is what the target can
tell afterwards, and whether the same request may be made again.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TargetKind:
    """What one kind of target means for an operation without a saved result. All texts are for a person."""

    name: str
    title: str
    opens: str
    """A clause: the window opens when …"""
    closes: str
    """A clause: it closes when …"""
    repeatable: bool
    """Whether the same operation may be sent again while it is uncertain, as it is."""
    contract: str
    """A sentence: whether it may be repeated, and why."""
    check: str
    """A clause in the imperative: what to do while the window is open."""
    probes: tuple[str, ...]
    """Kinds of probe that can tell, the best first."""
    help: str
    """Markdown."""


_ALL = (
    TargetKind(
        name="file",
        title="A file on this machine",
        opens="the client begins to write the file",
        closes="the row with the tool's result is saved",
        repeatable=False,
        contract="Not to be repeated unseen: a second edit fails or edits again, and a whole file would overwrite what others wrote since.",
        check="compare the file with the content before and after",
        probes=("file-hash",),
        help="""
            **When the window opens.** The client writes the file first and saves the result row afterwards. A client that is killed in between
            leaves a changed file and a call without a result.

            **What closes it.** A saved result. Without one, the file itself is the witness.

            **What the target promises.** Nothing: a file keeps no list of who wrote it. Writing the same whole file again is harmless only while
            the file is still as it was before or after the call. An edit is different: its second run fails, or finds the text once more and
            edits twice.

            **How to find out.** Take the hash of the file. The expected content after the call means that it happened; the content before it
            means that it did not. Neither one means that somebody else was there: leave it open and ask. For an edit, look for the new text
            and for the absence of the old one, but only if both stand in the file a single time.

            **Traps.** The snapshots that Claude Code keeps of files cover its edit tools alone: what a shell command changed is not in them,
            and they are removed after 30 days. A file in another worktree of the same repository is another file.

            *Sources: Claude Code documentation, Checkpointing; recorded sessions that were killed during a write.*
        """,
    ),
    TargetKind(
        name="git-remote",
        title="A git server",
        opens="git sends the commits",
        closes="the row with git's answer is saved",
        repeatable=False,
        contract="A plain push adds nothing when it is repeated, a forced one overwrites: look where the branch stands first.",
        check="ask the server where the branch stands now",
        probes=("git-remote", "git-log"),
        help="""
            **When the window opens.** With the start of the push. The server moves the branch in one step, and only then answers; a client that
            dies while it waits never learns of it.

            **What closes it.** A saved result that holds git's answer, or the server's own word about the branch.

            **What the target promises.** A branch moves completely or not at all. A plain push of the same commits is accepted twice and
            changes nothing the second time. A forced push is not so kind: if a colleague pushed in the meantime, the repetition takes that
            work off the branch. That is why even a harmless push is repeated only after a look.

            **How to find out.** Ask the server with `git ls-remote` and compare with the commit that the session made. If the branch points to it,
            or contains it, the push happened. If not, it is not there *now*: it may have been there and been overwritten by force.

            **Traps.** `origin/main` in a clone is a memory of the last fetch, not the server. Hooks and pipelines that the push started are
            further effects, with their own targets; a push that is confirmed says nothing about them.

            *Sources: git documentation of ls-remote, push and remote-tracking branches.*
        """,
    ),
    TargetKind(
        name="git-local",
        title="A git repository on this machine",
        opens="git changes the repository or its files",
        closes="the row with git's answer is saved",
        repeatable=False,
        contract="Not to be repeated unseen: a second commit, merge or reset starts from another state than the first.",
        check="look for the commit in the repository, and at the state of its files",
        probes=("git-log", "file-hash"),
        help="""
            **When the window opens.** When git starts. Several commands joined in one call are several small windows: `add` may be done while
            `commit` never ran.

            **What closes it.** A saved result, or the repository, which remembers more than any other target on a machine.

            **What the target promises.** Commits are named by their content, so a commit that exists cannot be half there. The command around it
            promises nothing: repeating a commit may find nothing to commit or take up changes of somebody else; repeating a reset or a clean
            throws away what was made since.

            **How to find out.** `git log --all` finds a commit on any branch, and `git reflog` lists where a branch has stood, with times. Compare
            message, author and time with the call. For files, `git status` and the hash of the file tell.

            **Traps.** The reflog belongs to one clone: a fresh clone has none, and entries expire. A merge or rebase that stopped half-way leaves
            its own files behind; finish or abort it before anything else. A removed worktree takes uncommitted work with it.

            *Sources: git documentation of reflog and log; recorded sessions with worktrees.*
        """,
    ),
    TargetKind(
        name="shell",
        title="A command or process on this machine",
        opens="the client starts the command",
        closes="the row with the command's output is saved",
        repeatable=False,
        contract="Not to be repeated unseen: nobody knows how far it came, and its first part may have been done.",
        check="look at everything that the command touches, part by part",
        probes=("file-hash", "git-log", "http-get"),
        help="""
            **When the window opens.** Tools start as soon as the call has arrived, often before the message around it is saved. So a command can
            have run although the transcript does not even hold the call.

            **What closes it.** The saved output. A notice from a background task that it ended closes it, too; that it was started does not.

            **What the target promises.** Nothing. A command can stop anywhere: a script of five lines has six possible ends. Repeating it
            starts from the first line again.

            **How to find out.** Go through the parts and ask for each what it would have left: a file, a commit, a row in a database, a process,
            a log line. An exit marker or output file proves the part that it names.

            **Traps.** Missing output is no proof that nothing ran. A result that says "rejected" or "interrupted" is none either: clients write
            it also for commands that had already done their work. The process may still be running; then nothing is settled until it has
            ended. And the model's sentence that all went well is never evidence.

            *Sources: recorded sessions of Claude Code, Codex and Gemini CLI, killed and interrupted while a command ran.*
        """,
    ),
    TargetKind(
        name="http-service",
        title="An outside service without a known contract",
        opens="the request leaves for the service",
        closes="the service's answer is saved",
        repeatable=False,
        contract="Not to be repeated: it keeps no promise that we know of, and a second request may pay, send or book a second time.",
        check="find a witness outside, such as a statement, a ticket or a log of the other side",
        probes=("http-get",),
        help="""
            **When the window opens.** When the request is sent: a web API, a tool of an MCP server, a message. From then on the other side decides
            alone.

            **What closes it.** A definite answer that was saved. Only a refusal of the request itself (wrong fields, no permission) says that
            nothing happened. A timeout or a server error says nothing: the work may be done, or may still be waiting in a queue.

            **What the target promises.** As far as we know, nothing. MCP servers describe their tools, but a transcript does not keep the
            description, and the word of a server that nobody vouched for does not count.

            **How to find out.** A person looks for a witness outside the session: the bank statement, the ticket, the log of the mail gateway,
            the order page. Attach it. If the service can be searched, compare amount, time and author: somebody else may have done the same.

            **Traps.** Search indexes lag behind. "Not found" counts only after the quiet period: the last moment at which the request could be
            sent, plus the longest pause of the sender, plus the longest time on the way.

            *Sources: Model Context Protocol, schema 2025-11-25; AWS Builders' Library on safe retries; M. Kleppmann on distributed locking.*
        """,
    ),
    TargetKind(
        name="key",
        title="A service that knows an operation by its key",
        opens="the request leaves with its key",
        closes="the answer to this key is saved",
        repeatable=True,
        contract="May be sent again with the same key and the same content while the key is valid; later it would be a new request.",
        check="look the key up, or send the same operation with the same key while it is valid",
        probes=("key-lookup", "http-get"),
        help="""
            **When the window opens.** When the request is sent. The key was made and saved before, so that it survives a crash.

            **What closes it.** The answer to this key: the first one, or the same one given again.

            **What the target promises.** Within the validity of the key, the same request has one effect, and a repetition gets the saved answer,
            even if that was an error. The same key with other content is refused. The promise ends with the key: Stripe may drop keys once they
            are 24 hours old and then carries the request out anew. Others differ: Qonto keeps keys for 30 minutes, TrueLayer for 6 hours
            up to 30 days. So each declared target has its own period.

            **How to find out.** Look the key up where the service offers it; Stripe's events carry the key of their request. Or send the very same
            operation again in time, with a fresh approval.

            **Traps.** Sending again is no look: if the first request never arrived, it is carried out now. A new key on a retry is a second
            payment. After the validity only a look or a person can tell.

            *Sources: Stripe API reference and Events; IETF HTTP API draft on request keys, version 07; AWS Builders' Library on safe retries.*
        """,
    ),
    TargetKind(
        name="lookup",
        title="A service that can be asked",
        opens="the request leaves for the service",
        closes="the answer is saved, or a look finds the effect",
        repeatable=False,
        contract="Not to be repeated before a look: it carries out every request, but can be asked afterwards what it did.",
        check="look the operation up by its business id, once the quiet period is over",
        probes=("http-get", "sql-select"),
        help="""
            **When the window opens.** When the request is sent.

            **What closes it.** The saved answer. Without it, a look: the service is asked by an id of the business (an order, an invoice, a
            reference that the request carried) whether the effect is there.

            **What the target promises.** It answers questions truthfully, but does not recognise a repeated request: two requests are two effects.
            So the order is always the same: wait, look, and only then decide. A new attempt is a new operation with its own approval.

            **How to find out.** Found, with the right amount, author and time: it happened. Not found after the quiet period: it did not happen.
            The quiet period begins with the last moment at which the request could have been sent, and lasts as long as a sender can
            pause and a request can be under way.

            **Traps.** A look that comes too early finds nothing and is worth nothing. Search indexes and read replicas lag; ask for the record
            itself where you can. Somebody may have done by hand what the agent was to do: compare more than the id.

            *Sources: AWS Builders' Library on safe retries; Stripe API reference, metadata and search; M. Kleppmann on distributed locking.*
        """,
    ),
    TargetKind(
        name="same-database",
        title="A database that also holds the operation",
        opens="the transaction begins",
        closes="it commits or is rolled back, with the change and its operation together",
        repeatable=False,
        contract="Needs no repetition: the change and its record are one transaction, so the record always tells.",
        check="read the operation in the database, which says what happened",
        probes=("sql-select",),
        help="""
            **When the window opens.** In fact never, as seen from outside. The change of the business data and the record that it was made are
            written in one transaction; a crash before the commit takes both back, a crash after it keeps both.

            **What closes it.** The commit. If the connection broke while committing, read the record: it is there, or it is not.

            **What the target promises.** Either both or neither. This is the reason to prefer it wherever an application may choose: wherever
            the process is killed, no operation stays uncertain.

            **How to find out.** Select the operation by its key. `confirmed` means that the change is in the same database. If it is still
            waiting to be sent, no change was made, and it may be sent.

            **Traps.** The promise ends at the edge of the database. A mail, a webhook or a message that the same code sends is a target of its own:
            put it into an outbox table in the same transaction, and expect its reader to meet it more than one time. Two databases, or a
            database and its replica, are not the same database.

            *Sources: DBOS documentation, transactions and steps; brandur.org on recovery points and outboxes; the crash tests of this project.*
        """,
    ),
    TargetKind(
        name="agent",
        title="An agent with calls of its own",
        opens="the agent is started",
        closes="every call in its own transcript is settled",
        repeatable=False,
        contract="Not to be repeated: a second agent takes other steps than the first, beside what the first one did.",
        check="open the agent's transcript and settle its calls one by one",
        probes=(),
        help="""
            **When the window opens.** When the agent is started. It then works by itself, with its own calls, and each of them has a window of its
            own.

            **What closes it.** That every call of the agent is settled. The answer of the agent alone does not: current releases of Claude Code
            start agents in the background and save "launched" at once, before any work was done.

            **What the target promises.** Nothing. An agent is a model: started again with the same words, it takes other steps, on top of whatever
            the first one did. It counts as being as bad as the worst call in its transcript, and as unknown where there is no transcript.

            **How to find out.** Open its transcript from the session page; the calls without a result are listed there like those of any session.
            Settle each by the help of its own target. When none is left, the agent's call can be settled from them.

            **Traps.** A killed parent does not always stop its agents: look whether one still writes. Work that an agent handed to another agent
            is one level deeper. What it says it did is no evidence; what its calls left in the world is.

            *Sources: recorded sessions with agents killed in the foreground and in the background; Claude Code documentation, Subagents.*
        """,
    ),
    TargetKind(
        name="none",
        title="Nothing: the call only reads",
        opens="never",
        closes="never",
        repeatable=True,
        contract="May be repeated or left out freely: nothing in the world depends on whether it ran.",
        check="nothing is to be checked",
        probes=(),
        help="""
            **When the window opens.** It does not. A call that only reads changes nothing, so it makes no difference whether it ran before the
            client was stopped.

            **What closes it.** Nothing has to. A missing result is repaired in the conversation alone, and no person needs to decide anything.

            **What the target promises.** That a second look does no harm. The answer may be another one, because the world went on; a repair
            therefore never invents the old answer, it says that none was saved.

            **How to find out.** There is nothing to find out. If the answer matters, let the agent read again after the resume.

            **Traps.** "Only reads" is our classification, with its reason beside it. A table of known tools, an operator's rule, a trusted
            server or the analysis of a plain shell command may say so; the name of an unknown tool never can. A fetch from the web shows the
            other side that somebody asked, and some sites act on a mere visit: if you know one, write a rule for it. Aliases and settings of
            a machine can make a harmless name do something else.

            *Sources: Claude Code documentation, Permissions; openai/codex, list of safe commands; google-gemini/gemini-cli, kinds of tools.*
        """,
    ),
)
KINDS = {kind.name: kind for kind in _ALL}
