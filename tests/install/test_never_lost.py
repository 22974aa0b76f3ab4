"""No sequence of commands, and no kill, loses a byte that a user wrote."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from skillc import trash
from skillc.cli import main
from skillc.doctor import examine
from skillc.install.address import parse_origin
from skillc.install.download import open_download
from skillc.install.entry import compute_hash, hash_folder, make_entry
from skillc.install.lock import change_lock
from tests.conftest import World
from tests.support.crash import LIMIT, run_until
from tests.support.examples import examples, sample

pytestmark = pytest.mark.slow

NAMES = ("pdf", "docx")
AGENTS = ("claude", "codex")
FILES = ("SKILL.md", "notes.md", "scripts/fill.py", ".env", ".git/HEAD")


class User:
    """Somebody with skills in agents' directories, in a folder and in the store. Each version is unique."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home = root / "home"
        self.versions: set[bytes] = set()
        self.count = 0

    def place(self, kind: str, name: str) -> Path:
        places = {
            "store": self.home / ".skillc/skills",
            "work": self.root / "work",
            "copies": self.home / "copies",
            **{agent: self.home / f".{agent}/skills" for agent in AGENTS},
        }
        return places[kind] / name

    def write(self, folder: Path, file: str) -> None:
        """Write a new version of a file; the version that was in it is the user's own to give up."""
        self.count += 1
        text = f"version {self.count}\n".encode()
        if file == "SKILL.md":
            name = folder.name.encode()
            text = b"---\nname: %b\ndescription: About %b\n---\n# Title\n\n%b" % (name, name, text)
        path = folder / file
        if path.is_file():
            self.versions.discard(path.read_bytes())
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
        self.versions.add(text)

    def make(self, folder: Path) -> None:
        for file in ("SKILL.md", "notes.md", "scripts/fill.py"):
            self.write(folder, file)

    def delete(self, folder: Path) -> None:
        """Delete a folder, and with it give up the versions in it."""
        if folder.is_dir() and not folder.is_symlink():
            self.versions -= {path.read_bytes() for path in folder.rglob("*") if path.is_file()}
            shutil.rmtree(folder)

    def age(self) -> None:
        """Let everything be old."""
        for path in self.home.rglob("*"):
            os.utime(path, (1, 1), follow_symlinks=False)

    def check(self) -> None:
        """Every version is in a file that lasts: no temporary one, and none of a cache."""
        missing = self.versions - {path.read_bytes() for path in _lasting_files(self.root)}
        assert not missing, sorted(missing)


def _lasting_files(root: Path) -> Iterator[Path]:
    for directory, folders, files in os.walk(root):
        folders[:] = [f for f in folders if not f.endswith(".tmp") and f not in (".skillc-meta", "cache")]
        paths = (Path(directory, file) for file in files if not file.endswith(".tmp"))
        yield from (path for path in paths if not path.is_symlink())


def skc(*words: str, cwd: Path) -> int:
    """Run a command here; one that fails is fine, a traceback is not."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), contextlib.chdir(cwd):
        status = main(words)
    assert "Traceback" not in err.getvalue()
    assert "E999" not in err.getvalue(), (words, err.getvalue())
    assert status == 0 or "error[" in err.getvalue() or "skipped" in out.getvalue(), (words, err.getvalue())
    return status


names, places = st.sampled_from(NAMES), st.sampled_from(("store", "work", "copies", *AGENTS))
steps = st.one_of(
    st.tuples(st.just("edit"), places, names, st.sampled_from(FILES)),
    st.tuples(st.just("edit"), places, names, st.sampled_from(FILES)),
    st.tuples(st.just("make"), places, names),
    st.tuples(st.just("restore"), st.integers(0, 5)),
    st.tuples(st.just("delete"), st.sampled_from(("store", "work")), names),
    st.tuples(st.just("mend")),
    st.tuples(st.just("age")),
    st.builds(lambda name: ("skc", "build", f"../work/{name}"), names),
    st.builds(lambda name: ("skc", "build", f"../work/{name}", "--force"), names),
    st.builds(lambda name: ("skc", "import", f"../work/{name}"), names),
    st.sampled_from(
        [
            ("skc", "import", "--yes"),
            ("skc", "import", "--from", "claude", "--yes"),
            ("skc", "install", "--global"),
            ("skc", "update", "--global", "--yes"),
            ("origin",),
            ("skc", "clean", "--yes"),
            ("skc", "build", "--all", "--target", "claude,codex"),
            ("skc", "build", "--all", "--force", "--target", "claude,codex"),
            ("skc", "build", "--all", "--copy", "--target", "./copies"),
            ("skc", "build", "--all", "--copy", "--force", "--target", "./copies,codex"),
        ]
    ),
    st.builds(
        lambda command, name: ("skc", *command, name),
        st.sampled_from(
            [
                ("build",),
                ("build", "--force"),
                ("remove",),
                ("remove", "--keep-source", "--purge"),
                ("disable",),
                ("disable", "--target", "codex"),
                ("enable",),
                ("enable", "--target", "codex"),
                ("restore",),
            ]
        ),
        names,
    ),
)


def tidy(user: User, action: str, words: list[str]) -> None:
    """Delete a skill by hand, let time pass, or mend what is safe, as 'skc doctor --fix' does."""
    if action == "delete":
        user.delete(user.place(*words))
    elif action == "age":
        user.age()
    else:
        examine(str(user.home), fix=True)


def carry_out(user: User, step: tuple[object, ...]) -> None:
    action, *rest = step
    words = [str(word) for word in rest]
    if action in ("delete", "mend", "age"):
        tidy(user, str(action), words)
    elif action == "edit":
        folder = user.place(words[0], words[1])
        if (folder / "SKILL.md").is_file():
            user.write(folder, words[2])
    elif action == "make":
        if not os.path.lexists(user.place(*words)):
            user.make(user.place(*words))
    elif action == "origin":
        write_origin(user)
    elif action == "restore":
        items = trash.items()
        if items:
            skc("restore", items[int(words[0]) % len(items)].id, cwd=user.home)
    else:
        skc(*words, cwd=user.home)


def write_origin(user: User) -> Path:
    """Write a new version of somebody else's skill, for `install` and `update`; return its folder."""
    folder = user.root / "origin" / "docx"
    folder.mkdir(parents=True, exist_ok=True)
    user.count += 1
    text = f"---\nname: docx\ndescription: d\n---\nBy somebody else, {user.count}.\n"
    (folder / "SKILL.md").write_text(text)
    return folder


