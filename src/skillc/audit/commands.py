"""What commands of a shell mean: what they send, install, write, decode and run.

A reader of scripts calls `Machine.execute` for each command in order, with its words and what flows into it.
The machine remembers what variables and files hold, and runs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from skillc.audit import indicators
from skillc.audit.findings import Trace
from skillc.audit.packages import note_packages
from skillc.audit.patterns import check_command, load_names, load_pattern, word_set

SECRET, ENVIRONMENT, DOTENV, DOWNLOAD, DECODED = "secret", "environment", "dotenv", "download", "decoded"
NOTHING: frozenset[str] = frozenset()
MAX_DEPTH = 4  # scripts in scripts: sh -c, eval, what was decoded
MAX_WORDS = 1000  # of one command
MAX_NAMES = 2000  # variables and files that are remembered


class Word(NamedTuple):
    """A word of a command, or what flows through a pipe: its text as far as it is known, and its flags."""

    text: str = ""
    flags: frozenset[str] = NOTHING

    def join(self, other: Word) -> Word:
        text = self.text
        if other.text and len(text) < indicators.MAX_DECODED:
            text = (text + other.text)[: indicators.MAX_DECODED]
        return Word(text, self.flags | other.flags)


EMPTY = Word()
# Reads a script: where to report, its language, its text, its line, and how deep it is in others.
Read = Callable[[Trace, str, str, int, int], None]

_SHELLS = word_set("sh bash zsh dash ksh ash fish csh tcsh rbash")
_INTERPRETERS = load_names("interpreters")
_LANGUAGES = {"python": "python", "python2": "python", "python3": "python", "node": "javascript"}
_BUILTINS = load_names("builtins")
_SENDERS = load_names("senders")
_DOWNLOADERS = load_names("downloaders")
_PREFIXES = load_names("prefixes")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_PROGRAM = re.compile(r"[A-Za-z0-9_][\w.+-]{0,63}")
_HEADERS = load_names("headers")


_WITH_VALUE = load_pattern("with-value")


class Machine:
    """What one script has set up so far: variables and files; and how code within it is read.

    `depth` says in how many other scripts it is.
    """

    def __init__(self, trace: Trace, read: Read, depth: int = 0) -> None:
        self.trace = trace
        self.read = read
        self.depth = depth
        self.variables = {"SHELL": Word("sh")}
        self.files: dict[str, frozenset[str]] = {}
        self.functions: set[str] = set()

    # Variables and files

    def assign(self, name: str, value: Word) -> None:
        if len(self.variables) < MAX_NAMES:
            self.variables[name] = value

    def look_up(self, name: str, line: int) -> Word:
        """Return what a variable holds; one that the script did not set is the environment's."""
        word = self.variables.get(name)
        if word is not None:
            return word
        if name.isupper() and name not in _SHELL_VARIABLES and len(name) > 1:
            self.trace.ask("environment", name, line)
        return Word("~" if name == "HOME" else f"${{{name}}}")

    def mark_file(self, path: str, flags: frozenset[str]) -> None:
        if flags and path and len(self.files) < MAX_NAMES:
            self.files[_plain_path(path)] = self.files.get(_plain_path(path), NOTHING) | flags

    def write(self, path: str, line: int, flags: frozenset[str] = NOTHING, text: str = "") -> None:
        """Take note of a file that is written."""
        self.mark_file(path, flags)
        if DOWNLOAD in flags:
            self.trace.note_download(path, find_odd(flags))
        if text and (text.startswith("#!") or indicators.is_persistent(path)):
            self.read_code("shell", text, line)  # a script, which runs later
        note_write(self.trace, path, line)

    def flags_of(self, text: str) -> frozenset[str]:
        """Return the flags of a path: those of secrets, and of what the script put there."""
        flags: set[str] = set()
        for path in (text, text.rpartition("@")[2], text.rpartition("=")[2]) if self.files else ():
            flags |= self.files.get(_plain_path(path), NOTHING)  # -F file=@path, --post-file=path
        if indicators.is_secret(text):
            flags.add(SECRET)
        if indicators.is_dotenv(text):
            flags.add(DOTENV)
        return frozenset(flags)

    # Commands

    def execute(self, argv: Sequence[Word], stdin: Word, line: int) -> Word:
        """Take note of a command and return what it gives to the next one in the pipe."""
        if len(argv) > MAX_WORDS:
            self.trace.report(
                "A09", f"a command has {len(argv)} words; the first {MAX_WORDS} were read", line
            )
        argv = self._strip_prefixes(argv[:MAX_WORDS], line)
        if not argv or not argv[0].text:
            return stdin if not argv else Word("", stdin.flags | argv[0].flags)
        name = re.split(r"[/\\]", argv[0].text)[-1].lower().removesuffix(".exe")
        arguments = argv[1:]
        text = indicators.join_texts((word.text for word in argv), " ", indicators.MAX_WORD)
        self._note_program(argv[0].text, name, text, line)
        for host in (*indicators.find_hosts(text), *_find_bare_hosts(name, arguments)):
            self.trace.ask("hosts", host, line)
        check_command(name, text, self.trace, line)
        arguments = _drop_exclusions(arguments)
        paths = frozenset().union(*(self.flags_of(word.text) for word in arguments))
        if name in ("tar", "zip", "7z") and any(_WHOLE.fullmatch(word.text) for word in arguments):
            paths |= {SECRET}
        if (
            name in _SHELLS
            or name in _INTERPRETERS
            or name in ("eval", "source", ".", "iex", "invoke-expression")
        ):
            self._interpret(name, arguments, stdin, line)
        elif self._is_file_of(argv[0], DOWNLOAD):
            self.report_remote(f"{text} runs code", NOTHING, line)
        elif "/" in argv[0].text:
            self.trace.note_run(argv[0].text, line)
        if name in _SENDERS or _sends_by_subcommand(name, arguments):
            self._send(name, arguments, stdin, text, line)
        note_packages(name, [word.text for word in arguments], self.trace, line)
        self._note_writes(name, arguments, stdin, line)
        return self._output(name, arguments, stdin, paths, line)

    def _strip_prefixes(self, argv: Sequence[Word], line: int) -> list[Word]:
        rest = list(argv)
        for _ in range(10):
            if not rest:
                break
            name = rest[0].text.rpartition("/")[2]
            if _ASSIGNMENT.match(rest[0].text) and len(rest) > 1:
                key, _, value = rest[0].text.partition("=")
                self.assign(key, Word(value, rest[0].flags))
                rest = rest[1:]
            elif name in ("timeout", "gtimeout") and len(rest) > 2:
                rest = rest[2:]
            elif name == "xargs" and len(rest) > 1:
                rest = _skip_options(rest[1:], ("-I", "-n", "-P", "-L", "-d"))
            elif name in _PREFIXES and len(rest) > 1:
                if name in ("sudo", "doas"):
                    self.trace.ask("commands", name, line)
                    self.trace.report("A18", f"runs '{rest[1].text[:40]}' as root", line, name, "note")
                rest = _skip_options(
                    rest[1:], ("-u", "-g", "-n", "-c") if name in ("sudo", "nice", "ionice") else ()
                )
            else:
                break
        return rest

    def _note_program(self, path: str, name: str, text: str, line: int) -> None:
        if "/" in path and not path.startswith(("/", "~")):
            return  # a script of the skill, or of the project
        if _PROGRAM.fullmatch(name) and name not in _BUILTINS and name not in self.functions:
            self.trace.ask("commands", name, line)

    # Code that comes from elsewhere

    def _interpret(self, name: str, arguments: Sequence[Word], stdin: Word, line: int) -> None:
        """Take note of what an interpreter runs: a text in its arguments, a file, or what flows in."""
        script, code = _find_code(name, arguments)
        if code is not None:
            self._run_code(name, code, line)
        elif script is not None:
            self.trace.note_run(script.text, line)
            flags = script.flags | self.flags_of(script.text) - {SECRET, DOTENV}
            odd = frozenset(flag for flag in flags if flag.startswith("odd"))
            self._run_code(name, Word("", flags & {DOWNLOAD, DECODED} | odd), line)
        elif stdin.text or stdin.flags:
            self._run_code(name, stdin, line)

    def _run_code(self, name: str, code: Word, line: int) -> None:
        is_shell = name in _SHELLS or name in ("eval", "source", ".")
        language = _LANGUAGES.get(name, "shell" if is_shell else "text")
        self.run_code(code, line, f"'{name}'", language, f"'{name}' runs code")

    def run_code(self, code: Word, line: int, what: str, language: str, says: str = "runs code") -> None:
        """Report code that is downloaded or decoded and run; read what is known of it."""
        if DOWNLOAD in code.flags:
            self.report_remote(says, code.flags, line)
        if DECODED in code.flags:
            self.run_plaintext(what, line, (language, code.text))
        else:
            self.read_code(language, code.text, line)

    def run_plaintext(self, what: str, line: int, *codes: tuple[str, str]) -> None:
        """Report code that is decoded and run, by language and text; worse if it would be reported itself."""
        inner = self.trace.branch()
        for language, text in codes:
            self.read(inner, language, text, line, self.depth + 1)
        for ask in inner.asks:
            self.trace.ask(ask.kind, ask.value, line)
        for problem in inner.problems:
            message = f"in decoded code: {problem.message}"
            self.trace.report(problem.rule, message, line, problem.subject, problem.level)
        if any(problem.rule in _DANGERS for problem in inner.problems):
            self.trace.report("A13", f"{what} runs decoded code that is dangerous in itself", line)
        else:
            self.trace.report("A12", f"{what} runs code that is decoded first", line)

    def read_code(self, language: str, text: str, line: int) -> None:
        """Read code that is within this code."""
        self.read(self.trace, language, text, line, self.depth + 1)

    def report_remote(self, says: str, flags: frozenset[str], line: int) -> None:
        odd = find_odd(flags)
        self.trace.report("A11" if odd else "A10", f"{says} {odd or 'that is downloaded'}", line)

    def _is_file_of(self, word: Word, flag: str) -> bool:
        return flag in word.flags or flag in self.files.get(_plain_path(word.text), NOTHING)

    # Data that goes elsewhere

    def _send(self, name: str, arguments: Sequence[Word], stdin: Word, text: str, line: int) -> None:
        """Report secrets that a program sends; those in a header or as a key are how services are used."""
        if not indicators.find_far_hosts(text) and indicators.LOOPBACK.search(text):
            return
        body, header = stdin.flags, NOTHING
        before = ""
        for word in arguments:
            option = before if before.startswith("-") else word.text.split("=", 1)[0]
            flags = word.flags | (self.flags_of(word.text) if _is_data(name, option, word.text) else NOTHING)
            if option in _HEADERS:
                header |= flags
            else:
                body |= flags
            before = word.text if word.text.startswith("-") and len(word.text) <= 20 else ""
        if name == "ssh" or (name in ("scp", "rsync") and not re.search(r"\s[\w.@{}$-]{2,}:", text)):
            body = stdin.flags  # nothing but what flows in leaves the machine
        hosts = indicators.find_far_hosts(text)
        if SECRET in body and ENVIRONMENT not in body and hosts and indicators.TOKEN_HOSTS.issuperset(hosts):
            self.trace.report("A20", f"'{name}' uses a stored secret as its credential", line, name)
        elif body & {SECRET, ENVIRONMENT}:
            what = "secrets" if SECRET in body else "the whole environment"
            self.trace.report("A21", f"'{name}' sends {what}{_whereto(text)}", line, name)
        elif DOTENV in body:
            self.trace.report("A21", f"'{name}' sends a file of secrets (.env){_whereto(text)}", line, name)
        elif header & {SECRET, ENVIRONMENT} and name not in _NO_READERS:
            self.trace.report("A20", f"'{name}' uses a stored secret as its credential", line, name)
        check_credentials(self.trace, text, line)

    # What is changed

    def _note_writes(self, name: str, arguments: Sequence[Word], stdin: Word, line: int) -> None:
        targets = [word.text for word in arguments if not word.text.startswith("-")]
        flags = frozenset().union(*map(self.flags_of, targets))
        if name == "chmod" and targets and _EXECUTABLE.match(targets[0]):
            self.trace.note_run(targets[-1], line)
        if name in ("curl", "wget", "aria2c"):
            self._note_download(name, arguments, line)
        elif name in ("tee", "touch"):
            for target in targets:
                self.write(target, line, stdin.flags)
        elif name in ("cp", "mv", "ln", "install", "rsync") and len(targets) > 1:
            self.write(targets[-1], line, flags)
            self.trace.note_move(targets[-2], targets[-1])
        elif name in ("zip", "tar", "7z", "gpg", "unzip", "gunzip", "chmod"):
            for target in targets:  # an archive of secrets is one, and what is in a download was downloaded
                self.mark_file(target.removesuffix(".gz").removesuffix(".zip"), flags)
        elif name in ("sed", "perl") and any(word.text.startswith(("-i", "-pi")) for word in arguments):
            for target in targets[1:]:
                self.write(target, line)

    def _note_download(self, name: str, arguments: Sequence[Word], line: int) -> None:
        texts = [word.text for word in arguments]
        output = ""
        option = re.compile(r"-[a-zA-Z]*o|--output" if name != "wget" else r"-[a-zA-Z]*O|--output-document")
        for before, text in pairwise(texts):
            output = text if option.fullmatch(before) else output
        address = next((text for text in texts if "://" in text), "")
        keeps_name = name != "curl" or any(
            re.fullmatch(r"-[a-zA-Z]*O[a-zA-Z]*|--remote-name", t) for t in texts
        )
        if not output and address and keeps_name:
            output = address.split("?")[0].rstrip("/").rpartition("/")[2]
        if output and output != "-":
            self.write(output, line, download_flags(address))

    # What flows on

    def _take_secrets(self, name: str, texts: list[str], line: int) -> frozenset[str]:
        """Return the flags of what a command prints: secrets, or the environment; none for any other."""
        text = " ".join((name, *texts[:4]))
        if _GIVES_SECRETS.match(text):
            if texts and name in _PICTURE_MAKERS:
                self.mark_file(texts[-1], frozenset((SECRET,)))
            return frozenset((SECRET,))
        if _ENVIRONMENT.fullmatch(" ".join((name, *texts[:3]))):
            self.trace.report("A22", f"'{name}' prints the whole environment", line, name)
            return frozenset((ENVIRONMENT,))
        return NOTHING

    def _output(
        self, name: str, arguments: Sequence[Word], stdin: Word, paths: frozenset[str], line: int
    ) -> Word:
        """Return what a command prints as far as it is known; `paths` are the flags of files it names."""
        texts = [word.text for word in arguments]
        if name not in _NO_READERS and SECRET in paths:
            self.trace.report("A20", f"'{name}' reads a store of secrets", line, name)
        elif name not in _NO_READERS and any(map(indicators.is_agent_secret, texts)):
            self.trace.report("A20", f"'{name}' reads the keys of an agent's skills", line, name, "note")
        flags = paths.union(*(word.flags for word in arguments))
        if name in ("echo", "printf"):
            start = 1 if texts[:1] and re.fullmatch(r"-[neE]+", texts[0]) else 0
            output = indicators.join_texts(texts[start:], " ", indicators.MAX_DECODED)
            if name == "printf" or any("e" in text for text in texts[:start]):
                output = _unescape(_format(texts[start:]) if name == "printf" else output)
            return Word(
                output[: indicators.MAX_DECODED], frozenset().union(*(word.flags for word in arguments))
            )
        if name == "git" and texts[:1] == ["rev-parse"] and any(text.startswith("--git-") for text in texts):
            return Word(".git/hooks" if "hooks" in texts else ".git")
        given = self._take_secrets(name, texts, line)
        if given:
            return Word("", stdin.flags | given)
        if name in _DOWNLOADERS:
            return Word("", download_flags(indicators.join_texts(texts, " ", indicators.MAX_WORD)))
        plaintext = _decode(name, texts, stdin)
        if plaintext is not None:
            return Word(plaintext, stdin.flags | flags | {DECODED})
        if name == "cat" and not texts:
            return stdin
        return Word("", (stdin.flags | flags) - _LOSSES.get(name, NOTHING))


