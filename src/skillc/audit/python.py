"""Read Python by its syntax tree: what it opens, sends, decodes and runs. Nothing is imported or run.

Values are followed through assignments, calls and the functions of the file: in a first pass to learn what
functions return and pass on, in a second one to report.
"""

from __future__ import annotations

import ast
import base64
import binascii
import codecs
import re
import warnings
import zlib
from collections.abc import Iterable

from skillc.audit import words
from skillc.audit.commands import (
    DECODED,
    DOTENV,
    DOWNLOAD,
    EMPTY,
    ENVIRONMENT,
    MAX_DEPTH,
    NOTHING,
    SECRET,
    Machine,
    Read,
    Word,
    check_credentials,
    note_write,
    report_decoded,
)
from skillc.audit.findings import Trace
from skillc.audit.words import word_set

MAX_STEPS = (
    400_000  # expressions that are looked at; in some forms one is looked at twice, and what is in it too
)
_RUN = word_set("exec eval compile builtins.exec builtins.eval")
_SHELL = word_set("os.system os.popen subprocess.getoutput subprocess.getstatusoutput commands.getoutput")
_PROCESSES = word_set(
    "subprocess.run subprocess.call subprocess.check_call subprocess.check_output subprocess.Popen"
    " pty.spawn os.execv"
    " os.execvp os.spawnl asyncio.create_subprocess_exec asyncio.create_subprocess_shell"
)
_HTTP = (
    "requests.",
    "httpx.",
    "urllib.request.",
    "aiohttp.",
    "urllib3.",
    "http.client.",
    "curl_cffi.",
    "urllib2.",
)
_SEND_METHODS = word_set(
    "post put patch sendall sendto sendmail send_message storbinary upload_file upload_fileobj put_object"
    " urlopen"
    " request upload_blob upload_from_filename upload_from_string publish urlretrieve"
)
_GET_METHODS = frozenset(("get", "head", "delete", "send"))
_CLIENTS = re.compile(
    r"(?:^|[._])(?:requests|httpx|session|client|http|sock|socket|conn|smtp|ftp|s|ws)$", re.IGNORECASE
)
_READERS = word_set(
    "open read_text read_bytes copy copy2 copyfile copytree listdir walk scandir glob iglob rglob iterdir"
    " write add connect"
    " read io.open os.open dotenv_values make_archive readlines ZipFile"
)
_BARREN = word_set(
    "len exists isfile isdir is_file is_dir bool int print isinstance hasattr mkdir makedirs chmod stat"
)
_PICKERS = word_set("split splitlines partition rpartition get match search findall group dotenv_values")
_CREDENTIAL_KEYWORDS = word_set(
    "headers auth cert verify timeout params_auth api_key token key_filename pkey"
)
_WRITE_METHODS = frozenset(("write_text", "write_bytes"))


