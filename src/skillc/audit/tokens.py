"""Read scripts of other languages statement by statement: JavaScript, PowerShell, Ruby, Go and others.

No grammar: strings, names and a few forms that are alike in all of them. A name that is given a secret, a
download or decoded text carries that on.
"""

from __future__ import annotations

import re

from skillc.audit import words
from skillc.audit.commands import (
    DECODED,
    DOTENV,
    DOWNLOAD,
    ENVIRONMENT,
    MAX_DEPTH,
    NOTHING,
    SECRET,
    Read,
    check_credentials,
    note_write,
    report_plaintext,
)
from skillc.audit.findings import Trace

MAX_STATEMENT = 8192  # characters; a longer one is read in pieces
MAX_NAMES = 500  # that carry something

_STRING = re.compile(
    r"\"((?:[^\"\\\n]|\\.){0,60000})\"|'((?:[^'\\\n]|\\.){0,60000})'|`((?:[^`\\]|\\.){0,60000})`"
)
_COMMENT = re.compile(r"^\s*(?://|#(?!!)|--\s|\*|/\*)")
_NAME = re.compile(
    r"(?:(?:const|let|var|my|local|our)\s+)?[$@]?([A-Za-z_][\w.]*(?:\s*,\s*\w+){0,5}|\{[\w\s,:]+\}|\[[\w\s,]+\])\s*(?::="
    r"|\+?=(?![=>]))"
)
_ENV = re.compile(
    r"process\.env\.([A-Za-z_]\w*)|process\.env\[['\"]([A-Za-z_]\w*)['\"]\]|\$env:([A-Za-z_]\w*)"
    r"|ENV\[['\"](\w+)['\"]\]"
    r"|ENV\.fetch\(['\"](\w+)|os\.Getenv\(\"(\w+)\"|getenv\(['\"](\w+)|Deno\.env\.get\(['\"](\w+)"
    r"|env::var\(\"(\w+)"
    r"|\bimport\.meta\.env\.(\w+)|Bun\.env\.(\w+)|System\.getenv\(\"(\w+)"
)
_ENV_ALL = re.compile(
    r"process\.env(?![.\w\[])|JSON\.stringify\(\s*(?:process\.env|Deno\.env)|os\.Environ\(\)"
    r"|Get-ChildItem\s+env:|\bgci\s+env:|ls\s+env:"
    r"|dir\s+env:|ENV\.to_h|\$_ENV\b(?!\[)|Deno\.env\.toObject|System\.getenv\(\)"
)
_ENV_PASS = re.compile(
    r"env\s*:\s*(?:process\.env|\{\s*\.\.\.process\.env)|\.\.\.process\.env|=\s*process\.env\s*;?$"
    r"|process\.env\s*\)?\s*as\b"
)
_SEND = re.compile(
    r"\bfetch\s*\(|\baxios\b|\bhttps?\.(?:request|get|post|Post|PostForm|NewRequest)\b|\.post\s*\("
    r"|\.put\s*\(|sendBeacon|XMLHttpRequest"
    r"|\bgot\s*[.(]|Invoke-(?:WebRequest|RestMethod)|\b(?:iwr|irm)\b|Net::HTTP|HTTParty|Faraday|curl_exec"
    r"|curl_setopt|file_get_contents\s*\(\s*['\"]https?"
    r"|net\.(?:connect|createConnection|Socket|Dial)|new\s+WebSocket|UploadString|UploadFile|UploadData"
    r"|HttpClient|LWP::UserAgent|request\s*\(\s*\{"
    r"|dns\.(?:resolve|lookup)|sendMail|\bcurl\b|\bwget\b"
)
_FETCH = re.compile(
    r"\bfetch\s*\(|axios(?:\.get)?\s*\(|\bhttps?\.get\b|DownloadString|DownloadFile|\biwr\b|\birm\b"
    r"|Invoke-(?:WebRequest|RestMethod)"
    r"|URI\.open|open-uri|Net::HTTP\.get|http\.Get\(|file_get_contents\s*\(\s*['\"$]?\w*https?|\bcurl\s"
    r"|\bwget\s"
)
_DECODE = re.compile(
    r"\batob\s*\(|Buffer\.from\s*\([^)]{0,60000},\s*['\"](?:base64|hex)['\"]|FromBase64String"
    r"|Base64\.(?:strict_)?decode64|base64_decode|decode_base64"
    r"|String\.fromCharCode|gzinflate|gzuncompress|str_rot13|hex2bin|inflateSync|gunzipSync"
    r"|StdEncoding\.DecodeString|unescape\s*\(|\.unpack1?\(['\"](?:m|H\*)"
    r"|pack\(['\"]H\*|\.reverse\(\)\s*\.join|brotliDecompressSync"
)
_RUN = re.compile(
    r"\beval\s*\(|\bnew\s+Function\s*\(|\bFunction\s*\(\s*['\"`\w]|\bvm\.run|runIn(?:This|New)Context"
    r"|\bIEX\b|Invoke-Expression|\bexec(?:Sync|File|FileSync)?\s*\("
    r"|\bspawn(?:Sync)?\s*\(|\bsystem\s*\(|\bshell_exec\s*\(|\bpassthru\s*\(|\bpopen\s*\(|instance_eval"
    r"|class_eval|\bassert\s*\(\s*\$|\.constructor\s*\("
    r"|Start-Process|\bexec\.Command\s*\(|\bloadstring\s*\(|\[scriptblock\]::Create|os\.execute\s*\("
    r"|child_process|\bProcess\.Start|\brequire\s*\(\s*[^'\"`)\s]",
    re.IGNORECASE,
)
_COMMAND = re.compile(
    r"(?:\bexec(?:Sync)?|\bsystem|\bshell_exec|\bpassthru|\bpopen|os\.execute|\bsh"
    r"|\$)\s*\(?\s*(?:\"((?:[^\"\\\n]|\\.){1,4000})\"|'((?:[^'\\\n]|\\.){1,4000})'"
    r"|`((?:[^`\\]|\\.){1,4000})`)"
)
_SPAWN = re.compile(
    r"(?:\bspawn(?:Sync)?|\bexecFile(?:Sync)?"
    r"|exec\.Command)\s*\(\s*['\"`]([\w./-]{1,100})['\"`]([^)]{0,2000})"
)
_WRITE = re.compile(
    r"(?:writeFile(?:Sync)?|appendFile(?:Sync)?|createWriteStream|os\.WriteFile|File\.write"
    r"|file_put_contents|Set-Content|Add-Content|Out-File|New-Item|copyFile(?:Sync)?|Copy-Item)\b(.{0,400})"
)
_ENCODED = re.compile(r"\s-e(?:c|nc|ncodedcommand)?\s+['\"]?([A-Za-z0-9+/]{16,60000}={0,2})", re.IGNORECASE)
_SHELL_ROUND = re.compile(
    r"new\s+net\.Socket|net\.connect|net\.createConnection|TCPSocket|fsockopen"
    r"|System\.Net\.Sockets\.TCPClient|net\.Dial\(|IO::Socket",
    re.IGNORECASE,
)
_SHELL_NAME = re.compile(
    r"['\"](?:/bin/(?:ba|z|da)?sh|cmd(?:\.exe)?|powershell(?:\.exe)?|sh|bash)['\"]|/bin/sh|\biex\b|cmd\.exe",
    re.IGNORECASE,
)


