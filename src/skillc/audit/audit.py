"""Audit a skill's folder: read every file, collect what it asks for, apply the policy."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from skillc.audit import characters, declarations, indicators
from skillc.audit.commands import MAX_DEPTH, Machine
from skillc.audit.files import File, read_files
from skillc.audit.findings import (
    KINDS,
    Asks,
    Audit,
    Finding,
    LineCounter,
    Problem,
    Trace,
    line_of,
    make_fingerprint,
    name_of,
)
from skillc.audit.markdown import read_markdown, read_notebook
from skillc.audit.packages import check_requirements
from skillc.audit.patterns import check_modules, check_script, load_pattern
from skillc.audit.policy import Baseline, Policy, read_notes
from skillc.audit.prose import check_prose
from skillc.audit.python import read_python
from skillc.audit.rules import BY_ID, LEVELS, NOTE, OFF
from skillc.audit.scripts import check_disguise, read_tokens
from skillc.audit.shell import has_parser, read_shell
from skillc.errors import InvalidSkill, SkillcError, install_command, warning
from skillc.index import run_apart
from skillc.paths import SKILL_FILES
from skillc.skills.document import Document, parse

MAX_HOSTS = 50  # of one file that look like others
MAX_FINDINGS = 2000  # of a skill; blocks come first
_KEYS = load_pattern("keys")
_FAKE = load_pattern("fake")
_MODULES = ("python", "javascript", "text")  # scripts that use each other
_ASK_RULES = {"hosts": "A01", "commands": "A02", "environment": "A03", "writes": "A04"}
_ASK_TEXTS = {
    "hosts": "contacts {}",
    "commands": "runs '{}'",
    "environment": "reads ${}",
    "writes": "writes '{}'",
}


def audit_folder(
    folder: str,
    name: str = "",
    *,
    policy: Policy | None = None,
    baseline: Baseline | None = None,
    notes: bool = False,
) -> Audit:
    """Return what the skill in a folder asks for, and what to look at; raises InvalidSkill without SKILL.md.

    `notes` lets comments in the skill allow findings: right for skills of your own, wrong for any other,
    since their authors would allow themselves. Without a name, it is the folder's.
    """
    main = next((main for main in SKILL_FILES if os.path.isfile(os.path.join(folder, main))), None)
    if main is None:
        raise InvalidSkill(folder)
    name = name or os.path.basename(os.path.realpath(folder))
    traces: dict[str, Trace] = {}
    texts: dict[str, str] = {}
    scripts: dict[str, str] = {}
    for file in read_files(folder, traces):
        texts[file.name] = file.text
        if file.kind in _MODULES:
            scripts[file.name] = file.text
        _read_file(file, traces[file.name])
    _report_downloads(traces)
    check_modules(scripts, traces)
    asks = collect_asks(traces.values())
    page = texts.get(main, "")
    declarations.compare_declarations(_parse(page), asks, traces.setdefault(main, Trace()), page)
    policy = policy or Policy()
    findings, exemptions = _judge(name, main, traces, texts, policy, baseline, notes)
    diagnostics = () if has_parser() else (warning("W098", install_command()),)
    return Audit(name, os.path.realpath(folder), asks, tuple(findings), exemptions, diagnostics)


def read_script(trace: Trace, language: str, text: str, line: int, depth: int) -> None:
    """Read a script of a language, which may be part of another; `depth` says of how many."""
    if depth > MAX_DEPTH or not text.strip():
        return
    if depth and not trace.take(len(text)):
        trace.report("A09", "has more code within its code than is read", line)
        return
    if language == "make":
        language, text = "shell", _shell_of_make(text)
    machine = Machine(trace, read_script, depth)
    if language == "shell":
        read_shell(text, machine, line)
    elif language == "python":
        check_disguise(text, machine, line)
        if not read_python(text, machine, line):
            read_tokens(text, machine, line)
            if depth == 0:
                trace.report("A09", "is not valid Python and was read word by word", line, level="note")
    else:
        read_tokens(text, machine, line)
    if depth == 0:
        check_script(text, trace, line, language)


def _parse(text: str) -> Document:
    return parse(text.encode("utf-8", "surrogatepass"))


def _read_file(file: File, trace: Trace) -> None:
    text = file.text
    characters.check_characters(text, trace)
    _check_keys(text, trace)
    _check_name(file.name, trace)
    check_requirements(file.name, text, trace)
    if _STARTERS.search(file.name) and re.search(r"^\s*(?:import|from)\s", text, re.MULTILINE):
        trace.report("A14", "is run by Python at each start", 1, file.name)
    if file.kind == "markdown":
        document = _parse(text)
        read_markdown(document, text, trace, read_script)
        characters.check_blobs(text, trace, check_prose)
        front = document.frontmatter
        if front is not None:
            lines = {key: line_of(text, f"{key}:") for key in ("hooks", "mcpServers", "allowed-tools")}
            declarations.check_frontmatter(front.fields, trace, read_script, lines)
    elif file.kind == "notebook":
        read_notebook(text, trace, read_script)
    elif file.kind in ("", "prose", "data"):
        _read_data(file, trace)
    elif file.kind == "docker":
        for number, command in _docker_commands(text):
            read_script(trace, "shell", command, number, 0)
    else:
        read_script(trace, file.kind, text, 1, 0)
        check_prose(_CODE_LINE.sub("", text), trace, is_script=True)
        characters.check_blobs(text, trace, check_prose)
    _check_hosts(text, trace)
    if trace.is_cut:
        trace.report("A09", "has more findings than are listed", 1)


def _check_name(name: str, trace: Trace) -> None:
    """Report a file's name that is an instruction: a listing of the folder says it to the agent."""
    stem = name.rpartition("/")[2].rpartition(".")[0]
    inner = trace.branch()
    check_prose(f"{stem}\n\n{re.sub(r'[-_]', ' ', stem)}", inner)
    if any(problem.level != "note" for problem in inner.problems):
        trace.report("A33", f"the file's name gives instructions: '{stem[:60]}'", 1, name)


