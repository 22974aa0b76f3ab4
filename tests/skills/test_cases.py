"""The cases of a skill, in every dialect that is in use."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from skillc.skills import to_segment
from skillc.skills.cases import (
    CONTAINS,
    REGEX,
    SENTENCE,
    TOOL_ORDER,
    TOOL_USED,
    Case,
    ToolPattern,
    read_cases,
)
from tests.support.cases import each


def read(folder: Path, name: str, text: str) -> list[Case]:
    """Return the cases of a skill with one file; nothing of it may be refused."""
    path = folder / "evals" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    cases, diagnostics = read_cases(str(folder), "pdf")
    assert diagnostics == []
    path.unlink()
    return cases


def problems(folder: Path, name: str, data: bytes) -> list[str]:
    path = folder / "evals" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    cases, diagnostics = read_cases(str(folder), "pdf")
    assert cases == []
    path.unlink()
    return [each.line() for each in diagnostics]


TASK = {"id": 1, "prompt": "Fill it", "expected_output": "A form", "files": ["evals/files/a.pdf"]}


def test_both_words_for_expectations(tmp_path: Path) -> None:
    """[SURFACES: Evals] skill-creator says expectations, agentskills.io assertions."""
    (tmp_path / "evals" / "files").mkdir(parents=True)
    (tmp_path / "evals" / "files" / "a.pdf").write_text("A form")
    for word in ("expectations", "assertions"):
        value = {"skill_name": "pdf", "evals": [{**TASK, word: ["It has a name", {"text": "It has a date"}]}]}
        [case] = read(tmp_path, "evals.json", json.dumps(value))
        assert (case.name, case.prompt, case.expected, case.should_fire) == ("1", "Fill it", "A form", None)
        assert case.files == ("evals/files/a.pdf",)
        assert [(grader.kind, grader.text) for grader in case.graders] == [
            (SENTENCE, "It has a name"),
            (SENTENCE, "It has a date"),
        ]


def test_triggers(tmp_path: Path) -> None:
    """[SURFACES: Evals] lists, objects of lists, CSV, JSON lines and YAML say when it should fire."""
    listed = [{"query": "Fill a form", "should_trigger": True}, {"query": "Cook", "should_trigger": False}]
    texts = {
        "triggers.json": json.dumps(listed),
        "a.json": '{"should_trigger": ["Fill a form"], "should_not_trigger": ["Cook"]}',
        "a.jsonl": "\n".join(map(json.dumps, listed)) + "\n\n",
        "a.yaml": "- query: Fill a form\n  should_trigger: true\n- query: Cook\n  should_trigger: false\n",
        "a.csv": "id,should_trigger,prompt\n1,true,Fill a form\n2,no,Cook\n",
        "b.csv": "\ufeffID;Should_Trigger;Prompt\r\n1;1;Fill a form\r\n2;0;Cook\r\n",
    }
    for name, text in texts.items():
        found = [(case.prompt, case.should_fire) for case in read(tmp_path, name, text)]
        assert found == [("Fill a form", True), ("Cook", False)], name


def test_nvidia(tmp_path: Path) -> None:
    """[SURFACES: Evals] the expected skill says whether this one should fire, and a script is a call."""
    entries: list[dict[str, Any]] = [
        {"id": "a", "question": "Q1", "expected_skill": "pdf", "expected_script": "scripts/fill.py"},
        {"id": "b", "question": "Q2", "expected_skill": None, "expected_behavior": ["Says no"]},
        {"id": "c", "question": "Q3", "expected_skill": "acme/pdf", "acceptable_skills": ["forms"]},
        {"id": "d", "question": "Q4", "expected_skill": "pdf-forms", "ground_truth": "It is 4"},
        {"id": "e", "question": "Q5", "expected_skill": "forms", "acceptable_skills": ["acme/pdf"]},
    ]
    first, second, third, fourth, fifth = read(tmp_path, "evals.json", json.dumps(entries))
    assert fifth.should_fire is None  # it may
    assert [case.should_fire for case in (first, second, third, fourth)] == [True, False, True, False]
    assert first.graders[0].tools == (ToolPattern("", r"fill\.py"),)
    assert third.acceptable == ("forms",)
    assert (second.graders[0].text, fourth.expected) == ("Says no", "It is 4")


PROMPT = "---\nruns: 2\nmax_turns: 5\ntimeout_seconds: 60\nallowed_tools: [Read, Bash]\n---\nFill the form.\n"
GRADERS = {
    "a.md": "---\ntype: regex\npattern: done\nflags: i\nmatch: not_contains\n---\n",
    "b.md": "---\ntype: tool_used\ntool: Skill\nmin: 0\nmax: 0\n---\n",
    "c.md": "---\ntype: tool_order\narm: with-only\nbefore: {tool: Read, input_match: a}\nafter: Write\n---",
    "d.md": "---\ntype: llm\nfocus: trace\n---\n\nPASS if it is polite.\n",
    "e.md": "---\ntype: baseline\nbaseline_file: x.jsonl\n---\n",
    "f.md": "---\ntype: regex\npattern: x\ntarget: { source: file, path: out/a.txt }\n---\n",
}


def test_a_folder_for_each_case(tmp_path: Path) -> None:
    """[SURFACES: Evals] the folders of `claude plugin eval`, with their graders."""
    folder = tmp_path / "evals" / "fill"
    (folder / "graders").mkdir(parents=True)
    (folder / "prompt.md").write_text(PROMPT)
    for name, text in GRADERS.items():
        (folder / "graders" / name).write_text(text)
    (tmp_path / "evals" / "deep" / "other").mkdir(parents=True)
    yaml = "execution:\n  prompt: Other\ngraders:\n- type: llm\n  criteria: It is short\n"
    (tmp_path / "evals" / "deep" / "other" / "case.yaml").write_text(yaml)
    (other, case), diagnostics = read_cases(str(tmp_path), "pdf")
    assert diagnostics == []
    assert (other.name, other.prompt, other.graders[0].text) == ("other", "Other", "It is short")
    assert (case.name, case.prompt, case.should_fire) == ("fill", "Fill the form.", False)
    assert (case.runs, case.max_turns, case.timeout, case.tools) == (2, 5, 60.0, ("Read", "Bash"))
    regex, used, order, sentence, baseline, file = case.graders
    assert (regex.kind, regex.is_absent, regex.flags) == (REGEX, True, "i")
    assert (used.kind, used.least, used.most) == (TOOL_USED, 0, 0)
    assert (order.kind, order.tools, order.arms) == (
        TOOL_ORDER,
        (ToolPattern("Read", "a"), ToolPattern("Write")),
        ("with",),
    )
    assert (sentence.kind, sentence.text, sentence.target) == (SENTENCE, "PASS if it is polite.", "trace")
    assert (baseline.kind, baseline.text, file.target) == ("baseline", "e", "out/a.txt")


def test_other_words(tmp_path: Path) -> None:
    """[SURFACES: Evals] texts that an answer has to have, or not, are exact graders."""
    entry = {"name": "n", "input": "Hi", "must_contain": ["a"], "must_not": "b"}
    [case] = read(tmp_path, "case.json", json.dumps(entry))
    assert [(grader.kind, grader.pattern, grader.is_absent) for grader in case.graders] == [
        (CONTAINS, "a", False),
        (CONTAINS, "b", True),
    ]


def test_names_are_unique(tmp_path: Path) -> None:
    """[SURFACES: Evals] cases of one name in two files both count."""
    (tmp_path / "evals").mkdir()
    for name in ("a.json", "b.json"):
        (tmp_path / "evals" / name).write_text('[{"id": "x", "query": "Q"}, {"id": "x", "query": "R"}]')
    cases, _ = read_cases(str(tmp_path), "pdf")
    assert [case.name for case in cases] == ["x", "x-2", "x-3", "x-4"]


@each("name", ["a" * 64, "a" * 5000, "same", "漢字"])
def test_many_of_one_name(name: str, tmp_path: Path) -> None:
    """[SURFACES: Evals] each has a folder of results of its own, however many there are."""
    entries = [{"id": name, "query": f"Q{number}"} for number in range(500)]
    cases = read(tmp_path, "a.json", json.dumps(entries))
    assert len({to_segment(case.name) for case in cases}) == 500
    assert max(len(case.name) for case in cases) <= 200


def test_words_for_an_agent(tmp_path: Path) -> None:
    """[SURFACES: Evals] a case can't give an agent options, and numbers beyond all measure do not count."""
    limits = '"runs": Infinity, "max_turns": 1e999, "timeout_seconds": 0.5, "model": "--settings=/x"'
    [case] = read(
        tmp_path, "a.json", f'[{{"query": "Q", {limits}, "allowed_tools": ["Read", "--x", "a\\u0000"]}}]'
    )
    assert (case.runs, case.max_turns, case.timeout, case.model, case.tools) == (
        None,
        None,
        0.5,
        "",
        ("Read",),
    )


