"""Trust: where a skill comes from, what was decided about it, and how that is kept."""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from skillc.errors import ApprovalRequired, InvalidConfiguration, SandboxUnavailable, SkillNotFound
from skillc.library import copies, resolve
from skillc.library.source import SkillDescriptor, SkillDocument
from skillc.paths import embedded_skills
from skillc.skills import SkillId
from skillc.tools.approval import (
    Answer,
    ApprovalRequest,
    allow,
    deny,
    list_entries,
    prune,
    record_decision,
    trust_status,
)
from skillc.tools.run import Run, ToolCall, approve_run, prepare, start_run
from skillc.tools.skill import SkillLocation, find_skill, locate_in_store
from skillc.tools.trust import (
    ALLOW,
    DENY,
    Decision,
    Fingerprint,
    TrustLevel,
    TrustStore,
    fingerprint,
    may_run,
)
from tests.conftest import World
from tests.support.git import Origin
from tests.support.tools import executable, skill_md, tool

NOW = Fingerprint("d1", {"SKILL.md": "1"})


@pytest.fixture
def store(tmp_path: Path) -> TrustStore:
    return TrustStore(str(tmp_path / "home" / ".skillc" / "trust.json"))


def decision(path: str = "/a", what: str = ALLOW, digest: str = "d1") -> Decision:
    return Decision("a", path, what, digest, {"SKILL.md": "1"}, path)


def test_location_decides(world: World) -> None:
    """[D46] [TOOLS §6.2] the home's store is the user's, skillc's own folder bundled, all else untrusted."""
    executable(world.store, "ours")
    executable(world.global_store, "mine")
    folder = executable(world.root / "elsewhere", "other")
    levels = {
        name: find_skill(name, str(world.project)).level for name in ("ours", "mine", str(folder), "git")
    }
    assert levels == {
        "ours": TrustLevel.UNTRUSTED,
        "mine": TrustLevel.USER,
        str(folder): TrustLevel.UNTRUSTED,
        "git": TrustLevel.BUNDLED,
    }
    assert find_skill("git", str(world.project)).directory == os.path.join(embedded_skills(), "git")


def test_frontmatter_does_not_decide(world: World) -> None:
    """[D46] what a skill says of itself changes nothing."""
    executable(world.store, "liar", fields="trust: bundled\nlevel: user\nscope: builtin\nread_only: true\n")
    assert find_skill("liar", str(world.project)).level is TrustLevel.UNTRUSTED


def test_a_name_of_ours_in_a_project_is_the_projects(world: World) -> None:
    """[D46] [D47] a skill called like a bundled one is found first, and is as untrusted as any."""
    executable(world.store, "git")
    assert find_skill("git", str(world.project)).level is TrustLevel.UNTRUSTED


def test_repositories(world: World) -> None:
    """[D46] folders that the user's skills.toml names are the user's, those of a project's are not."""
    for name, root in (("yours", world.home), ("theirs", world.project)):
        executable(world.root / name / "deep", name)
        text = f'[[repositories]]\nname = "{name}"\ntype = "filesystem"\npath = "{world.root / name}"\n'
        (root / ".skillc").mkdir(exist_ok=True)
        (root / ".skillc" / "skills.toml").write_text(text)
    here = str(world.project)
    assert find_skill("deep/yours", here).level is TrustLevel.USER
    assert find_skill("deep/theirs", here).level is TrustLevel.UNTRUSTED
    with pytest.raises(SkillNotFound):
        find_skill("deep/nobodys", here)
    with pytest.raises(SkillNotFound):
        find_skill("No Such/Name", here)


def test_links_lead_to_what_they_are(world: World) -> None:
    """[D46] a link in a project's store to a bundled skill is that skill; it can't be changed there."""
    (world.store / "linked").symlink_to(os.path.join(embedded_skills(), "git"))
    assert locate_in_store(resolve("linked", str(world.project))).level is TrustLevel.BUNDLED