def lock_docx(user: User) -> None:
    """Lock a skill of that name from a folder, for `install`; it is somebody else's work."""
    folder = write_origin(user)
    base = user.home / ".skillc"
    with open_download(parse_origin(str(folder), "/")) as download:
        (candidate,) = download.candidates
        entry = make_entry(str(base), candidate, hash_folder(str(folder)))
    change_lock(str(user.home), record=[entry])


@given(st.lists(steps, min_size=3, max_size=20))
@examples(150)
def test_any_sequence_of_commands(
    tmp_path_factory: pytest.TempPathFactory, sequence: list[tuple[object, ...]]
) -> None:
    """[D52] every version that a user wrote is in the store, in the trash or where it was."""
    root = tmp_path_factory.mktemp("user")
    with pytest.MonkeyPatch.context() as patch:
        user = User(root)
        user.home.mkdir()
        patch.setenv("HOME", str(user.home))
        user.make(user.place("claude", "pdf"))
        user.make(user.place("codex", "docx"))
        user.make(user.place("work", "docx"))
        lock_docx(user)
        for step in sequence:
            carry_out(user, step)
            user.check()
    shutil.rmtree(root)


def prepare_nothing(user: User) -> None:
    """Leave the skills where they are."""


def prepare_imports(user: User) -> None:
    """Import and deploy everything; then a copy and a stub are edited."""
    assert skc("import", "--yes", cwd=user.home) == 0
    assert skc("build", "--all", "--target", "claude,codex", cwd=user.home) == 0
    assert skc("build", "--all", "--copy", "--target", "./copies", cwd=user.home) == 0
    user.write(user.place("copies", "pdf"), "SKILL.md")
    user.write(user.place("claude", "pdf"), "SKILL.md")
    user.write(user.place("claude", "pdf"), "mine.txt")


def prepare_disabled(user: User) -> None:
    prepare_imports(user)
    assert skc("disable", "pdf", cwd=user.home) == 0


def prepare_removed(user: User) -> None:
    prepare_imports(user)
    assert skc("remove", "pdf", cwd=user.home) == 0


def prepare_ghosts(user: User) -> None:
    """Delete a skill that agents have, as links and as copies, edited and not; long ago."""
    prepare_imports(user)
    user.delete(user.place("store", "pdf"))
    user.age()


def prepare_folder(user: User) -> None:
    """Import a folder with a history, which goes on in the copy while the folder changes."""
    work = user.place("work", "docx")
    user.write(work, ".git/HEAD")
    assert skc("import", str(work), cwd=user.home) == 0
    user.write(user.place("store", "docx"), ".git/HEAD")
    user.write(work, "notes.md")


def prepare_clash(user: User) -> None:
    """Have another skill of that name in an agent's directory and in the store."""
    user.make(user.place("store", "pdf"))


def prepare_installed(user: User) -> None:
    """Install a skill of somebody else from the lock, and add files to it."""
    lock_docx(user)
    assert skc("install", "--global", cwd=user.home) == 0
    for file in ("notes.md", "scripts/fill.py"):
        user.write(user.place("store", "docx"), file)


