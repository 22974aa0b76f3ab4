"""A skill on demand: its second runtime, and what happens to it in a skill's life."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

from skillc.compiler import change_states
from skillc.library.records import LEFT_OUT, LISTED, ON_DEMAND, change_listing_record, read_listing_record
from skillc.skills.document import load_yaml, parse
from tests.conftest import World
from tests.support.cases import each

FIELD = "disable-model-invocation"
TEXT = "---\nname: pdf\ndescription: Fill in forms\n{}---\n# pdf\n\n## Usage\n\nText.\n"


def deploy(world: World, more: str = "", policy: str = "", *words: str) -> Path:
    """Build a skill of the home for Claude Code; return what is deployed."""
    source = world.skill("pdf", TEXT.format(more), store=world.global_store)
    (source / "agents").mkdir(exist_ok=True)
    (source / "agents" / "logo.svg").write_text("<svg/>")
    if policy:
        (source / "agents" / "openai.yaml").write_text(policy)
    world.ok("build", "pdf", *(words or ("--target", "claude")), cwd=world.home)
    return world.home / ".claude" / "skills" / "pdf"


def states(world: World) -> dict[str, str]:
    records = json.loads((world.home / ".skillc" / "deployments.json").read_text())["deployments"]
    return {record["path"]: record.get("state", LISTED) for record in records}


def field(path: Path) -> object:
    front = parse((path / "SKILL.md").read_bytes()).frontmatter
    assert front is not None
    return front.fields.get(FIELD)


@each(
    ("own", "words"),
    product(
        ["", f"{FIELD}: false\n", f'"{FIELD}": true\n', f"{FIELD}:\n  false\n"],
        [(), ("--target", "claude", "--copy")],
    ),
)
def test_both_states(world: World, own: str, words: tuple[str, ...]) -> None:
    """[D75] the field and the policy appear on demand; the author's own come back."""
    policy = "interface:\n  display_name: PDF\npolicy:\n  allow_implicit_invocation: true\n  more: [1]\n"
    path = deploy(world, own, policy, *words)
    before = (field(path), (path / "agents" / "openai.yaml").read_text())
    author = {each: each.read_bytes() for each in world.global_store.rglob("*") if each.is_file()}
    assert change_states({str(path): ON_DEMAND}) == ([], [])
    assert field(path) is True
    assert load_yaml((path / "agents" / "openai.yaml").read_text()).value == {
        "interface": {"display_name": "PDF"},
        "policy": {"allow_implicit_invocation": False, "more": [1]},
    }
    assert (path / "agents" / "logo.svg").read_text() == "<svg/>"
    assert states(world) == {str(path): ON_DEMAND}
    world.ok("build", "pdf", "--force", cwd=world.home)
    assert field(path) is True, "a build keeps the state"
    assert world.ok("show", str(path), "--section", "Usage").stdout.startswith("## Usage")
    assert change_states({str(path): LISTED}) == ([], [])
    assert (field(path), (path / "agents" / "openai.yaml").read_text()) == before
    assert {each: each.read_bytes() for each in world.global_store.rglob("*") if each.is_file()} == author


def test_left_out(world: World) -> None:
    """[D75] an agent that knows no other way has a skill on demand by not having it, and gets it back."""
    path = deploy(world)
    other = world.home / ".cursor" / "skills" / "pdf"
    world.ok("build", "pdf", "--target", "claude,cursor", cwd=world.home)
    assert change_states({str(other): LEFT_OUT}) == ([], [])
    assert (path.exists(), other.exists()) == (True, False)
    world.ok("build", "pdf", cwd=world.home)
    world.ok("build", "--all", cwd=world.home)
    assert not other.exists()
    assert "not there" not in world.skc("doctor", cwd=world.home).stdout
    world.ok("remove", "pdf", cwd=world.home)
    world.ok("restore", "pdf", cwd=world.home)
    assert (path.exists(), other.exists()) == (True, False), "[D67] as it was"
    assert change_states({str(other): LISTED}) == ([], [])
    assert field(other) is None


def test_an_edit_is_kept(world: World) -> None:
    """[D52] what a person wrote into a stub on demand goes to the trash when a build writes it anew."""
    path = deploy(world)
    change_states({str(path): ON_DEMAND})
    (path / "SKILL.md").write_text("mine")
    run = world.ok("build", "pdf", cwd=world.home)
    assert "warning[W007]" in run.stderr
    assert field(path) is True
    (world.global_store / "pdf" / "SKILL.md").write_text(TEXT.format("").replace("forms", "other forms"))
    assert "W007" not in world.ok("build", "pdf", cwd=world.home).stderr
    assert "other forms" in (path / "SKILL.md").read_text()
    world.ok("remove", "pdf", cwd=world.home)
    assert not (world.home / ".skillc" / "runtime" / "pdf" / ".skillc-meta" / "on-demand").exists()


def test_the_record(world: World) -> None:
    """[D75] [D76] choices, and what agents show whole, are on record in the home; a damaged one is empty."""
    path = str(world.home / ".claude" / "skills" / "pdf")
    change_listing_record(lambda record: record.choose(path, "always"))
    change_listing_record(lambda record: record.tables.update(whole={"claude": ["pdf"]}))
    assert read_listing_record().choice(path) == "always"
    assert read_listing_record().table("whole") == {"claude": ["pdf"]}
    file = world.home / ".skillc" / "listing.json"
    file.write_text(file.read_text().replace("always", "demand"))
    assert read_listing_record().choice(path) == "auto"
    change_listing_record(lambda record: record.choose(path, "demand"))
    assert read_listing_record().tables == {"choices": {str(Path(path).parent): {"pdf": "demand"}}}