def test_the_copy_of_a_repositorys_skill_is_not_the_users(world: World) -> None:
    """[D46] it is below the home directory, and somebody else's all the same."""
    skill_id = SkillId("billing/refunds")
    document = SkillDocument(SkillDescriptor(skill_id, description="d"), "# Body\n")
    cache = world.home / ".skillc/cache/skills/0123456789abcdef"
    path = copies.write_copy(str(cache / "billing+refunds"), "company", document, None)
    found = find_skill(path, str(world.project))
    assert (found.level, found.skill_id) == (TrustLevel.UNTRUSTED, "billing/refunds")
    assert "company" in found.origin


@pytest.mark.parametrize(
    ("level", "read_only", "always_ask", "verdict", "expected"),
    [
        ("bundled", True, False, None, True),
        ("bundled", False, False, None, None),
        ("bundled", True, True, None, None),
        ("bundled", True, False, DENY, False),
        ("user", True, False, None, None),
        ("user", True, False, ALLOW, True),
        ("user", False, False, ALLOW, True),
        ("user", True, True, ALLOW, None),
        ("user", True, False, DENY, False),
        ("untrusted", True, False, None, None),
        ("untrusted", True, False, ALLOW, True),
        ("untrusted", True, True, DENY, False),
    ],
)
def test_who_runs(
    level: str, read_only: bool, always_ask: bool, verdict: str | None, expected: object
) -> None:
    """[TOOLS §6.2] [TOOLS §6.3] bundled and read-only runs; others once allowed; always_ask always asks."""
    assert may_run(TrustLevel(level), read_only, always_ask, verdict) is expected


def test_deny_wins(store: TrustStore) -> None:
    """[D46] for its path whatever the files, and for its files wherever they are."""
    store.record(decision("/a", ALLOW))
    assert store.verdict("/a", NOW) == ALLOW
    assert store.verdict("/a", Fingerprint("d2", {})) is None
    assert store.verdict("/b", NOW) is None
    store.record(decision("/b", DENY))
    assert store.verdict("/a", NOW) == DENY
    assert store.verdict("/b", Fingerprint("d2", {})) == DENY
    store.record(decision("/b", ALLOW))
    assert store.verdict("/a", NOW) == ALLOW


def test_kept_for_the_owner_alone(store: TrustStore) -> None:
    """[D46] mode 0600, whole, and read back as it was."""
    old = os.umask(0)
    try:
        store.record(decision())
    finally:
        os.umask(old)
    assert os.stat(store.path).st_mode & 0o777 == 0o600
    assert store.decisions() == [decision()]
    assert store.find("/a") == decision()
    assert store.find("/b") is None


def test_kept_outside_of_projects(world: World) -> None:
    """[D46] in the home directory, whatever project one is in."""
    assert TrustStore().path == str(world.home / ".skillc" / "trust.json")


ODD = [
    b"",
    b"{",
    b"[]",
    b"null",
    b"\xff\xfe",
    b'{"version": 2, "decisions": []}',
    b'{"version": 1}',
    b'{"version": 1, "decisions": [{}]}',
    b'{"version": 1, "decisions": [{"skill": "a", "path": "/a", "decision": "maybe", "digest": "d"}]}',
    b'{"version": 1, "decisions": [{"skill": "a", "path": 3, "decision": "allow", "digest": "d"}]}',
    b'{"version": 1, "decisions": [{"skill": "", "path": "", "decision": "allow", "digest": "", "x": 1}]}',
    b'{"version": 1, "decisions": [{"skill": "", "path": "", "decision": "deny", "digest": "", "files": 1}]}',
    b'{"version": 1, "decisions": {"a": 1}}',
    b"[" * 100_000,
]


