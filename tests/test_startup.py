"""The start-up tricks: the same results as the ordinary modules."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

import skillc
from skillc import startup
from skillc.startup import Idle, sqlite, sqlite_uri
from tests.conftest import World
from tests.listing.offers import TASK, hook_log, put_library, update
from tests.support.cases import each


@each("size", [0, 1, startup.MUCH - 1, startup.MUCH, 2 * startup.MUCH + 1])
def test_sha256(size: int) -> None:
    """Small or large, in one piece or from a file, the digest is the one of hashlib."""
    data = b"x" * size
    expected = hashlib.sha256(data).hexdigest()
    assert startup.sha256_hex(data) == expected
    assert startup.file_sha256_hex(io.BytesIO(data), size) == expected


@each("name", ["plain.db", "a?b.db", "50%.db", "a#b.db", "größe x.db"])
def test_sqlite_uri(tmp_path: Path, name: str) -> None:
    """A URI leads to the file of that name, whatever characters the name has."""
    path = tmp_path / name
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (a)")
    connection.close()
    reader = sqlite.connect(sqlite_uri(str(path), "mode=ro"), uri=True)
    assert reader.execute("SELECT name FROM sqlite_master").fetchall() == [("t",)]
    with pytest.raises(sqlite.OperationalError):
        reader.execute("CREATE TABLE u (a)")
    reader.close()


@each(
    "text",
    [
        '{"a": [1, -2.5e3, null, true, "\\ud83d\\ude00\\n"]}',
        " [] ",
        '"x"',
        "{}",
        "-0",
        "12345678901234567890",
    ],
)
def test_parse_json(text: str) -> None:
    """JSON is read as `json` reads it."""
    assert startup.parse_json(text) == json.loads(text)


@each("first", ["pass", "import json"])
def test_parse_json_refuses(first: str) -> None:
    """What is no JSON is a ValueError, whether `json` is loaded or not."""
    texts = ["", "{", "[1,]", "1 2", '{"a" 1}', '"', "nul", "[" * 100_000, "{} x", "'a'"]
    code = f"{first}\nimport sys; from skillc.startup import parse_json\n"
    code += "for text in sys.stdin.read().split('\\n'):\n  try: parse_json(text)\n"
    code += "  except ValueError: print('refused')"
    out = subprocess.check_output([sys.executable, "-c", code], input="\n".join(texts), text=True)
    assert out == "refused\n" * len(texts)


class Thing:
    """Something that can be closed."""

    def __init__(self) -> None:
        self.closed = False

    def close(self) -> None:
        self.closed = True


def test_idle_things_have_one_user() -> None:
    """What is taken is nobody else's until it is given back; the one that waits longest is closed first."""
    idle, things = Idle(2), [Thing() for _ in range(4)]
    assert idle.take("a") is None
    for key, thing in zip("aab", things, strict=False):
        idle.give_back(key, thing)
    assert [thing.closed for thing in things] == [True, False, False, False]
    assert idle.take("a") is things[1]
    assert idle.take("a") is None
    idle.give_back("b", things[3])
    assert len(idle) == 2
    assert [idle.take("b"), idle.take("b")] == [things[3], things[2]]
    idle.give_back("b", things[3])
    del idle
    assert things[3].closed


def test_sqlite_leaves_functools_alone() -> None:
    """Others get the real functools and sqlite3, and imports ahead only if they ask."""
    program = (
        "import sys; from skillc.startup import sqlite; import functools, sqlite3\n"
        "assert functools.partial and sqlite3.connect is not None\n"
        "connection = sqlite.connect(':memory:')\n"
        "assert connection.execute('SELECT 1').fetchone() == (1,)\n"
        "connection.close()"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
    program = "import sys; from skillc import startup; startup.load_ahead('skillc.text')\n"
    program += "print('skillc.text' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", program], text=True) == "False\n"