def test_more_words_of_nvidia(tmp_path: Path) -> None:
    """[SURFACES: Evals] phrases and patterns are exact graders; one that says nothing is none."""
    graders: list[Any] = [
        {"text": "Has it", "type": "contains_phrase", "phrase": "nvdsosd"},
        {"text": "No token", "type": "not_contains_pattern", "pattern": "sk-.*"},
        {"id": "ct", "kind": "json_path_value", "params": {"path": "modality"}},
        {"weight": 1},
    ]
    [case] = read(tmp_path, "evals.json", json.dumps([{"prompt": "Q", "assertions": graders}]))
    assert [(each.kind, each.text, each.pattern, each.is_absent) for each in case.graders] == [
        (CONTAINS, "Has it", "nvdsosd", False),
        (REGEX, "No token", "sk-.*", True),
        ("json_path_value", "ct", "", False),
    ]


@each(
    "name, data, words",
    [
        ("a.json", b"{", "can't be read"),
        ("a.json", b"[" * 100_000, "can't be read"),
        ("a.json", b'{"other": 1}', "no list of cases"),
        ("a.json", b"[1]", "neither an object nor text"),
        ("a.json", b'[{"id": 1}]', "has no prompt"),
        ("a.json", b'[{"prompt": "TODO: later"}]', "still to be written"),
        ("a.csv", b"prompt,should_trigger\nFill it,perhaps", "neither true nor false"),
        ("a.jsonl", b'{"prompt": "x"', "line 1"),
        ("a.yaml", b"a: [", "can't be read"),
        ("a.csv", b"", "no list of cases"),
        ("a.json", b"\xff\xfe\x00", "can't be read"),
        ("a.json", b'["a\\u0000b"]', "no program can be given"),
        ("a.json", b'["a\\ud800b"]', "no program can be given"),
        ("a.json", b'["' + b"\xc3\xa4" * 60_000 + b'"]', "a prompt of 120,000 bytes"),
        ("a.json", b" " * (5 << 20), "can't be read: over 4096 KiB"),
    ],
)
def test_what_can_not_be_read(name: str, data: bytes, words: str, tmp_path: Path) -> None:
    """[SURFACES: Evals] is a warning with its place, and never a traceback."""
    [line] = problems(tmp_path, name, data)
    assert line.startswith("warning[W110]: evals: evals/a.")
    assert words in line


