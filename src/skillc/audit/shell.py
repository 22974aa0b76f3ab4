"""Read shell scripts: by their syntax tree with tree-sitter, or word by word where that can't be loaded.

Both readers give commands, pipes, redirections and assignments in order to a `Machine`, which knows what
they mean. Nothing is run.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from skillc.audit.commands import DECODED, DOWNLOAD, EMPTY, NOTHING, Machine, Word
from skillc.audit.indicators import MAX_DECODED
from skillc.audit.patterns import load_pattern, word_set

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

MAX_NESTED = 60  # levels of a syntax tree that are followed
_PLAIN = word_set(
    "word number variable_name string_content special_variable_name test_operator extglob_pattern regex"
)
_SUBSTITUTIONS = ("command_substitution", "process_substitution")
_COMMANDS = ("pipeline", "command", "list", "redirected_statement")


@cache
def has_parser() -> bool:
    """Return whether scripts are read by their syntax tree: whether tree-sitter works here."""
    try:
        _parser()
    except (ImportError, ValueError):  # another version of the grammar's language is a ValueError
        return False
    return True


@cache
def _parser() -> Parser:
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


def read_shell(text: str, machine: Machine, line: int) -> None:
    """Take note of what a script does; `line` is the one of its first line in its file."""
    if not has_parser():
        _WordReader(machine, line).read(text)
        return
    tree = _parser().parse(text.encode("utf-8", "replace"))
    reader = _TreeReader(machine, line)
    reader.run(tree.root_node, EMPTY)
    if tree.root_node.has_error:  # what the grammar does not understand is read word by word
        for start, piece in _broken_lines(tree.root_node, text):
            _WordReader(machine, line + start).read(piece)


def _broken_lines(root: Node, text: str) -> list[tuple[int, str]]:
    """Return the lines with errors, each with its number from 0."""
    lines = text.split("\n")
    numbers: set[int] = set()
    stack = [root]
    while stack and len(numbers) < len(lines):
        node = stack.pop()
        if node.type == "ERROR" or node.is_missing:
            numbers.update(range(node.start_point[0], min(node.end_point[0] + 1, len(lines))))
        elif node.has_error:
            stack.extend(node.children)
    return [(number, lines[number]) for number in sorted(numbers)]


class _TreeReader:
    """Walks a syntax tree in the order in which a shell would run it."""

    def __init__(self, machine: Machine, line: int) -> None:
        self.machine = machine
        self.line = line
        self.depth = 0

    def run(self, node: Node, stdin: Word) -> Word:
        """Take note of a statement, and return what it prints."""
        if self.depth >= MAX_NESTED:
            self.machine.trace.report("A09", "is nested too deeply to be read", self.at(node))
            return EMPTY
        self.depth += 1
        try:
            method = getattr(self, f"_run_{node.type}", None)
            return method(node, stdin) if method else self._run_all(node, stdin)
        finally:
            self.depth -= 1

    def at(self, node: Node) -> int:
        return self.line + int(node.start_point[0])

    def _run_all(self, node: Node, stdin: Word) -> Word:
        output = EMPTY
        for child in node.named_children:
            if child.type not in ("comment", "heredoc_body", "ERROR") and child.type not in _PLAIN:
                output = output.join(self.run(child, stdin))
        return output

    def _run_list(self, node: Node, stdin: Word) -> Word:
        parts: list[Node] = []  # `a && b && c` nests to the left
        while node.type == "list" and node.named_children:
            first, *rest = node.named_children
            parts += reversed(rest)
            node = first
        output = self.run(node, stdin) if node.type != "list" else EMPTY
        for part in reversed(parts):
            output = output.join(self.run(part, stdin))
        return output

    def _run_pipeline(self, node: Node, stdin: Word) -> Word:
        for child in node.named_children:
            if child.type != "comment":
                stdin = self.run(child, stdin)
        return stdin

    def _run_command(self, node: Node, stdin: Word) -> Word:
        argv: list[Word] = []
        for child in node.children:
            if child.type == "command_name":
                argv.append(self.word(child.children[0]) if child.children else EMPTY)
            elif child.type == "herestring_redirect":
                stdin = stdin.join(self.word(child.named_children[-1])) if child.named_children else stdin
            elif child.type == "variable_assignment":
                self.run(child, EMPTY)
            elif child.type in ("file_redirect", "heredoc_redirect"):
                stdin = self.redirect(child, stdin, EMPTY)
            elif child.is_named:
                argv.append(self.word(child))
        if argv and argv[0].text == "read":
            for word in argv[1:]:
                self.machine.assign(word.text, Word("", stdin.flags))
        return self.machine.execute(argv, stdin, self.at(node))

    def _run_redirected_statement(self, node: Node, stdin: Word) -> Word:
        body = node.child_by_field_name("body")
        redirects = [child for child in node.named_children if child.type.endswith("redirect")]
        for redirect in redirects:
            if redirect.type != "file_redirect" or _operator(redirect).startswith("<"):
                stdin = self.redirect(redirect, stdin, EMPTY)
        output = self.run(body, stdin) if body is not None else EMPTY
        for redirect in redirects:
            if redirect.type == "file_redirect" and not _operator(redirect).startswith("<"):
                self.redirect(redirect, EMPTY, output)
        return output

    def redirect(self, node: Node, stdin: Word, output: Word) -> Word:
        """Take note of a redirection, and return what flows in then."""
        if node.type == "heredoc_redirect":
            return self._read_heredoc(node, stdin)
        if not node.named_children:
            return stdin
        target = self.word(node.named_children[-1])
        if node.type == "herestring_redirect":
            return stdin.join(target)
        if _operator(node).startswith("<"):
            flags = self.machine.flags_of(target.text)
            if flags & {"secret"}:
                self.machine.trace.report("A20", "reads a store of secrets", self.at(node), target.text)
            return stdin.join(Word(target.text if DECODED in target.flags else "", target.flags | flags))
        if re.match(r"/dev/(?:tcp|udp)/", target.text):
            self.machine.trace.ask("hosts", target.text.split("/")[3], self.at(node))
            self._check_socket(target.text, output, self.at(node))
        else:
            self.machine.write(target.text, self.at(node), output.flags, output.text)
        return stdin

    def _check_socket(self, target: str, output: Word, line: int) -> None:
        report = self.machine.trace.report
        if output.flags & {"secret", "environment", "dotenv"}:
            report("A21", "sends secrets through a socket", line, target)
        else:
            report("A50", "opens a connection that a shell can be handed to", line, target, "review")

    def _read_heredoc(self, node: Node, stdin: Word) -> Word:
        for child in node.named_children:
            if child.type == "heredoc_body":
                text = _source(child)
                for inner in child.named_children:
                    stdin = stdin.join(
                        Word("", self.word(inner).flags if inner.type != "heredoc_content" else NOTHING)
                    )
                stdin = stdin.join(Word(text[:MAX_DECODED]))
        for child in node.named_children:
            if child.type in _COMMANDS:  # runs after it, with its text
                self.run(child, stdin)
            elif child.type == "file_redirect":
                self.redirect(child, EMPTY, stdin)
        return stdin

    def _run_variable_assignment(self, node: Node, stdin: Word) -> Word:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is not None:
            self.machine.assign(_source(name), self.word(value) if value is not None else EMPTY)
        return EMPTY

    def _run_declaration_command(self, node: Node, stdin: Word) -> Word:
        inner = [child for child in node.named_children if child.type == "variable_assignment"]
        for child in inner:
            self.run(child, EMPTY)
        if not inner:
            return self.machine.execute(
                [Word(_source(child)) for child in node.children], stdin, self.at(node)
            )
        return EMPTY

    def _run_function_definition(self, node: Node, stdin: Word) -> Word:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is not None:
            self.machine.functions.add(_source(name))
        if body is not None:
            text = _source(body)
            if name is not None and re.search(
                rf"\b{re.escape(_source(name)[:50])}\s*\|\s*{re.escape(_source(name)[:50])}\s*&", text
            ):
                self.machine.trace.report("A51", "starts itself without end", self.at(node))
            self.run(body, EMPTY)
        return EMPTY

    def _run_for_statement(self, node: Node, stdin: Word) -> Word:
        variable, body = node.child_by_field_name("variable"), node.child_by_field_name("body")
        values = [child for child in node.named_children if child not in (variable, body)]
        words = [self.word(child) for child in values]
        if variable is not None:
            flags = frozenset().union(*(word.flags | self.machine.flags_of(word.text) for word in words))
            text = words[0].text if words else ""
            self.machine.assign(_source(variable), Word(text, flags))
        return self.run(body, stdin) if body is not None else EMPTY

    def word(self, node: Node) -> Word:
        """Return the value of a word as far as it is known, and what flows into it."""
        kind = node.type
        if kind == "raw_string":
            return Word(_source(node)[1:-1])
        if kind == "ansi_c_string":
            return Word(_unquote_ansi(_source(node)[2:-1]))
        if kind in ("string", "concatenation", "translated_string", "command_name"):
            return self._join(node)
        if kind in ("simple_expansion", "expansion"):
            return self._expand(node)
        if kind in _SUBSTITUTIONS:
            return self._run_all_of(node)
        if not node.named_children:
            return Word(_unquote_word(_source(node)))
        return self._join(node)

    def _join(self, node: Node) -> Word:
        if self.depth >= MAX_NESTED:
            return EMPTY
        self.depth += 1
        word = EMPTY
        source = node.text or b""
        end = node.start_byte + (1 if node.type == "string" else 0)
        for child in node.named_children:
            if node.type == "string" and child.start_byte > end:  # spaces are no nodes of their own
                gap = source[end - node.start_byte : child.start_byte - node.start_byte]
                word = word.join(Word(gap.decode("utf-8", "replace")))
            if child.type == "string_content":
                word = word.join(Word(_unquote_string(_source(child))))
            else:
                word = word.join(self.word(child))
            end = child.end_byte
        self.depth -= 1
        return word

    def _expand(self, node: Node) -> Word:
        word = EMPTY
        for child in node.named_children:
            if child.type == "variable_name":
                word = word.join(self.machine.look_up(_source(child), self.at(node)))
            elif child.type in _SUBSTITUTIONS or child.type in ("expansion", "string"):
                word = word.join(Word("", self.word(child).flags))
        return word

    def _run_all_of(self, node: Node) -> Word:
        output = EMPTY
        redirects = [child for child in node.named_children if child.type == "file_redirect"]
        for child in redirects:  # $(< file)
            if child.named_children:
                target = self.word(child.named_children[-1])
                output = output.join(Word("", self.machine.flags_of(target.text)))
        for child in node.named_children:
            if child not in redirects and child.type != "comment":
                output = output.join(self.run(child, EMPTY))
        return Word(output.text.strip("\n"), output.flags)


def _operator(node: Node) -> str:
    return next((child.type for child in node.children if not child.is_named), ">")


def _source(node: Node) -> str:
    return (node.text or b"")[: 4 * MAX_DECODED].decode("utf-8", "replace")


def _unquote_word(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)


def _unquote_string(text: str) -> str:
    return re.sub(r"\\([\"\\$`\n])", r"\1", text)


def _unquote_ansi(text: str) -> str:
    def character(match: re.Match[str]) -> str:
        body = match[1]
        if body[0] in "xuU":
            number = int(body[1:], 16)
            return chr(number) if number < 0x110000 else ""
        if body[0].isdigit():
            return chr(int(body, 8) & 0xFF)
        return {"n": "\n", "t": "\t", "r": "\r", "e": "\x1b"}.get(body, body)

    return re.sub(
        r"\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,3}|.)",
        character,
        text,
        flags=re.DOTALL,
    )


_TOKEN = load_pattern("token")


class _WordReader:
    """Reads a script word by word: for scripts without a grammar, and for what the grammar can't read."""

    def __init__(self, machine: Machine, line: int) -> None:
        self.machine = machine
        self.line = line

    def read(self, text: str) -> Word:
        """Take note of each command, and return what the last one prints."""
        self.argv: list[Word] = []
        self.stdin = self.output = EMPTY
        self.target = ""  # the operator of a redirection whose target comes next
        self.stack: list[tuple[list[Word], Word]] = []  # commands around the one in parentheses
        for match in _TOKEN.finditer(text):
            kind, piece = match.lastgroup, match[0]
            if kind == "word":
                self._take_word(piece)
            elif kind == "pipe":
                self.argv, self.stdin = [], self._finish()
            elif kind == "end":
                self._finish()
                self.argv, self.stdin = [], EMPTY
            elif kind == "redirect":
                self.target = piece
            elif kind == "open":
                self._take_bracket(piece)
            self.line += piece.count("\n")
        self._finish()
        while self.stack:
            self._take_bracket(")")
            self._finish()
        return self.output

    def _take_word(self, piece: str) -> None:
        word = self._word(piece, self.line)
        if self.target:
            self.stdin = self._redirect(self.target, word, self.argv, self.stdin, self.line)
            self.target = ""
        elif not self.argv and re.match(r"[A-Za-z_]\w*=", piece):
            self.machine.assign(piece.partition("=")[0], Word(word.text.partition("=")[2], word.flags))
        else:
            self.argv.append(word)

    def _take_bracket(self, piece: str) -> None:
        """Begin or end a command in parentheses: what it prints is a word of the command around it."""
        if piece in ("$(", "<(", ">(") and len(self.stack) < MAX_NESTED:
            self.stack.append((self.argv, self.stdin))
            self.argv, self.stdin = [], EMPTY
        elif piece == ")" and self.stack:
            output = self._finish()
            self.argv, self.stdin = self.stack.pop()
            self.argv.append(output)

    def _finish(self) -> Word:
        self.output = self.machine.execute(self.argv, self.stdin, self.line) if self.argv else self.stdin
        return self.output

    def _redirect(self, operator: str, word: Word, argv: list[Word], stdin: Word, line: int) -> Word:
        if operator.startswith("<<"):
            return stdin.join(word) if operator == "<<<" else stdin
        if operator.startswith("<"):
            return stdin.join(Word("", word.flags | self.machine.flags_of(word.text)))
        if not operator.endswith("&"):
            flags = (
                frozenset().union(*(w.flags | self.machine.flags_of(w.text) for w in argv))
                if argv
                else NOTHING
            )
            downloads = argv and argv[0].text in ("curl", "wget")
            self.machine.write(word.text, line, flags | ({DOWNLOAD} if downloads else NOTHING))
            if re.match(r"/dev/(?:tcp|udp)/", word.text):
                self.machine.trace.report(
                    "A50", "opens a connection that a shell can be handed to", line, level="review"
                )
        return stdin

    def _word(self, token: str, line: int) -> Word:
        word = EMPTY
        for piece in re.finditer(r"'([^']*)'|\"((?:[^\"\\]|\\.)*)\"|([^'\"]+|['\"])", token, re.DOTALL):
            if piece[1] is not None:
                word = word.join(Word(piece[1]))
            else:
                word = word.join(self._expand(piece[2] if piece[2] is not None else piece[3], line))
        return word

    def _expand(self, text: str, line: int) -> Word:
        flags: set[str] = set()

        def value(match: re.Match[str]) -> str:
            word = self.machine.look_up(match[1] or match[2], line)
            flags.update(word.flags)
            return word.text

        if "$(" in text or "`" in text:  # within quotes
            inner = Machine(self.machine.trace, self.machine.read, self.machine.depth + 1)
            for match in re.finditer(r"\$\(([^()]{1,2000})\)|`([^`]{1,2000})`", text):
                if inner.depth <= 4:
                    flags.update(_WordReader(inner, line).read(match[1] or match[2]).flags)
        text = re.sub(r"\$(?:\{([A-Za-z_]\w*)[^}]*\}|([A-Za-z_]\w*))", value, text)
        return Word(re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)[:MAX_DECODED], frozenset(flags))