_SHELL_VARIABLES = load_names("shell-variables")
# Rules that make decoded code dangerous: more than what any script does.
_DANGERS = word_set("A10 A11 A12 A13 A14 A16 A19 A20 A21 A23 A31 A40 A41 A43 A50 A51 A52")
_NO_READERS = load_names("no-readers")
_ENVIRONMENT = re.compile(r"(?:env|printenv)(?:\s+-0)?|(?:export|declare)\s+-[px]")
_EXECUTABLE = re.compile(r"[ugoa]*\+\w*x|[0-7]*[1357][0-7]{0,2}$")
_PICTURE_MAKERS = word_set("screencapture scrot gnome-screenshot grim")
_GIVES_SECRETS = load_pattern("gives-secrets")
_PACKAGE_SETTINGS = load_pattern("package-settings")
_WHOLE = re.compile(r"~/?|\$\{?HOME\}?/?|/(?:home|root|etc|Users)(?:/\w+)?/?")
_TEMPORARY = ("/tmp/", "/var/tmp/")  # noqa: S108 -- paths in skills
# What is lost on the way: those that take a part, such as one key, and those that count or hash.
_LOSSES = {
    **dict.fromkeys(word_set("grep egrep rg cut awk gawk sed jq yq"), frozenset((DOTENV,))),
    **dict.fromkeys(
        word_set("wc md5sum sha256sum shasum"), frozenset((SECRET, DOTENV, ENVIRONMENT, DECODED))
    ),
}


