"""`skc tools`, `run` and `trust` as people, shells and agents use them."""

from __future__ import annotations

import dataclasses
import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, strategies as st

from skillc.tools import ToolCall, find_skill, sandbox
from skillc.tools.arguments import build_command_line, check_values
from skillc.tools.process import run
from skillc.tools.run import prepare
from skillc.tools.skill import load_executable
from tests.conftest import World
from tests.support.examples import examples
from tests.support.terminal import on_terminal
from tests.support.tools import executable, tool

SAY = tool(
    "say", "./scripts/say.sh {{text}} {{loud:--loud}}", "text | string | yes | What\nloud | boolean | no |"
)


@pytest.fixture
def mine(world: World) -> Path:
    """A skill of the user's own with a script that prints its arguments, one a line."""
    return executable(world.global_store, "mine", SAY, say='printf "%s\\n" "$@"')


def run_json(world: World, *words: str, status: int = 0) -> Any:
    result = world.skc("run", *words)
    assert result.returncode == status, result.stderr
    return json.loads(result.stdout)


def digest(world: World, name: str) -> str:
    return str(world.json("trust", "show", name)["digest"])


@pytest.mark.slow
def test_listing(world: World, mine: Path) -> None:
    """[D47] [D34] [TOOLS §9.2] [SURFACES: Tools] names `skill.tool`, in every form; warnings on stderr."""
    assert world.ok("tools", "mine").stdout == (
        "mine.say: Goes.\n  text             string, required. What\n  loud             boolean, optional.\n"
    )
    (plain,) = world.json("tools", "mine")
    assert (plain["name"], plain["source"], plain["read_only"]) == ("mine.say", {"skill": "mine"}, False)
    assert json.loads(world.ok("tools", "mine", "--format", "mcp").stdout)[0]["name"] == "mine.say"
    assert json.loads(world.ok("tools", "mine", "--format", "anthropic").stdout)[0]["name"] == "mine__say"
    (found,) = json.loads(world.ok("tools", "mine", "--format", "openai").stdout)
    assert found["function"]["name"] == "mine__say"
    world.skill("plain")
    assert world.json("tools", "plain") == []
    assert world.ok("tools", "plain").stdout == "'plain' declares no tools.\n"
    world.fails("E060", "run", "plain", "any")
    world.fails("E001", "tools", "nobody")
    executable(world.store, "odd", fields="colour: red\n")
    warning = "warning[W060]: SKILL.md: unknown frontmatter field 'colour' is ignored\n"
    assert world.ok("tools", "odd").stderr == warning


@pytest.mark.slow
@pytest.mark.parametrize("home", ["home", "./home", "home/../home", ""])
def test_relative_home(world: World, mine: Path, home: str) -> None:
    """[D45] a relative or empty HOME does not open the home directory to a tool."""
    if sandbox.choose() == sandbox.NONE:
        pytest.skip("no sandbox works here")
    executable(world.global_store, "mine", tool("look", "./scripts/look.sh"), look="cat .ssh/id; ls -a; pwd")
    (world.home / ".ssh").mkdir()
    (world.home / ".ssh" / "id").write_text("planted-secret")
    env = {"HOME": home, "SKILLC_HOME": str(world.home)}
    result = world.skc("run", "mine", "look", "--yes", cwd=world.home.parent, env=env)
    assert "planted-secret" not in result.stdout
    assert ".ssh\\n" not in result.stdout


@pytest.mark.slow
def test_the_envelope(world: World, mine: Path) -> None:
    """[D43] [TOOLS §4.3] [SURFACES: Tools] JSON on stdout with the sandbox that ran; status 0 for success."""
    envelope = run_json(world, "mine", "say", "--yes", "--param", "text=a  b; $(id)", "--param", "loud=true")
    assert envelope["output"] == "a  b; $(id)\n--loud\n"
    assert (envelope["success"], envelope["exit_code"], envelope["sandbox"]) == (True, 0, sandbox.choose())
    words = ("mine", "say", "--yes", "--param", "text=plain", "--format", "text")
    assert world.ok("run", *words).stdout == "plain\n"
    executable(world.global_store, "mine", tool("fail", "./scripts/fail.sh"), fail="echo no >&2; exit 3")
    envelope = run_json(world, "mine", "fail", "--yes", status=1)
    assert (envelope["success"], envelope["exit_code"], envelope["output"]) == (False, 3, "no\n")


