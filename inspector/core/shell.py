"""Shell scripts: what they may change, part by part. The worst part of a compound decides; what cannot be read for certain is unknown.

Parsed with tree-sitter-bash and never run. Only plain commands joined by `&&`, `||`, `;`, `|` and line ends are read; everything else (loops,
functions, groups, substitutions, background, settings of variables) is unknown at best, and as bad as the commands inside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from .effect_class import Effect, EffectClass, mutating, read_only, unknown, worst
from .shell_commands import Word, command

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

LONGEST = 10_000
"""Characters; a longer script is never called read-only."""
READ_AT_MOST = 200_000
LINE_END = ord("\n")
DEEPEST = 5
"""Scripts inside scripts (`bash -c "bash -c …"`)."""
PLAIN = frozenset(("program", "list", "pipeline", "redirected_statement", "negated_command"))
FOLLOWS_HEREDOC = frozenset(("pipeline", "command", "list", "file_redirect", "redirected_statement"))
"""What stands behind `<<EOF` on the same line: the grammar hangs it below the redirection."""
HARMLESS_TARGETS = frozenset(("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"))
WHY = {
    "subshell": "a subshell",
    "compound_statement": "a group of commands",
    "function_definition": "a function",
    "for_statement": "a loop",
    "c_style_for_statement": "a loop",
    "while_statement": "a loop",
    "if_statement": "a condition",
    "case_statement": "a condition",
    "test_command": "a test",
    "variable_assignment": "a variable is set",
    "declaration_command": "a variable is set",
    "command_substitution": "a command inside a command",
    "process_substitution": "a command inside a command",
}


@cache
def _parser() -> Parser:
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


@lru_cache(maxsize=4096)
def script_effect(script: str, depth: int = 0) -> Effect:
    """Effect of a script as a whole: that of its worst part."""
    if not script.strip():
        return unknown("no command was recorded")
    if depth >= DEEPEST:
        return unknown("scripts inside scripts")
    found = []
    if len(script) > LONGEST:
        found.append(unknown(f"longer than {LONGEST} characters"))
    if not all(char in "\n\t" or char.isprintable() for char in script):
        found.append(unknown("holds characters that cannot be seen"))
    if re.search(r"\S\\\n\S|(?:^|[\s;&|()<>])\\[ \t]", script):  # the grammar and the shell cut such words differently
        found.append(unknown("a word goes on in the next line or begins with a blank"))
        if "\\\n" in script:  # read it as the shell does, too: without the line ends that it takes out
            found.append(script_effect(script.replace("\\\n", ""), depth + 1))
    text = re.sub(r"\n(?=\\)", "\n ", script[:READ_AT_MOST])  # the grammar misses a line end right before a backslash
    root = _parser().parse(text.encode("utf-8", "replace")).root_node
    if root.has_error:
        found.append(unknown("cannot be read as a shell script"))
        pieces = [piece for piece in re.split(r"&&|\|\||[;|&\n()]", text) if piece.strip()]
        if len(pieces) > 1:  # what the grammar lost beside the fault still counts, at its worst
            found += [script_effect(piece, depth + 1) for piece in pieces]
    found += _parts(root, depth)
    names = re.findall(r"(?:^|[;&|(]|\n)\s*(cd|git)\b", script)
    if "cd" in names and "git" in names:
        found.append(unknown("git runs in another folder, whose settings can name programs"))
    return worst(found or [read_only("nothing is run")])


@lru_cache(maxsize=4096)
def changing_commands(script: str) -> tuple[tuple[str, ...], ...] | None:
    """Words of the commands in a script that do more than read, wherever they stand ("" for a word that the shell computes).

    None where the script can't be read, or writes to a file by itself.
    """
    root = _parser().parse(script[:LONGEST].encode("utf-8", "replace")).root_node
    if root.has_error or len(script) > LONGEST:
        return None
    found: list[tuple[str, ...]] = []
    stack = [root]
    while stack:
        node = stack.pop()
        if node.type == "file_redirect" and _redirect(node).name is not EffectClass.READ_ONLY:
            return None
        if node.type == "command" and any(effect.name is not EffectClass.READ_ONLY for effect in _command(node, [], 0)):
            words = [child.children[0] if child.type == "command_name" and child.children else child for child in node.children if child.is_named]
            found.append(tuple(_word(word).text or "" for word in words if word.type not in ("variable_assignment", "file_redirect")))
        stack += reversed(node.children)
    return tuple(found)


def _parts(root: Node, depth: int) -> Iterator[Effect]:
    """Effects of every part of a tree, without recursion: hostile input may nest deeply."""
    stack = [root]
    source = root.text or b""
    behind: dict[int, list[Word]] = {}
    while stack:
        node = stack.pop()
        children = [child for child in node.children if child.is_named]
        if any(child.type == "&" for child in node.children):
            yield unknown("runs in the background")
        if node.type == "comment":
            at = node.start_byte - root.start_byte
            if re.search(rb"\\[ \t\n]$", source[max(at - 3, 0) : at]):
                yield unknown("a word that looks like a comment")
                yield script_effect(_text(node)[1:], depth + 1)
            continue
        if node.type == "redirected_statement":
            words = _words_behind(node)
            owner = _last_command(node.child_by_field_name("body"))
            if owner is not None:
                behind.setdefault(owner.id, []).extend(words)
            elif words:
                yield unknown("words stand behind a redirection")
        if node.type == "command":
            yield from _command(node, behind.get(node.id, []), depth)
            children = list(_inner(children))
        elif node.type == "file_redirect":
            yield _redirect(node)
            children = list(_inner(children))
        elif node.type in ("heredoc_redirect", "herestring_redirect"):
            yield from _given_text(node)
            apart = [child for child in children if child.type in FOLLOWS_HEREDOC]
            children = apart + list(_inner(child for child in children if child.type not in FOLLOWS_HEREDOC))
        elif node.type not in PLAIN:
            yield unknown(WHY.get(node.type, "a part that is not a plain command"))
        stack += reversed(children)


def _given_text(node: Node) -> Iterator[Effect]:
    """Text that a redirection hands over: computed or not, and whether it ends where it seems to."""
    if _expands(node):
        yield unknown("text given to the command is computed")
    if node.type == "herestring_redirect":
        return
    said = next((_text(child) for child in node.children if child.type == "heredoc_start"), "")
    delimiter = said.strip("'\"")
    body = next((_text(child) for child in node.children if child.type == "heredoc_body"), "")
    if not re.fullmatch(r"\w+", delimiter) or delimiter in [line.lstrip("\t") for line in body.split("\n")]:
        yield unknown("where the text given to the command ends is not certain")


def _inner(nodes: Iterable[Node]) -> Iterator[Node]:
    """Of these words and redirections, and all below them, the parts that are judged by themselves."""
    stack = list(nodes)
    while stack:
        node = stack.pop()
        if node.type in ("command_substitution", "process_substitution", "herestring_redirect", "file_redirect", "heredoc_redirect"):
            yield node
        else:
            stack += [child for child in node.children if child.is_named]


def _expands(node: Node) -> bool:
    stack = [child for child in node.children if child.type not in FOLLOWS_HEREDOC]
    while stack:
        child = stack.pop()
        if child.type in ("simple_expansion", "expansion", "arithmetic_expansion", "command_substitution", "process_substitution"):
            return True
        stack += child.children
    return False


def _words_behind(statement: Node) -> list[Word]:
    """Words of the command that stand behind its redirections: the grammar takes `> file -x` for two files."""
    words = []
    stack = [child for child in statement.children if child.type in ("file_redirect", "heredoc_redirect")]
    while stack:
        redirect = stack.pop(0)
        words += [_word(child) for child in redirect.children_by_field_name("destination")[1:]]
        words += [_word(child) for child in redirect.children_by_field_name("argument")]
        stack += [child for child in redirect.children if child.type == "file_redirect"]
    return words


def _last_command(body: Node | None) -> Node | None:
    while body is not None and body.type in PLAIN:
        body = next((child for child in reversed(body.children) if child.is_named and not child.type.endswith("_redirect")), None)
    return body if body is not None and body.type == "command" else None


def _command(node: Node, behind: list[Word], depth: int) -> Iterator[Effect]:
    words: list[Word] = []
    source = node.text or b""
    for child in node.children:
        if child.type == "variable_assignment":
            yield unknown("a variable is set for the command")
        elif child.type == "command_name":
            words.append(_word(child.children[0]) if child.children else Word(None))
        elif child.type == "file_redirect":
            words += [_word(extra) for extra in child.children_by_field_name("destination")[1:]]
        elif child.is_named and not child.type.endswith("_redirect"):
            if words and _line_ends(source, child.start_byte - node.start_byte, child):
                yield command(words, lambda script: script_effect(script, depth + 1))
                words = []
            words.append(_word(child))
    words += behind
    if words:
        yield command(words, lambda script: script_effect(script, depth + 1))


def _line_ends(source: bytes, at: int, child: Node) -> bool:
    """Whether the line ended before this word at `at`, although the grammar takes it for one more word of the command."""
    lead = re.match(rb"[ \t\n]*", child.text or b"")
    if lead and b"\n" in lead[0]:
        return True
    while at and source[at - 1] in b" \t\n":
        at -= 1
        if source[at] == LINE_END:
            if source[at - 1 : at] != b"\\":
                return True
            at -= 1
    return False


def _redirect(node: Node) -> Effect:
    operator = next((child.type for child in node.children if not child.is_named), "")
    target = node.child_by_field_name("destination")
    word = _word(target) if target is not None else Word(None)
    if operator in (">&", "<&") and word.text is not None and re.fullmatch(r"\d+-?|-", word.text):
        return read_only("joins two streams")
    if word.text is None or word.glob:
        return unknown("the file of a redirection is computed")
    if word.text.startswith(("/dev/tcp/", "/dev/udp/")):
        return unknown("opens a connection")
    if operator.startswith("<") and operator != "<>":
        return read_only("reads a file")
    if word.text in HARMLESS_TARGETS:
        return read_only("output is thrown away or shown")
    return mutating(f"writes to {word.text[:80]}")


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _word(node: Node) -> Word:
    """The text that the shell would pass on, or None where it computes it."""
    raw = _text(node)
    if node.type in ("word", "number"):
        raw = raw.lstrip(" \t\n")
        if re.search(r"(?<!\\)[$`]", raw):
            return Word(None)
        plain = re.sub(r"\\.", "", raw, flags=re.DOTALL)
        text = re.sub(r"\\(.)", lambda found: "" if found[1] == "\n" else found[1], raw, flags=re.DOTALL)
        return Word(text, glob=bool(re.search(r"[*?\[]", plain)))
    if node.type == "raw_string":
        return Word(raw[1:-1])
    if node.type == "string":
        if any(child.is_named and child.type != "string_content" for child in node.children):
            return Word(None)
        return Word(re.sub(r'\\([\\"$`\n])', lambda found: "" if found[1] == "\n" else found[1], raw[1:-1]))
    if node.type == "concatenation":
        if raw == "{}":
            return Word(raw)
        parts = [_word(child) for child in node.children if child.is_named]
        if any(part.text is None for part in parts) or re.search(r"\{[^}]*(?:,|\.\.)[^}]*\}", raw):
            return Word(None)
        return Word("".join(part.text or "" for part in parts), any(part.glob for part in parts))
    return Word(None)
