"""`skc lint` as a command."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from skillc.errors import InvalidOption
from skillc.lint import RULES, find_skills_below
from tests.conftest import World
from tests.lint.skills import FRONT, GOOD, front, put
from tests.support.cases import each

ROOT = Path(__file__).parent.parent.parent
BAD = front("name: PDF", "description: Fills forms")
COMMA = front("name: pdf", "description: Use when x", "allowed-tools: A, B")


def test_nothing_to_fix(world: World) -> None:
    """[RFC-0008] status 0, and what the skill costs; the example skill breaks no rule."""
    put(world, GOOD, {"LICENSE.md": "MIT\n"})
    run = world.ok("lint", "pdf")
    assert run.stdout == "pdf: nothing to fix\n  about 11 tokens of metadata, 9 of body, 2 in 1 other file\n"
    assert run.stderr == ""
    assert "         2  LICENSE.md\n" in world.ok("lint", "pdf", "--verbose").stdout
    examples = ROOT / "examples"
    assert world.skc("lint", "--all", str(examples), "--strict").returncode == 0


def test_nothing_slow(world: World) -> None:
    """[RFC-0008] linting a small skill loads nothing that costs more than linting it."""
    fields = "name: pdf\ndescription: >-\n  Fill forms.\n  Use when asked.\nmetadata:\n  author: me"
    body = "# PDF\n\n[Forms](forms.md), run `a.py`.\n"
    put(world, f"---\n{fields}\n---\n{body}", {"forms.md": "# Forms\n", "a.py": "print(1)\n"})
    slow = ("asyncio", "yaml")
    program = (
        "import sys; from skillc.cli import main; status = main(sys.argv[1:]);"
        f"print([name for name in {slow!r} if name in sys.modules], file=sys.stderr); sys.exit(status)"
    )
    run = subprocess.run(
        [sys.executable, "-S", "-c", program, "lint", "pdf"],
        env=world.env | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        cwd=world.project,
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.startswith("pdf: nothing to fix\n")
    assert run.stderr == "[]\n"


def test_errors_and_warnings(world: World) -> None:
    """[RFC-0008] [RFC-0005] findings in order, status 1 for an error; JSON, SARIF, and commands for
    GitHub.
    """
    put(world, BAD)
    run = world.skc("lint", "pdf")
    assert run.returncode == 1
    assert run.stderr == ""
    assert run.stdout.splitlines()[:5] == [
        ".skillc/skills/pdf/SKILL.md",
        "  line 2: error[E300]: SKL102 name-format:"
        " 'PDF' must be a-z, 0-9 and hyphens, with none at either end",
        "  line 2: warning[W300]: SKL104 name-match-dir: 'PDF' is not the directory's name, 'pdf'",
        "  line 3: warning[W300]: SKL108 description-triggers:"
        " the description does not say when to use the skill, such as 'Use when …'",
        "pdf: 1 error, 2 warnings",
    ]
    runs = {form: world.skc("lint", "pdf", "--format", form) for form in ("json", "sarif", "github")}
    assert {(run.returncode, run.stderr) for run in runs.values()} == {(1, "")}
    result = json.loads(runs["json"].stdout)
    assert (result["errors"], result["warnings"], result["failed"]) == (1, 2, [])
    result = json.loads(runs["sarif"].stdout)["runs"][0]["results"][0]
    place = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert (result["ruleId"], place) == ("SKL102", ".skillc/skills/pdf/SKILL.md")
    first = "::error file=.skillc/skills/pdf/SKILL.md,line=2,title=SKL102 name-format::'PDF' must be "
    assert runs["github"].stdout.startswith(first)
    kinds = [line.split()[0] for line in runs["github"].stdout.splitlines()]
    assert kinds == ["::error", "::warning", "::warning"]


def test_warnings_alone(world: World) -> None:
    """[RFC-0008] status 0 unless a rule is an error: by --strict, or by configuration."""
    put(world, front("name: pdf", "description: Fills forms"))
    assert "warning[W300]: SKL108" in world.ok("lint", "pdf").stdout
    strict = world.skc("lint", "pdf", "--strict")
    assert strict.returncode == 1
    assert "error[E300]: SKL108" in strict.stdout
    (world.project / ".skilllint.toml").write_text('[rules]\nSKL108 = "error"\n')
    assert "error[E300]: SKL108" in world.skc("lint", "pdf").stdout
    (world.project / ".skilllint.toml").write_text('[rules]\nSKL108 = "maybe"\n')
    assert ".skilllint.toml: SKL108 must be" in world.fails("E071", "lint", "pdf").stderr


def test_compiled(world: World) -> None:
    """[RFC-0008] [D7] what build made is skipped; with --force it is linted after SKL001."""
    put(world)
    world.ok("build", "pdf")
    compiled = str(world.runtime / "pdf")
    run = world.ok("lint", compiled)
    assert (run.stdout, run.stderr) == ("", "info: skipping compiled skill 'pdf'\n")
    result = world.json("lint", compiled)
    assert result["skills"][0]["skipped"] is True
    assert world.ok("lint", "--all", ".").stderr == "", "what build made is not looked for"
    forced = world.ok("lint", compiled, "--force")
    assert "warning[W300]: SKL001 skip-compiled: " in forced.stdout


@pytest.mark.slow
def test_which_skill(world: World, tmp_path: Path) -> None:
    """[RFC-0008] [RFC-0007] a name, a folder anywhere, SKILL.md, any file; each skill once."""
    put(world, GOOD + "[r](references/r.md)\n", {"references/r.md": "# R\n"})
    text = GOOD.replace("pdf", "other").replace("PDF", "other")
    elsewhere = world.skill("other", text, store=tmp_path / "elsewhere")
    folder = ".skillc/skills/pdf"
    names = ("pdf", folder, f"{folder}/SKILL.md", f"{folder}/references/r.md")
    for name in (*names, str(elsewhere / "SKILL.md")):
        assert world.ok("lint", name).stdout.count("nothing to fix") == 1
    run = world.ok("lint", "pdf", f"{folder}/SKILL.md", f"{folder}/references/r.md", str(elsewhere))
    assert run.stdout.splitlines()[-1] == "2 skills: 0 errors, 0 warnings"
    assert not (tmp_path / "elsewhere" / ".skillc").exists()


def test_no_skill(world: World) -> None:
    """[RFC-0008] [RFC-0007] what is none has its code."""
    world.fails("E001", "lint", "nowhere")
    (world.project / "loose.md").write_text("# L\n")
    assert "no SKILL.md beside it or above" in world.fails("E010", "lint", "loose.md").stderr
    (world.project / "empty").mkdir()
    world.fails("E010", "lint", "empty")
    world.fails("E100", "lint")
    world.fails("E100", "lint", "pdf", "--format", "xml")
    world.fails("E022", "lint", "--all", "nowhere")
    assert "'loose.md' is a file" in world.fails("E100", "lint", "--all", "loose.md").stderr
    put(world)
    for option in ("--select", "--ignore"):
        assert f"{option} needs a rule" in world.fails("E100", "lint", "pdf", option, ",").stderr


def test_all(world: World) -> None:
    """[RFC-0008] every skill of the stores, or below folders; one that fails does not stop the others."""
    assert world.ok("lint", "--all").stdout.startswith("No skills to check: there is no SKILL.md")
    put(world)
    world.skill("bad", BAD)
    world.skill("mine", GOOD.replace("pdf", "mine").replace("PDF", "mine"), store=world.global_store)
    run = world.skc("lint", "--all")
    assert run.returncode == 1
    assert run.stdout.splitlines()[-1].startswith("3 skills: 1 error, ")
    for folder in (".claude/skills/one", "deep/er/two", "deep/er/two/inner", "node_modules/three"):
        world.skill(Path(folder).name, GOOD, store=world.project / Path(folder).parent)
    run = world.skc("lint", "--all", ".claude", "deep", "--format", "json")
    assert [skill["skill"] for skill in json.loads(run.stdout)["skills"]] == ["one", "two"]
    (world.store / "bad" / ".skilllint.toml").write_text("x")
    run = world.skc("lint", "--all", "--format", "json")
    assert run.returncode == 1
    result = json.loads(run.stdout)
    assert [skill["skill"] for skill in result["skills"]] == ["pdf", "mine"]
    assert [failure["code"] for failure in result["failed"]] == ["E071"]


def test_fix(world: World) -> None:
    """[RFC-0008] --fix says what it did and what is left; twice is once."""
    folder = put(world, COMMA)
    assert "(1 can be fixed with --fix)" in world.ok("lint", "pdf").stdout
    run = world.ok("lint", "pdf", "--fix")
    assert run.stdout.startswith("Fixed SKL114 allowed-tools-format in SKILL.md\npdf: nothing to fix\n")
    text = (folder / "SKILL.md").read_text()
    assert "allowed-tools: A B\n" in text
    assert world.ok("lint", "pdf", "--fix").stdout.startswith("pdf: nothing to fix\n")
    assert (folder / "SKILL.md").read_text() == text
    put(world, COMMA)
    result = world.json("lint", "pdf", "--fix")
    assert result["skills"][0]["fixed"] == [
        {"rule": "SKL114", "name": "allowed-tools-format", "file": "SKILL.md"}
    ]


def test_fix_that_can_not_be_written(world: World, unprivileged: tuple[str, ...]) -> None:
    """[RFC-0008] [RFC-0005] a folder that can't be written is one coded line, and nothing is lost."""
    folder = put(world, COMMA)
    folder.chmod(0o555)
    try:
        assert "ermission" in world.fails("E999", "lint", "pdf", "--fix", prefix=unprivileged).stderr
    finally:
        folder.chmod(0o755)
    assert (folder / "SKILL.md").read_text() == COMMA
    assert [path.name for path in folder.iterdir()] == ["SKILL.md"]