@pytest.mark.slow
def test_values_as_json(world: World, mine: Path) -> None:
    """[D40] --json has typed values; what is wrong with them is said before anything starts."""
    given = json.dumps({"text": "ü\n", "loud": False})
    assert run_json(world, "mine", "say", "--yes", "--json", given)["output"] == "ü\n\n"
    for value in ('{"text": 1}', "{}", '{"text": "a", "x": 1}', '{"text": "-rf"}', '{"text": "a\\u0000"}'):
        world.fails("E062", "run", "mine", "say", "--yes", "--json", value)
    for value in ("{", "[]", "1" * 5000, "[" * 100_000):
        world.fails("E100", "run", "mine", "say", "--yes", "--json", value)
    many = world.fails("E100", "run", "mine", "say", "--json", f'{{"x": {"1" * 5000}}}').stderr
    assert "--json has an integer of more than 4300 digits" in many
    world.fails("E100", "run", "mine", "say", "--param", "text")
    world.fails("E100", "run", "mine", "say", "--param", "text=a", "--json", '{"text": "b"}')
    world.fails("E062", "run", "mine", "say", "--param", "text=a", "--param", "text=b")
    world.fails("E062", "run", "mine", "say", "--param", "text=a", "--param", "loud=perhaps")


def test_dry_run_manifest_and_log(world: World, mine: Path) -> None:
    """[TOOLS §7.1] [D42] [SURFACES: Tools] [RFC-0007] --dry-run starts nothing; the list for a prompt; a
    log without what was passed.
    """
    env = {"MY_TOKEN": "secret", "LC_ALL": "C.UTF-8"}
    result = json.loads(world.ok("run", "mine", "say", "--param", "text=x", "--dry-run", env=env).stdout)
    assert set(result) == {"argv", "cwd", "env", "sandbox"}
    assert result["argv"] == [str(mine / "scripts" / "say.sh"), "x"]
    assert result["cwd"] == str(world.home)
    assert result["env"]["SKILLC_SKILL_NAME"] == result["env"]["GIBBERISH_SKILL_NAME"] == "mine"
    assert "secret" not in json.dumps(result)
    lines = world.ok("tools", "mine", "--format", "manifest").stdout.splitlines()
    assert lines[0].startswith("You are a model that can do function calling")
    assert lines[2] == "[Skills]"
    assert lines[3].startswith("- mine.say: ")
    world.ok("run", "mine", "say", "--param", "text=hunter2", "--yes")
    world.ok("tools", "mine")
    log = (world.home / ".skillc" / "runtime" / "mine" / ".skillc-meta").rglob("logs.db*")
    data = b"".join(path.read_bytes() for path in log)
    assert b'"tool":"say"' in data.replace(b'": ', b'":')
    assert b"hunter2" not in data


@pytest.mark.slow
def test_modes(world: World) -> None:
    """[TOOLS §7.2] [TOOLS §6.3] [D48] a skill for Dev is there in Dev alone; --yes is for one run, also
    where it always asks.
    """
    executable(world.global_store, "dev", tool("go", "echo dev"), fields="modes: [Dev]\n")
    executable(world.global_store, "both", tool("go", "echo both"), fields="modes: [Meeting, Global]\n")
    failed = world.fails("E061", "run", "dev", "go", "--yes")
    assert "it is for mode Dev, not Global" in failed.stderr
    assert run_json(world, "dev", "go", "--yes", "--mode", "Dev")["success"]
    assert run_json(world, "both", "go", "--yes", "--mode", "Dev")["success"]
    world.fails("E061", "run", "both", "stop", "--yes")
    world.fails("E100", "run", "both", "go", "--mode", "Work")
    executable(world.global_store, "deploy", tool("go", "echo gone"), fields="always_ask: true\n")
    world.ok("trust", "allow", "deploy", "--digest", digest(world, "deploy"))
    world.fails("E063", "run", "deploy", "go")
    assert run_json(world, "deploy", "go", "--yes")["output"] == "gone\n"