def download_flags(text: str) -> frozenset[str]:
    """Return the flags of what a command or an expression with a text downloads."""
    odd = indicators.describe_odd(text)
    return frozenset((DOWNLOAD, f"odd:{odd}") if odd else (DOWNLOAD,))


def find_odd(flags: frozenset[str]) -> str:
    """Return what is odd about the address that something was downloaded from; empty if nothing is."""
    return next((flag.removeprefix("odd:") for flag in sorted(flags) if flag.startswith("odd:")), "")


def note_write(trace: Trace, path: str, line: int) -> None:
    """Take note of a path that is written: outside of the working directory, run later, or an agent's own."""
    path = path.strip("\"'")
    if not path or path.startswith(("/dev/null", "/dev/std", "/dev/fd", "/dev/tty", "&")) or "\n" in path:
        return
    if re.fullmatch(r"/etc/(?:hosts|resolv\.conf|nsswitch\.conf)", path):
        trace.report("A19", f"writes '{path}', which says where names lead", line, path)
    if path.startswith("/etc/sudoers"):
        trace.report("A18", f"writes '{path}', which says what may be run as root", line, path)
    if _PACKAGE_SETTINGS.search(path):
        trace.report("A05", f"writes '{path}', which says where packages come from", line, path, "review")
    if indicators.is_persistent(path):
        trace.report("A14", f"writes '{path}', which is run later", line, path)
    elif indicators.is_agent_file(path):
        trace.report("A16", f"writes '{path}', which agents read", line, path)
    if path.startswith(_TEMPORARY) or not re.match(r"[/~]|\$\{?HOME|[A-Za-z]:\\|%|\$env:", path):
        return
    trace.ask("writes", _plain_path(path), line)