def prepare_edited(user: User) -> None:
    """Edit the installed skill itself; 'skc install' puts the locked one back."""
    prepare_installed(user)
    user.write(user.place("store", "docx"), "SKILL.md")


def prepare_update(user: User) -> None:
    """Have a new version to merge the added files with."""
    prepare_installed(user)
    write_origin(user)


def prepare_conflict(user: User) -> None:
    """Have a new version of what was edited."""
    prepare_edited(user)
    write_origin(user)


def prepare_lock(user: User) -> None:
    """Have a lock of npm's installer that names one skill, and a skill of one's own that it names, too."""
    folder = write_origin(user)
    user.make(user.place("store", "pdf"))
    fields = {"source": "./docx", "sourceType": "local", "computedHash": compute_hash(str(folder))}
    skills = {"docx": fields, "pdf": fields | {"source": "./pdf"}}
    (folder.parent / "skills-lock.json").write_text(json.dumps({"version": 1, "skills": skills}))


def check_origin(user: User) -> None:
    """The skill of somebody else is there as its origin has it."""
    store, origin = user.place("store", "docx"), user.root / "origin" / "docx"
    assert (store / "SKILL.md").read_bytes() == (origin / "SKILL.md").read_bytes()


def check_merge(user: User) -> None:
    """The same, with the files that were added."""
    check_origin(user)
    assert (user.place("store", "docx") / "notes.md").read_bytes() in user.versions


def check_marks(user: User) -> None:
    """Both versions stand in the file, between marks."""
    text = (user.place("store", "docx") / "SKILL.md").read_text()
    assert "By somebody else" in text
    assert "version" in text


UPDATE = ("update", "--global", "--yes")
CHECKS = {
    "install": check_origin,
    "update": check_merge,
    "update with a conflict": check_marks,
    "import a lock": check_origin,
}
CASES = {
    "import": (prepare_nothing, ("import", "--yes")),
    "import a folder": (prepare_nothing, ("import", "../work/docx")),
    "import a folder again": (prepare_folder, ("build", "../work/docx", "--target", "./copies")),
    "build": (prepare_imports, ("build", "pdf", "--force", "--target", "claude,./copies")),
    "build over a folder": (prepare_clash, ("build", "pdf", "--force")),
    "remove": (prepare_imports, ("remove", "pdf")),
    "purge": (prepare_imports, ("remove", "pdf", "--keep-source", "--purge")),
    "disable": (prepare_imports, ("disable", "pdf")),
    "enable": (prepare_disabled, ("enable", "pdf")),
    "clean": (prepare_ghosts, ("clean", "--yes")),
    "restore": (prepare_removed, ("restore", "pdf")),
    "install": (prepare_edited, ("install", "--global")),
    "update": (prepare_update, UPDATE),
    "update with a conflict": (prepare_conflict, UPDATE),
    "import a lock": (prepare_lock, ("import", "--global", "--lock", "../origin/skills-lock.json")),
}


@pytest.mark.parametrize("case", CASES)
def test_killed_at_every_step(world: World, case: str) -> None:
    """[D52] [D11] SIGKILL at each step of a command: nothing is lost, and it can be run again.

    At the gate it is each eleventh step. While skills are imported, the agent has all of them all the time.
    """
    prepare, words = CASES[case]
    root, template = world.root / "user", world.root / "template"
    user = User(root)
    user.home.mkdir(parents=True)
    os.environ["HOME"] = str(user.home)  # the fixture of `world` puts it back
    for agent in AGENTS:
        user.make(user.place(agent, "pdf"))
    shutil.rmtree(user.place("codex", "pdf"))
    shutil.copytree(user.place("claude", "pdf"), user.place("codex", "pdf"))
    user.versions = {path.read_bytes() for path in _lasting_files(root)}
    user.make(user.place("work", "docx"))
    prepare(user)
    user.check()
    root.rename(template)
    for step in sample(range(1, LIMIT), 11):
        shutil.copytree(template, root, symlinks=True)
        has_conflict = case == "update with a conflict"
        is_complete = run_until(step, root, *words, cwd=user.home, status=1 if has_conflict else 0)
        user.check()
        if words == ("import", "--yes"):
            for agent in AGENTS:
                assert b"About pdf" in (user.place(agent, "pdf") / "SKILL.md").read_bytes()
        if is_complete:
            break
        skc(*words, cwd=user.home)
        user.check()
        CHECKS.get(case, User.check)(user)
        if words == ("import", "--yes"):
            runtime = user.home / ".skillc/runtime/pdf"
            assert [os.path.realpath(user.place(agent, "pdf")) for agent in AGENTS] == [str(runtime)] * 2
        shutil.rmtree(root)
    assert step > 5
    assert is_complete
