"""Attempts by what is started: arguments, programs, files that change."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from skillc.errors import CannotRun, SkillcError
from skillc.skills import hash_source, list_files
from skillc.startup import sha256_hex
from skillc.tools.process import run
from tests.tools.conftest import Bench
from tests.tools.escapes import attempt

METACHARACTERS = [
    *("; touch pwned", "| touch pwned", "&& touch pwned", "|| touch pwned", "& touch pwned"),
    *("$(touch pwned)", "`touch pwned`", "> pwned", ">> pwned", "< /etc/passwd", "\n touch pwned\n"),
    *("'; touch pwned; '", '"; touch pwned; "', "${IFS}touch${IFS}pwned", "*", "?", "[a-z]", "~"),
    *("{a,b}", "$HOME", "%s%n", "\\", "!!", "#", "\t", " ", "", "\u202e", "\x1b[31m", "a" * 10_000),
    *("ünïcödé", "\udcff"),
]


@attempt("shell metacharacters in an argument")
def metacharacters(bench: Bench) -> bool:
    show = "import os, sys; print([os.fsencode(word) for word in sys.argv[1:]])"
    expected = str([os.fsencode(word) for word in METACHARACTERS if len(word) < 100])
    words = [word for word in METACHARACTERS if len(word) < 100]
    found = bench.python(show, *words, read_only=False)
    script = bench.script('printf "%s" "$#"')
    counted = bench.run(script, *METACHARACTERS, read_only=False)
    untouched = not (bench.project / "pwned").exists()
    return not (found.output.strip() == expected and counted.output == str(len(METACHARACTERS)) and untouched)


@attempt("an argument that is an option of the sandbox")
def options(bench: Bench) -> bool:
    words = ["--bind", "/", "/", "--share-net", "--", "--pdeathsig", "clear", "-I", "--version", "--args"]
    return bench.run("echo", *words).output != " ".join(words) + "\n"


@attempt("a program outside the skill, by `..` or a link")
def leaving(bench: Bench) -> bool:
    outside = bench.outside / "evil.sh"
    outside.write_text("#!/bin/sh\necho evil\n")
    outside.chmod(0o755)
    bench.script("echo good")
    (bench.skill / "scripts" / "link.sh").symlink_to(outside)
    (bench.skill / "linked").symlink_to(bench.outside)
    up = os.path.relpath(outside, bench.skill)
    for name in (up, f"scripts/../{up}", "scripts/link.sh", "linked/evil.sh", str(outside)):
        try:
            bench.run(name)
        except CannotRun:
            continue
        return True
    return False


@attempt("a program in a relative entry of PATH")
def relative_path(bench: Bench) -> bool:
    for name in ("git", "probe-program"):
        (bench.project / name).write_text("#!/bin/sh\necho evil\n")
        (bench.project / name).chmod(0o755)
    bench.parent["PATH"] = f":.:{os.path.basename(bench.project)}:../project:/usr/bin:/bin"
    try:
        bench.run("probe-program")
    except CannotRun:
        return "evil" in bench.sh("probe-program; git --version").output
    return True


@attempt("a file without `#!` that a shell would run")
def no_interpreter(bench: Bench) -> bool:
    bench.script("#!/bin/sh\n", "plain.sh")
    launch = bench.launch("./scripts/plain.sh")
    (bench.skill / "scripts" / "plain.sh").write_text("echo evil")
    try:
        return "evil" in run(launch).output
    except CannotRun:
        return False


@attempt("a file of the skill swapped between approval and start")
def swapped_before(bench: Bench) -> bool:
    (bench.skill / "SKILL.md").write_text("---\nname: probe\ndescription: d\n---\n")
    launch = bench.launch(bench.script("cat $SKILLC_SKILL_DIR/part"), read_only=False)
    (bench.skill / "part").write_text("good")
    approved = digest(bench)

    def check() -> None:
        if digest(bench) != approved:
            raise SkillcError("the skill changed")

    assert run(launch, check=check).output == "good"
    for path, text in (("part", "evil"), ("scripts/probe.sh", "#!/bin/sh\necho evil\n")):
        before = (bench.skill / path).read_text()
        (bench.skill / path).write_text(text)
        try:
            run(launch, check=check)
        except SkillcError:
            (bench.skill / path).write_text(before)
            continue
        return True
    return False


def digest(bench: Bench) -> str:
    """What an approval is bound to."""
    found = list_files(str(bench.skill), hidden=True)
    return hash_source((file.name, sha256_hex((bench.skill / file.name).read_bytes())) for file in found)


@attempt("a file of the skill swapped after the last check")
def swapped_after(bench: Bench) -> bool:
    launch = bench.launch(bench.script("cat $SKILLC_SKILL_DIR/part"))

    def check() -> None:
        (bench.skill / "part").write_text("evil")

    return run(launch, check=check).output == "evil"


@attempt("a set-user-ID program")
def set_user_id(bench: Bench) -> bool:
    if os.geteuid() != 0:
        pytest.skip("only root can make a program of another user")
    program = bench.project / "whoami"
    program.write_bytes(Path("/usr/bin/id").read_bytes())
    os.chown(program, 65534, 65534)
    program.chmod(0o4755)
    bench.skill.joinpath("go").write_text(f"#!/bin/sh\n{program} -u\n")
    bench.skill.joinpath("go").chmod(0o755)
    return "65534" in bench.run("./go").output