@pytest.mark.parametrize("data", ODD)
def test_damage_stops_everything(store: TrustStore, data: bytes) -> None:
    """[D46] a file that can't be read approves nothing, is not overwritten, and says so with a code."""
    Path(store.path).parent.mkdir(parents=True)
    Path(store.path).write_bytes(data)
    Path(store.path).chmod(0o600)
    for question in (
        lambda: store.verdict("/a", NOW),
        lambda: store.record(decision()),
        lambda: store.remove(lambda made: True),
    ):
        with pytest.raises(InvalidConfiguration) as caught:
            question()
        assert caught.value.code == "E071"
        assert store.path in caught.value.message
    assert Path(store.path).read_bytes() == data


def test_a_file_that_would_be_too_large(store: TrustStore) -> None:
    """[D46] what could not be read again is not written."""
    store.record(decision())
    huge = Decision("b", "/b", ALLOW, "d", {"x" * (1 << 20) + str(number): "" for number in range(64)})
    with pytest.raises(InvalidConfiguration, match="'skc trust prune' makes room"):
        store.record(huge)
    assert store.decisions() == [decision()]


def test_a_file_that_others_can_write(store: TrustStore) -> None:
    """[D46] decides nothing, since anybody may have written it."""
    store.record(decision())
    os.chmod(store.path, 0o620)
    with pytest.raises(InvalidConfiguration, match="others can write it"):
        store.verdict("/a", NOW)


WRITER = """
import sys
from skillc.tools.trust import Decision, TrustStore
store = TrustStore(sys.argv[1])
for number in range(10):
    store.record(Decision("a", f"/{sys.argv[2]}/{number}", "allow", "d"))
"""


def test_writers_at_once_lose_nothing(store: TrustStore) -> None:
    """[D46] many processes, one file: every decision is in it."""
    run = [sys.executable, "-c", WRITER, store.path]
    writers = [subprocess.Popen([*run, str(number)]) for number in range(6)]
    assert [writer.wait(120) for writer in writers] == [0] * 6
    expected = {f"/{a}/{b}" for a, b in itertools.product(range(6), range(10))}
    assert {made.path for made in store.decisions()} == expected


def test_what_changed(tmp_path: Path) -> None:
    """[D46] file by file, hidden ones too: a script may read them."""
    folder = executable(tmp_path, "demo", say="echo 1")
    before = fingerprint(str(folder))
    assert fingerprint(str(folder)) == before
    (folder / "scripts" / "say.sh").write_text("echo 2\n")
    (folder / "new.txt").write_text("")
    (folder / ".hidden").write_text("x")
    after = fingerprint(str(folder))
    assert after.digest != before.digest
    assert after.changes_since(before.files) == [
        "added: .hidden",
        "added: new.txt",
        "changed: scripts/say.sh",
    ]
    assert before.changes_since(after.files) == [
        "removed: .hidden",
        "removed: new.txt",
        "changed: scripts/say.sh",
    ]


# --- Asking ------------------------------------------------------------------------------------------