@each("first", ["pass", "import threading", "import pyromark"])
def test_the_parser_alone(first: str) -> None:
    """The compiled half of the parser is the same as that of its package, which can be imported later."""
    code = (
        f"{first}\n"
        "import sys; from skillc.startup import import_parser; parser = import_parser()\n"
        "assert ('enum' in sys.modules) == ('pyromark' in sys.modules)\n"
        "assert import_parser().events_with_range is parser.events_with_range\n"
        "import pyromark; assert pyromark.Options.ENABLE_TABLES is not None\n"
        "assert pyromark.events_with_range is import_parser().events_with_range is parser.events_with_range\n"
    )
    subprocess.run(
        [sys.executable, "-S", "-c", code], env={"PYTHONPATH": os.pathsep.join(sys.path)}, check=True
    )


def test_find_imports_little(tmp_path: Path) -> None:
    """`skc find` works without the modules of Python that take as long to load as a search."""
    skill = tmp_path / ".skillc" / "skills" / "pdf"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: pdf\ndescription: Fill in forms\n---\n# Forms\n\nText.\n")
    code = (
        "import sys; from skillc.startup import start; start()\n"
        "from skillc.cli import main\n"
        "sys.argv = ['skc', 'find', 'forms']\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print(sorted({'json', 're', 'enum', 'functools', 'collections', 'array'} & {*sys.modules}))"
    )
    command = [sys.executable, "-S", "-c", code]
    env = {"HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path), "LANG": "C.UTF-8"}
    outputs = [
        subprocess.run(command, env=env, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
        for _ in range(2)  # the first one builds the index
    ]
    assert outputs[1].splitlines()[0].startswith("pdf  (")
    assert outputs[1].splitlines()[-1] == "[]"


def test_a_prompt_hook_imports_little(world: World) -> None:
    """[D72] `skc hook prompt` answers without modules that load slowly, or rooms for other work."""
    put_library(world.global_store)
    update(world)
    code = (
        "import sys; from skillc.startup import start; start()\n"
        "from skillc.cli import main\n"
        "main(['hook', 'prompt', '--agent', 'claude'])\n"
        "print()\n"
        "print(*sys.modules)"
    )
    request = json.dumps({"prompt": TASK, "cwd": str(world.project)})
    run = subprocess.run(
        [sys.executable, "-S", "-c", code],
        input=request,
        env={**world.env, "PYTHONPATH": os.pathsep.join(sys.path)},
        cwd=world.project,
        check=True,
        capture_output=True,
        text=True,
    )
    answer, modules = run.stdout.splitlines()
    assert "pdf-forms" in answer, hook_log(world)
    slow = {"json", "re", "enum", "functools", "collections", "array", "subprocess", "signal", "dataclasses"}
    assert not slow & {*modules.split()}
    rooms = {name.split(".")[1] for name in modules.split() if name.startswith("skillc.")}
    assert not rooms & {"audit", "compiler", "gateway", "tools", "install", "remotes", "engine", "settings"}


def test_values_are_alike() -> None:
    """Values with the same fields are equal and have the same hash; a field too many is refused."""

    @startup.value
    class Point:
        x: int
        y: int = 0

    assert Point(1) == Point(y=0, x=1) != Point(2)
    assert len({Point(1), Point(1, 0), Point(1, 1)}) == 2
    assert repr(Point(1)) == "Point(x=1, y=0)"
    with pytest.raises(TypeError, match="Point takes x, y"):
        Point(1, 2, 3)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="Point takes x, y"):
        Point(1, z=2)  # type: ignore[call-arg]


def test_front_door() -> None:
    """A name is imported from its module on first use and kept; an unknown name is an AttributeError."""
    vars(skillc).pop("SkillId", None)
    assert "SkillId" in vars(skillc)["__all__"]
    assert skillc.SkillId is vars(skillc)["SkillId"]
    with pytest.raises(AttributeError, match="no attribute 'connect'"):
        vars(skillc)["__getattr__"]("connect")


@each("closed", [False, True])
def test_leave(closed: bool) -> None:
    """What was printed arrives, and the status is kept, also when stderr is closed."""
    program = (
        "import sys; from skillc.startup import leave; print('x', end='')\n"
        f"if {closed}: sys.stderr.close()\n"
        "leave(3)"
    )
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert (process.returncode, process.stdout) == (3, b"x")


def copy_of_the_package(folder: Path) -> Path:
    package = folder / "skillc"
    shutil.copytree(Path(skillc.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    return package


def import_fast_in(folder: Path, program: str, *options: str, **variables: str) -> str:
    code = (
        f"import sys; sys.path.insert(0, {str(folder)!r})\n"
        "from skillc import startup; startup.import_fast()\n"
    )
    command = [sys.executable, *options, "-c", code + program]
    env = os.environ | {"PYTHONDONTWRITEBYTECODE": ""} | variables
    return subprocess.run(command, capture_output=True, text=True, check=True, env=env).stdout.strip()


WHICH = (
    "from skillc import paths, errors\n"
    "print('get_code' in vars(paths.__loader__), errors.__path__, paths.__cached__, paths.__file__)"
)


def test_import_fast(tmp_path: Path) -> None:
    """Modules load by their path, as by Python; never from an old or damaged compiled file."""
    package = copy_of_the_package(tmp_path)
    fast = import_fast_in(tmp_path, WHICH)
    assert fast == import_fast_in(tmp_path, WHICH)  # the second time from the compiled file
    usual = import_fast_in(tmp_path, "sys.meta_path.pop(0)\n" + WHICH)
    assert (fast.partition(" ")[0], usual.partition(" ")[0]) == ("True", "False")
    assert fast.removeprefix("True") == usual.removeprefix("False")
    assert (package / "__pycache__").is_dir()
    import_fast_in(tmp_path, WHICH)
    with (package / "paths.py").open("a") as file:
        file.write("\nEDIT = 1\n")
    assert import_fast_in(tmp_path, "from skillc.paths import EDIT; print(EDIT)") == "1"
    (compiled,) = (package / "__pycache__").glob("paths.*.pyc")
    compiled.write_bytes(b"damage")
    assert import_fast_in(tmp_path, "from skillc.paths import EDIT; print(EDIT)") == "1"
    missing = "try:\n import skillc.nothing\nexcept ModuleNotFoundError as error: print(error)"
    assert import_fast_in(tmp_path, missing) == "No module named 'skillc.nothing'"


LOOK = (
    "from skillc import errors, paths\n"
    "look = lambda m: (m.__name__, m.__file__, m.__cached__, m.__package__, m.__loader__.name,\n"
    "    m.__spec__.name, m.__spec__.origin, m.__spec__.parent, m.__spec__.has_location,\n"
    "    getattr(m, '__path__', None))\n"
    "print(look(errors), look(paths), errors is sys.modules['skillc.errors'] is sys.modules['skillc'].errors)"
)


def test_load_ahead(tmp_path: Path) -> None:
    """Modules that are loaded ahead look as if they had been imported; what is loaded already stays."""
    package = copy_of_the_package(tmp_path)
    ahead = "startup.load_ahead('skillc.text skillc.errors skillc.startup skillc.nothing skillc.paths')\n"
    usual = import_fast_in(tmp_path, "sys.meta_path.pop(0)\n" + LOOK)
    loaded = "print([m for m in ('text', 'errors', 'paths') if f'skillc.{m}' in sys.modules])\n"
    assert import_fast_in(tmp_path, ahead + loaded + LOOK).splitlines() == [
        "['text', 'errors', 'paths']",
        usual,
    ]
    for compiled in (package / "errors" / "__pycache__").glob("__init__.*.pyc"):
        compiled.unlink()  # from here on, it is for Python to compile and to load
    assert import_fast_in(tmp_path, ahead + loaded + LOOK).splitlines() == ["['text']", usual]
    with (package / "paths.py").open("a") as file:
        file.write("\n1 / 0\n")
    failure = f"try:\n {ahead}except ZeroDivisionError: print('skillc.paths' in sys.modules)"
    import_fast_in(tmp_path, "try:\n import skillc.paths\nexcept ZeroDivisionError: pass")  # compiles it
    assert import_fast_in(tmp_path, failure) == "False"


@pytest.mark.parametrize(("options", "variables"), [(["-O"], {}), ([], {"PYTHONPYCACHEPREFIX": "prefix"})])
def test_import_fast_leaves_the_unusual_to_python(
    tmp_path: Path, options: list[str], variables: dict[str, str]
) -> None:
    copy_of_the_package(tmp_path)
    prefixed = {name: str(tmp_path / folder) for name, folder in variables.items()}
    assert import_fast_in(tmp_path, WHICH, *options, **prefixed).startswith("False")


SOURCE = Path(skillc.__file__).parent
# Modules that reading commands load in cases which the test below does not try, and others with a reason.
RARE = {
    "audit": "commands that print help or list load no parsers",
    "install": "a command loads what it does; loading all takes 24 times as long as Python",
    "evals": "help and completion of commands load no rooms",
    "mcp": "the SDK takes 0.8 s to load",
    "origins": "help and completion of commands load no keys",
    "remotes": "each remote loads a library of its own",
    "remotes.git": "an address is read without dulwich",
    "remotes.http": "commands that print help load no library",
    "cli.output": "JSON",
    "compiler": "a skill of a repository is indexed when it is read",
    "databases": "an index or a log that a clone may have brought",
    "gateway.snippets": "sections with thousands of matches",
    "lint": "commands that print help or list load no parsers",
    "library.records.deployments": "skc find asks it for names that no store has",
    "listing": "commands that bring skills in look at listings; those that show help do not",
    "library.locate": "skills of repositories",
    "library.records": "names that no store has",
    "listing.hook": "prompts come on standard input, one to a process; the next test tries it",
    "listing.offer": "likewise",
    "listing.offer_record": "likewise",
    "setup": "a command that sets nothing up does not load it",
    "tools": "help and completion of commands load no rooms",
    "tools.sandbox.supervisor": "is a program, which starts with every run of a tool",
    "usage.missed": "prompts that no skill fitted",
    "usage.schema": "the first access to a skill creates its log",
}
TRICKS = ("\nTYPE_CHECKING = False", " = front_door(", "import value\n")
READERS = """\
show pdf --section Forms
show pdf --section Formulars
search pdf text
search pdf zzz
open pdf SKILL.md
outline pdf
sources pdf
find forms
find formulars
"""
PROGRAM = """
import sys
from skillc.cli import main
for line in sys.stdin.read().splitlines():
    main(line.split())
print("loaded", *sys.modules)
"""


def test_tricks_are_in_their_place(tmp_path: Path) -> None:
    """[RFC-0007] Modules that no reading command loads are ordinary Python: plain imports, dataclasses."""
    skill = tmp_path / ".skillc" / "skills" / "pdf"
    skill.mkdir(parents=True)
    env = {"HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path), "LANG": "C.UTF-8"}
    for lines in ("build pdf\n", READERS):
        text = f"---\nname: pdf\ndescription: Forms\n---\n# Forms\n\nText for {len(lines)} commands.\n"
        (skill / "SKILL.md").write_text(text)  # a file that changed since the build is parsed again
        run = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            input=lines,
            env=env,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
    loaded = {name.removeprefix("skillc.") for name in run.stdout.splitlines()[-1].split()}
    tricky = set()
    for path in SOURCE.rglob("*.py"):
        name = ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
        if any(trick in path.read_text() for trick in TRICKS):
            tricky.add(name)
    assert tricky - loaded - RARE.keys() - {"__init__", "startup"} == set()
    assert RARE.keys() <= tricky
