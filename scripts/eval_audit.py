"""What `skc audit` finds, in numbers: recall on known-bad skills by class, alarms on clean ones.

    scripts/eval-audit [--tune] [--misses] [--bad <folder>]... [--injections <file>]... [--clean <folder>]...

- Own: the skills of eval-audit.txt, written for this. Every second one of a class is held out; `--tune` shows
  the others only, and `--misses` names what was not found.
- Of others: the skills of eval-audit-sets.json, in ten languages and more, by writers who had not read the
  rules. These were tuned on each set afterwards (docs/audit-measured.md).
- `--bad`: folders of skills that are known to be bad, such as an archive of what a registry took down.
- `--injections`: a JSON file of instructions to put into clean skills, as aisa-group/skill-inject has them.
  Each is put into a skill of its own, with the scripts that come with it.
- `--clean`: folders of public skills. Not all of them are clean; what counts is how many would be stopped.

Found means: a finding of level review or block, whatever its rule.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import json
import os
import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.util import MAGIC_NUMBER
from pathlib import Path
from typing import Any, NamedTuple

from skillc.audit import BLOCK, NOTE, Audit, audit_folders
from skillc.lint import find_skills_below

HERE = Path(__file__).parent
CLEAN = "clean"
_MACRO = re.compile(r"\{\{(\w+):((?:[^{}]|\{[^{}]*\}|\}(?!\}))*)\}\}", re.DOTALL)


class Case(NamedTuple):
    group: str
    name: str
    files: dict[str, str]
    held_out: bool


def read_cases(text: str) -> Iterator[Case]:
    """Yield the skills of a file as eval-audit.txt describes it."""
    counts: Counter[str] = Counter()
    for part in re.split(r"^=== ", text, flags=re.MULTILINE)[1:]:
        head, _, body = part.partition("\n")
        group, name = head.split()
        counts[group] += 1
        pieces = re.split(r"^--- (\S+)\n", body, flags=re.MULTILINE)
        files = dict(zip(pieces[1::2], pieces[2::2], strict=True))
        if pieces[0].strip():
            files["SKILL.md"] = pieces[0]
        yield Case(group, name, files, counts[group] % 2 == 0)


def write_case(case: Case, root: Path) -> Path:
    """Write a skill into a folder of its own, and return the folder."""
    folder = root / f"{case.group}-{case.name}"
    files = {"SKILL.md": f"Does {case.name}.\n"} | case.files
    for name, text in files.items():
        path = folder / name.removeprefix("link:")
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.startswith("link:"):
            path.symlink_to(text.strip())
        elif "{{elf:" in text:
            path.write_bytes(b"\x7fELF\x02\x01\x01" + bytes(64))
        else:
            path.write_text(expand(_with_frontmatter(name, text, folder.name)), encoding="utf-8")
    return folder


def _with_frontmatter(name: str, text: str, skill: str) -> str:
    if name != "SKILL.md" or text.startswith("---\n"):
        return text
    return f"---\nname: {skill}\ndescription: A skill for the measurement.\n---\n# {skill}\n\n{text}"


def expand(text: str) -> str:
    """Return a text with what its macros stand for."""

    def value(match: re.Match[str]) -> str:
        kind, inner = match[1], match[2]
        data = inner.encode()
        forms = {
            "tags": lambda: "".join(chr(0xE0000 + byte) for byte in data),
            "selectors": lambda: "".join(chr(0xFE00 + b if b < 16 else 0xE0100 + b - 16) for b in data),
            "bits": lambda: "".join(
                "\u200b\u200c"[byte >> bit & 1] for byte in data for bit in range(7, -1, -1)
            ),
            "base64": lambda: base64.b64encode(data).decode(),
            "utf16": lambda: base64.b64encode(inner.encode("utf-16-le")).decode(),
            "hex": data.hex,
            "gzip": lambda: base64.b64encode(gzip.compress(data, mtime=0)).decode(),
            "rot13": lambda: inner.translate(
                str.maketrans("abcdefghijklmnopqrstuvwxyz", "nopqrstuvwxyzabcdefghijklm")
            ),
            "reverse": lambda: inner[::-1],
            "u": lambda: chr(int(inner, 16)),
        }
        return forms[kind]()

    return _MACRO.sub(value, text)


def level_of(audit: Audit) -> str:
    return "" if audit.level == NOTE else audit.level


def audit_all(folders: Sequence[Path]) -> list[Audit]:
    results = audit_folders([(str(folder), folder.name) for folder in folders])
    return [result for result in results if isinstance(result, Audit)]


def print_row(name: str, levels: Sequence[str]) -> None:
    count = len(levels) or 1
    found, blocked = sum(map(bool, levels)), levels.count(BLOCK)
    print(
        f"{name:<34} {len(levels):>6} {found:>6} {found / count:>7.0%} {blocked:>7} {blocked / count:>8.1%}"
    )


def print_head(title: str) -> None:
    print(f"\n{title:<34} {'skills':>6} {'found':>6} {'recall':>7} {'blocked':>7} {'of all':>8}")


def measure_own(tune: bool, misses: bool) -> None:
    """Print the recall of our own set, class by class."""
    cases = list(read_cases((HERE / "eval-audit.txt").read_text(encoding="utf-8")))
    cases = [case for case in cases if not (tune and case.held_out)]
    with tempfile.TemporaryDirectory() as root:
        audits = audit_all([write_case(case, Path(root)) for case in cases])
    levels = dict(zip([(c.group, c.name) for c in cases], map(level_of, audits), strict=True))
    for title, held_out in (("own, tuned on", False), ("own, held out", True)):
        chosen = [case for case in cases if case.held_out == held_out]
        if not chosen:
            continue
        print_head(title)
        bad = [case for case in chosen if case.group != CLEAN]
        for group in dict.fromkeys(case.group for case in chosen):
            print_row(group, [levels[c.group, c.name] for c in chosen if c.group == group])
        print_row("all bad ones", [levels[case.group, case.name] for case in bad])
    if misses:
        for case in cases:
            if bool(levels[case.group, case.name]) == (case.group == CLEAN) and not (tune and case.held_out):
                print("missed:" if case.group != CLEAN else "false alarm:", case.group, case.name)


def measure_sets(misses: bool) -> None:
    """Print the recall of the sets that another person wrote, and the alarms on their harmless skills."""
    sets = json.loads((HERE / "eval-audit-sets.json").read_text(encoding="utf-8"))
    print_head("of others")
    for name, skills in sets.items():
        with tempfile.TemporaryDirectory() as root:
            audits = audit_all([write_skill(skill, Path(root)) for skill in skills])
        levels = dict(zip([skill["name"] for skill in skills], map(level_of, audits), strict=True))
        for label in ("malicious", "benign"):
            chosen = [skill for skill in skills if skill["label"] == label]
            print_row(f"{name}, {label}", [levels[skill["name"]] for skill in chosen])
            for skill in chosen if misses else ():
                if bool(levels[skill["name"]]) != (label == "malicious"):
                    print("  ", "missed:" if label == "malicious" else "false alarm:", skill["name"])


def write_skill(skill: dict[str, Any], root: Path) -> Path:
    """Write a skill of eval-audit-sets.json into a folder of its own, and return the folder."""
    folder = root / str(skill["name"])
    for name, content in skill["files"].items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            path.write_text(content, encoding="utf-8", newline="")
        elif "link" in content:
            path.symlink_to(content["link"])
        elif "bytecode" in content:  # what it does is not looked at
            path.write_bytes(MAGIC_NUMBER + content["bytecode"].to_bytes(4, "little") + bytes(8))
        else:
            path.write_bytes(base64.b64decode(content["base64"]))
    return folder


def measure_folders(folders: Sequence[str], title: str, misses: bool) -> None:
    """Print how many skills of public collections are found, and what for."""
    print_head(title)
    for folder in folders:
        started = time.perf_counter()
        skills = [Path(skill.source) for skill in find_skills_below(os.path.realpath(folder))]
        audits = audit_all(skills)
        seconds = time.perf_counter() - started
        print_row(os.path.basename(folder.rstrip("/"))[:34], [level_of(audit) for audit in audits])
        rules = Counter(
            rule for audit in audits for rule in {f.rule for f in audit.findings if f.level == BLOCK}
        )
        print(
            f"  {seconds:.0f} s; blocks by rule: {', '.join(f'{r.id} {n}' for r, n in rules.most_common())}"
        )
        for audit in audits if misses else ():
            if (title == "bad") != bool(level_of(audit)):
                print("  ", "missed:" if title == "bad" else level_of(audit), audit.folder)


def measure_injections(files: Sequence[str], misses: bool) -> None:
    """Print how many instructions are found when each is put into a skill of its own."""
    print_head("injections")
    for file in files:
        cases = [*_read_injections(Path(file))]
        with tempfile.TemporaryDirectory() as root:
            audits = audit_all([write_case(case, Path(root)) for case in cases])
        print_row(Path(file).name[:34], [level_of(audit) for audit in audits])
        for case, audit in zip(cases, audits, strict=True) if misses else ():
            if not level_of(audit):
                print("  missed:", " ".join(case.files["SKILL.md"].split())[:150], [*case.files][1:])


def _read_injections(file: Path) -> Iterator[Case]:
    """Yield a skill for each injection: its line in SKILL.md, and the scripts that come with it."""
    for number, entry in enumerate(json.loads(file.read_text(encoding="utf-8"))):
        files = {"SKILL.md": str(entry["instructions"]["line_injection"])}
        for name, path in entry.get("task_scripts", {}).items():
            if (file.parent / path).is_file():
                files[f"scripts/{name}"] = (file.parent / path).read_text(encoding="utf-8", errors="replace")
        yield Case("injection", str(number), files, False)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure what `skc audit` finds.")
    parser.add_argument("--tune", action="store_true", help="leave out what is held out")
    parser.add_argument("--misses", action="store_true", help="name what was missed")
    parser.add_argument("--bad", action="append", default=[], help="folder of known-bad skills")
    parser.add_argument("--injections", action="append", default=[], help="JSON file of instructions")
    parser.add_argument("--clean", action="append", default=[], help="folder of public skills")
    arguments = parser.parse_args()
    measure_own(arguments.tune, arguments.misses)
    if not arguments.tune:
        measure_sets(arguments.misses)
    if arguments.bad:
        measure_folders(arguments.bad, "bad", arguments.misses)
    if arguments.injections:
        measure_injections(arguments.injections, arguments.misses)
    if arguments.clean:
        measure_folders(arguments.clean, "public", arguments.misses)


if __name__ == "__main__":
    main()
