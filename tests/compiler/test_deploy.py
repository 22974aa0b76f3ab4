"""Deployment: compiled skills where agents look for them."""

from __future__ import annotations

import json
import os
import threading
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from skillc import atomic
from skillc.cli import main
from skillc.compiler import find_targets, read_agents
from skillc.errors import InvalidOption
from tests.conftest import World
from tests.support.cases import each


def build(world: World, *words: str, cwd: Path | None = None) -> Any:
    return world.json("build", "pdf", *words, cwd=cwd)


@pytest.fixture
def source(world: World) -> Path:
    return world.skill("pdf")


@pytest.fixture
def place(world: World) -> Path:
    """Where Claude Code looks for the skill; the directory above is there."""
    path = world.home / ".claude" / "skills" / "pdf"
    path.parent.mkdir(parents=True)
    return path


def is_copy(path: Path) -> bool:
    """A folder of its own with the stub and the manifest alone."""
    return not path.is_symlink() and sorted(
        str(file.relative_to(path)) for file in path.rglob("*") if file.is_file()
    ) == [".skillc/manifest.json", "SKILL.md"]


def leftovers(directory: Path) -> list[str]:
    return [name for name in os.listdir(directory) if name.endswith(".tmp")]


# What is deployed, and where


def test_link_by_default_or_copy(world: World, source: Path, place: Path) -> None:
    """[RFC-0001:C-DEPLOYMENT] a symlink to the runtime directory, in Claude's directory; --copy makes a copy.

    [D13] [D12] A copy from the same source is replaced by copy or link, and what stands there is left.
    """
    built = build(world)
    assert os.readlink(place) == str(world.runtime / "pdf")
    assert built["deployments"] == [{"target": "claude", "path": str(place), "method": "symlink"}]
    assert (place / "SKILL.md").read_text().startswith("---\nname: ")
    (deployed,) = build(world, "--copy")["deployments"]
    assert deployed["method"] == "copy"
    assert is_copy(place)
    for part in ("SKILL.md", ".skillc/manifest.json"):
        assert (place / part).read_bytes() == (world.runtime / "pdf" / part).read_bytes()
    build(world, "--copy")
    (source / "more.md").write_text("# More\n")
    build(world, "--copy")
    assert "More" in (place / "SKILL.md").read_text()
    build(world, "--target", "claude")
    assert place.is_symlink()
    build(world, "--copy")
    assert is_copy(place)
    for words in ([], ["--copy"]):
        build(world, *words)
        before = place.lstat()
        build(world, *words)
        assert (place.lstat().st_ino, place.lstat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_global_skill(world: World) -> None:
    """[RFC-0001:C-DEPLOYMENT] [RFC-0007] a global source is deployed from the home, unless the project has
    one of its name.
    """
    world.skill("pdf", store=world.global_store)
    built = build(world)
    assert built["runtime_path"] == str(world.home / ".skillc" / "runtime" / "pdf")
    assert os.readlink(world.home / ".claude" / "skills" / "pdf") == built["runtime_path"]
    assert not world.runtime.exists()
    world.skill("pdf")
    for _ in range(2):
        world.ok("build", "--all")
        assert os.readlink(world.home / ".claude" / "skills" / "pdf") == str(world.runtime / "pdf")


def test_global_switch(world: World, source: Path) -> None:
    """[RFC-0001:C-DEPLOYMENT] [D70] --global compiles in the home; what leads there goes on leading there.

    [D13] [D13a] agents' directories are below HOME, whatever SKILLC_HOME says, and readers look in the home.
    """
    link = world.home / ".claude/skills/pdf"
    built = build(world, "--global")
    assert built["runtime_path"] == str(world.home / ".skillc" / "runtime" / "pdf")
    assert os.readlink(link) == built["runtime_path"]
    assert not world.runtime.exists()
    assert "Text." in world.ok("show", "pdf", "--section", "usage").stdout
    assert build(world)["runtime_path"] == built["runtime_path"]
    assert os.readlink(link) == built["runtime_path"]
    moved = world.root / "x"
    world.ok("build", "pdf", "--global", env={"SKILLC_HOME": str(moved)})
    assert os.readlink(link) == str(moved / ".skillc" / "runtime" / "pdf")
    assert os.listdir(moved) == [".skillc"]


@each(
    ("target", "directory"),
    [
        ("./agent/skills", "project/agent/skills"),
        ("agent/", "project/agent"),
        ("../outside", "outside"),
        (".", "project"),
        ("..", ""),
        ("~/mine", "home/mine"),
        ("~", "home"),
    ],
)
def test_path_targets(world: World, source: Path, target: str, directory: str) -> None:
    """[D13] a path is a directory under which the skill is created; in the project, links are relative."""
    build(world, "--target", target)
    link = world.root / directory / "pdf"
    assert link.resolve() == world.runtime / "pdf"
    assert os.path.isabs(os.readlink(link)) is (world.project not in link.parents)
    assert not (world.home / ".claude").exists()


def test_absolute_path_target(world: World, source: Path) -> None:
    """[D13] absolute too; several, with spaces around the commas, twice the same once."""
    directory = world.root / "a b"
    built = build(world, "--target", f"{directory} , cursor,claude-code,claude,{directory}/")
    agents = [world.home / f".{name}/skills/pdf" for name in ("cursor", "claude")]
    assert [each["path"] for each in built["deployments"]] == [*map(str, (directory / "pdf", *agents))]


def test_project_directories(world: World, source: Path) -> None:
    """[D13] --deploy project uses the agents' directories of the project, from anywhere below it."""
    deep = world.project / "a" / "b"
    deep.mkdir(parents=True)
    build(world, "--deploy", "project", "--target", "claude,cursor", cwd=deep)
    assert os.readlink(world.project / ".claude" / "skills" / "pdf") == "../../.skillc/runtime/pdf"
    assert os.readlink(world.project / ".agents" / "skills" / "pdf") == "../../.skillc/runtime/pdf"
    assert os.listdir(world.home) == [".skillc"]
    records = ["deployments.json", "deployments.json.lock"]
    assert sorted(os.listdir(world.home / ".skillc")) == ["cache", *records]


# The table


def test_table() -> None:
    """[D13] at least 70 agents, sorted, every name and alias once, sane relative directories."""
    agents = read_agents()
    assert len(agents) >= 70
    assert [agent.name for agent in agents] == sorted(agent.name for agent in agents)
    names = [name for agent in agents for name in (agent.name, *agent.aliases)]
    assert len(names) == len(set(names))
    for agent in agents:
        assert agent.display
        assert agent.user or agent.project
        for name in (agent.name, *agent.aliases):
            assert name == name.strip().lower()
            assert not set(name) & set("/\\,~. \t")
        for directory in filter(None, (agent.user, agent.project)):
            assert all(part not in ("", ".", "..") for part in directory.split("/"))
            assert directory.isascii()
            assert not set(directory) & set("\\:~ \t\n")
            assert directory.split("/")[-1] == "skills"


def test_every_agent_can_be_deployed_to(world: World, source: Path) -> None:
    """[D13] all at once, user and project directories."""
    for scope in ("user", "project"):
        names = [agent.name for agent in read_agents() if getattr(agent, scope)]
        deployed = build(world, "--deploy", scope, "--target", ",".join(names))["deployments"]
        assert len(deployed) == len({d["path"] for d in deployed}) > 30
        assert all(os.path.exists(os.path.join(d["path"], "SKILL.md")) for d in deployed)


def test_unknown_agent(world: World, source: Path) -> None:
    """[D13] E100 names the three nearest, or all, or the other kind of directory; nothing is built."""
    (line,) = world.fails("E100", "build", "pdf", "--target", "claude,cluade").stderr.splitlines()
    assert "did you mean 'claude' or '" in line
    assert line.count("' or '") == 2
    result = world.fails("E100", "build", "pdf", "--target", "claude,zzzzzz")
    assert len(result.stderr.splitlines()) == 2
    assert all(agent.name in result.stderr for agent in read_agents())
    agents = read_agents()
    homeless = next(agent for agent in agents if not agent.user)
    rootless = next(agent for agent in agents if not agent.project)
    assert "--deploy project" in world.fails("E100", "build", "pdf", "--target", homeless.name).stderr
    result = world.fails("E100", "build", "pdf", "--target", rootless.name, "--deploy", "project")
    assert "--deploy user" in result.stderr
    assert not world.runtime.exists()
    assert not (world.home / ".claude").exists()


@each("text", ["", ",", " , ", "skills", "claude;cursor", "claude cursor", "\x1b"])
def test_bad_targets(world: World, source: Path, text: str) -> None:
    """[D13] [RFC-0005] no agent, or what looks like none, is E100 on one line, maybe with a hint below it."""
    first, *hints = world.fails("E100", "build", "pdf", "--target", text).stderr.splitlines()
    assert first.startswith("error[E100]: ")
    assert all(hint.startswith("hint: ") for hint in hints)
    assert len(hints) <= 1


def test_names_in_any_case(world: World) -> None:
    """[D13] [RFC-0001:C-DEPLOYMENT] Claude is claude; an alias is its agent; two directories are those of
    the RFC.
    """
    (upper,) = find_targets("CLAUDE", "user", "/x")
    (alias,) = find_targets("claude-code", "user", "/x")
    assert upper[1] == alias[1] == str(world.home / ".claude" / "skills")
    with pytest.raises(InvalidOption):
        find_targets("ＣＬＡＵＤＥ", "user", "/x")
    table = {agent.name: agent.user for agent in read_agents()}
    assert (table["claude"], table["cursor"]) == (".claude/skills", ".cursor/skills")


# Where it goes without --target


def test_renews_what_is_deployed(world: World, source: Path) -> None:
    """[D70] a build without --target goes to all places of the skill, in the way that each has it."""
    build(world, "--target", "codex")
    build(world, "--target", "cursor,./mine", "--copy")
    (source / "more.md").write_text("# More\n")
    places = {each["path"]: each["method"] for each in build(world)["deployments"]}
    methods = {".codex/skills/pdf": "symlink", ".cursor/skills/pdf": "copy"}
    expected = {str(world.home / path): method for path, method in methods.items()}
    assert places == expected | {str(world.project / "mine/pdf"): "copy"}
    assert all("More" in Path(path, "SKILL.md").read_text() for path in places)
    assert not (world.home / ".claude").exists()
    (source / "last.md").write_text("# Last\n")
    world.ok("build", "--all")
    assert all("Last" in Path(path, "SKILL.md").read_text() for path in places)
    assert [each["target"] for each in build(world, "--deploy", "project")["deployments"]] == ["claude"]


def test_a_project_renews_its_own(world: World, source: Path) -> None:
    """[D70] the home's skill of the same name keeps its agents, and so does removing the project's."""
    own = world.skill("pdf", store=world.home / ".skillc" / "skills")
    world.ok("build", str(own), "--target", "claude,codex")
    links = {place: os.readlink(place) for place in world.home.glob(".c*/skills/pdf")}
    assert len(links) == 2
    build(world, "--deploy", "project", "--target", "claude")
    places = [each["path"] for each in build(world)["deployments"]]
    assert places == [str(world.project / ".claude/skills/pdf")]
    assert {place: os.readlink(place) for place in links} == links
    world.ok("remove", "pdf")
    assert {place: os.readlink(place) for place in links} == links
    record = json.loads((world.home / ".skillc/deployments.json").read_text())
    assert {each["path"] for each in record["deployments"]} == set(map(str, links))


def test_default_agents(world: World, source: Path) -> None:
    """[D70] a skill that is deployed nowhere goes to '[agents] default' of the home's config.toml."""
    config = world.home / ".skillc" / "config.toml"
    config.parent.mkdir(exist_ok=True)
    config.write_text('[agents]\ndefault = ["codex", "Cursor", "nobody"]\n')
    result = world.ok("build", "pdf")
    assert "'nobody' is no agent" in result.stderr
    assert {path.parts[-3] for path in world.home.glob("*/skills/pdf")} == {".codex", ".cursor"}
    assert build(world, "--target", "claude")["deployments"][0]["target"] == "claude"


# What stands there already


def test_a_pipe_in_place_of_a_stub(world: World, source: Path, place: Path) -> None:
    """[D52] what never ends is not read: it counts as another stub, and the next build writes it anew."""
    for words in ([], ["--copy"]):
        build(world, "--target", "claude", *words)
        (place / "SKILL.md").unlink()
        os.mkfifo(place / "SKILL.md")
        world.ok("list")
        world.skc("doctor")
        build(world)
        assert (place / "SKILL.md").is_file()


@each(("kind", "words"), product(["empty directory", "file", "directory"], [[], ["--copy"]]))
def test_anything_real(world: World, source: Path, place: Path, kind: str, words: list[str]) -> None:
    """[RFC-0001:C-DEPLOYMENT] E013 for whatever is no link, with --copy too; --force replaces it.

    The other targets are deployed, the failure is one line, the status is 1.
    """
    atomic.discard(str(place))
    if kind == "file":
        place.write_text("mine")
    else:
        (place / "x" if kind == "directory" else place).mkdir(parents=True)
    result = world.fails("E013", "build", "pdf", "--target", "./before,claude,./after", *words)
    assert len(result.stderr.splitlines()) == 1
    for folder in ("before", "after"):
        assert (world.project / folder / "pdf" / "SKILL.md").is_file()
    assert place.is_file() if kind == "file" else place.is_dir()
    assert not place.is_symlink()
    build(world, "--target", "claude", "--force", *words)
    assert is_copy(place) if words else place.is_symlink()
    assert leftovers(place.parent) == []


def test_any_link_is_replaced(world: World, source: Path, place: Path) -> None:
    """[RFC-0001:C-DEPLOYMENT] a link of any kind is replaced without --force; where it led is untouched."""
    other = world.skill("other", store=world.root)
    world.skill("compiled")
    world.ok("build", "compiled")
    compiled = world.runtime / "compiled"
    before = (other / "SKILL.md").read_bytes(), (compiled / "SKILL.md").read_bytes()
    targets = ("nowhere", str(other), f"{other}/SKILL.md", "pdf", str(compiled), "../../../other")
    for target, words in product(targets, ([], ["--copy"])):
        atomic.discard(str(place))
        place.symlink_to(target)
        build(world, "--target", "claude", *words)
        assert is_copy(place) if words else os.readlink(place) == str(world.runtime / "pdf")
        assert ((other / "SKILL.md").read_bytes(), (compiled / "SKILL.md").read_bytes()) == before
        assert sorted(os.listdir(place.parent)) == ["compiled", "pdf"]


def test_someone_elses_copy(world: World, source: Path, place: Path) -> None:
    """[D13] a copy of another source with that name is E013."""
    world.skill("pdf", store=world.global_store)
    build(world, "--copy", cwd=world.home)
    before = (place / ".skillc" / "manifest.json").read_bytes()
    world.fails("E013", "build", "pdf")
    world.fails("E013", "build", "pdf", "--copy")
    assert (place / ".skillc" / "manifest.json").read_bytes() == before
    build(world, "--force", "--copy")
    assert (place / ".skillc" / "manifest.json").read_bytes() != before


def test_a_manifest_that_names_no_source(world: World, source: Path, place: Path) -> None:
    """[D13] a folder whose manifest does not say that it is ours is not ours."""
    (place / ".skillc").mkdir(parents=True)
    for text in ("", "{", "[]", "{}", '{"source": null}', '{"source": 1}'):
        (place / ".skillc" / "manifest.json").write_text(text)
        world.fails("E013", "build", "pdf")


# What must never happen


@pytest.mark.slow
@pytest.mark.parametrize("linked", [False, True])
def test_the_skill_itself_is_never_replaced(world: World, linked: bool) -> None:
    """[D13] [D11] not its source and not its runtime, by any way to them, links in the store included."""
    text = "---\nname: pdf\ndescription: d\n---\n# PDF\n"
    if linked:
        real = world.skill("real", text, store=world.root)
        (world.store / "pdf").symlink_to(real)
    else:
        world.skill("pdf", text)
    (world.root / "store").symlink_to(world.store)
    (world.root / "up").symlink_to(world.runtime)
    build(world)
    targets = (".skillc/skills", ".skillc/runtime", f"{world.root}/store", f"{world.root}/up")
    for target, words in product(targets, ([], ["--force"], ["--copy", "--force"])):
        result = world.skc("build", "pdf", "--target", target, *words)
        assert (world.store / "pdf" / "SKILL.md").read_text() == text
        assert (result.returncode, result.stderr[:12]) == (1, "error[E100]:")
        manifest = json.loads((world.runtime / "pdf" / ".skillc" / "manifest.json").read_text())
        assert manifest["skill"] == "pdf"
    build(world)


def test_nor_what_the_skill_lives_in(world: World, source: Path) -> None:
    """[D13] [RFC-0001:C-OUTPUT] a skill called like its project is not deployed beside the project.

    A target inside the source or the runtime would change what is compiled.
    """
    source = world.skill("project")
    for words in ([], ["--force"], ["--copy", "--force"]):
        world.fails("E100", "build", "project", "--target", "..", *words)
        assert (source / "SKILL.md").exists()
    build(world)
    before = sorted(world.project.rglob("*"))
    targets = (".skillc/skills/pdf", ".skillc/skills/pdf/sub", ".skillc/runtime/pdf")
    for target, words in product(targets, ([], ["--copy"])):
        world.skc("build", "pdf", "--target", target, *words)
        assert [path for path in sorted(world.project.rglob("*")) if path not in before] == []
        assert build(world)["status"] == "unchanged"


def test_a_target_that_can_not_be_written(world: World, source: Path) -> None:
    """[RFC-0005] a file in place of a directory, or a directory of the kernel's, fails alone and by name."""
    (world.home / ".claude").write_text("mine")
    for words in ([], ["--copy"], ["--force"]):
        result = world.skc("build", "pdf", "--target", "claude,/proc/skills,./fine", *words)
        assert result.returncode == 1
        first, second = result.stderr.splitlines()
        assert first.startswith(f"error[E999]: '{world.home / '.claude'}")
        assert second.startswith("error[E999]: '/proc/skills'")
        assert (world.home / ".claude").read_text() == "mine"
        assert (world.project / "fine" / "pdf" / "SKILL.md").exists()


@pytest.mark.slow
@each("name", ["a b", "名前", "a\nb", "-x", "😀" * 63, os.fsdecode(b"\xff")])
def test_odd_names(world: World, name: str) -> None:
    """[D13] a skill of any name is deployed under it."""
    world.skill(name, "---\nname: x\ndescription: d\n---\n")
    for words in ([], ["--copy"], []):
        world.ok("build", *words, "--", name)
        assert os.path.exists(world.home / ".claude" / "skills" / name / "SKILL.md")


@pytest.mark.slow
def test_never_missing(world: World, source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """[D11] while builds change between link and copy, the deployed name is there at every moment."""
    place = world.home / ".claude" / "skills" / "pdf"
    assert main(["build", "pdf"]) == 0
    missing = done = 0

    def watch() -> None:
        nonlocal missing
        while not done:
            missing += not os.path.lexists(place)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        for turn in range(30):
            words = [*["--copy"] * (turn % 2 == 0), *["--force"] * (turn % 5 == 0)]
            assert main(["build", "pdf", "--target", "claude", *words]) == 0
            assert place.is_symlink() == (turn % 2 == 1)
    finally:
        done = 1
        watcher.join()
    assert missing == 0
    assert leftovers(place.parent) == []