def test_links_that_lead_out(tmp_path: Path) -> None:
    """[SURFACES: Evals] [D2] a file of cases outside of the skill is not read."""
    skill = tmp_path / "skill"
    (skill / "evals").mkdir(parents=True)
    (tmp_path / "secret.json").write_text('[{"query": "secret"}]')
    (skill / "evals" / "a.json").symlink_to(tmp_path / "secret.json")
    cases, [diagnostic] = read_cases(str(skill), "pdf")
    assert cases == []
    assert "escapes" in diagnostic.line()


@each("name", ["prompt.md", "case.yaml", "graders/a.md"])
def test_links_in_the_folder_of_a_case(name: str, tmp_path: Path) -> None:
    """[SURFACES: Evals] [D2] nor is one that would become a prompt, which models see."""
    skill = tmp_path / name.replace("/", "-")
    folder = skill / "evals" / "one"
    (folder / "graders").mkdir(parents=True)
    (folder / "prompt.md").write_text("Fill it")
    (tmp_path / "secret").write_text("prompt: secret")
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(tmp_path / "secret")
    cases, [diagnostic] = read_cases(str(skill), "pdf")
    assert cases == []
    assert "escapes" in diagnostic.line()


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """[SURFACES: Evals] a file that a run would start with is missed before anything is run."""
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals" / "a.json").write_text('[{"id": "x", "prompt": "Q", "files": ["none.pdf"]}]')
    [case], [diagnostic] = read_cases(str(tmp_path), "pdf")
    assert case.name == "x"
    assert "'x' starts with 'evals/none.pdf', which is not there" in diagnostic.line()


def test_a_skill_without_cases(tmp_path: Path) -> None:
    """[SURFACES: Evals] has none, and nothing is wrong with it."""
    assert read_cases(str(tmp_path), "pdf") == ([], [])
