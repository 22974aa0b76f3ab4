"""The operations of a registry, the same on both stores."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import settings, strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from skillc.contract import encode
from skillc.errors import (
    FileNotFound,
    InvalidParameter,
    InvalidSkillId,
    RegistryRefused,
    RegistryUnavailable,
    SkillcError,
    SkillNotFound,
    SkillReserved,
    StaleVersion,
    VersionExists,
)
from skillc.registry import SYSTEM, Role, make_package, open_registry, read_package
from skillc.registry.blobs import open_blobs
from skillc.registry.model import Caller, Permission
from skillc.registry.store import open_store
from skillc.versions import precedence
from tests.conftest import World
from tests.registry.conftest import Clock, Team, package
from tests.support.postgres import Cluster

REFUNDS = "payments/refunds"


def reader(prefix: str = "", role: Role = Role.READER) -> Caller:
    return Caller("ana", (Permission(role, prefix),))


def numbers(registry: Team, skill_id: str = REFUNDS) -> list[str]:
    return [version.version for version in registry.skill(SYSTEM, skill_id).versions]


def blob_files(tmp_path: Path) -> list[Path]:
    return [path for path in (tmp_path / "blobs").rglob("*") if path.is_file()]


def test_publish_a_folder(registry: Team, clock: Clock, tmp_path: Path) -> None:
    """[SURFACES: Registry model] a version has all that was published, and the same bytes come back."""
    folder = tmp_path / "refunds"
    (folder / "scripts").mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: refunds\ndescription: Pay back\n---\n# Refunds\n")
    (folder / "scripts" / "run.sh").write_bytes(b"#!/bin/sh\n\x00\xff")
    (folder / "scripts" / "run.sh").chmod(0o755)
    made = read_package(REFUNDS, str(folder))
    version = registry.publish(SYSTEM, made, note="first\nof many 🦊")
    assert (version.version, version.digest, version.note) == ("0.1.0", made.digest, "first\nof many 🦊")
    assert (version.published_at, version.published_by) == (clock.now, "system")
    assert version.frontmatter == {"name": "refunds", "description": "Pay back"}
    skill = registry.skill(SYSTEM, REFUNDS)
    assert skill.versions == (version,)
    assert skill.tags == {"latest": "0.1.0"}
    assert registry.files(SYSTEM, version) == made.files
    for file in made.files:
        data = registry.read_file(SYSTEM, version, file.path)
        assert data == made.contents[file.path]
        assert file.digest == f"sha256:{hashlib.sha256(data).hexdigest()}"
    assert registry.read_archive(SYSTEM, version) == made.archive
    assert version.archive_size == len(made.archive)
    with pytest.raises(FileNotFound):
        registry.read_file(SYSTEM, version, "../SKILL.md")


def test_numbers(registry: Team) -> None:
    """[SURFACES: Registry model] the publisher's number, else the frontmatter's, else the next patch."""
    assert registry.release(text="a").version == "0.1.0"
    assert registry.release(text="b").version == "0.1.1"
    assert registry.publish(SYSTEM, package(version="1.4")).version == "1.4.0"
    assert registry.publish(SYSTEM, package(version="1.4"), version="2.0.0-rc.1").version == "2.0.0-rc.1"
    assert registry.release(text="c").version == "2.0.0"
    assert numbers(registry) == ["2.0.0", "2.0.0-rc.1", "1.4.0", "0.1.1", "0.1.0"]


def test_versions_never_change(registry: Team) -> None:
    """[SURFACES: Registry model] a number twice is E091, and says whether the files are the same."""
    registry.release("1.0.0", text="a")
    for text, hint in (("a", "the same"), ("b", "others")):
        with pytest.raises(VersionExists) as caught:
            registry.release("1.0", text=text)
        assert caught.value.line() == "error[E091]: 'payments/refunds' has version 1.0.0 already"
        assert hint in caught.value.details
    with pytest.raises(VersionExists):  # without a number: nothing changed
        registry.release(text="a")
    assert len(registry.changes(SYSTEM)) == 1


def test_expectation(registry: Team) -> None:
    """[SURFACES: Registry model] a publisher can say what it takes for the latest version, or for none."""
    first = registry.release("1.0.0", expect="")
    for number in ("1.0.0", "1.1.0", ""):
        with pytest.raises(VersionExists, match=r"has version 1\.0\.0 already"):
            registry.release(number, expect="")
    second = registry.release("1.1.0", expect=first.digest)
    with pytest.raises(StaleVersion, match=r"has version 1\.1\.0 already"):
        registry.release("1.2.0", expect=first.digest)
    with pytest.raises(StaleVersion):
        registry.release("1.0.0", "payments/other", expect=first.digest)
    assert registry.release("1.2.0", expect=second.digest).version == "1.2.0"


def test_latest_moves_upwards(registry: Team) -> None:
    """[SURFACES: Registry model] latest follows the highest release; a person can put it anywhere."""

    def latest() -> str:
        return registry.skill(SYSTEM, REFUNDS).resolve().version

    steps = {
        "1.0.0-rc.1": "1.0.0-rc.1",
        "1.0.0": "1.0.0",
        "2.0.0": "2.0.0",
        "1.0.1": "2.0.0",
        "3.0.0-rc.1": "2.0.0",
    }
    for number, expected in steps.items():
        registry.release(number)
        assert latest() == expected
    registry.set_tag(SYSTEM, REFUNDS, "latest", "1.0.0")
    assert latest() == "1.0.0"
    registry.release("1.0.2")
    assert latest() == "1.0.2"


def test_tags(registry: Team) -> None:
    """[SURFACES: Registry model] a tag of one's own moves always, and leaves latest alone."""
    registry.release("1.0.0")
    registry.release("2.0.0", tag="beta")
    skill = registry.skill(SYSTEM, REFUNDS)
    assert (skill.resolve().version, skill.resolve("beta").version) == ("1.0.0", "2.0.0")
    registry.set_tag(SYSTEM, REFUNDS, "beta", "1.0.0")
    assert registry.skill(SYSTEM, REFUNDS).resolve("beta").version == "1.0.0"
    registry.remove_tag(SYSTEM, REFUNDS, "beta")
    for change in (
        lambda: registry.skill(SYSTEM, REFUNDS).resolve("beta"),
        lambda: registry.remove_tag(SYSTEM, REFUNDS, "beta"),
        lambda: registry.set_tag(SYSTEM, REFUNDS, "beta", "9.0.0"),
    ):
        with pytest.raises(SkillNotFound):
            change()
    with pytest.raises(InvalidParameter):
        registry.set_tag(SYSTEM, REFUNDS, "1.0.0", "2.0.0")


