"""Documents that must not fall behind the code."""

from __future__ import annotations

import inspect
import json
import os
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from skillc import errors
from skillc.audit import policy
from skillc.audit.policy import Exemption
from skillc.cli.summaries import NAMES
from skillc.compiler import read_agents
from skillc.errors import tree
from skillc.library.repositories import config
from skillc.lint import config as lint_config
from skillc.registry import ReviewRules
from skillc.server import configuration
from tests.support.blocks import Block, Need, compare_json, fits, read_steps
from tests.support.cases import each
from tests.support.needs import NEEDS
from tests.support.reader import Reader

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
INJECTED = {f"SKILLC_{name}" for name in ("SKILL_NAME", "SKILL_DIR", "MODE")}  # into a tool that runs


def test_every_name_is_documented() -> None:
    """[RFC-0005] [RFC-0007] [RFC-0009] codes are in diagnostics.md, commands in README, variables in
    configuration.md.
    """
    listed = re.findall(r"^\| ([EW]\d{3}) \|", (ROOT / "docs/diagnostics.md").read_text(), re.MULTILINE)
    classes = [v for v in (vars(errors) | vars(tree)).values() if isinstance(v, type)]
    codes = {c.code for c in classes if issubclass(c, errors.SkillcError)} | set(errors.WARNINGS)
    assert sorted(listed) == sorted(codes)
    readme = (ROOT / "README.md").read_text()
    assert [name for name in NAMES if f"skc {name}" not in readme] == []
    assert f"[{len(read_agents())} agents]" in readme
    assert f"[{len(read_agents())} are known]" in (ROOT / "docs/start/authors.md").read_text()
    sources = "\n".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    used = set(re.findall(r"\b(?:SKILLC|SKC)_[A-Z_]*[A-Z]\b", sources)) - INJECTED
    shown = find_keys("configuration.md", "## Environment")
    assert used - shown == {"SKILLC_GIT_TOKEN_WORK"}  # an example of the one with <ANY>
    assert {name for name in shown if name.startswith("SK")} - used == {"SKILLC_GIT_TOKEN_<ANY>"}


def test_promises_have_tests() -> None:
    """[RFC-0007] a promise without a test is not made: each test that a page names is there."""
    named = [
        (page.name, *place)
        for page in DOCS.rglob("*.md")
        for place in re.findall(r"`((?:tests/)?[\w/]*test_\w+\.py)(?:::(\w+))?`", page.read_text())
    ]
    files = {path.relative_to(ROOT).as_posix(): path.read_text() for path in (ROOT / "tests").rglob("*.py")}
    texts = {(page, file, name): text_of(files, file) for page, file, name in named}
    assert len(texts) > 300
    assert [place for place, text in texts.items() if not text or f"def {place[2]}" not in text] == []


def text_of(files: dict[str, str], end: str) -> str:
    """The text of the file with this path, or whose path ends so."""
    return next((text for path, text in files.items() if f"/{path}".endswith(f"/{end}")), "")


LONG = {
    "diagnostics.md",
    "conformance.md",
    "security-attacks.md",
    "specification.md",
}  # to look things up in; not read as a whole


def test_pages() -> None:
    """[RFC-0007] at most 2,000 words; those that messages name and links lead to are there."""
    pages = {page.relative_to(DOCS).as_posix(): len(page.read_text().split()) for page in DOCS.rglob("*.md")}
    too_long = {name: words for name, words in pages.items() if words > 2000}
    assert too_long.keys() - LONG == set()
    assert pages.keys() >= LONG
    files = [*(ROOT / "src").rglob("*.py"), *(ROOT / "src").rglob("*.toml"), *(ROOT / "packaging").iterdir()]
    texts = [path.read_text() for path in files if path.is_file()]
    lines = [
        line for text in texts for line in text.splitlines() if ">>>" not in line and "    ([" not in line
    ]
    named = {name for line in lines for name in re.findall(r"\bdocs/([\w/-]+\.md)", line)}
    assert "registry-ci.md" in named
    assert [name for name in sorted(named) if not (DOCS / name).exists()] == []
    for document in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text()):
            # The pages of reference/ are made with the site; tests/test_site.py follows links to them.
            is_made = "reference/" in target
            assert is_made or (document.parent / target).exists(), f"{document.name}: {target}"


