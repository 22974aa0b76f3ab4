"""What a report looks like: text, JSON, SARIF, GitHub commands."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from skillc.contract import encode
from skillc.errors import InvalidConfiguration
from skillc.library import at_path
from skillc.lint import (
    RULES,
    Choice,
    Finding,
    estimate,
    find_rule,
    lint_skill,
    render_sarif,
    render_workflow_command,
)
from skillc.lint.rules import BY_ID
from tests.conftest import World
from tests.lint.skills import FRONT, Files, front, put, report
from tests.support.cases import each

DOCS = Path(__file__).parent.parent.parent / "docs" / "lint-rules.md"

# RFC-0008's table, as it stands in the specification; those of style are off until they are selected.
TABLE = """
SKL001 skip-compiled warning
SKL100 frontmatter-valid error
SKL101 name-required error
SKL102 name-format error
SKL103 name-length error
SKL104 name-match-dir warning
SKL105 description-required error
SKL106 description-nonempty error
SKL107 description-length warning
SKL108 description-triggers warning
SKL109 frontmatter-known warning
SKL201 skill-size warning
SKL202 heading-h1 off
SKL203 heading-match-name off
SKL204 heading-first-h1 off
SKL205 heading-hierarchy off
SKL301 link-file-exists error
SKL302 link-anchor-exists warning
SKL303 link-no-escape error
SKL401 no-orphans warning
"""


def test_the_table() -> None:
    """[RFC-0008] rules are the specification's and ours, are in docs/lint-rules.md, and have names."""
    ours = [f"{rule.id} {rule.name} {rule.severity}" for rule in RULES]
    assert set(TABLE.strip().splitlines()) <= set(ours)
    assert ours == sorted(ours)
    assert len({rule.name for rule in RULES}) == len(RULES)
    listed = re.findall(r"^\| (SKL\d{3}) \| ([\w-]+) \| (\w+) \|", DOCS.read_text(), re.MULTILINE)
    assert listed == [(rule.id, rule.name, rule.severity) for rule in RULES]
    assert find_rule("skl205") is find_rule("Heading-Hierarchy") is BY_ID["SKL205"]
    assert find_rule("SKL") is None


def test_order(world: World) -> None:
    """[RFC-0008] [D7] SKILL.md first; compiled skills are skipped, or linted after SKL001 with force."""
    found = report(
        world,
        front("name: Pdf", "description: x") + "### Deep\n[b](b.md) [A](A.md) [no](no.md)\n",
        {"b.md": "## B\n", "A.md": "## A\n"},
    ).findings
    places = [(f.file, f.line, f.rule.id) for f in found]
    assert places == sorted(places, key=lambda place: (place[0] != "SKILL.md", *place))
    folder = put(world, front("name: pdf", "description: x"), {".skillc-meta/manifest.json": "{}"})
    skipped = lint_skill(at_path(str(folder)))
    assert (skipped.skipped, skipped.findings, skipped.tokens) == (True, (), None)
    for choice, severity in ((Choice(), "warning"), (Choice(strict=True), "error")):
        found = lint_skill(at_path(str(folder)), force=True, choice=choice).findings
        assert [(f.rule.id, f.severity) for f in found] == [("SKL001", "warning"), ("SKL108", severity)]


def test_json(world: World) -> None:
    """[RFC-0008] the stable form."""
    found = report(world, front("name: PDF", "description: Use when x"), {"LICENSE.md": "MIT\n"})
    result = encode(found)
    assert json.loads(json.dumps(result)) == {
        "id": "pdf",
        "skill": "pdf",
        "path": str(world.store / "pdf"),
        "skipped": False,
        "errors": 1,
        "warnings": 1,
        "findings": [
            {
                "rule": "SKL102",
                "name": "name-format",
                "severity": "error",
                "message": "'PDF' must be a-z, 0-9 and hyphens, with none at either end",
                "file": "SKILL.md",
                "line": 2,
                "fixable": False,
            },
            {
                "rule": "SKL104",
                "name": "name-match-dir",
                "severity": "warning",
                "message": "'PDF' is not the directory's name, 'pdf'",
                "file": "SKILL.md",
                "line": 2,
                "fixable": False,
            },
        ],
        "fixed": [],
        "tokens": {
            "metadata": 4,
            "body": 3,
            "files": [{"file": "LICENSE.md", "tokens": 2}],
            "total": 9,
        },
    }


# SARIF