def test_yank_and_undo(registry: Team) -> None:
    """[SURFACES: Registry model] a yanked version is not chosen, but can be had by its number."""
    registry.release("1.0.0")
    last = registry.release("2.0.0")
    yanked = registry.yank(SYSTEM, REFUNDS, "2.0.0", "it pays twice")
    assert yanked.yanked == "it pays twice"
    with pytest.raises(VersionExists):  # yanking frees no number
        registry.release("2.0.0")
    skill = registry.skill(SYSTEM, REFUNDS)
    assert skill.resolve().version == "1.0.0"
    assert registry.read_archive(SYSTEM, skill.resolve("2.0.0")) == registry.read_archive(SYSTEM, last)
    assert registry.unyank(SYSTEM, REFUNDS, "2.0.0") == last
    assert registry.skill(SYSTEM, REFUNDS).resolve() == last
    with pytest.raises(SkillNotFound):
        registry.yank(SYSTEM, REFUNDS, "3.0.0", "bad")
    with pytest.raises(InvalidParameter, match="why"):
        registry.yank(SYSTEM, REFUNDS, "1.0.0", " ")


def test_deletions(registry: Team, clock: Clock) -> None:
    """[SURFACES: Registry] maintainers see what they can restore, the last first, for 30 days."""
    for skill_id in ("payments/refunds", "payments/tax", "payments-old/tax", "tools/pdf"):
        registry.release(skill_id=skill_id)
        registry.delete(SYSTEM, skill_id)
        clock.move(days=1)
    found = registry.deletions(SYSTEM)
    assert [each.skill for each in found] == [
        "tools/pdf",
        "payments-old/tax",
        "payments/tax",
        "payments/refunds",
    ]
    assert found[0].ends_at - found[0].deleted_at == timedelta(days=30)
    assert [each.skill for each in registry.deletions(SYSTEM, 1)] == ["tools/pdf"]
    mia = Caller("mia", (Permission(Role.MAINTAINER, "payments"), Permission(Role.PUBLISHER, "tools")))
    assert [each.skill for each in registry.deletions(mia)] == ["payments/tax", "payments/refunds"]
    assert registry.deletions(Caller("rita", (Permission(Role.READER),))) == []
    registry.restore(SYSTEM, "payments/tax")
    clock.move(days=27)
    assert [each.skill for each in registry.deletions(SYSTEM)] == ["tools/pdf", "payments-old/tax"]