def check_credentials(trace: Trace, text: str, line: int) -> None:
    """Report credentials of a service, as `${NAME}` in a text, that go to a host of another."""
    hosts = indicators.find_far_hosts(text)
    for variable, domains in indicators.CREDENTIALS.items() if hosts and "${" in text else ():
        if f"${{{variable}}}" not in text:
            continue
        for host in hosts:
            if not any(host == domain or host.endswith(f".{domain}") for domain in domains):
                level = "block" if indicators.is_drop(host) or indicators.is_number(host) else ""
                trace.report("A23", f"{variable} is sent to {host}", line, host, level)


def _plain_path(path: str) -> str:
    return path.strip("\"'").removeprefix("./").replace("${HOME}", "~").replace("$HOME", "~")


def _skip_options(argv: list[Word], with_value: tuple[str, ...]) -> list[Word]:
    rest = argv
    while rest and rest[0].text.startswith("-") and len(rest) > 1:
        rest = rest[2:] if rest[0].text in with_value and len(rest) > 2 else rest[1:]
    return rest


def _find_code(name: str, arguments: Sequence[Word]) -> tuple[Word | None, Word | None]:
    """Return the file that an interpreter reads, and the code in its arguments."""
    if name in ("eval", "iex", "invoke-expression"):
        code = EMPTY
        for word in arguments:
            code = code.join(word).join(Word(" "))
        return None, code if arguments else None
    for number, word in enumerate(arguments):
        if re.fullmatch(r"-[a-zA-Z]*c|-e|--eval|-r|-Command|-EncodedCommand|-enc?", word.text, re.IGNORECASE):
            code = arguments[number + 1] if number + 1 < len(arguments) else EMPTY
            if word.text.lower().startswith("-en"):
                return None, Word(indicators.decode_base64(code.text), code.flags | {DECODED})
            return None, code
        if not word.text.startswith("-") or word.flags:
            return word, None
        if word.text == "-":
            return None, None
    return None, None