def read_tokens(text: str, trace: Trace, read: Read, line: int, depth: int, language: str = "") -> None:
    """Take note of what a script of any language does, as far as its words show it."""
    flags: dict[str, frozenset[str]] = {}  # by name
    socket = shell = 0
    for number, statement in _statements(text):
        here = line + number
        if _COMMENT.match(statement):
            continue
        _note_asks(statement, trace, here)
        own_flags = _flags_in(statement, flags)
        _check(statement, own_flags, trace, read, here, depth)
        name = _NAME.match(statement.lstrip())
        if name and own_flags and len(flags) < MAX_NAMES:
            for part in re.findall(r"\w+", name[1]):
                flags[part] = own_flags
        socket = socket or (here if _SHELL_ROUND.search(statement) else 0)
        shell = shell or (here if _SHELL_NAME.search(statement) else 0)
    if socket and shell:
        trace.report("A50", "connects a shell to another machine", socket)


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
    for host in words.find_hosts(statement):
        trace.ask("hosts", host, line)
    for match in _ENV.finditer(statement):
        trace.ask("environment", next(group for group in match.groups() if group), line)
    for match in _WRITE.finditer(statement):
        for string in _STRING.finditer(match[1]):
            note_write(trace, next((part for part in string.groups() if part is not None), ""), line)
            break
    if re.search(r"CurrentVersion\\+Run|Register-ScheduledTask|New-Service\b", statement):
        trace.report("A14", "makes something run later", line)