@pytest.mark.slow
def test_readme_and_demo_from_a_clone(tmp_path: Path) -> None:
    """[RFC-0007] README's five commands as they stand, in a clone and an empty home; then scripts/demo there.

    The demo says what it does before it does it, and touches no home but its own. It gets the environment of
    README's commands: to fill a second one would take a minute, and show the same.
    """
    clone, home = tmp_path / "clone", tmp_path / "home"
    home.mkdir()
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    network = ("_PROXY", "_CERT", "_BUNDLE", "_FILE", "INDEX_URL")  # how this machine reaches PyPI
    env = {name: os.environ[name] for name in os.environ if name.upper().endswith(network)}
    env |= {"HOME": str(home), "PATH": os.environ["PATH"]}
    # Downloads are kept from one run to the next, and only what is imported is compiled.
    env |= {"PIP_CACHE_DIR": str(ROOT / ".cache" / "pip"), "PIP_NO_COMPILE": "1"}

    def run(*words: str, text: str = "") -> str:
        done = subprocess.run(
            words, input=text, cwd=clone, env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    (block,) = [step for step in read_steps(ROOT / "README.md") if isinstance(step, Block)]
    assert len(block.text.splitlines()) == 5
    printed = run("bash", "-e", text=block.text)
    assert (home / ".claude/skills/release-notes/SKILL.md").is_file()
    for text in ("Built 'release-notes'", "release-notes  (", "### Breaking changes", "1  Breaking changes"):
        assert text in printed

    files = sorted(home.rglob("*"))
    (clone / ".cache").mkdir()
    (clone / ".venv").rename(clone / ".cache" / "demo")
    (clone / ".venv").symlink_to(clone / ".cache" / "demo")
    (clone / ".cache" / "pip").symlink_to(ROOT / ".cache" / "pip")
    printed = run("scripts/demo")
    titles = re.findall(r"^\n(.+)\n\$ skc (\w+)", printed, re.MULTILINE)
    assert [command for _, command in titles] == ["build", "find", "search", "show", "stats"]
    assert re.search(r"^Install skillc.*\nProcessing ", printed, re.MULTILINE)
    assert "1  Breaking changes" in printed
    assert sorted(home.rglob("*")) == files


PAGES = sorted(page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md") if "```" in page.read_text())


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_page(page: str, tmp_path: Path) -> None:
    """[RFC-0007] every block of a page, as it stands and in order, in an empty home."""
    with Reader(tmp_path) as reader:
        for step in read_steps(DOCS / page):
            try:
                if isinstance(step, Need):
                    NEEDS[step.name](reader)
                elif step.excuse is None:
                    reader.follow(step)
            except Exception as error:
                error.add_note(f"docs/{page}, line {step.line}")
                raise


def test_excuses() -> None:
    """[RFC-0007] a block that is not run says why; what pages take for granted is made for some page."""
    blocks = [(page, step) for page in PAGES for step in read_steps(DOCS / page) if isinstance(step, Block)]
    excuses = [(page, block) for page, block in blocks if block.excuse is not None]
    assert [(page, block.line) for page, block in excuses if len(block.excuse or "") < 5] == []
    assert 0 < len(excuses) < len(blocks) / 6
    for _, block in excuses:
        if block.language == "yaml":
            assert yaml.safe_load(block.text)
        if block.language == "json":
            assert json.loads(block.text)
        assert block.language != "toml"  # its reader can always read it
    named = {step.name for page in PAGES for step in read_steps(DOCS / page) if isinstance(step, Need)}
    assert named == NEEDS.keys()


@each(
    ("said", "printed", "is_so"),
    [
        ("Built 'pdf' in …", "Built 'pdf' in /tmp/x", True),
        ("a …", "a b\nc", False),  # within a line
        ("a\n…\nd", "a\nb\nc\nd", True),
        ("a\n…", "a", True),
        ("…\nd", "b\nc\nd\ne", False),
        ("A    B", "A  B", True),  # columns
        ("a.c", "abc", False),
    ],
)
def test_what_fits(said: str, printed: str, is_so: bool) -> None:
    """[RFC-0007] a page that says something else than a command prints is noticed."""
    assert fits(said, printed) is is_so


@each(
    ("said", "given", "difference"),
    [
        ({"a": 1, "b": "x…"}, {"a": 2.5, "b": "xyz"}, []),
        ({"a": 1}, {"a": 1, "b": 2}, ["$.b is only given"]),
        ({"a": 1}, {"a": None}, ["$.a is None, not 1"]),
        ({"a": True}, {"a": 1}, ["$.a is 1, not True"]),
        ([{"a": 1}, "…"], [{"a": 1}, {"b": 2}], []),
        (["…"], [1, 2], []),
        ([1, 2], [1], ["$ has 1 items, not 2"]),
    ],
)
def test_differences(said: object, given: object, difference: list[str]) -> None:
    """[RFC-0007] JSON with other keys, types or texts than a page says is noticed."""
    assert list(compare_json(said, given)) == difference


def find_block(page: str, title: str, has: str = "") -> dict[str, Any]:
    """Return the tables of a page's TOML block that shows a file."""
    steps = (step for step in read_steps(DOCS / page) if isinstance(step, Block))
    return next(tomllib.loads(step.text) for step in steps if step.title == title and has in step.text)


def find_keys(page: str, heading: str) -> set[str]:
    """Return the names in the first columns of the tables below a heading."""
    _, _, section = (DOCS / page).read_text().partition(f"\n{heading}\n")
    rows = re.findall(r"^\| (`.+?) \|", re.split(r"^## ", section, flags=re.MULTILINE)[0], re.MULTILINE)
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row)}