@pytest.mark.slow
def test_without_a_terminal(world: World, mine: Path) -> None:
    """[D46] E063 until it is allowed by its current digest; any change asks again."""
    go = ("run", "mine", "say", "--param", "text=x")
    failed = world.fails("E063", *go)
    assert failed.stderr.startswith("error[E063]: approval required for 'mine'; run 'skc trust allow mine'\n")
    assert "skc trust allow mine --digest" in failed.stderr
    world.fails("E063", "trust", "allow", "mine")
    world.fails("E063", "trust", "allow", "mine", "--digest", "0" * 64)
    world.ok("trust", "allow", "mine", "--digest", digest(world, "mine"))
    world.ok(*go)
    (mine / "reference.md").write_text("New\n")
    world.fails("E063", *go)
    shown = world.json("trust", "show", "mine")
    assert (shown["decision"], shown["current"], shown["changed"]) == (None, False, ["added: reference.md"])
    assert [entry["current"] for entry in world.json("trust", "list")["entries"]] == [False]


@pytest.mark.slow
def test_denied(world: World, mine: Path) -> None:
    """[D46] deny beats --yes and what is bundled, and lasts when files change; allowing takes it back."""
    go = ("run", "mine", "say", "--param", "text=x", "--yes")
    denial = f"Denied 'mine' ({mine}); 'skc trust prune mine' undoes it\n"
    assert world.ok("trust", "deny", "mine").stdout == denial
    world.fails("E063", *go)
    (mine / "reference.md").write_text("New\n")
    world.fails("E063", *go)
    assert world.ok("trust", "allow", "mine", "--digest", digest(world, "mine")).stdout.startswith(
        "Allowed 'mine'"
    )
    world.ok(*go)
    world.ok("trust", "deny", "git")  # which would run without asking
    world.fails("E063", "run", "git", "status")
    executable(world.global_store, "bad", tool("go", "echo 'open"))  # which can't be read
    world.fails("E060", "trust", "allow", "bad", "--digest", "0" * 64)
    world.ok("trust", "deny", "bad")


@pytest.mark.slow
def test_trust_list_and_prune(world: World, mine: Path) -> None:
    """[D46] [SURFACES: Tools] the entries of `list`; those of folders that are gone are forgotten."""
    assert world.json("trust", "list") == {"entries": []}
    assert world.ok("trust", "list").stdout == "Nothing was decided yet.\n"
    world.ok("trust", "deny", "mine")
    (entry,) = world.json("trust", "list")["entries"]
    assert entry == {
        "skill": "mine",
        "path": str(mine),
        "decision": "deny",
        "digest": entry["digest"],
        "current": True,
    }
    assert "mine   deny      yes" in world.ok("trust", "list").stdout
    assert world.ok("trust", "prune").stdout == "Nothing to forget.\n"
    mine.rename(mine.with_name("moved"))
    assert world.json("trust", "prune") == {"pruned": [{"skill": "mine", "path": str(mine)}]}
    for words in (("frobnicate",), ("allow",), ("list", "mine"), ("show", "moved", "--digest", "x")):
        world.fails("E100", "trust", *words)


@pytest.mark.slow
def test_trust_explains_itself(world: World, mine: Path) -> None:
    """[D46] [D54] what trust means, what is trusted now, by which digest, and how to take it back."""
    world.ok("trust", "allow", "mine", "--digest", digest(world, "mine"))
    for text in (world.ok("trust").stdout, world.ok("trust", "--help").stdout.replace("\n", " ")):
        for words in ("Where a skill", "where a skill"), ("digest of everything in its folder",), ("prune",):
            assert any(each in text for each in words), words
    (row,) = [line for line in world.ok("trust").stdout.splitlines() if line.startswith("mine ")]
    assert row.split() == ["mine", "allow", "yes", digest(world, "mine")[:16], str(mine)]
    shown = world.ok("trust", "show", "mine").stdout
    assert "  decision  allowed until a file changes\n  next run  runs without a question\n" in shown
    assert "  undo      'skc trust prune mine' forgets the decision\n" in shown
    assert "  next run  runs without a question\n" in world.ok("trust", "show", "git").stdout
    world.ok("trust", "prune", "mine")
    assert "  next run  asks first\n" in world.ok("trust", "show", "mine").stdout
    world.ok("trust", "deny", "mine")
    assert "  next run  does not run\n" in world.ok("trust", "show", "mine").stdout