def test_sarif(world: World, tmp_path: Path) -> None:
    """[RFC-0008] SARIF 2.1.0: what its schema requires, and places relative to the directory given; files
    elsewhere have a file: address, and what failed is a notification.
    """
    text = front("name: PDF", "description: x") + "[a](no.md)\n"
    reports: Any = [report(world, text, {"a b/ü#?%.md": "## A\n"})]
    log = json.loads(json.dumps(render_sarif(reports, str(world.project))))
    assert set(log) == {"$schema", "version", "runs"}
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    assert set(run) == {"tool", "invocations", "results"}
    driver = run["tool"]["driver"]
    assert set(driver) == {"name", "version", "rules"}
    assert [rule["id"] for rule in driver["rules"]] == [rule.id for rule in RULES]
    for rule in driver["rules"]:
        keys = {"id", "name", "shortDescription", "defaultConfiguration", "help"}
        is_of_the_format = rule["id"][3] in "1234"
        assert set(rule) == keys | ({"helpUri"} if is_of_the_format else set())
        assert rule.get("helpUri", "") == "https://agentskills.io/specification" * is_of_the_format
        assert rule["help"]["text"] == BY_ID[rule["id"]].advice
        assert rule["defaultConfiguration"]["level"] in ("error", "warning", "none")
    assert run["invocations"] == [{"executionSuccessful": True, "toolExecutionNotifications": []}]
    assert len(run["results"]) == len(reports[0].findings)
    for result, finding in zip(run["results"], reports[0].findings, strict=True):
        assert set(result) == {"ruleId", "ruleIndex", "level", "message", "locations"}
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == finding.rule.id
        assert (result["level"], result["message"]) == (finding.severity, {"text": finding.message})
        (location,) = result["locations"]
        place = location["physicalLocation"]
        assert place["region"] == {"startLine": finding.line}
        assert place["artifactLocation"]["uri"].startswith(".skillc/skills/pdf/")
        assert re.fullmatch(r"[\w./%-]+", place["artifactLocation"]["uri"], re.ASCII)
    failure = InvalidConfiguration("x.toml", "no")
    run = render_sarif(reports, str(tmp_path / "elsewhere"), [failure])["runs"][0]
    uri = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == (world.store / "pdf" / "SKILL.md").as_uri()
    assert run["invocations"][0]["executionSuccessful"] is False
    notification = run["invocations"][0]["toolExecutionNotifications"][0]
    assert notification == {"level": "error", "message": {"text": failure.line()}}


# GitHub


@each(
    ("severity", "message", "path", "expected"),
    [
        ("error", "a", "SKILL.md", "::error file=SKILL.md,line=3,title=SKL102 name-format::a"),
        ("warning", "a: b, c", "x", "::warning file=x,line=3,title=SKL102 name-format::a: b, c"),
        ("error", "50%", "a,b:c%d", "::error file=a%2Cb%3Ac%25d,line=3,title=SKL102 name-format::50%25"),
        ("error", "a\r\nb", "x\ny", "::error file=x%0Ay,line=3,title=SKL102 name-format::a\\r\\nb"),
    ],
)
def test_workflow_commands(severity: str, message: str, path: str, expected: str) -> None:
    """[RFC-0008] the documented escapes: %, CR and LF everywhere, colon and comma in properties."""
    finding = Finding.of(BY_ID["SKL102"], severity, message, "SKILL.md", 3)
    assert render_workflow_command(finding, path) == expected


# Tokens


@each(
    ("text", "least", "most"),
    [
        ("", 0, 0),
        ("Extract text and tables from PDF files, fill forms, merge documents.", 12, 16),
        ("for (int i = 0; i < 10; i++) { total += values[i]; }\n", 18, 30),
        ("如何查看日志文件", 6, 9),
        ("ログを確認する", 5, 8),
        ("Установка и настройка", 5, 10),
        ("    " * 50, 1, 4),
        ("\n" * 100, 1, 4),
        ("1234567890", 3, 5),
        ("🚀" * 5, 5, 15),
        ("x" * 1000, 100, 300),
    ],
)
def test_estimate(text: str, least: int, most: int) -> None:
    """[RFC-0008] the estimate is sane for English, code, CJK and other text; bounds from real tokenizers."""
    assert least <= estimate(text) <= most


def test_tokens_of_files(world: World) -> None:
    """[RFC-0008] every text file is counted, what is no text is not; large ones from their beginning."""
    files: Files = {
        "big.txt": "word " * 200_000,
        "cut.txt": "日" * 100_000,
        "image.png": b"\x89PNG\0\xff",
        "latin.txt": b"caf\xe9",
        "run.py": "print()\n",
        ".hidden": "x",
        "empty.txt": "",
    }
    tokens = report(world, FRONT + "# PDF\n" + "word " * 10, files).tokens
    assert tokens is not None
    costs = {file.file: file.tokens for file in tokens.files}
    assert costs.keys() == {"big.txt", "cut.txt", "empty.txt", "run.py"}
    assert 190_000 < costs["big.txt"] < 210_000
    assert 99_000 < costs["cut.txt"] < 101_000
    assert costs["empty.txt"] == 0
    assert (tokens.metadata, tokens.body) == (11, 13)
    assert tokens.total == tokens.metadata + tokens.body + tokens.in_files
