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

from skillc import records
from skillc.errors import ApprovalRequired, InvalidConfiguration, SandboxUnavailable, SkillNotFound
from skillc.library import resolve
from skillc.paths import embedded_skills
from skillc.skills import SkillDigest
from skillc.tools.approval import Answer, ApprovalRequest
from skillc.tools.decisions import allow, deny, trust_status
from skillc.tools.process import Envelope
from skillc.tools.run import Run, ToolCall, approve_run, prepare, start_run
from skillc.tools.skill import SkillLocation, find_skill, locate_in_store
from skillc.tools.trust import (
    ALLOW,
    DENY,
    YES,
    Decision,
    TrustLevel,
    TrustStore,
    may_run,
)
from tests.conftest import World
from tests.support.cases import each
from tests.support.git import Origin
from tests.support.tools import executable, skill_md, tool

NOW = SkillDigest("d1", {"SKILL.md": "1"})


@pytest.fixture
def store(tmp_path: Path) -> TrustStore:
    return TrustStore(str(tmp_path / "home" / ".skillc" / "trust.json"))


def decision(path: str = "/a", what: str = ALLOW, digest: str = "d1") -> Decision:
    return Decision("a", path, what, digest, {"SKILL.md": "1"}, path)


def test_location_decides(world: World) -> None:
    """[D46] [D47] [TOOLS §6.2] where it is decides, not its name, nor what it says of itself."""
    executable(world.global_store, "mine")
    folder = executable(world.root / "elsewhere", "other")
    executable(world.store, "ours", fields="trust: bundled\nlevel: user\nscope: builtin\nread_only: true\n")
    (world.store / "linked").symlink_to(os.path.join(embedded_skills(), "git"))
    assert find_skill("git", str(world.project)).directory == os.path.join(embedded_skills(), "git")
    names = ("git", "mine", "ours", str(folder))
    levels = [find_skill(name, str(world.project)).level for name in names]
    assert levels == [TrustLevel.BUNDLED, TrustLevel.USER, TrustLevel.UNTRUSTED, TrustLevel.UNTRUSTED]
    assert locate_in_store(resolve("linked", str(world.project))).level is TrustLevel.BUNDLED
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


@each(
    ("level", "flags", "verdict", "expected"),
    [
        ("bundled", "read_only sandbox", None, True),
        ("bundled", "read_only", None, None),
        ("bundled", "read_only", ALLOW, True),
        ("bundled", "sandbox", None, None),
        ("bundled", "read_only sandbox always_ask", None, None),
        ("bundled", "read_only sandbox", DENY, False),
        ("user", "read_only sandbox", None, None),
        ("user", "read_only sandbox", YES, True),
        ("user", "read_only", YES, None),
        ("user", "sandbox", YES, None),
        ("user", "read_only sandbox always_ask", YES, None),
        ("user", "read_only sandbox", ALLOW, True),
        ("user", "sandbox", ALLOW, True),
        ("user", "read_only sandbox always_ask", ALLOW, None),
        ("user", "read_only sandbox", DENY, False),
        ("untrusted", "read_only sandbox", None, None),
        ("untrusted", "read_only sandbox", YES, None),
        ("untrusted", "read_only sandbox", ALLOW, True),
        ("untrusted", "read_only sandbox always_ask", DENY, False),
    ],
)
def test_who_runs(level: str, flags: str, verdict: str | None, expected: object) -> None:
    """[D54] [TOOLS §6.2] a yes lasts where a sandbox keeps the tool from writing; always_ask always asks."""
    given = {name: name in flags.split() for name in ("read_only", "always_ask", "sandbox")}
    assert may_run(TrustLevel(level), verdict, **given) is expected