@pytest.mark.slow
def test_damaged_decisions(world: World, mine: Path) -> None:
    """[D46] everything asks: what is bundled, and with --yes, since a denial may be lost; nothing is lost."""
    file = world.home / ".skillc" / "trust.json"
    file.write_text("{")
    file.chmod(0o600)
    warning = f"warning[W067]: '{file}' is damaged: every tool asks again, also with --yes; your next"
    for words in (("mine", "say", "--param", "text=x", "--yes"), ("git", "status")):
        assert world.fails("E063", "run", *words).stderr.startswith(warning)
    assert world.ok("trust", "list").stderr.startswith(warning)
    assert "  next run  asks first\n" in world.ok("trust", "show", "git").stdout
    assert file.read_text() == "{"
    world.ok("trust", "allow", "mine", "--digest", digest(world, "mine"))
    assert file.with_name("trust.json.damaged").read_text() == "{"
    assert world.ok("run", "mine", "say", "--param", "text=x").stderr == ""
    assert world.skc("run", "git", "status").stderr == ""


# --- On a terminal -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_asking(world: World, mine: Path) -> None:
    """[TOOLS §6.3] [D46] [D54] the first run shows what it is and asks; "always" lasts until a change."""
    go = ("run", "mine", "say", "--param", "text=a\u202eb")
    status, out, shown = on_terminal(world, "\n", *go)
    assert status == 1
    assert "error[E063]" in shown
    status, out, shown = on_terminal(world, "a\n", *go)
    assert (status, json.loads(out)["output"]) == (0, "a\u202eb\n")
    for words in (
        "mine 1.0.0",
        "Made for a test.",
        f"your own skills ({mine})",
        "mine.say: Goes.",
        f'"{mine}/scripts/say.sh" "a\\u202eb"',
        "Run it?",
    ):
        assert words in shown
    assert "\u202e" not in shown
    assert "WARNING" not in shown
    status, _, shown = on_terminal(world, "", *go)
    assert (status, shown) == (0, "")
    (mine / "scripts" / "say.sh").write_text("#!/bin/sh\necho other\n")
    status, _, shown = on_terminal(world, "n\n", *go)
    assert status == 1
    assert "Since you allowed it:\n  changed: scripts/say.sh" in shown


@pytest.mark.slow
def test_asking_about_an_untrusted_skill(world: World) -> None:
    """[TOOLS §6.2] [D46] [D54] a banner, every time; there is no 'always', and 'never' is for good."""
    if sandbox.choose() == sandbox.NONE:
        pytest.skip("; ".join(sandbox.explain()))
    executable(world.store, "theirs", tool("go", "echo hi"), fields="read_only: true\n")
    for _ in range(2):
        status, out, shown = on_terminal(world, "y\n", "run", "theirs", "go")
        assert (status, json.loads(out)["output"]) == (0, "hi\n")
        assert "WARNING: this skill is not one of your own." in shown
    status, _, shown = on_terminal(world, "a\n", "run", "theirs", "go")
    assert status == 1
    assert "Run it? (y)es, this time, (N)o, ne(v)er: " in shown
    world.fails("E063", "run", "theirs", "go")
    status, _, shown = on_terminal(world, "v\n", "run", "theirs", "go")
    assert status == 1
    world.fails("E063", "run", "theirs", "go", "--yes")