def _sends_by_subcommand(name: str, arguments: Sequence[Word]) -> bool:
    texts = [word.text for word in arguments[:3]]
    return (
        (name == "aws" and texts[:1] == ["s3"])
        or (name == "gh" and texts[:1] in (["gist"], ["issue"], ["pr"], ["api"]))
        or (name == "az" and texts[:1] == ["storage"])
    )


def _is_data(name: str, option: str, text: str) -> bool:
    """Return whether a path in an argument means the file's contents."""
    if name == "curl":
        return "@" in text or option in ("-T", "--upload-file", "-K") or text.startswith("file://")
    if name == "wget":
        return "--post-file" in text or "--body-file" in text or option in ("--post-file", "--body-file")
    return option not in ("-i", "-F", "-o", "--identity") and name not in (
        "ssh",
        "openssl",
        "dig",
        "host",
        "ping",
    )


def _drop_exclusions(arguments: Sequence[Word]) -> list[Word]:
    """Return the arguments without what the command is told to leave out."""
    kept: list[Word] = []
    before = ""
    for word in arguments:
        if not before.startswith("--exclude") and not word.text.startswith("--exclude="):
            kept.append(word)
        before = word.text
    return kept


def _find_bare_hosts(name: str, arguments: Sequence[Word]) -> Iterator[str]:
    """Yield the hosts that a program is given without a scheme: `nc acme.dev 80`, `scp x me@acme.dev:`."""
    if name not in _SENDERS:
        return
    before = ""
    for word in arguments:
        is_value = _WITH_VALUE.fullmatch(before) or (name == "wget" and before.endswith("O"))
        if not is_value and (name not in ("scp", "rsync") or ":" in word.text):
            host = indicators.find_bare_host(word.text)
            if host:
                yield host
        before = word.text