def test_deny_wins(store: TrustStore) -> None:
    """[D46] for its path whatever the files, and for its files wherever they are."""
    store.record(decision("/a", ALLOW))
    assert store.verdict("/a", NOW) == ALLOW
    assert store.verdict("/a", SkillDigest("d2", {})) is None
    assert store.verdict("/b", NOW) is None
    store.record(decision("/b", DENY))
    assert store.verdict("/a", NOW) == DENY
    assert store.verdict("/b", SkillDigest("d2", {})) == DENY
    store.record(decision("/b", ALLOW))
    assert store.verdict("/a", NOW) == ALLOW


def test_kept_for_the_owner_alone(world: World, store: TrustStore) -> None:
    """[D46] in the home, whatever project one is in; mode 0600, whole, and read back as it was."""
    assert TrustStore().path == str(world.home / ".skillc" / "trust.json")
    old = os.umask(0)
    try:
        store.record(decision())
    finally:
        os.umask(old)
    assert os.stat(store.path).st_mode & 0o777 == 0o600
    assert store.decisions() == [decision()]
    assert store.find("/a") == decision()
    assert store.find("/b") is None


ODD = [
    *(b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"version": 2, "decisions": []}', b'{"version": 1}'),
    b'{"version": 1, "decisions": [{}]}',
    b'{"version": 1, "decisions": [{"skill": "a", "path": "/a", "decision": "maybe", "digest": "d"}]}',
    b'{"version": 1, "decisions": [{"skill": "a", "path": 3, "decision": "allow", "digest": "d"}]}',
    b'{"version": 1, "decisions": [{"skill": "", "path": "", "decision": "allow", "digest": "", "x": 1}]}',
    b'{"version": 1, "decisions": [{"skill": "", "path": "", "decision": "deny", "digest": "", "files": 1}]}',
    b'{"version": 1, "decisions": {"a": 1}}',
    b"[" * 100_000,
]


def damage(store: TrustStore, data: bytes) -> None:
    Path(store.path).parent.mkdir(parents=True, exist_ok=True)
    Path(store.path).write_bytes(data)
    Path(store.path).chmod(0o600)


@each("data", ODD)
def test_damage_allows_nothing(store: TrustStore, data: bytes) -> None:
    """[D46] a file that can't be understood approves nothing, and is kept beside what is decided next."""
    for left in Path(store.path).parent.glob("trust.json*"):
        left.unlink()
    damage(store, data)
    warning = store.damage()
    assert warning is not None
    assert warning.code == "W067"
    assert store.verdict("/a", NOW) is None
    assert Path(store.path).read_bytes() == data
    store.record(decision("/b"))
    assert (store.damage(), store.verdict("/b", NOW)) == (None, ALLOW)
    assert Path(f"{store.path}.damaged").read_bytes() == data
    assert os.stat(f"{store.path}.damaged").st_mode & 0o777 == 0o600
    damage(store, b"again")
    store.remove(lambda made: True)
    assert store.damage() is None
    assert Path(f"{store.path}.damaged").read_bytes() == data
    assert Path(f"{store.path}.damaged-2").read_bytes() == b"again"


@pytest.mark.slow
@pytest.mark.parametrize("mask", [0x01, 0x20, 0xFF])
def test_every_byte_counts(store: TrustStore, mask: int) -> None:
    """[D46] one byte that is another is noticed, and allows nothing; what is denied mostly stays so."""
    made = [decision("/a"), decision("/bb", DENY, "xx"), decision("/cc", YES, "yy")]
    for one in made:
        store.record(one)
    data, denials = Path(store.path).read_bytes(), 0
    for position in range(len(data)):
        other = bytearray(data)
        other[position] ^= mask
        damage(store, bytes(other))
        if store.damage() is None:
            assert store.decisions() == made, (position, other)
            continue
        assert store.verdict("/a", NOW) is None
        assert store.verdict("/cc", SkillDigest("yy", {})) is None
        denials += store.verdict("/bb", SkillDigest("xx", {})) == DENY
    assert denials > len(data) * 0.3 or mask == 0xFF  # bytes that are no UTF-8 leave nothing to read