def test_all_of_every_argument(world: World, mine: Path) -> None:
    """[D54] [TOOLS §6.3] long ones are counted and shown on request; no text reaches the first column."""
    value = "a" * 900 + "\nSkill:    harmless" + " " * 58 + "Skill:    other \ufe0f\u3164\u0301" + "b" * 900
    go = ("run", "mine", "say", "--param", f"text={value}")
    status, _, shown = on_terminal(world, "s\nn\n", *go, columns=60)
    assert status == 1
    first, second = shown.split("Run it?")[:2]
    short, whole = (part.replace("\n" + " " * 12, "") for part in (first, second))
    assert f"[… {len(value) - 600:,} more characters]" in short
    assert "(s)how all: " in second
    assert "a" * 900 + "\\nSkill:    harmless" in whole
    assert "other \\ufe0f\\u3164\\u0301" + "b" * 900 + '"' in whole
    lines = [line for line in shown.splitlines() if not line.startswith(("s", "Run it?", "error", "'skc"))]
    assert max(map(len, lines)) <= 60
    assert [line for line in lines if line.startswith("Skill:")] == ["Skill:    mine 1.0.0"]


def test_allowing_on_a_terminal(world: World, mine: Path) -> None:
    """[D46] shows the skill with all its commands, and asks."""
    status, _, shown = on_terminal(world, "n\n", "trust", "allow", "mine")
    assert status == 1
    assert "mine.say: ./scripts/say.sh {{text}} {{loud:--loud}}" in shown
    status, out, _ = on_terminal(world, "y\n", "trust", "allow", "mine")
    assert status == 0
    assert out.startswith("Allowed 'mine'")
    world.ok("run", "mine", "say", "--param", "text=x")


