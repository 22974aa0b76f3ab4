"""Read scripts of other languages statement by statement: JavaScript, PowerShell, Ruby, Go and others.

No grammar: strings, names and a few forms that are alike in all of them. A name that is given a secret, a
download or decoded text carries that on.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice

from skillc.audit import indicators
from skillc.audit.commands import (
    DECODED,
    DOTENV,
    DOWNLOAD,
    ENVIRONMENT,
    NOTHING,
    SECRET,
    Machine,
    check_credentials,
    download_flags,
    note_write,
)
from skillc.audit.findings import Trace
from skillc.audit.patterns import check_command, load_pattern

MAX_STATEMENT = 8192  # characters; a longer one is read in pieces
MAX_NAMES = 500  # that carry something

_STRING = load_pattern("string")
_COMMENT = re.compile(r"^\s*(?://(?!go:generate)|#(?!!)|--\s|\*|/\*)")
_NAME = load_pattern("name")
_ENV = load_pattern("env")
_ENV_ALL = load_pattern("env-all")
_ENV_PASS = load_pattern("env-pass")
_SEND = load_pattern("send")
_FETCH = load_pattern("fetch")
_SAVE = load_pattern("save")
_RUN_FILE = load_pattern("run-file")
_OPEN = load_pattern("open")
_DECODE = load_pattern("decode")
_RUN = load_pattern("run")
_PIPE = re.compile(r"\b(?:curl|wget)\b[^\n]{0,500}\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b")
_SAVED = load_pattern("saved")
_STARTED = load_pattern("started")
_DYNAMIC = load_pattern("dynamic")
_COMMAND = load_pattern("command")
_QUOTED = load_pattern("quoted")
_SAVE_FLOW = "saved"  # of names: the file that a download was put into
_SPAWN = load_pattern("spawn")
_WRITE = load_pattern("write")
_WRITES = load_pattern("writes")
_ENCODED = re.compile(r"\s-e(?:c|nc|ncodedcommand)?\s+['\"]?([A-Za-z0-9+/]{16,60000}={0,2})", re.IGNORECASE)
_HOST_OPTION = load_pattern("host-option")
_SHELL_ROUND = load_pattern("shell-round")
_SHELL_NAME = load_pattern("shell-name")


def read_tokens(text: str, machine: Machine, line: int) -> None:
    """Take note of what a script of any language does, as far as its words show it."""
    text = check_disguise(text, machine, line)
    trace = machine.trace
    flags: dict[str, frozenset[str]] = {}  # by name
    socket = shell = 0
    for number, statement in _statements(text):
        here = line + number
        if _COMMENT.match(statement):
            continue
        _note_asks(statement, trace, here)
        own_flags = _flags_in(statement, flags)
        _check(statement, own_flags, machine, here)
        name = _NAME.match(statement.lstrip())
        if name and own_flags and len(flags) < MAX_NAMES:
            for part in re.findall(r"\w+", name[1]):
                flags[part] = own_flags
        socket = socket or (here if _SHELL_ROUND.search(statement) else 0)
        shell = shell or (here if _SHELL_NAME.search(statement) else 0)
        saved = _SAVE.search(statement) if DOWNLOAD in own_flags or _SAVE_FLOW in own_flags else None
        if saved and len(flags) < MAX_NAMES:
            flags[saved[1]] = flags.get(saved[1], NOTHING) | own_flags | {_SAVE_FLOW}
    if socket and shell:
        trace.report("A50", "connects a shell to another machine", socket)


def check_disguise(text: str, machine: Machine, line: int) -> str:
    """Report names that are put together from pieces, and code that is decoded with XOR.

    Return the text with its constant strings put together.
    """
    folded = fold(text)
    names = find_hidden_names(text, folded)
    if names:
        shown = ", ".join(f"'{name}'" for name in names[:3])
        at = line + folded.count("\n", 0, folded.find(names[0]))
        machine.trace.report("A12", f"puts {shown} together from pieces, which hides it", at)
    plaintext = decode_xor(text) if "^" in text and _DYNAMIC.search(folded) else None
    if plaintext is not None:
        at = line + text.count("\n", 0, text.find("^"))
        machine.run_plaintext("the script", at, ("javascript", plaintext))
    return folded


def _statements(text: str) -> list[tuple[int, str]]:
    """Return the statements, each with the number of its first line from 0.

    A statement ends with its line, unless a bracket is open or the next line goes on with a dot.
    """
    statements: list[tuple[int, str]] = []
    pieces: list[str] = []
    start = size = depth = 0
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if not pieces:
            start, size = number, 0
        pieces.append(line)
        size += len(line)
        depth += line.count("(") - line.count(")")
        follows = number + 1 < len(lines) and lines[number + 1].lstrip()[:1] == "."
        if (depth <= 0 and not follows) or size > MAX_STATEMENT or number - start > 40:
            statements += [(start, piece) for piece in _split("\n".join(pieces))]
            pieces, depth = [], 0
    if pieces:
        statements += [(start, piece) for piece in _split("\n".join(pieces))]
    return statements


def _split(statement: str) -> list[str]:
    if len(statement) > MAX_STATEMENT:  # minified: by semicolons
        parts = re.split(r"(?<=;)", statement)
    else:
        parts = re.split(r"(?<=;)\s+(?=(?:const|let|var|eval|exec)\b)", statement)
    return [part[start : start + 60_000] for part in parts for start in range(0, max(1, len(part)), 60_000)]


def _note_asks(statement: str, trace: Trace, line: int) -> None:
    named = (indicators.find_bare_host(match[1]) for match in _HOST_OPTION.finditer(statement))
    for host in (*indicators.find_hosts(statement), *filter(None, named)):
        trace.ask("hosts", host, line)
    for match in _ENV.finditer(statement):
        trace.ask("environment", next(group for group in match.groups() if group), line)
    for match in _WRITE.finditer(statement):
        for string in _STRING.finditer(match[1]):
            note_write(trace, _text_of(string), line)
            break
    for match in _OPEN.finditer(statement):
        for text in map(_text_of, _STRING.finditer(match[0])):
            path = text.lstrip(">").strip()
            if (indicators.is_persistent(path) or indicators.is_agent_file(path)) and _WRITES.search(
                match[0]
            ):
                note_write(trace, path, line)
    if re.search(r"CurrentVersion\\+Run|Register-ScheduledTask|New-Service\b", statement):
        trace.report("A14", "makes something run later", line)


def _flags_in(statement: str, names: dict[str, frozenset[str]]) -> frozenset[str]:
    flags: set[str] = set()
    if names:
        for name in set(re.findall(r"[A-Za-z_]\w*", statement)):
            flags |= names.get(name, NOTHING)
    if indicators.is_secret(statement):
        flags.add(SECRET)
    if indicators.is_dotenv(statement) and re.search(r"read|open|cat|File", statement):
        flags.add(DOTENV)
    if re.search(r"\.(?:split|match|find|get)\(|\[['\"\w]", statement):
        flags.discard(DOTENV)  # a part, such as one key
    if _ENV_ALL.search(statement) and not _ENV_PASS.search(statement):
        flags.add(ENVIRONMENT)
    if _FETCH.search(statement):
        flags |= download_flags(statement)
    if _DECODE.search(statement):
        flags.add(DECODED)
    return frozenset(flags)


def _check(statement: str, flags: frozenset[str], machine: Machine, line: int) -> None:
    trace = machine.trace
    if (
        SECRET in flags
        and indicators.is_secret(statement)
        and re.search(r"[rR]ead|open|cat\b|Get-Content|copy|zip|stat|glob|exec", statement)
    ):
        trace.report("A20", "reads a store of secrets", line)
    if _SEND.search(statement):
        hosts = indicators.find_far_hosts(statement)
        if flags & {SECRET, ENVIRONMENT, DOTENV} and (hosts or not indicators.LOOPBACK.search(statement)):
            trace.report("A21", f"sends secrets{f' to {hosts[0]}' if hosts else ''}", line)
        plain = _ENV.sub(lambda match: f"${{{next(group for group in match.groups() if group)}}}", statement)
        check_credentials(trace, plain, line)
    if encoded := _ENCODED.search(statement):
        machine.run_plaintext("PowerShell", line, ("text", indicators.decode_base64(encoded[1])))
    _check_program(statement, trace, line)
    if _SAVE_FLOW in flags and _RUN_FILE.search(statement):
        machine.report_remote("runs a file", flags, line)
    if _RUN.search(statement):
        _check_code(statement, flags, machine, line)
    for command in _find_commands(statement):
        machine.read_code("shell", command, line)


def _check_program(statement: str, trace: Trace, line: int) -> None:
    """Report a statement that is a command of Windows, and take note of files that it gets or runs."""
    program = re.match(r"\s*(?:&\s*)?([\w.-]{2,40})", statement)
    if program:
        check_command(
            program[1].lower().removesuffix(".exe"), statement.strip()[: indicators.MAX_WORD], trace, line
        )
    for match in _SAVED.finditer(statement):
        trace.note_download(match[1])
    for match in _STARTED.finditer(statement):
        trace.note_run(match[1] or match[2], line)


def _find_commands(statement: str) -> Iterator[str]:
    """Yield the texts and lists of words that a statement gives to a shell or a process."""
    for match in _COMMAND.finditer(statement):
        yield _text_of(match).replace('\\"', '"').replace("\\'", "'")
    for match in _QUOTED.finditer(statement):
        yield _text_of(match)
    yield from filter(_PIPE.search, map(_text_of, _STRING.finditer(statement)))
    for match in _SPAWN.finditer(statement):
        arguments = map(_text_of, _STRING.finditer(match[2]))
        quoted = (f"'{text}'" if " " in text and "'" not in text else text for text in arguments)
        yield " ".join([match[1], *quoted])


def _text_of(match: re.Match[str]) -> str:
    return next((group for group in match.groups() if group is not None), "")


def _check_code(statement: str, flags: frozenset[str], machine: Machine, line: int) -> None:
    """Report code that is run after it was downloaded or decoded."""
    if DOWNLOAD in flags and re.search(
        r"\beval\s*[({$A-Z]|new\s+Function|(?<![.\w:>])load\s*\(|\bassert\s*\(\s*\$|create_function|call_user_func|(?:instance|class|module)_eval"
        r"|\b(?:include|require)(?:_once)?\s*\(?\s*\$|Code\.eval|GroovyShell|ExecuteGlobal|\bdofile\b|\.constructor\s*\(|\bIEX\b|Invoke-Expression|runIn|\bvm\.|Start-Process|loadstring"
        r"|scriptblock",
        statement,
        re.IGNORECASE,
    ):
        machine.report_remote("runs code", flags, line)
    if DECODED in flags:
        plaintexts = map(_decode_text, map(_text_of, _STRING.finditer(statement)))
        codes = ((language, text) for text in plaintexts for language in ("shell", "text"))
        machine.run_plaintext("the script", line, *codes)


def _decode_text(text: str) -> str:
    return indicators.decode_base64(text) or (indicators.decode_hex(text) if len(text) >= 20 else "")


# Constant strings that are put together

MAX_CONSTANTS = 500
MAX_KEYS = 20  # that are tried on encoded numbers
_TEXT = r"(?<!\\)(?:\"(?:[^\"\\\n]|\\.){0,200}\"|'(?:[^'\\\n]|\\.){0,200}'|`[^`\\$\n]{0,200}`)"
_NUMBER = r"(?:0x[0-9a-fA-F]{1,6}|\d{1,7})"
_ESCAPE = re.compile(r"\\x([0-9a-fA-F]{2})|\\u([0-9a-fA-F]{4})|\\u\{([0-9a-fA-F]{1,6})\}")
_CODES = load_pattern("codes")
_CHARACTERS = load_pattern("characters")
_LETTERS = load_pattern("letters")
_ESCAPES = re.compile(r"(?:\\\d{2,3}){6,2000}")
_JOIN = re.compile(rf"\[\s*({_TEXT}(?:\s*,\s*{_TEXT}){{1,100}})\s*\]\s*\.\s*join\s*\(\s*(?:''|\"\")\s*\)")
_REVERSAL = load_pattern("reversal")
_DECODER = load_pattern("decoder")
_LISTS = re.compile(rf"\b([A-Za-z_$][\w$]*)\s*=\s*\[\s*({_TEXT}(?:\s*,\s*{_TEXT}){{0,300}})\s*,?\s*\]")
_ITEM = re.compile(rf"\b([A-Za-z_$][\w$]*)\s*\[\s*({_NUMBER})\s*\]")
_CONSTANT = re.compile(rf"\b([A-Za-z_$][\w$]*)\s*=\s*({_TEXT})\s*(?=[;,\n]|$)")
_OPERAND = rf"(?:{_TEXT}|(?<![\w$.])[A-Za-z_$][\w$]*(?![\w$(.\[]))"
_SUM = re.compile(rf"{_OPERAND}(?:\s*\+\s*{_OPERAND}){{1,100}}|{_TEXT}(?:\s?\.\.?\s?{_TEXT}){{1,100}}")
_NAMED_MEMBER = re.compile(r"(?<=[\w$)\]])\[\s*([A-Za-z_$][\w$]*)\s*\]")
_MEMBER = re.compile(r"(?<=[\w$)\]])\s*(?:\?\.)?\[\s*(['\"`])([A-Za-z_$][\w$]*)\1\s*\]")
_NUMBERS = re.compile(rf"[\[({{]\s*({_NUMBER}(?:u8)?(?:\s*,\s*{_NUMBER}){{7,20000}})\s*,?\s*[\])}}]")
_XOR = load_pattern("xor")
_KEY = re.compile(rf"(?:=|\^)\s*(?:({_NUMBER})\b|({_TEXT}))")
_NAMES = load_pattern("names")


def fold(text: str) -> str:
    """Return a script with its constant strings put together.

    >>> fold("require('chi' + 'ld_process')['ex' + 'ec'](c)")
    "require('child_process').exec(c)"
    """
    text = _ESCAPE.sub(_unescape, text)
    text = _ESCAPES.sub(_unescape_run, text)
    text = _CHARACTERS.sub(
        lambda match: _quote(_decode_numbers(",".join(re.findall(_NUMBER, match[0])), 0), match), text
    )
    if _LETTERS.search(text):
        text = _NUMBERS.sub(_name_numbers, text)
    text = _CODES.sub(lambda match: _quote(_decode_numbers(match[1], 0), match), text)
    text = _JOIN.sub(lambda match: _quote("".join(_strings(match[1])), match), text)
    text = _REVERSAL.sub(lambda match: _quote((match[1] or match[2] or match[3])[1:-1][::-1], match), text)
    text = _DECODER.sub(_decode, text)
    text = _put_in_items(text)
    text = _add_up(text)
    return _MEMBER.sub(r".\2", _put_in_members(text))


def find_hidden_names(text: str, folded: str) -> list[str]:
    """Return the names that a script puts together: those of programs, of modules and of secrets."""
    if folded == text:
        return []
    plain = Counter(_NAMES.findall(text))
    names = Counter(_NAMES.findall(folded)).items()
    return [name for name, count in names if count > plain[name] and not (plain[name] and name[:4] == "http")]


def decode_xor(text: str) -> str | None:
    """Return the text that a script decodes with XOR, as far as its key is known; None if it does not."""
    if not _XOR.search(text):
        return None
    keys = dict.fromkeys(match[1] or match[2] for match in _KEY.finditer(text) if len(match[0]) < 60)
    for data in [match[1] for match in _NUMBERS.finditer(text)][:MAX_KEYS]:
        for key in [*keys][:MAX_KEYS]:
            plaintext = _decode_numbers(data, key[1:-1] if key[0] in "'\"`" else int(key, 0))
            if re.search(r"[a-z]{3}.*[(=;]", plaintext) and indicators.as_text(
                plaintext.encode("latin-1", "replace")
            ):
                return plaintext
    return ""


def _decode_numbers(text: str, key: int | str) -> str:
    numbers = [int(number, 0 if "x" in number else 10) for number in text.split(",") if number.strip()]
    keys = [ord(letter) for letter in key] if isinstance(key, str) else [key]
    if not keys:
        return ""
    return "".join(chr((number ^ keys[at % len(keys)]) & 0xFFFF) for at, number in enumerate(numbers))


def _unescape(match: re.Match[str]) -> str:
    letter = chr(min(int(match[1] or match[2] or match[3], 16), 0x10FFFF))
    return letter if letter.isprintable() and letter not in "'\"`\\" else match[0]


def _unescape_run(match: re.Match[str]) -> str:
    """Return letters that are written as decimal or octal codes, if they name something."""
    codes = match[0][1:].split("\\")
    for base in (10, 8):
        if base == 10 or not re.search("[89]", match[0]):
            letters = "".join(chr(int(code, base)) for code in codes)
            if letters.isprintable() and _NAMES.search(letters) and not re.search("['\"`]", letters):
                return letters
    return match[0]


def _name_numbers(match: re.Match[str]) -> str:
    """Return a list of codes as the string that they are, if it names something."""
    value = _decode_numbers(match[1].replace("u8", ""), 0)
    return _quote(value, match) if _NAMES.search(value) else match[0]


def _quote(value: str, match: re.Match[str]) -> str:
    """Return a value as a string of the script, with the line ends of what it replaces."""
    if not value.isprintable() or "'" in value:
        return match[0]
    return f"'{value}'" + "\n" * match[0].count("\n")


def _strings(text: str) -> list[str]:
    return [string[1:-1] for string in re.findall(_TEXT, text)]


def _decode(match: re.Match[str]) -> str:
    value = (match[1] or match[2])[1:-1]
    return _quote(indicators.decode_base64(value) or indicators.decode_hex(value) or "'", match)


def _put_in_items(text: str) -> str:
    """Replace `names[3]` by the string that the list has there."""
    lists = {match[1]: _strings(match[2]) for match in _LISTS.finditer(text)}

    def item(match: re.Match[str]) -> str:
        values, at = lists.get(match[1], []), int(match[2], 0 if "x" in match[2] else 10)
        return _quote(values[at], match) if at < len(values) else match[0]

    return _ITEM.sub(item, text) if lists else text


def _put_in_members(text: str) -> str:
    """Replace `object[name]` by the member that a constant names, if that hides something."""
    constants = {match[1]: match[2][1:-1] for match in islice(_CONSTANT.finditer(text), MAX_CONSTANTS)}

    def member(match: re.Match[str]) -> str:
        value = constants.get(match[1], "")
        return f"['{value}']" if _NAMES.search(value) else match[0]

    return _NAMED_MEMBER.sub(member, text) if constants else text


def _add_up(text: str) -> str:
    """Replace sums of strings, and of names that are constants, by their values."""
    constants = {match[1]: match[2][1:-1] for match in islice(_CONSTANT.finditer(text), MAX_CONSTANTS)}

    def total(match: re.Match[str]) -> str:
        values = []
        for operand in re.findall(rf"{_TEXT}|[A-Za-z_$][\w$]*", match[0]):
            value = operand[1:-1] if operand[0] in "'\"`" else constants.get(operand)
            if value is None:
                return match[0]
            values.append(value)
        return _quote("".join(values), match)

    return _SUM.sub(total, text)
