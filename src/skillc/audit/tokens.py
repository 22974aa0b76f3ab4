"""Read scripts of other languages statement by statement: JavaScript, PowerShell, Ruby, Go and others.

No grammar: strings, names and a few forms that are alike in all of them. A name that is given a secret, a
download or decoded text carries that on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

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
    find_odd,
    note_write,
    report_plaintext,
)
from skillc.audit.findings import Trace
from skillc.audit.folding import decode_xor, find_hidden_names, fold
from skillc.audit.forms import check_command

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
    r"|\$ENV\{['\"]?(\w+)"
    r"|\bimport\.meta\.env\.(\w+)|Bun\.env\.(\w+)|System\.getenv\(\"(\w+)"
)
_ENV_ALL = re.compile(
    r"process\.env(?![.\w\[])|JSON\.stringify\(\s*(?:process\.env|Deno\.env)|os\.Environ\(\)"
    r"|Get-ChildItem\s+env:|\bgci\s+env:|ls\s+env:"
    r"|dir\s+env:|ENV\.to_h|\$_ENV\b(?!\[)|Deno\.env\.toObject|System\.getenv\(\)"
    r"|(?<![\w$])%ENV\b|\bENV\.(?:to_a|map|inspect|each|collect|select)\b|\bgetenv\(\s*\)|\benv::vars(?:_os)?\(|\$_SERVER\b(?!\[)"
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
    r"|HTTP::Tiny|IO::Socket|LWP::|post_form|stream_socket_client|fsockopen|\bTCPSocket|UDPSocket|Net::(?:SMTP|FTP)"
    r"|socket\.http|http\.request|reqwest|\bureq\b|TcpStream|UdpSocket|HttpURLConnection|(?<![.\w>])mail\s*\(|RestClient"
    r"|socket_sendto|dns_get_record|gethostbyname|:httpc|HTTPoison|URLSession|HTTP\.post|Typhoeus|Excon|TcpClient"
    r"|dns\.(?:resolve|lookup)|sendMail|\bcurl\b|\bwget\b"
)
_FETCH = re.compile(
    r"\bfetch\s*\(|axios(?:\.get)?\s*\(|\bhttps?\.get\b|DownloadString|DownloadFile|\biwr\b|\birm\b"
    r"|Invoke-(?:WebRequest|RestMethod)"
    r"|URI\.open|open-uri|Net::HTTP\.get|http\.Get\(|file_get_contents\s*\(\s*['\"$]?\w*https?|\bcurl\s"
    r"|\bwget\s|Net::HTTP|HTTParty|Faraday|RestClient|Typhoeus|Excon|HTTP::Tiny|LWP::|Mojo::UserAgent|IO::Socket|\bTCPSocket"
    r"|\bget(?:store)?\s*\(?\s*['\"]https?:|\b(?:fopen|open|copy|readfile|simplexml_load_file)\s*\(?\s*['\"]https?:"
    r"|file_get_contents\s*\(\s*\$(?:url|uri|u|src|remote|endpoint|host|address|link)\b|curl_exec|fsockopen|stream_socket_client"
    r"|stream_get_contents|socket\.http|http\.request|reqwest|\bureq\b|new\s+URL\(|\bURL\([^)\n]{0,200}\)\.(?:readText|openStream)"
    r"|HttpURLConnection|\bHttpClient|GetStringAsync|GetByteArrayAsync|\.toURL\(\)|URLSession|:httpc|HTTPoison|download\.file"
    r"|WinHttpRequest|MSXML2\.XMLHTTP|\bgethostbyname\b|dns_get_record|Net::DNS|url-retrieve"
)
# Saves to a file, whose name is the first argument.
_SAVE = re.compile(
    r"(?:file_put_contents|File\.(?:bin)?write|IO\.(?:bin)?write|getstore|mirror|writeFile(?:Sync)?|createWriteStream"
    r"|os\.(?:WriteFile|Create)|fs::write|File::create|Files\.(?:write|copy)|fopen|io\.open|File\.open|\bopen|File\.WriteAll\w+"
    r"|\bcopy\s*\([^,\n]{1,200},)"
    r"\s*\(?\s*(?:my\s+\$\w+\s*,\s*['\"]>+[^'\",]{0,20}['\"]\s*,\s*)?&?\$?([A-Za-z_]\w*)"
)
# Runs a file: by an interpreter, as code of its own, or directly.
_RUN_FILE = re.compile(
    r"\b(?:system|exec\w*|popen|spawn\w*|passthru|shell_exec|Command(?:::new)?|os\.execute|Process\.(?:Start|run|spawn)|IO\.popen|qx)\b"
    r"[^\n]{0,80}?(?:\b(?:ba|z|da)?sh\b|\bpython3?\b|\bperl\b|\bphp\b|\bruby\b|\bnode\b|\bchmod\b|\blua\b|\(\s*&?\$?[A-Za-z_]\w*\s*[,)])"
    r"|\b(?:include|require|load|do|dofile|loadfile|source)(?:_once)?\s*\(?\s*[$A-Za-z_]|\bchmod\b|\.chmod\("
)
# Opens a file to write to it.
_OPEN = re.compile(
    r"\b(?:open|File\.open|fopen|io\.open|OpenFile|OpenOptions|FileWriter|ofstream|OpenTextFile|FileUtils\.\w+|fs::(?:write|copy)"
    r"|Files\.\w+|File\.(?:write|Append\w+|WriteAll\w+)|write-region|writefile)\b[^\n]{0,300}"
)
_DECODE = re.compile(
    r"\batob\s*\(|Buffer\.from\s*\([^)]{0,60000},\s*['\"](?:base64|hex)['\"]|FromBase64String"
    r"|Base64\.(?:strict_)?decode64|base64_decode|decode_base64"
    r"|String\.fromCharCode|gzinflate|gzuncompress|str_rot13|hex2bin|inflateSync|gunzipSync"
    r"|StdEncoding\.DecodeString|unescape\s*\(|\.unpack1?\(['\"](?:m|H\*)"
    r"|pack\(['\"]H\*|\.reverse\(\)\s*\.join|brotliDecompressSync"
)
_RUN = re.compile(
    r"\beval\s*\(|\beval\s+[A-Z]|\bnew\s+Function\s*\(|(?-i:\bFunction)\s*\(\s*['\"`\w]|\bvm\.run|runIn(?:This|New)Context"
    r"|\bIEX\b|Invoke-Expression|\bexec(?:Sync|File|FileSync)?\s*\("
    r"|\bspawn(?:Sync)?\s*\(|\bsystem\s*\(|\bshell_exec\s*\(|\bpassthru\s*\(|\bpopen\s*\(|instance_eval"
    r"|class_eval|module_eval|\bassert\s*\(\s*\$|\bcreate_function\s*\(|preg_replace\s*\(\s*['\"][^'\"\n]{0,80}/\w{0,5}e\w{0,5}['\"]|\beval\s+[$]|\beval\s*\{?\s*\$|call_user_func|(?<![.\w:>])load(?:string)?\s*\(\s*[A-Za-z_$]|\bproc_open\s*\(|Command::new|Code\.eval|GroovyShell|\.execute\(\)|ExecuteGlobal|\b(?:include|require)(?:_once)?\s*\(?\s*\$|\bdofile\s*\(|\.constructor\s*\("
    r"|Start-Process|\bexec\.Command\s*\(|\bloadstring\s*\(|\[scriptblock\]::Create|os\.execute\s*\("
    r"|child_process|\bProcess\.Start|\brequire\s*\(\s*[^'\"`)\s]",
    re.IGNORECASE,
)
_PIPE = re.compile(r"\b(?:curl|wget)\b[^\n]{0,500}\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b")
_SAVED = re.compile(
    r"(?:-OutFile|-Destination|DownloadFile\s*\([^,\n]{1,300},|-urlcache\s[^&|\n]{0,300}?(?=\s\S+\s*(?:&|$)))\s*['\"]?([^\s'\",)]+)",
    re.IGNORECASE,
)
_STARTED = re.compile(
    r"(?:^|[;&|]\s*)\s*['\"]?([.$%~][^\s'\"]{0,200}\.(?:exe|ps1|bat|cmd|dll|vbs|msi|sh))\b"
    r"|Start-Process\s+(?:-FilePath\s+)?['\"]?([^\s'\"]{1,200})",
    re.IGNORECASE | re.MULTILINE,
)
# Runs what is in a variable.
_DYNAMIC = re.compile(
    r"\beval\b|\bload(?:string)?\s*\(|\bFunction\s*\(|\bvm\.|runIn|\brequire\s*\(\s*[^'\"`)\s]|\bexec\w*\s*\(\s*[A-Za-z_$]|\]\s*\("
)
_COMMAND = re.compile(
    r"(?:\bexec(?:Sync)?|\bsystem|\bshell_exec|\bpassthru|\bpopen|os\.execute|\bsh"
    r"|\$)\s*\(?\s*(?:\"((?:[^\"\\\n]|\\.){1,4000})\"|'((?:[^'\\\n]|\\.){1,4000})'"
    r"|`((?:[^`\\]|\\.){1,4000})`)"
)
# Backticks and the like, which run a command in Perl, PHP and Ruby.
_QUOTED = re.compile(
    r"`((?:curl|wget|cat|nc|ncat|sh|bash|scp|tar|base64|env|printenv|security|crontab|echo|sudo)\s[^`\n]{1,2000})`"
    r"|(?:\bqx|%x)\s?(?:\{([^}\n]{1,2000})\}|\(([^)\n]{1,2000})\)|/([^/\n]{1,2000})/|\[([^\]\n]{1,2000})\])"
)
_SAVE_FLOW = "saved"  # of names: the file that a download was put into
_SPAWN = re.compile(
    r"(?:\bspawn(?:Sync)?|\bexecFile(?:Sync)?"
    r"|exec\.Command|Command::new|\bexec|\bsystem|ProcessBuilder|Open3\.\w+|Process\.(?:run|spawn))\s*\(\s*['\"`]([\w./-]{1,100})['\"`]([^)]{0,2000})"
)
_WRITE = re.compile(
    r"(?:writeFile(?:Sync)?|appendFile(?:Sync)?|createWriteStream|os\.WriteFile|File\.write"
    r"|file_put_contents|Set-Content|Add-Content|Out-File|New-Item|copyFile(?:Sync)?|Copy-Item)\b(.{0,400})"
)
_WRITES = re.compile(
    r"['\"](?:>|[wa]b?\+?['\"])|[wW]rite|[aA]ppend|FileUtils|O_WRONLY|O_APPEND|, ?8\b|copy|ofstream"
)
_ENCODED = re.compile(r"\s-e(?:c|nc|ncodedcommand)?\s+['\"]?([A-Za-z0-9+/]{16,60000}={0,2})", re.IGNORECASE)
_HOST_OPTION = re.compile(
    r"(?:\bhost(?:name)?['\"]?\s*[:=]|\b(?:connect|createConnection|TCPSocket\.new|lookup|Dial)\([^()]{0,60}?)"
    r"\s*['\"`]([\w.-]{4,253})['\"`]"
)
_SHELL_ROUND = re.compile(
    r"\bsocket\s*\(\s*(?:my\s+)?[$A-Z]\w*\s*,\s*(?:PF|AF)_INET|sockaddr_in|stream_socket_client|socket_create\s*\(|socket\.tcp\s*\("
    r"|TcpStream::connect|new\s+Socket\s*\(|gen_tcp[:.]connect|new\s+TcpClient|socket\.connect\s*\(|new\s+net\.Socket|net\.connect|net\.createConnection|TCPSocket|fsockopen"
    r"|System\.Net\.Sockets\.TCPClient|net\.Dial\(|IO::Socket",
    re.IGNORECASE,
)
_SHELL_NAME = re.compile(
    r"['\"](?:/bin/(?:ba|z|da)?sh|cmd(?:\.exe)?|powershell(?:\.exe)?|sh|bash)['\"]|/bin/sh|\biex\b|cmd\.exe",
    re.IGNORECASE,
)


def read_tokens(text: str, trace: Trace, read: Read, line: int, depth: int, language: str = "") -> None:
    """Take note of what a script of any language does, as far as its words show it."""
    folded = fold(text)
    check_disguise(text, folded, trace, read, line, depth)
    text = folded
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
        saved = _SAVE.search(statement) if DOWNLOAD in own_flags or _SAVE_FLOW in own_flags else None
        if saved and len(flags) < MAX_NAMES:
            flags[saved[1]] = flags.get(saved[1], NOTHING) | own_flags | {_SAVE_FLOW}
    if socket and shell:
        trace.report("A50", "connects a shell to another machine", socket)


def check_disguise(text: str, folded: str, trace: Trace, read: Read, line: int, depth: int) -> None:
    """Report names that are put together from pieces, and code that is decoded with XOR."""
    names = find_hidden_names(text, folded)
    if names:
        shown = ", ".join(f"'{name}'" for name in names[:3])
        at = line + folded.count("\n", 0, folded.find(names[0]))
        trace.report("A12", f"puts {shown} together from pieces, which hides it", at)
    plaintext = decode_xor(text) if "^" in text and _DYNAMIC.search(folded) else None
    if plaintext is not None:
        inner = trace.branch()
        if plaintext and depth < MAX_DEPTH:
            read(inner, "javascript", plaintext, line, depth + 1)
        report_plaintext(trace, "the script", inner, line + text.count("\n", 0, text.find("^")))


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
    named = (words.find_bare_host(match[1]) for match in _HOST_OPTION.finditer(statement))
    for host in (*words.find_hosts(statement), *filter(None, named)):
        trace.ask("hosts", host, line)
    for match in _ENV.finditer(statement):
        trace.ask("environment", next(group for group in match.groups() if group), line)
    for match in _WRITE.finditer(statement):
        for string in _STRING.finditer(match[1]):
            note_write(trace, next((part for part in string.groups() if part is not None), ""), line)
            break
    for match in _OPEN.finditer(statement):
        for text in map(_text_of, _STRING.finditer(match[0])):
            path = text.lstrip(">").strip()
            if (words.is_persistent(path) or words.is_agent_file(path)) and _WRITES.search(match[0]):
                note_write(trace, path, line)
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
        hosts = words.find_far_hosts(statement)
        if flags & {SECRET, ENVIRONMENT, DOTENV} and (hosts or not words.LOOPBACK.search(statement)):
            trace.report("A21", f"sends secrets{f' to {hosts[0]}' if hosts else ''}", line)
        plain = _ENV.sub(lambda match: f"${{{next(group for group in match.groups() if group)}}}", statement)
        check_credentials(trace, plain, line)
    _check_powershell(statement, trace, read, line, depth)
    _check_program(statement, trace, line)
    if _SAVE_FLOW in flags and _RUN_FILE.search(statement):
        odd = find_odd(flags)
        trace.report("A11" if odd else "A10", f"runs a file {odd or 'that is downloaded'}", line)
    if _RUN.search(statement):
        _check_code(statement, flags, trace, read, line, depth)
    if depth < MAX_DEPTH:
        for command in _find_commands(statement):
            read(trace, "shell", command, line, depth + 1)


def _check_program(statement: str, trace: Trace, line: int) -> None:
    """Report a statement that is a command of Windows, and take note of files that it gets or runs."""
    program = re.match(r"\s*(?:&\s*)?([\w.-]{2,40})", statement)
    if program:
        check_command(
            program[1].lower().removesuffix(".exe"), statement.strip()[: words.MAX_WORD], trace, line
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
        yield next(group for group in match.groups() if group is not None)
    yield from filter(_PIPE.search, map(_text_of, _STRING.finditer(statement)))
    for match in _SPAWN.finditer(statement):
        arguments = map(_text_of, _STRING.finditer(match[2]))
        quoted = (f"'{text}'" if " " in text and "'" not in text else text for text in arguments)
        yield " ".join([match[1], *quoted])


def _text_of(match: re.Match[str]) -> str:
    return next((group for group in match.groups() if group is not None), "")


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
        r"\beval\s*[({$A-Z]|new\s+Function|(?<![.\w:>])load\s*\(|\bassert\s*\(\s*\$|create_function|call_user_func|(?:instance|class|module)_eval"
        r"|\b(?:include|require)(?:_once)?\s*\(?\s*\$|Code\.eval|GroovyShell|ExecuteGlobal|\bdofile\b|\.constructor\s*\(|\bIEX\b|Invoke-Expression|runIn|\bvm\.|Start-Process|loadstring"
        r"|scriptblock",
        statement,
        re.IGNORECASE,
    ):
        odd = find_odd(flags)
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