def _read_data(file: File, trace: Trace) -> None:
    """Read a file that is no script: what it says, what it declares, and the commands in its values."""
    name, text = file.name, file.text
    if name.endswith((".svg", ".html", ".htm", ".xml")):
        check_prose(_TAG.sub(" ", _BLOCK_TAG.sub(". ", text)), trace)
        check_script(text, trace, 1, "html")
    else:
        check_prose(text, trace, is_script=file.kind != "prose")
        characters.check_blobs(text, trace, check_prose)
    declarations.check_settings(name, text, trace, read_script)
    if file.kind != "prose":
        _read_values(text, trace)
        if not name.endswith((".csv", ".tsv", ".lock", ".po")):
            check_script(text, trace, 1, file.kind)


def _read_values(text: str, trace: Trace) -> None:
    """Report commands that are a value of a setting, a step of a workflow, or a line of a language."""
    counter = LineCounter(text)
    for match in islice(_VALUE.finditer(text), MAX_VALUES):
        inner = trace.branch()
        quote = text[max(0, match.start() - 1) : match.start()]
        end = quote if quote in ("'", '"', "`") else "</" if quote == ">" else "\n"
        command = match[1].split(end)[0]
        read_script(inner, "shell", _TAG.sub(" ", command.replace('\\"', '"')), 1, 1)
        if any((problem.level or BY_ID[problem.rule].level) != NOTE for problem in inner.problems):
            trace.take_over(inner, (counter.at(match.start()),))