@pytest.mark.slow
def test_adopting_on_a_terminal(world: World) -> None:
    """[D46] shows where an import comes from, and asks; then it is like a skill of your own."""
    folder = executable(world.root / "from", "theirs", tool("go", "echo hi"))
    world.ok("build", str(folder), cwd=world.root)
    assert "not one of your own" in on_terminal(world, "n\n", "run", "theirs", "go")[2]
    for answer, expected in (("n\n", 1), ("y\n", 0)):
        status, _, shown = on_terminal(world, answer, "trust", "adopt", "theirs")
        assert status == expected
        assert f"imported from {folder}" in shown
    assert "not one of your own" not in on_terminal(world, "n\n", "run", "theirs", "go")[2]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted(world: World, number: signal.Signals) -> None:
    """[D44] the command is stopped; the envelope is on stdout and E065 on stderr."""
    executable(world.global_store, "slow", tool("go", "./scripts/go.sh"), go="touch started; exec sleep 600")
    subprocess.run(["git", "init", "-q", str(world.project)], check=True, env=world.env)
    process = subprocess.Popen(
        [sys.executable, "-m", "skillc", "run", "slow", "go", "--yes"],
        cwd=world.project,
        env=world.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not (world.project / "started").exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    process.send_signal(number)
    out, shown = process.communicate(timeout=120)
    assert process.returncode == 1
    envelope = json.loads(out)
    assert (envelope["success"], envelope["exit_code"]) == (False, None)
    assert shown.startswith("error[E065]")


@pytest.mark.slow
def test_nothing_started(world: World, mine: Path) -> None:
    """[D41] [D55] [D43] [TOOLS §9.3] E060 to E066: an envelope on stdout with the error and its code."""
    executable(world.global_store, "bad", tool("go", "echo 'open"))
    for name, program in (("lost", "no-such-program"), ("out", "../x.sh"), ("absolute", "/bin/ls")):
        executable(world.global_store, name, tool("go", program))
    for code, *words in (
        ("E060", "bad", "go"),
        ("E061", "mine", "nothing"),
        ("E062", "mine", "say"),
        ("E062", "mine", "say", "--param", "text=x", "--param", "loud=perhaps"),
        ("E063", "mine", "say", "--param", "text=x"),
        ("E064", "lost", "go", "--yes"),
        ("E064", "out", "go", "--yes"),
        ("E064", "absolute", "go", "--yes"),
    ):
        failed = world.fails(code, "run", *words)
        envelope = json.loads(failed.stdout)
        line = failed.stderr.splitlines()[0]
        assert line == f"error[{code}]: {envelope.pop('error')}"
        assert envelope == {
            "success": False,
            "exit_code": None,
            "output": "",
            "truncated": False,
            "duration_ms": 0,
            "sandbox": "none",
            "code": code,
        }
        assert world.fails(code, "run", *words, "--format", "text").stdout == ""
    for code, *words in ("E001", "unknown", "go"), ("E100", "mine", "say", "--json", "{"):
        assert world.fails(code, "run", *words).stdout == ""


def test_a_link_that_leaves(world: World) -> None:
    """[D64] [D55] [D42] E012 where a link leaves; E064 without a repository or a home; in the envelope."""
    folder = executable(world.global_store, "linked", tool("go", "echo"))
    (folder / "out").symlink_to(world.root)
    failed = world.fails("E012", "run", "linked", "go", "--yes")
    assert json.loads(failed.stdout)["code"] == "E012"
    assert "linked" in world.ok("sources", "linked").stdout
    executable(world.project, "mine", tool("go", "echo"))
    failed = world.fails("E064", "run", str(world.project / "mine"), "go", "--yes", env={"HOME": ""})
    envelope = json.loads(failed.stdout)
    assert envelope["code"] == "E064"
    assert "set HOME" in envelope["error"]


@pytest.mark.slow
def test_names_that_deceive(world: World) -> None:
    """[D46] a folder's name can hold anything; nothing of it reaches the terminal as it is."""
    folder = executable(world.root / "elsewhere", "plain", tool("go", "echo hi"))
    odd = folder.rename(folder.with_name("a\x1b[2J\u202e\nb"))
    for words in (
        ("run", str(odd), "go"),
        ("tools", str(odd)),
        ("trust", "show", str(odd)),
        ("trust", "deny", str(odd)),
        ("trust", "list"),
        ("run", str(odd), "go", "--yes"),
        ("trust", "allow", str(odd), "--digest", "0"),
        ("trust", "prune", str(odd)),
    ):
        result = world.skc(*words)
        text = result.stdout + result.stderr
        assert "Traceback" not in text
        assert not {"\x1b", "\u202e"} & {*text}, words


# --- What arrives ------------------------------------------------------------------------------------


PAGE = Path(__file__).parent.parent.parent / "docs" / "tools.md"


def test_the_example_of_the_page(world: World) -> None:
    """[TOOLS §3.1] [D37] its tool is read without a warning and runs."""
    (text,) = re.findall(r"^````markdown title=.*?\n(.*?)^````$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    folder = world.skill("search", text, store=world.global_store)
    skill = load_executable(str(folder), "search")
    assert skill.diagnostics == ()
    (tool,) = skill.tools
    made = build_command_line(tool.template, check_values(tool.parameters, {"word": "-x", "exact": True}))
    assert made == ["grep", "-r", "-m", "20", "--word-regexp", "-e", "-x", "--", "notes"]
    (world.home / "notes").mkdir()
    (world.home / "notes" / "today.txt").write_text("buy milk\nsell -x\n")
    result = json.loads(world.ok("run", "search", "find_notes", "--param", "word=milk", "--yes").stdout)
    assert result["output"] == "notes/today.txt:buy milk\n"


# Each argument in hex, one a line, so that nothing of it can be taken for something else.
SPELL = 'for a in "$@"; do printf "%s" "$a" | od -An -v -tx1 | tr -d " \\n"; echo; done'
ROWS = "text | string | yes | Text\nitems | array | no | Items"

texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)


@pytest.mark.slow
@examples(15)
@given(texts, st.lists(texts, max_size=3))
@example("{{items}} $(id) `id` ${HOME} * ~ ; | & > \\ ' \" \n", ["{{text}}", "", "-n", "a  b"])
def test_the_arguments_of_a_real_process(world: World, text: str, items: list[str]) -> None:
    """[D36] [D38] [TOOLS §6.1] [TOOLS §3.5] exactly the promised arguments arrive, byte for byte."""
    folder = world.global_store / "spell"
    if not folder.exists():
        command = "./scripts/spell.sh fixed --text={{text}} -- {{text}} {{items}}"
        executable(world.global_store, "spell", tool("spell", command, ROWS), spell=SPELL)
    found = find_skill("spell", str(world.project))
    prepared = prepare(
        ToolCall(found, "spell", {"text": text, "items": items}, str(world.project)), world.env
    )
    envelope = run(dataclasses.replace(prepared.launch, sandbox=sandbox.NONE))
    expected = ["fixed", f"--text={text}", "--", text, *items]
    assert envelope.output.split("\n")[:-1] == [word.encode().hex() for word in expected]