def test_delete_reserves_the_id(registry: Team, clock: Clock, tmp_path: Path) -> None:
    """[SURFACES: Registry model] for 30 days a deleted skill can be restored, and not be taken by another."""
    registry.release("1.0.0")
    registry.delete(SYSTEM, REFUNDS)
    for gone in (
        lambda: registry.skill(SYSTEM, REFUNDS),
        lambda: registry.yank(SYSTEM, REFUNDS, "1.0.0", "bad"),
        lambda: registry.delete(SYSTEM, REFUNDS),
    ):
        with pytest.raises(SkillNotFound):
            gone()
    assert registry.skills(SYSTEM) == []
    clock.move(days=29)
    with pytest.raises(SkillReserved, match="reserved until 2026-12-16") as caught:
        registry.release("2.0.0")
    assert caught.value.code == "E050"
    assert registry.restore(SYSTEM, REFUNDS).resolve().version == "1.0.0"
    with pytest.raises(SkillNotFound):
        registry.restore(SYSTEM, REFUNDS)
    registry.delete(SYSTEM, REFUNDS)
    clock.move(days=30)
    with pytest.raises(SkillNotFound):
        registry.restore(SYSTEM, REFUNDS)
    assert registry.release("1.0.0", text="of another").version == "1.0.0"
    assert numbers(registry) == ["1.0.0"]
    assert [change.action for change in registry.changes(SYSTEM)][-3:] == ["delete", "purge", "publish"]