MAX_VALUES = 300
MAX_VALUE = 500  # characters of a Makefile's variable
_VALUE = load_pattern("value")
_CODE_LINE = re.compile(r"^(?![ \t]*(?:#|//|/?\*|--|<!--|\"\"\"|''')).*", re.MULTILINE)  # all but comments
_STARTERS = re.compile(r"(?:^|/)(?:site|user)customize\.py$|\.pth$")
_TAG = re.compile(r"<[^<>\n]{0,2000}>")
_BLOCK_TAG = re.compile(
    r"<!--|-->|</?(?:p|div|h[1-6]|li|td|th|tr|title|section|style|script|head|body)\b[^<>\n]{0,2000}>"
)
_RECIPE = load_pattern("recipe")
_NOTHING = re.compile(r"\$(?:\(\)|\{\})")  # an empty variable, which only parts a word
_MAKE_VALUE = re.compile(r"^(?:export\s+|override\s+|define\s+)?(\w+)\s*(?:::?|[?+])?=\s*(.*)$")
_MAKE_RULE = re.compile(r"^([^\s:#=][^:#=\n]{0,500}?)\s*::?(?!=)\s*([^;=\n]{0,2000})(?:;(.*))?$")


def _shell_of_make(text: str) -> str:
    """Return what a shell gets of a Makefile, line by line, with the values of variables and targets."""
    values: dict[str, str] = {}

    def piece(match: re.Match[str]) -> str:
        name = match[1] or match[2] or match[3] or match[4]
        if name:
            return values.get(name, f"${{{name}}}" if name.isidentifier() else match[0])
        return {"$$": "$", "$(": "$("}.get(match[0][:2], "\t")

    lines = []
    for line in text.split("\n"):
        line = _RECIPE.sub(piece, _NOTHING.sub("", line))
        value, rule = _MAKE_VALUE.match(line), _MAKE_RULE.match(line)
        if value:
            plain = value[2].strip().strip("\"'")
            if "$(" not in plain and "`" not in plain and len(plain) < MAX_VALUE:
                values[value[1]] = plain
            line = f"{value[1]}={value[2]}" if "$(" in plain or "`" in plain else ""
        elif rule:
            needs = rule[2].split()
            values |= {"@": rule[1], "<": needs[0] if needs else "", "^": " ".join(needs)}
            line = rule[3] or ""
        lines.append(line)
    return "\n".join(lines)


def _docker_commands(text: str) -> Iterable[tuple[int, str]]:
    counter = LineCounter(text)
    for match in re.finditer(
        r"^\s*(RUN|CMD|ENTRYPOINT|ADD(?=\s+https?:))\s+((?:[^\n\\]|\\.|\\\n)+)",
        text,
        re.MULTILINE | re.DOTALL,
    ):
        address, _, target = match[2].partition(" ")
        command = match[2] if match[1] != "ADD" else f"curl -o {target} {address}"
        yield counter.at(match.start()), command


def _check_keys(text: str, trace: Trace) -> None:
    for count, match in enumerate(_KEYS.finditer(text)):
        near = text[max(0, match.start() - 40) : match.end() + 60]
        if (
            count < 20
            and not _FAKE.search(match[0])
            and not (match[0][:5] == "-----" and not re.search(r"\n[A-Za-z0-9+/=]{40}", near))
        ):
            line = text.count("\n", 0, match.start()) + 1
            trace.report("A24", f"holds what looks like a key: {match[0][:8]}…", line)


def _check_hosts(text: str, trace: Trace) -> None:
    if text.isascii() and "xn--" not in text:
        return
    hosts = ((host, indicators.find_look_alike(host)) for host in indicators.find_hosts(text))
    for host, reason in islice(((host, reason) for host, reason in hosts if reason), MAX_HOSTS):
        name = host.encode("unicode_escape").decode()
        message = f"the host '{name}' is not what it looks like: {reason}"
        trace.report("A32", message, line_of(text, host), host)


def collect_asks(traces: Iterable[Trace]) -> Asks:
    """Return what all files together ask for."""
    asks: dict[str, set[str]] = {kind: set() for kind in KINDS}
    for trace in traces:
        for ask in trace.asks:
            asks[ask.kind].add(ask.value)
    return Asks(**{kind: tuple(sorted(values)) for kind, values in asks.items()})


