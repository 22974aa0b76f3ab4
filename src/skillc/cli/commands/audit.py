"""`skc audit`: what a skill asks for, and what to look at before it is used."""

from __future__ import annotations

import os
import sys

from skillc import audit
from skillc.cli import print_lines
from skillc.cli.approval import attended_workspace
from skillc.cli.findings import show_audit
from skillc.cli.options import ALLOW_HOST, allowed_hosts
from skillc.cli.output import print_json
from skillc.cli.syntax import Arguments, Command
from skillc.errors import InvalidOption
from skillc.text import count_of, one_line

COMMAND = Command(f"""
skc audit

Lists the hosts, commands, variables, files and packages that a skill uses, and findings to look at. Runs
nothing. Findings have a level: note, review or block; the exit status is 1 at block. It is a report and no
verdict: a skill without findings can do harm, too. docs/audit-rules.md lists all rules.

[skill]... :skills  A skill's name, a folder with skills, or a source as for 'skc add'. Default: all skills
    here.
--policy <file>  File of what is allowed and denied. Default: audit.toml in ~/.skillc.
--baseline <file>  Leave out the findings in this file.
--write-baseline <file>  Write all findings to this file, as a baseline.
--notes  Let notes in the skills' own files allow findings; for skills that are yours.
--judge <command>  Command that gets each skill as JSON and answers with findings.
{ALLOW_HOST}
--format text|json|sarif =text  Output format.

$ skc audit pdf
$ skc audit ./downloads/skills --verbose
$ skc audit owner/repo --policy team.toml
$ skc audit --format sarif > audit.sarif
$ skc audit --write-baseline audit.json && skc audit --baseline audit.json
""")


def run(arguments: Arguments) -> int:
    here, form = attended_workspace(arguments), arguments.text("format")
    files = {name: arguments.optional(name) for name in ("policy", "baseline", "write_baseline")}
    if "" in files.values():
        name = next(name for name, file in files.items() if file == "")
        raise InvalidOption(f"--{name.replace('_', '-')} needs a file")
    target = files["write_baseline"] or ""
    result = here.audit(
        *arguments.texts("skill"),
        policy=files["policy"] or "",
        baseline=files["baseline"] or "",
        new_baseline=target,
        notes=arguments.has("notes"),
        judge=arguments.optional("judge"),
        hosts=allowed_hosts(arguments),
    )
    if result.written is not None:
        path = one_line(os.path.join(here.cwd, target))
        print(f"{count_of(result.written, 'finding')} written to '{path}'", file=sys.stderr)
    if form == "json":
        print_json(result.as_json())
    elif form == "sarif":
        print_json(audit.render_audit_sarif(result.audits, here.cwd, result.failures))
    elif not result.audits and not result.failures:
        print("No skills to audit: there is no SKILL.md in the stores, or in the folders that were given.")
    else:
        is_many = len(result.audits) > 1
        for each in result.audits:
            lines = show_audit(each, here.cwd, is_one_of_many=is_many, verbose=arguments.has("verbose"))
            print_lines(lines)
        if is_many:
            levels = [each.level for each in result.audits]
            blocks, review = levels.count(audit.BLOCK), levels.count(audit.REVIEW)
            rest = f"{len(levels) - blocks - review} with notes at most"
            print_lines(
                [f"{count_of(len(levels), 'skill')}: {blocks} with blocks, {review} to review, {rest}"]
            )
    return 0 if result.is_success else 1