def test_collect(registry: Team, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Registry model] blobs that no version has are removed after a day; all others stay."""
    clock.now = datetime.now(clock.now.tzinfo)  # blobs have the time of the machine
    kept = registry.release("1.0.0")
    registry.release("1.0.0", "payments/other")
    before = len(blob_files(tmp_path))
    with pytest.raises(VersionExists):  # its blobs are written, and then no version has them
        registry.release("1.0.0", text="lost")
    assert len(blob_files(tmp_path)) == before + 2
    assert registry.collect(SYSTEM).blobs == 0
    clock.move(days=1, minutes=5)
    assert registry.collect(SYSTEM).blobs == 2
    assert len(blob_files(tmp_path)) == before
    registry.delete(SYSTEM, "payments/other")
    clock.move(days=31)
    collected = registry.collect(SYSTEM)
    assert collected.skills == ("payments/other",)
    assert registry.read_archive(SYSTEM, kept)
    assert len(blob_files(tmp_path)) == len(registry.files(SYSTEM, kept)) + 1
    with pytest.raises(RegistryRefused):
        registry.collect(reader(role=Role.MAINTAINER))


def test_collect_beside_a_publisher(registry: Team, clock: Clock, tmp_path: Path) -> None:
    """[SURFACES: Registry model] an old orphan that is published now is not removed in the middle of it."""
    clock.now = datetime.now(clock.now.tzinfo)
    registry.release("1.0.0")
    with pytest.raises(VersionExists):
        registry.release("1.0.0", text="twice")
    clock.move(days=2)
    write, collected = registry._blobs.write_all, []

    def collect_meanwhile(blobs: Mapping[str, bytes]) -> None:
        for digest, data in blobs.items():
            collected.append(registry.collect(SYSTEM).blobs)
            write({digest: data})

    registry._blobs.write_all = collect_meanwhile  # type: ignore[method-assign]
    version = registry.release("1.1.0", text="twice")
    assert collected == [0, 0]
    assert registry.read_archive(SYSTEM, version)
    assert registry.collect(SYSTEM).blobs == 0


def test_a_claim_that_ended(registry: Team, clock: Clock) -> None:
    """[SURFACES: Registry model] an upload of more than a day must begin again: its blobs may be gone."""
    write = registry._blobs.write_all

    def take_days(blobs: Mapping[str, bytes]) -> None:
        write(blobs)
        clock.move(days=2)
        registry.collect(SYSTEM)

    def begin_beside(blobs: Mapping[str, bytes]) -> None:
        raise RuntimeError  # a second publisher of the same files, which claims them and writes nothing

    registry._blobs.write_all = take_days  # type: ignore[method-assign]
    upload = registry._upload

    def upload_slowly(blobs: dict[str, bytes]) -> str:
        publication = upload(blobs)
        registry._blobs.write_all = begin_beside  # type: ignore[method-assign]
        with pytest.raises(RuntimeError):
            upload(blobs)
        return publication

    registry._upload = upload_slowly  # type: ignore[method-assign]
    with pytest.raises(RegistryUnavailable, match="took too long"):
        registry.release("1.0.0")
    assert registry.skills(SYSTEM) == []


@pytest.mark.slow
def test_lists(registry: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Registry model] skills come by ID, page by page: those of a prefix that one may read."""
    monkeypatch.setattr("skillc.registry.reader.PAGE", 2)
    names = ["a", "payments", "payments-old", "payments/a", "payments/a/b", "payments0", "z"]
    for name in names:
        registry.release("1.0.0", name)
        registry.release("1.0.1", name)

    def ids(*args: object, **options: object) -> list[str]:
        return [skill.id for skill in registry.skills(*args, **options)]  # type: ignore[arg-type]

    assert ids(SYSTEM, limit=100) == names
    assert ids(SYSTEM, "payments", limit=100) == ["payments", "payments/a", "payments/a/b"]
    assert ids(SYSTEM, after="payments-old", limit=2) == ["payments/a", "payments/a/b"]
    assert ids(reader("payments"), limit=100) == ["payments", "payments/a", "payments/a/b"]
    assert ids(reader("payments/a"), limit=1) == ["payments/a"]
    assert [skill.id for skill in registry.source(SYSTEM).skills()] == names
    assert all(len(skill.versions) == 2 for skill in registry.skills(SYSTEM, limit=100))
    with pytest.raises(InvalidSkillId):
        registry.skills(SYSTEM, "Payments/")