def _report_downloads(traces: dict[str, Trace]) -> None:
    """Report files that one script, block or step downloads and another one runs."""
    places = {name: (file, odd) for file, trace in traces.items() for name, odd in trace.downloads.items()}
    for _ in range(MAX_DEPTH):  # a file may get several names, one after the other
        for trace in traces.values():
            places |= {new: places[old] for new, old in trace.moves.items() if old in places}
    own = {name_of(file) for file in traces}
    for trace in traces.values():
        lines = {problem.line for problem in trace.problems if problem.rule in ("A10", "A11")}
        for name, line in trace.runs.items():
            if name in places and name not in own and line not in lines:
                file, odd = places[name]
                message = f"'{name}' is run, and {file} downloads it{f' {odd}' if odd else ''}"
                trace.report("A11" if odd else "A10", message, line)


def _problems_of(trace: Trace, earlier_asks: set[tuple[str, str]]) -> Iterable[Problem]:
    """Yield a file's problems, and a note for each thing that no file before asked for."""
    yield from trace.problems
    for ask in trace.asks:
        rule = _ASK_RULES.get(ask.kind)
        if rule and (ask.kind, ask.value) not in earlier_asks:
            earlier_asks.add((ask.kind, ask.value))
            yield Problem(rule, _ASK_TEXTS[ask.kind].format(ask.value), ask.line, ask.value)


def _soften(problem: Problem, name: str) -> Problem:
    """Return a skill's instructions for its own installation as a note."""
    own = rf"[/\\]skills(?:[/\\]|[/\\]{re.escape(name.rpartition('/')[2])}(?:[/\\.].*)?)?$"
    if problem.rule == "A16" and re.search(own, problem.subject, re.IGNORECASE):
        return problem._replace(level="note")
    return problem


def _judge(
    name: str,
    main: str,
    traces: dict[str, Trace],
    texts: dict[str, str],
    policy: Policy,
    baseline: Baseline | None,
    use_notes: bool,
) -> tuple[list[Finding], int]:
    """Return the findings that count under the policy, and how many others there are."""
    findings: list[Finding] = []
    exemptions = 0
    earlier_asks: set[tuple[str, str]] = set()
    for file in sorted(traces, key=lambda file: (file != main, os.fsencode(file))):
        lines = texts.get(file, "").split("\n")
        notes = read_notes(lines)
        for problem in policy.extend(_problems_of(traces[file], earlier_asks), texts.get(file, "")):
            level = policy.level_of(name, file, _soften(problem, name))
            line_text = lines[problem.line - 1] if problem.line <= len(lines) else ""
            mark = make_fingerprint(problem.rule, file, line_text, problem.message)
            if level == OFF or (baseline is not None and baseline.has(name, mark)):
                exemptions += level != OFF or BY_ID[problem.rule].level != OFF
            elif use_notes and notes.allow(problem):
                exemptions += 1
            else:
                findings.append(
                    Finding(
                        BY_ID[problem.rule], level, problem.message, file, problem.line, mark, problem.subject
                    )
                )
        findings += notes.report(file, use_notes, policy)
    order = {level: number for number, level in enumerate(reversed(LEVELS))}
    findings.sort(key=lambda finding: order[finding.level])
    return findings[:MAX_FINDINGS], exemptions


# Many skills, on all cores

MIN_JOBS = 16  # with fewer skills, one process is as fast


def audit_folders(
    folders: Sequence[tuple[str, str]],
    *,
    policy: Policy | None = None,
    baseline: Baseline | None = None,
    notes: bool = False,
) -> Iterator[Audit | SkillcError]:
    """Yield the audit of each skill, given by folder and name, in order; an error for one that fails."""

    def audit(skill: tuple[str, str]) -> Audit:
        return audit_folder(*skill, policy=policy, baseline=baseline, notes=notes)

    for (folder, _), result in zip(folders, run_apart(audit, folders, MIN_JOBS), strict=True):
        if isinstance(result, Audit):
            yield result
        elif result is None:
            yield SkillcError(f"auditing it ended its process; do not use it, and report it ({folder})")
        else:
            error = SkillcError(f"{result.message} ({folder})")
            error.code = result.code
            yield error