class Person:
    """Somebody who answers, and remembers what was asked."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.asked: list[ApprovalRequest] = []

    def __call__(self, request: ApprovalRequest) -> Answer:
        self.asked.append(request)
        return self.answer


@pytest.fixture
def mine(world: World) -> SkillLocation:
    executable(world.global_store, "mine", tool("say", "./scripts/say.sh"), say="echo said")
    return find_skill("mine", str(world.project))


def ready(found: SkillLocation, world: World) -> Run:
    return prepare(ToolCall(found, "say", {}, str(world.project)))


def test_the_first_run_asks_and_the_next_does_not(world: World, mine: SkillLocation) -> None:
    """[TOOLS §6.3] [D46] until a file changes; then what changed is shown."""
    person, store = Person(Answer.ALWAYS), TrustStore()
    for _ in range(2):
        approve_run(ready(mine, world), person, store)
    assert [request.changed for request in person.asked] == [None]
    (world.global_store / "mine" / "scripts" / "say.sh").write_text("#!/bin/sh\necho evil\n")
    approve_run(ready(mine, world), person, store)
    assert person.asked[1].changed == ["changed: scripts/say.sh"]
    assert "Since you allowed it:\n  changed: scripts/say.sh" in person.asked[1].text()
    approve_run(ready(mine, world), None, store)


def test_once_is_once_and_never_is_never(world: World, mine: SkillLocation) -> None:
    """[D46] an answer for one run is not kept; a denial is, and nobody is asked again."""
    store, once, never = TrustStore(), Person(Answer.ONCE), Person(Answer.NEVER)
    for _ in range(2):
        approve_run(ready(mine, world), once, store)
    assert len(once.asked) == 2
    assert store.decisions() == []
    for _ in range(2):
        with pytest.raises(ApprovalRequired):
            approve_run(ready(mine, world), never, store)
    assert len(never.asked) == 1
    with pytest.raises(ApprovalRequired, match="approval required for 'mine'; run 'skc trust allow mine'"):
        approve_run(ready(mine, world), once, store)


def test_nobody_to_ask(world: World, mine: SkillLocation) -> None:
    """[D46] E063, with what to do instead."""
    with pytest.raises(ApprovalRequired) as caught:
        start_run(ready(mine, world))
    assert caught.value.code == "E063"
    assert "skc trust allow mine --digest" in caught.value.details


def test_files_swapped_while_the_question_is_open(world: World, mine: SkillLocation) -> None:
    """[D46] what runs is what was approved: a change before the start is E063, and nothing starts."""
    script = world.global_store / "mine" / "scripts" / "say.sh"

    def swap(request: ApprovalRequest) -> Answer:
        script.write_text("#!/bin/sh\ntouch evil\n")
        return Answer.ONCE

    with pytest.raises(ApprovalRequired) as caught:
        start_run(ready(mine, world), swap)
    assert "changed" in caught.value.details


def test_denied_while_the_question_is_open(world: World, mine: SkillLocation) -> None:
    """[D46] deny wins, also over a yes that was being typed."""

    def denied_elsewhere(request: ApprovalRequest) -> Answer:
        deny(mine, TrustStore())
        return Answer.ONCE

    with pytest.raises(ApprovalRequired):
        start_run(ready(mine, world), denied_elsewhere)


def test_untrusted_needs_a_sandbox(world: World) -> None:
    """[D45] [D46] where nothing would hold it, an untrusted skill does not run, approved or not."""
    executable(world.store, "theirs", tool("say", "echo hi"))
    prepared = ready(find_skill("theirs", str(world.project)), world)
    prepared = dataclasses.replace(prepared, launch=dataclasses.replace(prepared.launch, sandbox="none"))
    person = Person(Answer.ONCE)
    with pytest.raises(SandboxUnavailable, match="'theirs' is untrusted") as caught:
        start_run(prepared, person)
    assert caught.value.code == "E066"
    assert person.asked == []


def test_what_is_shown(world: World) -> None:
    r"""[TOOLS §6.3] [D46] name, description, origin, argv and permissions; nothing in them deceives."""
    folder = executable(
        world.store,
        "demo",
        tool("say", "./scripts/say.sh {{x}} end", "x | string | yes | X", words="Says\u202e it\u200b."),
        fields='author: "x\\u001b[2J"\n',
        say="echo",
    )
    found = find_skill("demo", str(world.project))
    value = "a b\n\x1b[31mred\u2066\u00a0'\"\\"
    prepared = prepare(ToolCall(found, "say", {"x": value}, str(world.project)))
    person = Person(Answer.NO)
    with pytest.raises(ApprovalRequired):
        approve_run(prepared, person, TrustStore())
    text = person.asked[0].text()
    assert text.startswith("WARNING: this skill is not one of your own.")
    assert "demo 1.0.0, by x\\x1b[2J" in text
    assert f"a project's skills ({folder})" in text
    assert "demo.say: Says\\u202e it\\u200b." in text
    assert f'"{folder}/scripts/say.sh" "a b\\n\\u001b[31mred\\u2066\\xa0\'\\"\\\\" "end"' in text
    assert all(character.isprintable() or character == "\n" for character in text)
    for permission in person.asked[0].permissions:
        assert permission in text


def test_long_arguments_are_counted(world: World, mine: SkillLocation) -> None:
    """[TOOLS §6.3] what would push the question off the screen is cut, and said to be."""
    prepared = ready(mine, world)
    launch = dataclasses.replace(prepared.launch, argv=("/bin/echo", "x" * 5000))
    person = Person(Answer.NO)
    with pytest.raises(ApprovalRequired):
        approve_run(dataclasses.replace(prepared, launch=launch), person, TrustStore())
    assert "... (5002 characters in all)" in person.asked[0].text()


# --- Managing ----------------------------------------------------------------------------------------


def test_allowing_by_digest(world: World, mine: SkillLocation) -> None:
    """[D46] only with the digest that the files have now."""
    store = TrustStore()
    now = trust_status(mine, store)
    with pytest.raises(ApprovalRequired):
        allow(now, store, "0" * 64)
    assert store.decisions() == []
    allow(now, store, now.files.digest)
    assert [entry.as_json()["current"] for entry in list_entries(store)] == [True]
    (world.global_store / "mine" / "SKILL.md").write_text("---\ndescription: x\n---\n")
    assert [entry.as_json()["current"] for entry in list_entries(store)] == [False]


def test_a_copy_of_what_is_denied(world: World, mine: SkillLocation) -> None:
    """[D46] can't be allowed while its twin is denied."""
    store = TrustStore()
    deny(mine, store)
    executable(world.global_store, "mine", tool("say", "./scripts/say.sh"), say="echo said")
    twin = world.root / "mine"
    subprocess.run(["cp", "-r", str(world.global_store / "mine"), str(twin)], check=True)
    found = find_skill(str(twin), str(world.project))
    assert trust_status(found, store).verdict == DENY
    with pytest.raises(ApprovalRequired) as caught:
        allow(trust_status(found, store), store)
    assert mine.directory in caught.value.details
    assert len(store.decisions()) == 1