def read_python(text: str, trace: Trace, read: Read, line: int, depth: int) -> bool:
    """Take note of what a script does; return False if it is not valid Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # odd escapes in its strings
            tree = ast.parse(text)
        reader = _Reader(trace, read, line, depth, budget=min(MAX_STEPS, 10_000 + 8 * len(text)))
        reader.learn(tree)
        reader.visit_all(tree.body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


class _Function:
    """What is known of a function: the flags of what it returns, and the parameters that it sends or runs."""

    __slots__ = ("parameters", "returns", "runs", "sends")

    def __init__(self, parameters: list[str]) -> None:
        self.parameters = parameters
        self.returns: frozenset[str] = NOTHING
        self.sends: set[str] = set()
        self.runs: set[str] = set()


class _Reader:
    def __init__(self, trace: Trace, read: Read, line: int, depth: int, budget: int) -> None:
        self.trace = trace
        self.read = read
        self.budget = budget
        self.offset = line - 1
        self.depth = depth
        self.machine = Machine(trace, read, depth)
        self.aliases: dict[str, str] = {}
        self.scopes: list[dict[str, Word]] = [{}]
        self.functions: dict[str, _Function] = {}
        self.current: list[_Function] = []

    def learn(self, tree: ast.Module) -> None:
        """Read the file once without reporting, for what its functions do."""
        real = self.trace
        self.trace = self.machine.trace = Trace()
        self.visit_all(tree.body)
        self.trace = self.machine.trace = real
        self.scopes = [{}]

    # Statements

    def visit_all(self, statements: Iterable[ast.stmt]) -> None:
        for statement in statements:
            self.visit(statement)

    def visit(self, node: ast.stmt) -> None:
        method = getattr(self, f"_visit_{type(node).__name__}", None)
        if method is not None:
            method(node)
            return
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                self.visit(child)
            elif isinstance(child, ast.ExceptHandler | ast.match_case):
                self.visit_all(child.body)
            elif isinstance(child, ast.withitem):
                value = self.value(child.context_expr)
                if child.optional_vars is not None:
                    self.assign(child.optional_vars, value)
            elif isinstance(child, ast.expr):
                self.value(child)

    def _visit_Import(self, node: ast.Import) -> None:  # noqa: N802
        for name in node.names:
            self.aliases[name.asname or name.name.split(".")[0]] = (
                name.name if name.asname else name.name.split(".")[0]
            )

    def _visit_ImportFrom(self, node: ast.ImportFrom) -> None:  # noqa: N802
        for name in node.names:
            self.aliases[name.asname or name.name] = f"{node.module or ''}.{name.name}"

    def _visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:  # noqa: N802
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        names = [argument.arg for argument in arguments]
        function = self.functions.setdefault(node.name, _Function(names))
        for default in [*node.args.defaults, *(d for d in node.args.kw_defaults if d), *node.decorator_list]:
            self.value(default)
        self.scopes.append({name: Word("", frozenset((f"param:{name}",))) for name in names})
        self.current.append(function)
        self.visit_all(node.body)
        self.current.pop()
        self.scopes.pop()

    _visit_AsyncFunctionDef = _visit_FunctionDef  # noqa: N815

    def _visit_ClassDef(self, node: ast.ClassDef) -> None:  # noqa: N802
        self.visit_all(node.body)

    def _visit_Return(self, node: ast.Return) -> None:  # noqa: N802
        if node.value is not None:
            word = self.value(node.value)
            if self.current:
                self.current[-1].returns |= word.flags

    def _visit_Assign(self, node: ast.Assign) -> None:  # noqa: N802
        value = self.value(node.value)
        for target in node.targets:
            self.assign(target, value)

    def _visit_AnnAssign(self, node: ast.AnnAssign) -> None:  # noqa: N802
        if node.value is not None:
            self.assign(node.target, self.value(node.value))

    def _visit_AugAssign(self, node: ast.AugAssign) -> None:  # noqa: N802
        value = self.value(node.value)
        self.assign(node.target, self.look_up(_name_of(node.target)).join(value))

    def _visit_For(self, node: ast.For | ast.AsyncFor) -> None:  # noqa: N802
        self.assign(node.target, self.value(node.iter))
        self.visit_all([*node.body, *node.orelse])

    _visit_AsyncFor = _visit_For  # noqa: N815

    def _visit_Expr(self, node: ast.Expr) -> None:  # noqa: N802
        if not isinstance(node.value, ast.Constant):  # a docstring asks for nothing
            self.value(node.value)

    def assign(self, target: ast.expr, value: Word) -> None:
        if isinstance(target, ast.Tuple | ast.List):
            for element in target.elts:
                self.assign(element, value)
            return
        name = _name_of(target)
        if isinstance(target, ast.Subscript | ast.Starred):
            value = Word("", self.look_up(name).flags | value.flags)
        if name:
            self.scopes[-1 if "." not in name else 0][name] = value

    def look_up(self, name: str) -> Word:
        for scope in (self.scopes[-1], self.scopes[0]):
            if name in scope:
                return scope[name]
        return EMPTY

    # Expressions

    def value(self, node: ast.expr | None) -> Word:
        """Return what an expression gives as far as it is known; report what it does."""
        if node is None:
            return EMPTY
        self.budget -= 1
        if self.budget < 0:
            raise RecursionError
        method = getattr(self, f"_value_{type(node).__name__}", None)
        if method is not None:
            word: Word = method(node)
            return word
        flags: frozenset[str] = NOTHING
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                flags |= self.value(child).flags
        return Word("", flags)

    def _value_Constant(self, node: ast.Constant) -> Word:  # noqa: N802
        if isinstance(node.value, bytes):
            return Word(node.value[: words.MAX_DECODED].decode("latin-1"))
        if not isinstance(node.value, str):
            return Word(str(node.value)[:100])
        for host in words.find_hosts(node.value[: words.MAX_WORD]):
            self.trace.ask("hosts", host, self.at(node))
        return Word(node.value[: 2 * words.MAX_DECODED])

    def _value_JoinedStr(self, node: ast.JoinedStr) -> Word:  # noqa: N802
        return self._join(node.values)

    def _value_FormattedValue(self, node: ast.FormattedValue) -> Word:  # noqa: N802
        return self.value(node.value)

    def _value_BinOp(self, node: ast.BinOp) -> Word:  # noqa: N802
        parts: list[ast.expr] = []  # `a + b + c` nests to the left
        inner: ast.expr = node
        while isinstance(inner, ast.BinOp):
            parts.append(inner.right)
            inner = inner.left
        values = [self.value(inner), *(self.value(part) for part in reversed(parts))]
        separator = "/" if isinstance(node.op, ast.Div) else ""
        text = separator.join(value.text for value in values)
        return Word(text[: 2 * words.MAX_DECODED], frozenset().union(*(value.flags for value in values)))

    def _value_Compare(self, node: ast.Compare) -> Word:  # noqa: N802
        self.value(node.left)
        for part in node.comparators:
            self.value(part)
        return EMPTY

    def _value_Name(self, node: ast.Name) -> Word:  # noqa: N802
        return self.look_up(node.id)

    def _value_List(self, node: ast.List | ast.Tuple | ast.Set) -> Word:  # noqa: N802
        return self._join(node.elts, "\n")

    _value_Tuple = _value_Set = _value_List  # noqa: N815

    def _value_Dict(self, node: ast.Dict) -> Word:  # noqa: N802
        return self._join(
            [part for pair in zip(node.keys, node.values, strict=True) for part in pair if part], "\n"
        )

    def _value_Attribute(self, node: ast.Attribute) -> Word:  # noqa: N802
        name = self.qualify(node)
        if name == "os.environ":
            return Word("", frozenset((ENVIRONMENT,)))
        word = self.look_up(name)
        return word if word is not EMPTY else Word("", self.value(node.value).flags)

    def _value_Subscript(self, node: ast.Subscript) -> Word:  # noqa: N802
        base = self.value(node.value)
        key = self.value(node.slice)
        if self.qualify(node.value) == "os.environ":
            return self._environment(key, node)
        if isinstance(node.slice, ast.Slice) and isinstance(node.slice.step, ast.UnaryOp):
            return Word(base.text[::-1], base.flags | {DECODED} if base.text else base.flags)
        return Word("", base.flags - {DOTENV})

    def _value_comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Word:
        for generator in node.generators:
            self.assign(generator.target, self.value(generator.iter))
            for condition in generator.ifs:
                self.value(condition)
        return self.value(node.elt)

    _value_ListComp = _value_SetComp = _value_GeneratorExp = _value_comprehension  # noqa: N815

    def _value_DictComp(self, node: ast.DictComp) -> Word:  # noqa: N802
        for generator in node.generators:
            self.assign(generator.target, self.value(generator.iter))
        return self.value(node.key).join(self.value(node.value))

    def _value_Lambda(self, node: ast.Lambda) -> Word:  # noqa: N802
        return self.value(node.body)

    def _value_NamedExpr(self, node: ast.NamedExpr) -> Word:  # noqa: N802
        value = self.value(node.value)
        self.assign(node.target, value)
        return value

    def _join(self, nodes: list[ast.expr], separator: str = "") -> Word:
        values = [self.value(node) for node in nodes]
        text = separator.join(value.text for value in values)
        return Word(text[: 2 * words.MAX_DECODED], frozenset().union(*(value.flags for value in values)))

    # Calls

    def _value_Call(self, node: ast.Call) -> Word:  # noqa: N802
        name = self.qualify(node.func)
        base = self.value(node.func.value) if isinstance(node.func, ast.Attribute) else EMPTY
        arguments = [self.value(argument) for argument in node.args]
        keywords = {keyword.arg or "": self.value(keyword.value) for keyword in node.keywords}
        method = name.rpartition(".")[2]
        line = self.at(node)
        known = self._fold(name, method, base, arguments, node)
        if known is not None:
            return known
        flags = base.flags.union(*(word.flags for word in (*arguments, *keywords.values())))
        everything = Word(" ".join(word.text for word in (base, *arguments, *keywords.values())), flags)
        self._note_reads(method, everything, line)
        self._note_writes(name, method, base, arguments, keywords, line)
        if name in _RUN or (method in ("exec", "eval") and name.startswith("builtins")):
            self._run("python", arguments[0] if arguments else EMPTY, line)
        elif name in ("pickle.loads", "marshal.loads", "dill.loads", "cloudpickle.loads"):
            if flags & {DOWNLOAD, DECODED}:
                self._run("text", Word("", flags), line)
            return Word("", flags | {DECODED})
        elif name in _SHELL or name in _PROCESSES:
            return self._start(name, node, arguments, keywords, line)
        self._check_sending(name, method, node, base, arguments, keywords, line)
        self._pass_on(method, node, arguments, keywords, line)
        if name.startswith(_HTTP) or (
            method in ("get", "post", "urlopen") and _CLIENTS.search(name.rpartition(".")[0])
        ):
            odd = words.describe_odd(everything.text)
            return Word("", frozenset((DOWNLOAD, f"odd:{odd}") if odd else (DOWNLOAD,)))
        if method in (
            "append",
            "extend",
            "update",
            "add",
            "insert",
            "write",
            "writestr",
            "setdefault",
        ) and isinstance(node.func, ast.Attribute):
            target = _name_of(node.func.value)
            if target:
                self.scopes[-1][target] = Word(base.text, flags)
        function = self.functions.get(method)
        if function is not None:
            return Word(
                "",
                frozenset(flag for flag in function.returns if not flag.startswith("param:"))
                | (flags if any(f.startswith("param:") for f in function.returns) else NOTHING),
            )
        if method in _BARREN:
            return EMPTY
        lost = {DOTENV} if method in _PICKERS else NOTHING  # a part, such as one key
        return Word("", (flags | self._secret_flags(method, everything.text)) - lost)

    def _secret_flags(self, method: str, text: str) -> frozenset[str]:
        return self.machine.flags_of(text) if method in _READERS else NOTHING

    def _fold(self, name: str, method: str, base: Word, arguments: list[Word], node: ast.Call) -> Word | None:
        """Return the value of calls that only make text, and of decoders."""
        first = arguments[0] if arguments else EMPTY
        if name in ("os.getenv", "os.environ.get", "os.environ.pop", "os.environ.setdefault"):
            return self._environment(first, node)
        if name == "os.environ.copy" or (name == "dict" and ENVIRONMENT in first.flags):
            return Word("", frozenset((ENVIRONMENT,)))
        if method == "home" and name.endswith("Path.home"):
            return Word("~")
        if method in ("join", "joinpath") and not base.text.strip("\"', \n"):
            separator = (
                base.text
                if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Constant)
                else "/"
            )
            pieces = [
                word.text.replace("\n", separator) if separator != "/" else word.text for word in arguments
            ]
            return Word(separator.join(pieces), base.flags.union(*(word.flags for word in arguments)))
        if method == "joinpath" or name == "os.path.join":
            return Word(
                "/".join((base.text, *(word.text for word in arguments))).lstrip("/"),
                base.flags.union(*(word.flags for word in arguments)),
            )
        if (
            method
            in (
                "expanduser",
                "Path",
                "PurePath",
                "str",
                "abspath",
                "resolve",
                "realpath",
                "PosixPath",
                "normpath",
                "expandvars",
            )
            and name != "str.join"
        ):
            word = first if arguments else base
            return Word(word.text, word.flags | base.flags)
        if method in (
            "encode",
            "decode",
            "strip",
            "lower",
            "format",
            "dumps",
            "copy",
            "items",
            "values",
            "rstrip",
        ) and not (method == "decode" and name.startswith(("codecs", "base64", "jwt"))):
            source = base if method != "dumps" else first
            return Word(source.text, base.flags.union(*(word.flags for word in arguments)))
        return self._decode(name, method, base, first, arguments)

    def _decode(self, name: str, method: str, base: Word, first: Word, arguments: list[Word]) -> Word | None:
        flags = first.flags | {DECODED}
        if method in ("b64decode", "urlsafe_b64decode", "standard_b64decode", "decodebytes", "a2b_base64"):
            return Word(_decode_base64(first.text), flags)
        if method in ("b32decode", "b85decode", "a85decode", "b16decode"):
            return Word("", flags)
        if method in ("fromhex", "unhexlify", "a2b_hex"):
            return Word(_try(lambda: bytes.fromhex(first.text).decode("latin-1")), flags)
        if name.startswith(("zlib.", "gzip.", "bz2.", "lzma.")) and method == "decompress":
            return Word(_inflate(first.text), flags)
        if name in ("codecs.decode", "codecs.getdecoder"):
            kind = arguments[1].text.lower() if len(arguments) > 1 else ""
            if kind.replace("_", "") in ("rot13", "hex", "base64", "hexcodec", "base64codec", "zlib"):
                text = first.text
                decoded = (
                    _try(lambda: codecs.decode(text, "rot13"))
                    if "rot" in kind
                    else words.decode_hex(text)
                    if "hex" in kind
                    else _decode_base64(text)
                )
                return Word(decoded, flags)
        if name in ("chr", "bytes", "bytearray") or (name == "map" and first.text == ""):
            numbers = [word.text for word in arguments][-1:] or [""]
            codes = re.findall(r"(?<!\d)\d{1,3}(?!\d)", numbers[0][: 4 * words.MAX_DECODED])
            if len(codes) > 4 and re.fullmatch(r"[\d\s,]+", numbers[0]):
                return Word("".join(chr(int(code)) for code in codes), flags)
        return None

    def _environment(self, key: Word, node: ast.expr) -> Word:
        if re.fullmatch(r"[A-Za-z_]\w{0,99}", key.text):
            self.trace.ask("environment", key.text, self.at(node))
            return Word(f"${{{key.text}}}")
        return EMPTY

    def _note_reads(self, method: str, everything: Word, line: int) -> None:
        if method in _READERS and words.is_secret(everything.text):
            self.trace.report("A20", f"'{method}' reads a store of secrets", line)
        elif method in _READERS and words.is_agent_secret(everything.text):
            self.trace.report("A20", f"'{method}' reads the keys of an agent's skills", line, level="note")

    def _note_writes(
        self, name: str, method: str, base: Word, arguments: list[Word], keywords: dict[str, Word], line: int
    ) -> None:
        mode = arguments[1].text if len(arguments) > 1 else keywords.get("mode", EMPTY).text
        if name in ("open", "io.open") and arguments and re.match(r"[rbt]*[wax+]", mode):
            note_write(self.trace, arguments[0].text, line)
        elif (
            method == "open"
            and base.text
            and re.match(r"[rbt]*[wax+]", (arguments[0].text if arguments else ""))
        ) or method in _WRITE_METHODS:
            note_write(self.trace, base.text, line)
        elif (
            name
            in (
                "shutil.copy",
                "shutil.copy2",
                "shutil.copyfile",
                "shutil.move",
                "os.rename",
                "os.symlink",
                "shutil.copytree",
            )
            and len(arguments) > 1
        ):
            note_write(self.trace, arguments[1].text, line)
        elif (
            name == "shutil.rmtree"
            and arguments
            and re.fullmatch(r"/|~/?|/home|/etc|/usr", arguments[0].text)
        ):
            self.trace.report("A51", f"deletes '{arguments[0].text}'", line)
        elif method in ("SetValueEx", "CreateKey") and any(
            "CurrentVersion\\Run" in word.text for word in arguments
        ):
            self.trace.report("A14", "writes the registry's list of what starts with Windows", line)

    def _start(
        self, name: str, node: ast.Call, arguments: list[Word], keywords: dict[str, Word], line: int
    ) -> Word:
        """Take note of a process; its command is a list of words, or a text for a shell."""
        argument = (
            node.args[0] if node.args else next((k.value for k in node.keywords if k.arg == "args"), None)
        )
        if argument is None:
            return EMPTY
        if isinstance(argument, ast.List | ast.Tuple):
            argv = [self.value(element) for element in argument.elts]
            if any(flag.startswith("param:") for word in argv[:1] for flag in word.flags):
                argv = argv[1:]
            return self.machine.execute(argv, keywords.get("input", EMPTY), line) if argv else EMPTY
        word = arguments[0] if arguments else keywords.get("args", EMPTY)
        if name.startswith(("asyncio.create_subprocess_exec", "os.exec", "os.spawn")):
            return self.machine.execute(arguments, EMPTY, line)
        self._remember("runs", word)
        if word.flags & {DOWNLOAD, DECODED}:
            self._run("shell", word, line)
        elif word.text and self.depth < MAX_DEPTH:
            self.read(self.trace, "shell", word.text, line, self.depth + 1)
            if re.search(r"\b(?:curl|wget|nc|scp)\b", word.text) and word.flags & {
                SECRET,
                ENVIRONMENT,
                DOTENV,
            }:
                self.trace.report("A21", "a command is given secrets and sends them", line)
        flags = word.flags | (self.machine.flags_of(word.text) & {SECRET})
        if re.match(r"\s*(?:env|printenv|set)\s*(?:$|\|)", word.text):
            flags |= {ENVIRONMENT}
        return Word("", flags)

    def _run(self, language: str, code: Word, line: int) -> None:
        self._remember("runs", code)
        if DOWNLOAD in code.flags:
            odd = next(
                (flag.removeprefix("odd:") for flag in sorted(code.flags) if flag.startswith("odd:")), ""
            )
            self.trace.report("A11" if odd else "A10", f"runs code {odd or 'that is downloaded'}", line)
        inner = Trace()
        if code.text and self.depth < MAX_DEPTH:
            text = _try(lambda: words.as_text(code.text.encode("latin-1"))) or code.text
            trace = inner if DECODED in code.flags else self.trace
            self.read(trace, language, text, line, self.depth + 1)
        if DECODED in code.flags:
            report_decoded(self.trace, "'exec'" if language == "python" else "a process", inner, line)

    def _check_sending(
        self,
        name: str,
        method: str,
        node: ast.Call,
        base: Word,
        arguments: list[Word],
        keywords: dict[str, Word],
        line: int,
    ) -> None:
        owner = name.rpartition(".")[0]
        is_client = name.startswith(_HTTP) or bool(_CLIENTS.search(owner))
        if not (
            (method in _SEND_METHODS and (is_client or owner or method == "urlopen"))
            or (method in _GET_METHODS and is_client)
            or name.startswith(("requests.", "urllib.request."))
        ):
            return
        body = [*arguments, *(word for key, word in keywords.items() if key not in _CREDENTIAL_KEYWORDS)]
        flags = frozenset().union(*(word.flags for word in body))
        text = " ".join(word.text for word in (*arguments, *keywords.values()))
        if not words.find_hosts(text) and re.search(r"//(?:localhost|127\.0\.0\.1|\[::1\])", text):
            return
        if method == "request" and not is_client:
            return
        self._remember("sends", Word("", flags))
        if flags & {SECRET, ENVIRONMENT, DOTENV}:
            what = (
                "secrets"
                if SECRET in flags
                else "the whole environment"
                if ENVIRONMENT in flags
                else "a file of secrets (.env)"
            )
            hosts = words.find_hosts(text)
            self.trace.report("A21", f"'{method}' sends {what}{f' to {hosts[0]}' if hosts else ''}", line)
        check_credentials(self.trace, text, line)

    def _remember(self, kind: str, word: Word) -> None:
        """Remember that the current function sends or runs some of its parameters."""
        names = {flag.removeprefix("param:") for flag in word.flags if flag.startswith("param:")}
        if self.current and names:
            getattr(self.current[-1], kind).update(names)

    def _pass_on(
        self, method: str, node: ast.Call, arguments: list[Word], keywords: dict[str, Word], line: int
    ) -> None:
        """Report secrets given to a function of this file that sends them, and code to one that runs it."""
        function = self.functions.get(method)
        if function is None:
            return
        names = (
            function.parameters[1:] if function.parameters[:1] in (["self"], ["cls"]) else function.parameters
        )
        given = [*zip(names, arguments, strict=False), *keywords.items()]
        for name, word in given:
            if name in function.sends:
                self._remember("sends", word)
                if word.flags & {SECRET, ENVIRONMENT, DOTENV}:
                    self.trace.report("A21", f"'{method}' sends secrets", line)
            if name in function.runs and word.flags & {DOWNLOAD, DECODED}:
                self._run("python", word, line)

    def qualify(self, node: ast.expr) -> str:
        """Return the dotted name of what is called, with imports resolved; `getattr` and `__import__` too."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if isinstance(node, ast.Name):
            parts.append(self.aliases.get(node.id, node.id))
        elif isinstance(node, ast.Call):
            inner = node.func
            name = (
                inner.id
                if isinstance(inner, ast.Name)
                else inner.attr
                if isinstance(inner, ast.Attribute)
                else ""
            )
            if name in ("__import__", "import_module") and node.args:
                parts.append(self.value(node.args[0]).text or "?")
            elif name == "getattr" and len(node.args) > 1:
                owner = self.qualify(node.args[0])
                attribute = self.value(node.args[1]).text or "?"
                parts.append(attribute if owner in ("__builtins__", "builtins") else f"{owner}.{attribute}")
            elif name:
                parts.append(name)
        elif isinstance(node, ast.Subscript):
            inner_name = self.qualify(node.value)
            key = node.slice.value if isinstance(node.slice, ast.Constant) else ""
            is_builtins = "__builtins__" in inner_name or inner_name.endswith(("__dict__", "globals", "vars"))
            parts.append(str(key) if is_builtins else inner_name)
        return ".".join(reversed(parts)).removeprefix("builtins.")

    def at(self, node: ast.expr) -> int:
        return self.offset + node.lineno


def _name_of(node: ast.expr) -> str:
    """Return the name that an assignment changes: `a`, `self.a`, and `a` for `a[0]`."""
    while isinstance(node, ast.Subscript | ast.Starred):
        node = node.value
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def _try(function: object) -> str:
    try:
        return str(function())  # type: ignore[operator]
    except (ValueError, UnicodeError, binascii.Error):
        return ""


def _decode_base64(text: str) -> str:
    compact = "".join(text.split()).rstrip("=").replace("-", "+").replace("_", "/")
    return _try(lambda: base64.b64decode(compact + "=" * (-len(compact) % 4)).decode("latin-1"))


def _inflate(text: str) -> str:
    """Return what compressed bytes hold, a bounded part of it."""
    try:
        data = text.encode("latin-1")
        return zlib.decompressobj(47).decompress(data, words.MAX_DECODED).decode("latin-1")
    except (zlib.error, UnicodeError):
        return ""