# What runs it elsewhere


def test_pre_commit_hook() -> None:
    """[RFC-0008] the hook runs `skc lint` on changed SKILL.md files."""
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert hook["id"] == "skc-lint"
    assert (hook["language"], hook["entry"]) == ("python", "skc lint")
    for name in ("SKILL.md", "a/SKILL.md", "a/skill.md", "a/README.md"):
        assert bool(re.search(hook["files"], name)) is (name != "a/README.md"), name


@pytest.mark.slow
def test_action(world: World) -> None:
    """[RFC-0008] the action's scripts, as the runner would run them, take no module from the checkout."""
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    assert action["runs"]["using"] == "composite"
    install, lint = [step["run"] for step in action["runs"]["steps"] if "run" in step]
    world.skill("one", BAD, store=world.project / "deep")
    world.skill("two", BAD, store=world.project / ".claude")
    for name in ("venv", "pip", "yaml", "pyromark", "skillc", "sitecustomize", "json"):
        (world.project / f"{name}.py").write_text(f"open({str(world.root / 'pwned')!r}, 'w')\n")
    tools = world.root / "bin"
    tools.mkdir()
    (tools / "python").symlink_to(sys.executable)
    shims = {"PATH": f"{tools}:{os.environ['PATH']}", "PYTHONPATH": str(world.project)}
    places = {"RUNNER_TEMP": str(world.root), "GITHUB_OUTPUT": str(world.root / "out"), "ACTION": str(ROOT)}
    bash = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"]
    # There is no network here, and what pip would download is in the environment of these tests.
    offline = install.replace("-m venv", "-m venv --without-pip --system-site-packages")
    offline = "\n".join(line for line in offline.splitlines() if "-m pip install" not in line)
    env = world.env | shims | places
    subprocess.run([*bash, offline], cwd=world.project, env=env, check=True)
    python = (world.root / "out").read_text().strip().removeprefix("python=")
    folder = Path(python).parent.parent / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}"
    (folder / "site-packages" / "tests.pth").write_text(os.path.dirname(os.path.dirname(yaml.__file__)))
    for paths in ("", "deep\n.claude"):
        run = subprocess.run(
            [*bash, lint],
            cwd=world.project,
            env=env | {"PYTHON": python, "PATHS": paths, "STRICT": "true", "SARIF_FILE": "out.sarif"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode == 1, run.stderr
        assert run.stdout.count("::error ") >= 4
        report = world.project / "out.sarif"
        assert len(json.loads(report.read_text())["runs"][0]["results"]) >= 4
        report.unlink()
    assert not (world.root / "pwned").exists()


def test_action_is_pinned() -> None:
    """[RFC-0008] what the action uses and downloads is named by its hash, the same as in uv.lock."""
    text = (ROOT / "action.yml").read_text()
    uses = re.findall(r"uses: (.*)", text)
    assert uses
    assert all(re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v[\d.]+", name) for name in uses)
    starts = re.findall(r"python\"? (-\w)", text, re.IGNORECASE)
    assert starts
    assert set(starts) == {"-I"}
    lock = tomllib.loads((ROOT / "uv.lock").read_text())
    packages = {package["name"]: package for package in lock["package"]}
    names = [entry["name"] for entry in packages["skillc"]["dev-dependencies"]["action"]]
    for name in names:  # and what these need
        names += [entry["name"] for entry in packages[name].get("dependencies", [])]
    requirements = (ROOT / "action-requirements.txt").read_text()
    pins = dict(re.findall(r"^([\w-]+)==(\S+)", requirements, re.MULTILINE))
    assert pins == {name: packages[name]["version"] for name in names}
    files = [file for name in names for file in (*packages[name]["wheels"], packages[name]["sdist"])]
    assert set(re.findall(r"--hash=(\S+)", requirements)) == {file["hash"] for file in files}


def test_huge_folders_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[RFC-0008] a search for skills ends after a number of directories, with E100."""
    monkeypatch.setattr("skillc.lint.lint.MAX_DIRECTORIES", 20)
    for number in range(30):
        (tmp_path / f"d{number}").mkdir()
    with pytest.raises(InvalidOption, match="more than 20 directories"):
        list(find_skills_below(str(tmp_path)))


def test_choice_of_rules(world: World) -> None:
    """[RFC-0008] --select checks some rules alone, also of style; --ignore leaves some out."""
    put(world, FRONT + "## Forms\n\n#### Deep\n[x](no.md)\n")

    def broken(*words: str) -> list[str]:
        report = json.loads(world.skc("lint", "pdf", *words, "--format", "json").stdout)
        return [finding["rule"] for finding in report["skills"][0]["findings"]]

    assert broken() == ["SKL301"]
    assert broken("--select", "SKL20") == ["SKL202", "SKL204", "SKL205"]
    assert broken("--select", "heading-h1,SKL301", "--select", "SKL205") == ["SKL202", "SKL205", "SKL301"]
    assert broken("--strict", "--ignore", "SKL2") == ["SKL301"]
    assert broken("--ignore", "all") == []
    wrong = world.fails("E100", "lint", "pdf", "--select", "heading-h2")
    assert "did you mean SKL202 heading-h1?" in wrong.stderr


def test_statistics_and_diff(world: World) -> None:
    """[RFC-0008] how often each rule is broken; what --fix would change, without changing it."""
    folder = put(world, front("description: Use when x") + "[x](no.md) [y](no.md)\n[z](gone.md)\n")
    before = (folder / "SKILL.md").read_bytes()
    counts = world.skc("lint", "pdf", "--statistics").stdout.splitlines()
    assert [line.split() for line in counts] == [
        ["COUNT", "RULE", "NAME"],
        ["2", "SKL301", "link-file-exists"],
        ["1", "SKL101", "name-required"],
        ["3", "findings", "in", "1", "skill"],
    ]
    result = json.loads(world.skc("lint", "pdf", "--statistics", "--format", "json").stdout)
    assert result["rules"][0] == {"rule": "SKL301", "name": "link-file-exists", "count": 2}
    assert (len(result["rules"]), result["skills"], result["failed"]) == (2, 1, 0)
    diff = world.skc("lint", "pdf", "--diff", "--fix").stdout
    assert "+name: pdf" in diff.splitlines()
    assert (folder / "SKILL.md").read_bytes() == before
    put(world)
    assert world.ok("lint", "pdf", "--statistics").stdout == "Nothing to fix.\n"
    put(world, GOOD + "[x](no.md)\n")
    run = world.skc("lint", "pdf", "--diff")
    assert (run.stdout, run.stderr) == ("", "info: --fix changes nothing in 'pdf'\n")


@pytest.mark.slow
@each(
    "text",
    [
        "---\nname: pdf\ndescription: Use when: x\nallowed-tools: A, B\n---",
        "\ufeff---\r\nname: pdf\r\ndescription: Use when: x\r\n---\r\n# PDF\r\n",
        "---\ndescription: Use when x\n---\n# PDF\n\nOne\u2028line\x0b, one\x85too.",
    ],
)
def test_diff_is_a_patch(world: World, text: str) -> None:
    """[RFC-0008] what --diff prints is what `git apply` takes, from the directory where it was printed."""
    folder = put(world, text.encode())
    diff = world.skc("lint", "pdf", "--diff").stdout.encode()
    assert b"--- a/.skillc/skills/pdf/SKILL.md\n" in diff
    subprocess.run(["git", "apply", "--whitespace=nowarn", "-"], cwd=world.project, input=diff, check=True)
    applied = (folder / "SKILL.md").read_bytes()
    put(world, text.encode())
    world.skc("lint", "pdf", "--fix")
    assert applied == (folder / "SKILL.md").read_bytes() != text.encode()


def test_explain(world: World) -> None:
    """[RFC-0008] each rule is explained: what it wants, and what to do."""
    text = world.ok("lint", "--explain", "heading-h1").stdout
    assert text.startswith(
        "SKL202 heading-h1 (off by default; --select, --strict or .skilllint.toml switch it on)"
    )
    rules = world.json("lint", "--explain", "all")["rules"]
    assert [rule["rule"] for rule in rules] == [rule.id for rule in RULES]
    assert all(rule["advice"] for rule in rules)
    world.fails("E100", "lint", "--explain", "SKL999")