def test_roles(registry: Team) -> None:
    """[SURFACES: Registry model] every operation wants its role below the prefix, also for no skill."""
    version = registry.release("1.0.0")
    operations: dict[str, tuple[Role, Callable[[Caller], object]]] = {
        "skill": (Role.READER, lambda c: registry.skill(c, REFUNDS)),
        "files": (Role.READER, lambda c: registry.files(c, version)),
        "file": (Role.READER, lambda c: registry.read_file(c, version, "SKILL.md")),
        "archive": (Role.READER, lambda c: registry.read_archive(c, version)),
        "publish": (Role.PUBLISHER, lambda c: registry.publish(c, package(), version="2.0.0")),
        "tag": (Role.PUBLISHER, lambda c: registry.set_tag(c, REFUNDS, "beta", "1.0.0")),
        "remove-tag": (Role.PUBLISHER, lambda c: registry.remove_tag(c, REFUNDS, "beta")),
        "yank": (Role.MAINTAINER, lambda c: registry.yank(c, REFUNDS, "1.0.0", "bad")),
        "unyank": (Role.MAINTAINER, lambda c: registry.unyank(c, REFUNDS, "1.0.0")),
        "delete": (Role.MAINTAINER, lambda c: registry.delete(c, REFUNDS)),
        "restore": (Role.MAINTAINER, lambda c: registry.restore(c, REFUNDS)),
        "collect": (Role.ADMIN, lambda c: registry.collect(c)),
    }
    for role, operation in operations.values():
        for caller in (
            reader("payments/other", Role.ADMIN),
            reader("", Role.of_rank(role.rank - 1)) if role > Role.READER else Caller("x"),
        ):
            with pytest.raises(RegistryRefused):
                operation(caller)
        operation(reader("" if role is Role.ADMIN else "payments", role))
    for unknown in ("payments/nothing", REFUNDS):
        with pytest.raises(RegistryRefused, match="needs the role reader"):
            registry.skill(reader("other"), unknown)


def test_changes(registry: Team, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Registry model] every write is one entry, without gaps; readers see their skills' ones."""
    monkeypatch.setattr("skillc.registry.reader.MAX_CHANGES", 3)
    ana = Caller("ana", (Permission(Role.ADMIN),), token="t1")
    registry.publish(ana, package(), note="n")
    registry.yank(ana, REFUNDS, "0.1.0", "bad")
    registry.unyank(ana, REFUNDS, "0.1.0")
    registry.set_tag(ana, REFUNDS, "beta", "0.1.0")
    registry.remove_tag(ana, REFUNDS, "beta")
    registry.accounts.create_first_admin()
    registry.release("1.0.0", "other/skill")
    registry.delete(ana, REFUNDS)
    registry.restore(ana, REFUNDS)
    with pytest.raises(VersionExists):
        registry.release("1.0.0", "other/skill")
    changes = registry.changes(SYSTEM, limit=100)
    assert [change.action for change in changes] == [
        "publish", "yank", "unyank", "tag", "remove-tag", "grant", "create-token", "publish", "delete",
        "restore",
    ]  # fmt: skip
    assert [change.sequence for change in changes] == [*range(1, 11)]
    assert encode(changes[1]) == {
        "sequence": 2,
        "time": clock.now.isoformat(),
        "subject": "ana",
        "token": "t1",
        "action": "yank",
        "skill": REFUNDS,
        "version": "0.1.0",
        "detail": {"reason": "bad"},
    }
    assert registry.changes(SYSTEM, since=8, limit=100) == changes[8:]
    assert registry.changes(SYSTEM, since=2, limit=2) == changes[2:4]
    assert [c.action for c in registry.changes(reader("other"), limit=100)] == ["publish"]


def test_hostile_texts(registry: Team) -> None:
    """[SURFACES: Registry model] what a database can't hold, or would take for SQL, does no harm."""
    main = '---\nname: x\ndescription: "a\\0b\\ud800 \'); DROP TABLE skills; -- %s ? {}"\n---\n'
    version = registry.publish(SYSTEM, make_package("x", {"SKILL.md": main.encode()}), note="'); -- %s ?")
    again = registry.skill(SYSTEM, "x").resolve()
    assert again == version
    assert again.note == "'); -- %s ?"
    for wanted in ("' OR 1=1 --", "%", "\0", "\ud800"):
        with pytest.raises(SkillcError):
            registry.skill(SYSTEM, "x").resolve(wanted)
        with pytest.raises(SkillcError):
            registry.yank(SYSTEM, "x", wanted, "bad")
        with pytest.raises(SkillcError):
            registry.skill(SYSTEM, wanted)
    for note in ("\0", "\ud800", "x" * 2001):
        with pytest.raises(InvalidParameter):
            registry.publish(SYSTEM, package("y"), note=note)


