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
from typing import NamedTuple

from skillc.audit import indicators
from skillc.audit.commands import (
    DECODED,
    DOTENV,
    DOWNLOAD,
    EMPTY,
    ENVIRONMENT,
    NOTHING,
    SECRET,
    Machine,
    Word,
    check_credentials,
    download_flags,
    find_odd,
    note_write,
)
from skillc.audit.findings import Trace
from skillc.audit.patterns import load_names, load_pattern, word_set

MAX_STEPS = (
    400_000  # expressions that are looked at; in some forms one is looked at twice, and what is in it too
)
_RUN = word_set("exec eval compile builtins.exec builtins.eval")
_SHELL = load_names("shell")
_PROCESSES = load_names("processes")
_HTTP = tuple(word_set("requests. httpx. urllib.request. aiohttp. urllib3. http.client. curl_cffi. urllib2."))
_SEND_METHODS = load_names("send-methods")
_CONNECTORS = load_names("connectors")
_GET_METHODS = frozenset(("get", "head", "delete", "send"))
_CLIENTS = load_pattern("clients")
_READERS = load_names("readers")
_BARREN = load_names("barren")
_PICKERS = word_set("split splitlines partition rpartition get match search findall group dotenv_values")
_CHANGERS = word_set("append extend update add insert write writestr setdefault")
# Functions that run a file or make it executable, and which argument is the file.
_FILE_RUNNERS = {
    "os.chmod": 0,
    "runpy.run_path": 0,
    "ctypes.CDLL": 0,
    "os.startfile": 0,
    "importlib.util.spec_from_file_location": 1,
}
_LOADERS = word_set("pickle.loads marshal.loads dill.loads cloudpickle.loads")
_SAME = word_set("expanduser Path PurePath str abspath resolve realpath PosixPath normpath expandvars")
_SAME_METHODS = word_set("encode decode strip lower format dumps copy items values rstrip")
_COPIERS = load_names("copiers")
_WHOLE = re.compile(r"/|~/?|/home|/etc|/usr|~/(?:Documents|Desktop|Pictures|Downloads)/?")
_SECRET_NAME = re.compile(r"key|token|secret|pass|cred|auth", re.IGNORECASE)
_WRITING = re.compile(r"[rbt]*[wax+]")
_SENDERS = re.compile(r"\b(?:curl|wget|nc|scp)\b")
_CREDENTIAL_KEYWORDS = load_names("credential-keywords")