def test_pruning(world: World, mine: SkillLocation) -> None:
    """[D46] decisions about folders that are gone are forgotten, or those about one skill."""
    store = TrustStore()
    store.record(decision("/not/there"))
    record_decision(mine, ALLOW, fingerprint(mine.directory), store)
    assert [made.path for made in prune(store)] == ["/not/there"]
    assert [made.path for made in prune(store, mine)] == [mine.path]
    assert json.loads(Path(store.path).read_text())["decisions"] == []


def test_a_git_repository_that_moves_on(world: World) -> None:
    """[D46] untrusted; what was allowed stays allowed while its files stay, in whichever commit."""
    origin = Origin(world.root)
    origin.make()
    origin.write("team/demo/SKILL.md", skill_md("demo", tool("say", "echo hi")))
    origin.push()
    team = f'name = "team"\ntype = "git"\nurl = "{origin.bare.as_uri()}"\nrefresh_seconds = 0\n'
    (world.project / ".skillc" / "skills.toml").write_text(f"[[repositories]]\n{team}")
    here, store = str(world.project), TrustStore()
    first = find_skill("team/demo", here)
    assert first.level is TrustLevel.UNTRUSTED
    assert origin.bare.as_uri() in first.origin
    allow(trust_status(first, store), store)
    origin.write("team/other/SKILL.md", "---\ndescription: Other\n---\n")
    origin.push()
    second = find_skill("team/demo", here)
    assert second.path == first.path
    assert trust_status(second, store).verdict == ALLOW
    origin.write("team/demo/SKILL.md", skill_md("demo", tool("say", "echo other")))
    origin.push()
    third = trust_status(find_skill("team/demo", here), store)
    assert (third.verdict, third.changes) == (None, ["changed: SKILL.md"])