def test_allowances_of_version_1(store: TrustStore) -> None:
    """[D46] ask again: their digest was ambiguous; a denial stays."""
    entries = [dataclasses.asdict(made) for made in (decision("/a"), decision("/b", DENY))]
    damage(store, json.dumps({"version": 1, "decisions": entries}).encode())
    assert store.damage() is None
    assert (store.verdict("/a", NOW), store.verdict("/b", NOW)) == (None, DENY)
    assert store.find("/a") == Decision("a", "/a", ALLOW, "", {}, "/a")


def test_allowances_of_version_2(world: World) -> None:
    """[D64] ask again, and the question says why: their digest was another."""
    executable(world.global_store, "mine", tool("say", "echo hi"))
    here = str(world.project)
    call, store = ToolCall(find_skill("mine", here), "say", {}, here), TrustStore()
    allow(trust_status(call.skill, store), store)
    content = json.loads(Path(store.path).read_text())
    content |= {"version": 2, "sha256": records.digest([2, content["decisions"]])}
    Path(store.path).write_text(json.dumps(content))
    questions: list[str] = []

    def answer(request: ApprovalRequest) -> Answer:
        questions.append(request.text())
        return Answer.ALWAYS

    for _ in range(2):
        assert start_run(prepare(call), answer).success
    assert len(questions) == 1
    assert "allowed by an older skc, whose digest was another" in questions[0]


@pytest.mark.slow
def test_what_is_not_written(store: TrustStore) -> None:
    """[D46] a newer version's file is not replaced; what could not be read again is not written."""
    data = json.dumps({"version": 4, "sha256": records.digest([4, []]), "decisions": []}).encode()
    damage(store, data)
    with pytest.raises(InvalidConfiguration, match="a newer skc wrote it"):
        store.verdict("/a", NOW)
    with pytest.raises(InvalidConfiguration, match="a newer skc wrote it"):
        store.record(decision())
    assert Path(store.path).read_bytes() == data
    Path(store.path).unlink()
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
    writers = [subprocess.Popen([*run, str(number)]) for number in range(3)]
    assert [writer.wait(120) for writer in writers] == [0] * 3
    expected = {f"/{a}/{b}" for a, b in itertools.product(range(3), range(10))}
    assert {made.path for made in store.decisions()} == expected


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


def flags(world: World, name: str, fields: str, store: Path | None = None) -> SkillLocation:
    """A skill with these fields, of the user's own unless it is in another store."""
    executable(store or world.global_store, name, tool("say", "echo said"), fields=fields)
    return find_skill(name, str(world.project))


def count_questions(found: SkillLocation, world: World, answer: Answer, sandbox: str = "bubblewrap") -> int:
    """How often a person is asked in three runs, with the same answer each time."""
    person, run = Person(answer), ready(found, world)
    run = dataclasses.replace(run, launch=dataclasses.replace(run.launch, sandbox=sandbox))
    for _ in range(3):
        approve_run(run, person, TrustStore())
    return len(person.asked)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ("read_only: true\n", {Answer.ONCE: 3, Answer.YES: 1, Answer.ALWAYS: 1}),
        ("", {Answer.ONCE: 3, Answer.YES: 3, Answer.ALWAYS: 1}),
        ("always_ask: true\n", {Answer.ONCE: 3, Answer.YES: 3, Answer.ALWAYS: 3}),
        ("read_only: true\nalways_ask: true\n", {Answer.ONCE: 3, Answer.YES: 3, Answer.ALWAYS: 3}),
    ],
)
def test_what_an_answer_is_good_for(world: World, fields: str, expected: dict[Answer, int]) -> None:
    """[D54] the first run asks; a yes lasts for read_only, "always" for others, nothing for always_ask."""
    for answer, questions in expected.items():
        found = flags(world, f"s-{answer}", fields)
        assert count_questions(found, world, answer) == questions, answer
        assert bool(TrustStore().find(found.path)) is (questions == 1), "what was asked again was not kept"