def _whereto(text: str) -> str:
    hosts = indicators.find_hosts(text)
    return f" to {hosts[0]}" if hosts else ""


def _decode(name: str, texts: list[str], stdin: Word) -> str | None:
    """Return what a decoder gives for the text that flows in; None for any other command."""
    options = indicators.join_texts(texts, " ", indicators.MAX_WORD)
    if name in ("base64", "gbase64") and re.search(r"(?:^|\s)(?:-d|-D|--decode|-di)\b", options):
        return indicators.decode_base64(stdin.text)
    if name == "openssl" and re.search(r"\b(?:base64|enc)\b", options) and re.search(r"\s-d\b", options):
        return indicators.decode_base64(stdin.text)
    if name == "xxd" and re.search(r"-\w*r", options):
        return indicators.decode_hex(stdin.text)
    if name == "rev":
        return stdin.text[::-1]
    if (
        name == "tr"
        and re.search(r"[a-z]-[a-z]", options, re.IGNORECASE)
        and re.search(r"[n]-[z][a]", options, re.IGNORECASE)
    ):
        return indicators.decode_rot13(stdin.text)
    if name in ("gunzip", "zcat", "uudecode", "base32", "gzip") and (
        name in ("gunzip", "zcat", "uudecode") or "-d" in options
    ):
        return "" if DECODED in stdin.flags or name in ("uudecode", "base32") else None
    return None


def _format(texts: list[str]) -> str:
    """Return what printf prints, as far as `%s` and `%b` go."""
    if not texts:
        return ""
    pattern, values = texts[0], texts[1:]
    if "%" not in pattern:
        return pattern
    return (
        re.sub(r"%[sb]", "", pattern) + indicators.join_texts(values, "", indicators.MAX_DECODED)
        if values
        else pattern
    )


def _unescape(text: str) -> str:
    r"""Return a text with `\x41`, `\101` and `\n` as the characters that they mean."""

    def character(match: re.Match[str]) -> str:
        body = match[1]
        if body[0] == "x":
            return chr(int(body[1:], 16))
        if body[0] in "01234567":
            return chr(int(body, 8) & 0xFF)
        return {"n": "\n", "t": "\t"}.get(body, body)

    return re.sub(r"\\(x[0-9a-fA-F]{1,2}|[0-7]{1,3}|[a-z\\])", character, text)