def test_damaged_blobs(registry: Team, tmp_path: Path) -> None:
    """[SURFACES: Registry model] a blob that changed on the disk, or is missing, is E092 and never served."""
    version = registry.release("1.0.0")
    for path in blob_files(tmp_path):
        path.write_bytes(b"evil")
    with pytest.raises(RegistryUnavailable, match="damaged"):
        registry.read_file(SYSTEM, version, "SKILL.md")
    for path in blob_files(tmp_path):
        path.unlink()
    with pytest.raises(RegistryUnavailable, match="missing"):
        registry.read_archive(SYSTEM, version)


def test_open_registry(tmp_path: Path, world: World) -> None:
    """[SURFACES: Registry model] by default the store is in the home, and the blobs are beside it."""
    with open_registry() as made:
        made.publish(SYSTEM, package())
    own = world.home / ".skillc" / "registry"
    assert sorted(path.name for path in own.iterdir()) == ["blobs", "registry.db", "registry.db.lock"]
    assert all((own / name).stat().st_mode & 0o077 == 0 for name in ("blobs", "registry.db"))
    for address in (str(tmp_path / "a" / "registry.db"), f"sqlite://{tmp_path}/b/registry.db"):
        with open_registry(address) as made:
            made.publish(SYSTEM, package())
        with open_registry(address) as made:
            assert made.skill(SYSTEM, REFUNDS).resolve().version == "0.1.0"
    assert (tmp_path / "a" / "blobs").is_dir()
    assert (tmp_path / "b" / "blobs").is_dir()
    with pytest.raises(RegistryUnavailable, match="blobs"):
        open_registry("postgresql://127.0.0.1/registry")


@pytest.mark.slow
def test_examples(tmp_path: Path) -> None:
    """[SURFACES: Registry model] what docs/registry-python.md shows is true."""
    page = Path(__file__).parent.parent.parent / "docs" / "registry-python.md"
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    assert len(blocks) == 3
    program = [sys.executable, "-W", "error", "-c", "\n".join(blocks)]
    done = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("0.1.0 ---\nname: refunds")


# The registry against a model of it in plain Python.


@dataclass
class PlainSkill:
    versions: dict[str, str | None] = field(default_factory=dict)  # number to reason, in order of publication
    tags: dict[str, str] = field(default_factory=dict)
    deleted_at: datetime | None = None

    def latest(self) -> str | None:
        chosen = self.tags.get("latest", "")
        if self.versions.get(chosen, "absent") is None:
            return chosen
        good = [number for number, reason in self.versions.items() if reason is None]
        releases = [number for number in good if "-" not in number]
        return max(releases or good, key=precedence, default=None)


IDS = st.sampled_from(["a", "a/b"])
NUMBERS = st.sampled_from(["1.0.0", "1.1.0", "2.0.0-rc.1", "2.0.0"])
TAGS = st.sampled_from(["latest", "beta"])