def read_python(text: str, machine: Machine, line: int) -> bool:
    """Take note of what a script does; return False if it is not valid Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # odd escapes in its strings
            tree = ast.parse(text)
        reader = _Reader(machine, line, budget=min(MAX_STEPS, 10_000 + 8 * len(text)))
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


class _Call(NamedTuple):
    """A call: its dotted name, its node, the value it is a method of, its arguments, and its line."""

    name: str
    node: ast.Call
    base: Word
    arguments: list[Word]
    keywords: dict[str, Word]
    line: int

    @property
    def method(self) -> str:
        return self.name.rpartition(".")[2]

    @property
    def first(self) -> Word:
        return self.arguments[0] if self.arguments else EMPTY

    @property
    def flags(self) -> frozenset[str]:
        return self.base.flags.union(*(word.flags for word in (*self.arguments, *self.keywords.values())))

    @property
    def text(self) -> str:
        """Everything that goes into the call."""
        texts = (word.text for word in (self.base, *self.arguments, *self.keywords.values()))
        return indicators.join_texts(texts, " ", indicators.MAX_WORD)


class _Reader:
    def __init__(self, machine: Machine, line: int, budget: int) -> None:
        self.machine = machine
        self.budget = budget
        self.offset = line - 1
        self.aliases: dict[str, str] = {}
        self.scopes: list[dict[str, Word]] = [{}]
        self.functions: dict[str, _Function] = {}
        self.current: list[_Function] = []

    @property
    def trace(self) -> Trace:
        return self.machine.trace

    def learn(self, tree: ast.Module) -> None:
        """Read the file once without reporting, for what its functions do."""
        real = self.trace
        self.machine.trace = real.branch()
        try:
            self.visit_all(tree.body)
        finally:
            self.machine.trace = real
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
        self.assign(node.target, _choose(self.value(node.iter), node))
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
            return Word(node.value[: indicators.MAX_DECODED].decode("latin-1"))
        if not isinstance(node.value, str):
            return Word(str(node.value)[:100])
        for host in indicators.find_hosts(node.value[: indicators.MAX_WORD]):
            self.trace.ask("hosts", host, self.at(node))
        return Word(node.value[: 2 * indicators.MAX_DECODED])

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
        text = indicators.join_texts((value.text for value in values), separator, 2 * indicators.MAX_DECODED)
        if isinstance(node.op, ast.BitXor):  # XOR hides the text, so the result is unknown
            return Word("", frozenset((DECODED,)).union(*(value.flags for value in values)))
        return Word(text, frozenset().union(*(value.flags for value in values)))

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
        if name == "sys.executable":
            return Word("python3")
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
            self.assign(generator.target, _choose(self.value(generator.iter), node))
            for condition in generator.ifs:
                self.value(condition)
        return self.value(node.elt)

    _value_ListComp = _value_SetComp = _value_GeneratorExp = _value_comprehension  # noqa: N815

    def _value_DictComp(self, node: ast.DictComp) -> Word:  # noqa: N802
        for generator in node.generators:
            self.assign(generator.target, _choose(self.value(generator.iter), node))
        return self.value(node.key).join(self.value(node.value))

    def _value_Lambda(self, node: ast.Lambda) -> Word:  # noqa: N802
        return self.value(node.body)

    def _value_NamedExpr(self, node: ast.NamedExpr) -> Word:  # noqa: N802
        value = self.value(node.value)
        self.assign(node.target, value)
        return value

    def _join(self, nodes: list[ast.expr], separator: str = "") -> Word:
        values = [self.value(node) for node in nodes]
        text = indicators.join_texts((value.text for value in values), separator, 2 * indicators.MAX_DECODED)
        return Word(text, frozenset().union(*(value.flags for value in values)))

    # Calls

    def _value_Call(self, node: ast.Call) -> Word:  # noqa: N802
        name = self.qualify(node.func)
        base = self.value(node.func.value) if isinstance(node.func, ast.Attribute) else EMPTY
        arguments = [self.value(argument) for argument in node.args]
        keywords = {keyword.arg or "": self.value(keyword.value) for keyword in node.keywords}
        call = _Call(name, node, base, arguments, keywords, self.at(node))
        constant = self._fold(call)
        if constant is not None:
            return constant
        if call.method in _CONNECTORS:
            host = indicators.find_bare_host(call.first.text.partition("\n")[0])
            if host:
                self.trace.ask("hosts", host, call.line)
        self._note_reads(call)
        self._note_writes(call)
        if name in _RUN:
            self._run("python", call.first, call.line)
        elif name in _SHELL or name in _PROCESSES:
            return self._start(call)
        elif name in _LOADERS and call.flags & {DOWNLOAD, DECODED}:
            self._run("text", Word("", call.flags), call.line)
        self._check_transfer(call)
        self._pass_on(call)
        return self._result(call)

    def _result(self, call: _Call) -> Word:
        """Return what a call gives: what flows into it, what it reads, or what a function returns."""
        owner = call.name.rpartition(".")[0]
        if call.name.startswith(_HTTP) or (
            call.method in ("get", "post", "urlopen") and _CLIENTS.search(owner)
        ):
            return Word("", download_flags(call.text))
        if call.method in _CHANGERS and isinstance(call.node.func, ast.Attribute):
            target = _name_of(call.node.func.value)
            if target:
                self.scopes[-1][target] = Word(call.base.text, call.flags)
        if call.method == "make_archive" and call.node.args:  # its result is in the file that it names
            self.assign(call.node.args[0], Word(call.first.text, self._file_flags(call)))
        function = self.functions.get(call.method)
        if function is not None:
            own = frozenset(flag for flag in function.returns if not flag.startswith("param:"))
            return Word("", own if own == function.returns else own | call.flags)
        if call.method in _BARREN:
            return EMPTY
        if call.name == "open" and len(call.arguments) > 1 and _WRITING.match(call.arguments[1].text):
            return call.first  # writes to the file object go to this path
        losses = {DOTENV} if call.method in _PICKERS else NOTHING  # a part, such as one key
        file_flags = self._file_flags(call)
        loader_flags = (
            {DECODED} if call.name in _LOADERS else self.look_up(call.name).flags & {DECODED, DOWNLOAD}
        )
        return Word("", (call.flags | file_flags | loader_flags) - losses)

    def _file_flags(self, call: _Call) -> frozenset[str]:
        """Return the flags of the files that a call reads."""
        if call.method == "make_archive" and any(_WHOLE.fullmatch(word.text) for word in call.arguments):
            return frozenset((SECRET,))
        return self.machine.flags_of(call.text) if call.method in _READERS else NOTHING

    def _fold(self, call: _Call) -> Word | None:
        """Return the value of calls that only make text, and of decoders."""
        name, method, base, first = call.name, call.method, call.base, call.first
        flags = call.flags
        if name in ("os.getenv", "os.environ.get", "os.environ.pop", "os.environ.setdefault"):
            return self._environment(first, call.node)
        if name == "os.environ.copy" or (name == "dict" and ENVIRONMENT in first.flags):
            return Word("", frozenset((ENVIRONMENT,)))
        if name.endswith("Path.home"):
            return Word("~")
        if name == "os.path.join" or method == "joinpath":
            return Word(
                indicators.join_texts(
                    (w.text for w in (base, *call.arguments)), "/", indicators.MAX_WORD
                ).lstrip("/"),
                flags,
            )
        if method == "join":
            return Word(first.text.replace("\n", base.text), flags)
        if method in _SAME:
            word = first if call.arguments else base
            return Word(word.text, word.flags | base.flags)
        if method in _SAME_METHODS and not (
            method == "decode" and name.startswith(("codecs", "base64", "jwt"))
        ):
            return Word((base if method != "dumps" else first).text, flags)
        return self._decode(call)

    def _decode(self, call: _Call) -> Word | None:
        method, text, flags = call.method, call.first.text, call.first.flags | {DECODED}
        if method in ("b64decode", "urlsafe_b64decode", "standard_b64decode", "decodebytes", "a2b_base64"):
            return Word(_decode_base64(text), flags)
        if method in ("b32decode", "b85decode", "a85decode", "b16decode"):
            return Word("", flags)
        if method in ("fromhex", "unhexlify", "a2b_hex"):
            return Word(_try(lambda: bytes.fromhex(text).decode("latin-1")), flags)
        if method == "decompress" and call.name.startswith(("zlib.", "gzip.", "bz2.", "lzma.")):
            return Word(_inflate(text), flags)
        if call.name == "codecs.decode":
            return _decode_codec(text, call.arguments[1].text if len(call.arguments) > 1 else "", flags)
        if call.name in ("bytes", "bytearray", "map", "chr"):
            return _decode_numbers(call.arguments[-1].text if call.arguments else "", flags)
        return None

    def _environment(self, key: Word, node: ast.expr) -> Word:
        if re.fullmatch(r"[A-Za-z_]\w{0,99}", key.text):
            self.trace.ask("environment", key.text, self.at(node))
            return Word(f"${{{key.text}}}")
        return EMPTY

    def _note_reads(self, call: _Call) -> None:
        if call.method not in _READERS:
            return
        if indicators.is_secret(call.text):
            self.trace.report("A20", f"'{call.method}' reads a store of secrets", call.line)
        elif indicators.is_agent_secret(call.text):
            self.trace.report(
                "A20", f"'{call.method}' reads the keys of an agent's skills", call.line, level="note"
            )

    def _note_writes(self, call: _Call) -> None:
        name, arguments = call.name, [word.text for word in call.arguments]
        mode = call.keywords.get("mode", EMPTY).text or next(iter(arguments[1:2]), "")
        if (
            call.method in ("write", "write_bytes", "write_text")
            and DOWNLOAD in call.flags
            and call.base.text
        ):
            self.trace.note_download(call.base.text, find_odd(call.flags))
        elif call.method == "urlretrieve" and len(arguments) > 1:
            self.trace.note_download(arguments[1], indicators.describe_odd(arguments[0]))
        elif call.name in _FILE_RUNNERS and arguments:
            self.trace.note_run(
                arguments[_FILE_RUNNERS[call.name]] if len(arguments) > 1 else arguments[0], call.line
            )
        if name in ("open", "io.open") and arguments and _WRITING.match(mode):
            note_write(self.trace, arguments[0], call.line)
        elif call.method in ("write_text", "write_bytes") or (
            call.method == "open" and call.base.text and arguments and _WRITING.match(arguments[0])
        ):
            note_write(self.trace, call.base.text, call.line)
        elif name in _COPIERS and len(arguments) > 1:
            note_write(self.trace, arguments[1], call.line)
        elif name == "shutil.rmtree" and _WHOLE.fullmatch(call.first.text):
            self.trace.report("A51", f"deletes '{call.first.text}'", call.line)
        elif call.method in ("SetValueEx", "CreateKey") and "CurrentVersion\\Run" in call.text:
            self.trace.report("A14", "writes the registry's list of what starts with Windows", call.line)

    def _start(self, call: _Call) -> Word:
        """Take note of a process; its command is a list of words, or a text for a shell."""
        values = (keyword.value for keyword in call.node.keywords if keyword.arg == "args")
        argument = call.node.args[0] if call.node.args else next(values, None)
        if isinstance(argument, ast.List | ast.Tuple):
            argv = [self.value(element) for element in argument.elts]
            if argv and any(flag.startswith("param:") for flag in argv[0].flags):
                argv = argv[1:]
            return self.machine.execute(argv, call.keywords.get("input", EMPTY), call.line) if argv else EMPTY
        word = call.first if call.arguments else call.keywords.get("args", EMPTY)
        if call.name.startswith(("asyncio.create_subprocess_exec", "os.exec", "os.spawn")):
            return self.machine.execute(call.arguments, EMPTY, call.line)
        self._remember("runs", word)
        if word.flags & {DOWNLOAD, DECODED}:
            self._run("shell", word, call.line)
        elif word.text:
            self.machine.read_code("shell", word.text, call.line)
            if _SENDERS.search(word.text) and word.flags & {SECRET, ENVIRONMENT, DOTENV}:
                self.trace.report("A21", "a command is given secrets and sends them", call.line)
        flags = word.flags | (self.machine.flags_of(word.text) & {SECRET})
        if re.match(r"\s*(?:env|printenv)\s*(?:$|\|)", word.text):
            flags |= {ENVIRONMENT}
        return Word("", flags)

    def _run(self, language: str, code: Word, line: int) -> None:
        """Report code that is downloaded or decoded and run; read what is known of it."""
        self._remember("runs", code)
        text = _try(lambda: indicators.as_text(code.text.encode("latin-1"))) or code.text
        what = "'exec'" if language == "python" else "a process"
        self.machine.run_code(Word(text, code.flags), line, what, language)

    def _check_transfer(self, call: _Call) -> None:
        if not _sends(call):
            return
        body = [
            *call.arguments,
            *(word for key, word in call.keywords.items() if key not in _CREDENTIAL_KEYWORDS),
        ]
        flags = frozenset().union(*(word.flags for word in body))
        texts = (word.text for word in (*call.arguments, *call.keywords.values()))
        text = indicators.join_texts(texts, " ", indicators.MAX_WORD)
        hosts = indicators.find_far_hosts(text)
        if not hosts and indicators.LOOPBACK.search(text):
            return
        self._remember("sends", Word("", flags))
        if flags & {SECRET, ENVIRONMENT, DOTENV}:
            what = "the whole environment" if ENVIRONMENT in flags else "secrets"
            where = f" to {hosts[0]}" if hosts else ""
            if hosts and indicators.TOKEN_HOSTS.issuperset(hosts) and ENVIRONMENT not in flags:
                self.trace.report(
                    "A20", f"'{call.method}' sends a stored credential{where}, which it is for", call.line
                )
            else:
                self.trace.report("A21", f"'{call.method}' sends {what}{where}", call.line)
        check_credentials(self.trace, text, call.line)

    def _remember(self, kind: str, word: Word) -> None:
        """Remember that the current function sends or runs some of its parameters."""
        names = {flag.removeprefix("param:") for flag in word.flags if flag.startswith("param:")}
        if self.current and names:
            getattr(self.current[-1], kind).update(names)

    def _pass_on(self, call: _Call) -> None:
        """Report secrets given to a function of this file that sends them, and code to one that runs it."""
        function = self.functions.get(call.method)
        if function is None:
            return
        names = (
            function.parameters[1:] if function.parameters[:1] in (["self"], ["cls"]) else function.parameters
        )
        for name, word in [*zip(names, call.arguments, strict=False), *call.keywords.items()]:
            if name in function.sends:
                self._remember("sends", word)
                if word.flags & {SECRET, ENVIRONMENT, DOTENV}:
                    self.trace.report("A21", f"'{call.method}' sends secrets", call.line)
            if name in function.runs and word.flags & {DOWNLOAD, DECODED}:
                self._run("python", word, call.line)

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
            key = self.value(node.slice).text
            is_builtins = "__builtins__" in inner_name or inner_name.endswith(("__dict__", "globals", "vars"))
            parts.append(str(key) if is_builtins else inner_name)
        return ".".join(reversed(parts)).removeprefix("builtins.")

    def at(self, node: ast.expr) -> int:
        return self.offset + node.lineno


def _choose(value: Word, loop: ast.AST) -> Word:
    """Return the elements of a loop: of the environment only where the loop looks for secrets, or for all."""
    if ENVIRONMENT not in value.flags:
        return value
    conditions: list[ast.AST] = [
        node for node in ast.walk(loop) if isinstance(node, ast.If | ast.IfExp | ast.Compare)
    ]
    conditions += [
        test for node in ast.walk(loop) if isinstance(node, ast.comprehension) for test in node.ifs
    ]
    texts = [node.value for node in ast.walk(loop) if isinstance(node, ast.Constant)]
    if not conditions or any(isinstance(text, str) and _SECRET_NAME.search(text) for text in texts):
        return value
    return Word(value.text, value.flags - {ENVIRONMENT})


def _sends(call: _Call) -> bool:
    owner, _, method = call.name.rpartition(".")
    is_client = call.name.startswith(_HTTP) or bool(_CLIENTS.search(owner))
    if method in _SEND_METHODS:
        return is_client or method == "urlopen" or (bool(owner) and method != "request")
    return (method in _GET_METHODS and is_client) or call.name.startswith(("requests.", "urllib.request."))


def _decode_codec(text: str, codec: str, flags: frozenset[str]) -> Word | None:
    kind = codec.lower().replace("_", "").replace("-", "")
    if kind == "rot13":
        return Word(_try(lambda: codecs.decode(text, "rot13")), flags)
    if kind in ("hex", "hexcodec"):
        return Word(indicators.decode_hex(text), flags)
    return Word(_decode_base64(text), flags) if kind in ("base64", "base64codec") else None


def _decode_numbers(text: str, flags: frozenset[str]) -> Word | None:
    """Return the characters of a list of numbers; None if it is none."""
    if len(text) > 4 * indicators.MAX_DECODED or not re.fullmatch(r"(?:\d{1,3}\s){4,}\d{1,3}\s*", text):
        return None
    return Word("".join(chr(int(number)) for number in text.split()), flags)


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
        return zlib.decompressobj(47).decompress(data, indicators.MAX_DECODED).decode("latin-1")
    except (zlib.error, UnicodeError):
        return ""