def test_an_untrusted_skill_asks_each_time(world: World) -> None:
    """[D54] whatever was answered; only `skc trust allow`, about these files, ends that."""
    found = flags(world, "theirs", "read_only: true\n", world.store)
    for answer in (Answer.ONCE, Answer.YES, Answer.ALWAYS):
        assert count_questions(found, world, answer) == 3
    store = TrustStore()
    assert store.decisions() == []
    allow(trust_status(found, store), store)
    assert count_questions(found, world, Answer.YES) == 0
    (world.store / "theirs" / "new").write_text("")
    assert count_questions(found, world, Answer.ALWAYS) == 3


def test_read_only_counts_in_a_sandbox_alone(world: World) -> None:
    """[D54] [D45] nothing keeps a tool from writing without one: bundled tools ask, a yes does not last."""
    bundled = find_skill("git", str(world.project))
    run = prepare(ToolCall(bundled, "status", {}, str(world.project)))
    approve_run(run, None, TrustStore())
    bare = dataclasses.replace(run, launch=dataclasses.replace(run.launch, sandbox="none"))
    with pytest.raises(ApprovalRequired):
        approve_run(bare, None, TrustStore())
    found = flags(world, "mine", "read_only: true\n")
    assert count_questions(found, world, Answer.YES) == 1
    assert count_questions(found, world, Answer.YES, sandbox="none") == 3
    assert count_questions(found, world, Answer.ALWAYS, sandbox="none") == 1


def test_never_is_never(world: World, mine: SkillLocation) -> None:
    """[D46] a denial is kept, and nobody is asked again."""
    never = Person(Answer.NEVER)
    for person in (never, never, Person(Answer.ONCE)):
        with pytest.raises(ApprovalRequired, match="approval required for 'mine'; run 'skc trust allow"):
            approve_run(ready(mine, world), person, TrustStore())
    assert len(never.asked) == 1


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
    """[D45] [D46] [D55] where nothing would hold it, an untrusted skill does not run, approved or not."""
    executable(world.store, "theirs", tool("say", "echo hi"))
    prepared = ready(find_skill("theirs", str(world.project)), world)
    prepared = dataclasses.replace(prepared, launch=dataclasses.replace(prepared.launch, sandbox="none"))
    person = Person(Answer.ONCE)
    with pytest.raises(SandboxUnavailable, match="'theirs' is untrusted") as caught:
        start_run(prepared, person)
    assert caught.value.code == "E066"
    assert person.asked == []
    envelope = Envelope.of_error(caught.value)
    assert envelope is not None
    assert envelope.as_json()["code"] == "E066"


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
    """[D54] [TOOLS §6.3] the short text counts what it leaves out of long things; the text has all."""
    prepared = ready(mine, world)
    words = ["/bin/echo", "x" * 5000 + "end", *(f"<{number}>" for number in range(100))]
    launch = dataclasses.replace(prepared.launch, argv=tuple(words))
    person = Person(Answer.NO)
    with pytest.raises(ApprovalRequired):
        approve_run(dataclasses.replace(prepared, launch=launch), person, TrustStore())
    short, text = person.asked[0].text(short=True), person.asked[0].text()
    assert f'"{"x" * 600}" [… 4,403 more characters] "<0>"' in short
    assert '"<47>" [… 52 more arguments]\n' in short
    assert "…" not in text
    assert " ".join(f'"{word}"' for word in words) in text


# --- Managing ----------------------------------------------------------------------------------------


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
    assert (Path(second.directory) / ".origin").is_file()  # a note that is none of the skill's files
    assert trust_status(second, store).verdict == ALLOW
    origin.write("team/demo/SKILL.md", skill_md("demo", tool("say", "echo other")))
    origin.push()
    third = trust_status(find_skill("team/demo", here), store)
    assert (third.verdict, third.changes) == (None, ["changed: SKILL.md"])