class Machine(RuleBasedStateMachine):
    registry: Team
    clock: Clock

    def __init__(self) -> None:
        super().__init__()
        self.plain: dict[str, PlainSkill] = {}
        self.count = 0

    def visible(self, skill_id: str) -> PlainSkill | None:
        skill = self.plain.get(skill_id)
        return skill if skill and skill.deleted_at is None else None

    def expect(self, error: type[SkillcError] | None, operation: Callable[[], object]) -> bool:
        if error is None:
            operation()
            return True
        with pytest.raises(error):
            operation()
        return False

    @rule(skill_id=IDS, number=NUMBERS, tag=TAGS)
    def publish(self, skill_id: str, number: str, tag: str) -> None:
        skill, error = self.plain.get(skill_id, PlainSkill()), None
        if skill.deleted_at is not None:
            if self.clock.now < skill.deleted_at + timedelta(days=30):
                error = SkillReserved
            else:
                skill = PlainSkill()
        failure = error or (VersionExists if number in skill.versions else None)
        self.count += 1
        text = f"Text {self.count}."
        if self.expect(failure, lambda: self.registry.release(number, skill_id, tag=tag, text=text)):
            latest = skill.latest()
            skill.versions[number] = None
            ranks = [("-" not in n, precedence(n)) for n in (number, latest or number)]
            if tag != "latest" or latest is None or ranks[0] > ranks[1]:
                skill.tags[tag] = number
            self.plain[skill_id] = skill

    @rule(skill_id=IDS, number=NUMBERS, reason=st.sampled_from([None, "bad"]))
    def yank(self, skill_id: str, number: str, reason: str | None) -> None:
        skill = self.visible(skill_id)
        failure = None if skill and number in skill.versions else SkillNotFound
        registry = self.registry
        if reason is None:
            is_done = self.expect(failure, lambda: registry.unyank(SYSTEM, skill_id, number))
        else:
            is_done = self.expect(failure, lambda: registry.yank(SYSTEM, skill_id, number, reason))
        if is_done and skill:
            skill.versions[number] = reason

    @rule(skill_id=IDS, number=NUMBERS, tag=TAGS)
    def tag(self, skill_id: str, number: str, tag: str) -> None:
        skill = self.visible(skill_id)
        failure = None if skill and number in skill.versions else SkillNotFound
        if self.expect(failure, lambda: self.registry.set_tag(SYSTEM, skill_id, tag, number)) and skill:
            skill.tags[tag] = number

    @rule(skill_id=IDS)
    def delete(self, skill_id: str) -> None:
        skill = self.visible(skill_id)
        failure = None if skill else SkillNotFound
        if self.expect(failure, lambda: self.registry.delete(SYSTEM, skill_id)) and skill:
            skill.deleted_at = self.clock.now

    @rule(skill_id=IDS)
    def restore(self, skill_id: str) -> None:
        skill = self.plain.get(skill_id)
        at = skill.deleted_at if skill else None
        failure = None if at and self.clock.now < at + timedelta(days=30) else SkillNotFound
        if self.expect(failure, lambda: self.registry.restore(SYSTEM, skill_id)) and skill:
            skill.deleted_at = None

    @precondition(lambda self: any(skill.deleted_at for skill in self.plain.values()))
    @rule(days=st.sampled_from([1, 29, 30]))
    def wait(self, days: int) -> None:
        self.clock.move(days=days)

    @rule()
    def collect(self) -> None:
        limit = self.clock.now - timedelta(days=30)
        ended = {key for key, skill in self.plain.items() if skill.deleted_at and skill.deleted_at <= limit}
        assert {*self.registry.collect(SYSTEM).skills} == ended
        for skill_id in ended:
            del self.plain[skill_id]

    @invariant()
    def is_equal(self) -> None:
        expected = {
            key: ([*skill.versions.items()][::-1], skill.tags, skill.latest())
            for key, skill in self.plain.items()
            if skill.deleted_at is None
        }
        found = {
            str(skill.id): (
                [(version.version, version.yanked) for version in skill.versions],
                skill.tags,
                skill.latest.version if skill.latest else None,
            )
            for skill in self.registry.skills(SYSTEM)
        }
        assert found == expected
        sequence = [change.sequence for change in self.registry.changes(SYSTEM)]
        assert sequence == [*range(1, len(sequence) + 1)]


@pytest.mark.slow
def test_equal_to_a_model(store_cluster: Cluster | None, tmp_path: Path) -> None:
    """[SURFACES: Registry model] after any operations a registry is what a plain model of it is."""
    runs = iter(range(10_000))

    class Run(Machine):
        def __init__(self) -> None:
            super().__init__()
            folder = tmp_path / str(next(runs))
            url = store_cluster.empty_store() if store_cluster else f"{folder}/registry.db"
            self.clock = Clock()
            self.registry = Team(open_store(url), open_blobs(str(folder / "blobs")), self.clock)

        def teardown(self) -> None:
            self.registry.close()

    run_state_machine_as_test(Run, settings=settings(max_examples=20, stateful_step_count=25, deadline=None))
