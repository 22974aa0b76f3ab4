"""What skills need, in all dialects; bringing them along; lists of parts and licences."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from skillc.origins import find_cycle, find_licence, read_outer, read_requirements
from skillc.origins.parts import Licence
from skillc.origins.requirements import Installed, RequiredSkill, Requirements
from tests.conftest import World
from tests.support.git import Origin


def write(folder: Path, front: str = "", files: dict[str, str] | None = None) -> Path:
    """Write a skill with more frontmatter and files; return its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "SKILL.md").write_text(
        f"---\nname: {folder.name}\ndescription: Does {folder.name}.\n{front}---\n# It\n", encoding="utf-8"
    )
    for name, text in (files or {}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


OURS = """metadata:
  requires:
    skills: ["acme/pdf@^1.2", docx]
    programs: [pdftotext]
    environment: PDF_KEY
    mcp: [github]
"""
OPENCLAW = 'metadata: {"openclaw": {"requires": {"bins": ["jq"], "anyBins": ["uv", "pip"], "env": ["A"]}}}\n'
APM = """\
name: x
version: 1.0.0
dependencies:
  apm:
    - acme/skills/pdf#v1.0.0
    - {git: acme/other, path: skills/b}
    - git@gitlab.com:org/repo.git
    - {git: x/y, ref: 1a2b, skills: [a/grill]}
    - ./packages/mine
  mcp:
    - io.github/x
    - {name: y}
"""
CODEX = """\
dependencies:
  tools:
    - {type: mcp, value: linear}
    - {type: env_var, value: KEY}
    - {type: cli, value: gh}
"""
PLUGIN = '{"name": "p", "dependencies": ["a", {"name": "b@market", "version": "~2.1.0"}, 5, {"x": 1}]}'


@pytest.mark.parametrize(
    ("front", "files", "expected"),
    [
        (
            OURS,
            {},
            Requirements(
                (RequiredSkill("acme/pdf", "^1.2"), RequiredSkill("docx")),
                (("pdftotext",),),
                ("PDF_KEY",),
                ("github",),
            ),
        ),
        (
            "toolhive.requires:\n  - ghcr.io/org/base:v1\n  - git://github.com/a/b@v2#skills/c\n",
            {},
            Requirements((RequiredSkill("base"), RequiredSkill("a/b/skills/c", "", "github:a/b@v2"))),
        ),
        (OPENCLAW, {}, Requirements((), (("jq",), ("uv", "pip")), ("A",))),
        (
            "",
            {"apm.yml": APM},
            Requirements(
                (
                    RequiredSkill("acme/skills/pdf", "", "github:acme/skills@v1.0.0"),
                    RequiredSkill("acme/other/skills/b", "", "github:acme/other"),
                    RequiredSkill("org/repo", "", "git+https://gitlab.com/org/repo", is_whole=True),
                    RequiredSkill("x/y/a/grill", "", "github:x/y@1a2b"),
                ),
                mcp=("io.github/x", "y"),
            ),
        ),
        (
            "",
            {".claude-plugin/plugin.json": PLUGIN},
            Requirements((RequiredSkill("a"), RequiredSkill("b", "~2.1.0"))),
        ),
        ("", {"agents/openai.yaml": CODEX}, Requirements((), (("gh",),), ("KEY",), ("linear",))),
        (
            "metadata: text\n",
            {"apm.yml": "[", "plugin.json": "[1]", "agents/openai.yaml": "a: *b"},
            Requirements(),
        ),
        ("metadata:\n  requires: [1, 2]\n", {"apm.yml": "dependencies: 5"}, Requirements()),
    ],
)
def test_dialects(tmp_path: Path, front: str, files: dict[str, str], expected: Requirements) -> None:
    """[SURFACES: Requirements] Ours and the five others; what has another shape is no requirement."""
    assert read_requirements(str(write(tmp_path / "x", front, files))) == expected


def test_cycles() -> None:
    """[SURFACES: Requirements] Skills that need each other in a circle are named."""

    def skill(name: str, *needs: str) -> Installed:
        return Installed(name, "", "", Requirements(tuple(map(RequiredSkill, needs))))

    assert find_cycle([skill("a", "b"), skill("b", "c"), skill("c", "b")]) == ["b", "c", "b"]
    assert find_cycle([skill("a", "b", "c"), skill("b", "c"), skill("c", "gone")]) == []
    layers = [skill(f"{side}{n}", f"a{n + 1}", f"b{n + 1}") for n in range(40) for side in "ab"]
    assert find_cycle(layers) == []  # 2 to the power of 40 ways through


@pytest.mark.parametrize(
    "versions", ["^" * 200_000 + "1", "1." * 200_000, "1" * 5000], ids=["signs", "dots", "digits"]
)
def test_ranges_without_end(versions: str) -> None:
    """[SURFACES: Requirements] A range that is too long to be one is soon found to accept nothing."""
    assert not RequiredSkill("pdf", versions).accepts("1.0.0")


@pytest.fixture
def needy(origin: Origin) -> str:
    """A repository in which `report` needs `pdf`, a program and a variable that are not here."""
    requires = "skills: [pdf@^1], programs: [no-such-program], environment: [NO_SUCH]"
    write(origin.work / "report", f"metadata:\n  requires: {{{requires}}}\n")
    origin.push()
    return f"file://{origin.bare}"


@pytest.mark.slow
def test_add_brings_along(world: World, needy: str) -> None:
    """[SURFACES: Requirements] add shows what is missing and brings skills along with --yes; the lock says
    what for; why, remove and doctor name it."""
    preview = world.ok("add", needy, "--skill", "report", "--dry-run")
    assert "needs     skills pdf@^1" in preview.stdout
    assert "the program 'no-such-program', the variable NO_SUCH" in preview.stdout
    assert "W104" in preview.stderr
    assert "'report' needs 'pdf@^1', which is not installed" in preview.stderr
    alone = world.json("add", needy, "--skill", "report")  # nobody to ask
    assert [each["id"] for each in alone["added"]] == ["report"]
    world.ok("remove", "report", "--yes")
    both = world.json("add", needy, "--skill", "report", "--yes")
    assert [each["id"] for each in both["added"]] == ["report", "pdf"]
    lock = json.loads((world.project / "skills-lock.json").read_text())["skills"]
    assert lock["pdf"]["skillc"]["requiredBy"] == ["report"]
    assert world.json("why", "pdf") == {"id": "pdf", "requiredBy": ["report"]}
    assert world.json("why", "report")["requiredBy"] == []
    assert "report needs it" in world.ok("remove", "pdf", "--dry-run").stdout
    doctor = json.loads(world.skc("doctor", "--format", "json").stdout)
    checks = [each["message"] for each in doctor["checks"] if each["name"] == "needs"]
    assert any("'no-such-program'" in message for message in checks)
    assert world.json("remove", "pdf", "--yes")["removed"][0]["requiredBy"] == ["report"]


def test_conflicts(world: World) -> None:
    """[SURFACES: Requirements] add and doctor tell other versions than are asked for, by what a skill says of
    itself where its origin has no versions, and circles; nothing is solved."""
    needs = {"report": "skills: [pdf@^2, chart]", "pdf": "", "chart": "skills: [report]"}
    for name, requires in needs.items():
        front = f"metadata:\n  version: 1.4.0\n  requires: {{{requires}}}\n"
        write(world.root / "outside" / name, front)
    stderr = world.ok("add", str(world.root / "outside/report"), "--yes").stderr
    assert "W104" in stderr
    assert "'report' needs 'pdf@^2', and 1.4.0 is installed" in stderr
    assert "'report' needs itself, by way of chart" in stderr
    checks = json.loads(world.skc("doctor", "--format", "json").stdout)["checks"]
    messages = [each["message"] for each in checks if each["name"] == "needs"]
    assert "'report' needs 'pdf@^2', and 1.4.0 is installed" in messages
    assert any("'chart' needs 'report' needs 'chart'" in message for message in messages)
    parts = {each["name"]: each for each in world.json("lock", "export")["components"]}
    assert (parts["pdf"]["version"], parts["pdf"]["purl"]) == ("1.4.0", "pkg:generic/pdf@1.4.0")


def test_plugins_that_are_none() -> None:
    """[SURFACES: Requirements] Of a plugin's file around a skill that has another shape, nothing is taken; of
    several, the nearest one counts."""
    files: dict[str, bytes] = {}

    def read(names: Sequence[str]) -> dict[str, bytes]:
        return {name: files[name] for name in names if name in files}

    faulty = ['{"dependencies": {"mcp": ["x"], "apm": [5]}}', '{"dependencies": [{}, 5, "", "@m"]}', "[", "5"]
    for text in (*faulty, f'{{"dependencies": ["{"x" * 1000}"]}}'):
        files["plugin.json"] = text.encode()
        assert read_outer(["a/b"], read) == {"a/b": ()}
    files |= {"plugin.json": b'{"dependencies": ["far"]}', "a/plugin.json": b'{"dependencies": ["near"]}'}
    assert read_outer(["a/b", "c"], read) == {"a/b": ("near",), "c": ("far",)}


@pytest.mark.slow
def test_a_plugin_around_skills(world: World, origin: Origin) -> None:
    """[SURFACES: Requirements] What the plugin needs which a skill is part of is shown, and kept in the lock:
    the nearest plugin around it counts, in git as in a folder."""
    plugin = json.dumps({"name": "kit", "dependencies": ["pdf", {"name": "vault", "version": "~2.1.0"}]})
    for path, text in (("plugins/kit/", plugin), ("", '{"name": "all", "dependencies": ["other"]}')):
        origin.write(f"{path}.claude-plugin/plugin.json", text)
    write(origin.work / "plugins/kit/skills/deploy")
    origin.push()
    for source in (f"file://{origin.bare}", str(origin.work)):
        preview = world.ok("add", source, "--skill", "deploy", "--dry-run").stdout
        assert "needs     skills pdf, vault@~2.1.0" in preview
    world.ok("add", f"file://{origin.bare}", "--skill", "deploy", "--yes")
    assert world.json("why", "pdf")["requiredBy"] == ["deploy"]
    lock = json.loads((world.project / "skills-lock.json").read_text())["skills"]
    assert lock["deploy"]["skillc"]["requires"] == ["pdf", "vault@~2.1.0"]
    checks = json.loads(world.skc("doctor", "--format", "json").stdout)["checks"]
    assert any("'deploy' needs 'vault@~2.1.0'" in each["message"] for each in checks)


def test_licences(tmp_path: Path) -> None:
    """[SURFACES: Requirements] The frontmatter's licence, else what the file in the folder is known by."""
    cases: list[tuple[object, dict[str, str], Licence]] = [
        ("MIT", {}, Licence("MIT")),
        ("mit license", {}, Licence("MIT")),
        ("(MIT OR Apache-2.0)", {}, Licence("MIT OR Apache-2.0")),
        ("(MIT OR ISC) AND Zlib", {}, Licence("", "(MIT OR ISC) AND Zlib")),
        ("Ours alone", {}, Licence("", "Ours alone")),
        (
            "Complete terms in LICENSE.txt",
            {"LICENSE.txt": "Apache License\nVersion 2.0, 2004"},
            Licence("Apache-2.0"),
        ),
        (
            None,
            {"LICENCE": "Permission is hereby granted,\nfree of charge, to"},
            Licence("MIT"),
        ),
        (None, {"LICENSE": "All rights reserved."}, Licence("", "see LICENSE")),
        (5, {}, Licence()),
    ]
    for number, (named, files, expected) in enumerate(cases):
        folder = write(tmp_path / str(number), "", files)
        assert find_licence(str(folder), named) == expected


@pytest.mark.slow
def test_parts(world: World, needy: str) -> None:
    """[SURFACES: Requirements] The official schema of CycloneDX 1.6 accepts the document, which has no time
    in it: two exports are the same."""
    jsonschema = pytest.importorskip("jsonschema")
    world.ok("add", needy, "--skill", "report", "--yes")
    document = world.json("lock", "export")
    parts = {each["name"]: each for each in document["components"]}
    lock = json.loads((world.project / "skills-lock.json").read_text())["skills"]
    digest = lock["pdf"]["skillc"]["contentDigest"].removeprefix("sha256:")
    assert parts["pdf"]["hashes"] == [{"alg": "SHA-256", "content": digest}]
    assert parts["pdf"]["purl"].startswith("pkg:generic/pdf")
    assert {"ref": "report", "dependsOn": ["pdf"]} in document["dependencies"]
    assert world.json("lock", "export", "--format", "cyclonedx") == document
    _validate(jsonschema, document)
    licences = {each["id"]: each.get("license") for each in world.json("list", "--licenses")["skills"]}
    assert set(licences) == {"pdf", "report"}


def _validate(jsonschema: Any, document: dict[str, Any]) -> None:
    """Check a document by the schema that CycloneDX's own library has."""
    referencing = pytest.importorskip("referencing")
    folder = resources.files("cyclonedx") / "schema" / "_res"
    schemas = {
        each.name: json.loads(each.read_text()) for each in folder.iterdir() if each.name.endswith(".json")
    }
    pairs = [(schema["$id"], referencing.Resource.from_contents(schema)) for schema in schemas.values()]
    schema = next(each for name, each in schemas.items() if name.startswith("bom-1.6"))
    registry = referencing.Registry().with_resources(pairs)
    jsonschema.Draft7Validator(schema, registry=registry).validate(document)