def test_keys_of_configuration() -> None:
    """[LIB: Configuration types] [RFC-0008] [SURFACES: Getting skills] [SURFACES: Registry model] pages of
    skills.toml, .skilllint.toml, audit.toml, registry.toml have their keys.
    """
    own = {key for keys in config.KEYS.values() for key in keys.split()}
    assert find_keys("repositories.md", "## The keys") == own | set(config._COMMON)
    assert find_block("repositories.md", ".skillc/skills.toml").keys() == {*config._TOP, "repositories"}
    shown = find_block("lint.md", ".skilllint.toml")
    assert shown.keys() == {*lint_config._LISTS, "rules", "limits"}
    assert shown["limits"] == lint_config.LIMITS
    policies = find_block("audit.md", "~/.skillc/audit.toml")
    assert policies.keys() == {*policy._TABLES, "rules", "allow"}
    assert policies["allow"][0].keys() == {*Exemption.__dataclass_fields__, "reason"}
    keys = re.findall(r'table\.\w+\("(\w+)"', inspect.getsource(configuration._read_oidc))
    assert len({*keys}) == len(configuration.OidcSettings.__dataclass_fields__)
    assert find_keys("registry-sign-in.md", "## The keys") >= {*keys}
    rules = find_block("registry-policies.md", "registry.toml")
    assert rules["policy"].keys() == {"minimum_age", "allow", "deny", "audited"}
    assert rules["review"].keys() == ReviewRules.__dataclass_fields__.keys()
    publishing = find_block("registry-ci.md", "registry.toml")["publishing"]
    assert publishing.keys() | {"audience"} == configuration.PublishingSettings.__dataclass_fields__.keys()