def _flags_in(statement: str, names: dict[str, frozenset[str]]) -> frozenset[str]:
    flags: set[str] = set()
    if names:
        for name in set(re.findall(r"[A-Za-z_]\w*", statement)):
            flags |= names.get(name, NOTHING)
    if words.is_secret(statement):
        flags.add(SECRET)
    if words.is_dotenv(statement) and re.search(r"read|open|cat|File", statement):
        flags.add(DOTENV)
    if re.search(r"\.(?:split|match|find|get)\(|\[['\"\w]", statement):
        flags.discard(DOTENV)  # a part, such as one key
    if _ENV_ALL.search(statement) and not _ENV_PASS.search(statement):
        flags.add(ENVIRONMENT)
    if _FETCH.search(statement):
        odd = words.describe_odd(statement)
        flags |= {DOWNLOAD, f"odd:{odd}"} if odd else {DOWNLOAD}
    if _DECODE.search(statement):
        flags.add(DECODED)
    return frozenset(flags)


def _check(statement: str, flags: frozenset[str], trace: Trace, read: Read, line: int, depth: int) -> None:
    if (
        SECRET in flags
        and words.is_secret(statement)
        and re.search(r"[rR]ead|open|cat\b|Get-Content|copy|zip|stat|glob|exec", statement)
    ):
        trace.report("A20", "reads a store of secrets", line)
    if _SEND.search(statement):
        hosts = words.find_hosts(statement)
        if flags & {SECRET, ENVIRONMENT, DOTENV} and not re.search(
            r"//(?:localhost|127\.0\.0\.1)", statement
        ):
            trace.report("A21", f"sends secrets{f' to {hosts[0]}' if hosts else ''}", line)
        plain = _ENV.sub(lambda match: f"${{{next(group for group in match.groups() if group)}}}", statement)
        check_credentials(trace, plain, line)
    _check_powershell(statement, trace, read, line, depth)
    if _RUN.search(statement):
        _check_code(statement, flags, trace, read, line, depth)
    for match in _COMMAND.finditer(statement):
        command = next(group for group in match.groups() if group is not None)
        if depth < MAX_DEPTH:
            read(trace, "shell", command.replace('\\"', '"').replace("\\'", "'"), line, depth + 1)
    for match in _SPAWN.finditer(statement):
        arguments = [
            next(group for group in string.groups() if group is not None)
            for string in _STRING.finditer(match[2])
        ]
        if depth < MAX_DEPTH:
            text = " ".join(
                [
                    match[1],
                    *(
                        f"'{argument}'" if " " in argument and "'" not in argument else argument
                        for argument in arguments
                    ),
                ]
            )
            read(trace, "shell", text, line, depth + 1)


def _check_powershell(statement: str, trace: Trace, read: Read, line: int, depth: int) -> None:
    """Report what PowerShell is given in an encoded form."""
    match = _ENCODED.search(statement)
    if match:
        inner = trace.branch()
        if depth < MAX_DEPTH:
            read(inner, "text", words.decode_base64(match[1]), line, depth + 1)
        report_plaintext(trace, "PowerShell", inner, line)


def _check_code(
    statement: str, flags: frozenset[str], trace: Trace, read: Read, line: int, depth: int
) -> None:
    """Report code that is run after it was downloaded or decoded."""
    if DOWNLOAD in flags and re.search(
        r"\beval\s*\(|new\s+Function|\bIEX\b|Invoke-Expression|runIn|\bvm\.|Start-Process|loadstring"
        r"|scriptblock",
        statement,
        re.IGNORECASE,
    ):
        odd = next((flag.removeprefix("odd:") for flag in sorted(flags) if flag.startswith("odd:")), "")
        trace.report("A11" if odd else "A10", f"runs code {odd or 'that is downloaded'}", line)
    if DECODED in flags:
        inner = trace.branch()
        for string in _STRING.finditer(statement):
            text = next(group for group in string.groups() if group is not None)
            plaintext = words.decode_base64(text) or (words.decode_hex(text) if len(text) >= 20 else "")
            if plaintext and depth < MAX_DEPTH:
                read(inner, "shell", plaintext, line, depth + 1)
                read(inner, "text", plaintext, line, depth + 1)
        report_plaintext(trace, "the script", inner, line)
