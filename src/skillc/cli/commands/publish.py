"""`skc publish`: a new version of a skill in a registry."""

from __future__ import annotations

from skillc.cli import show
from skillc.cli.approval import attended_workspace
from skillc.cli.options import TO
from skillc.cli.syntax import SKILL, Arguments, Command

COMMAND = Command(f"""
skc publish

Lints and audits the skill first: errors of lint (E300) and findings that block (E084) stop it. Only files
that changed are sent. If nothing changed since the last version, it says so and ends with status 0; with
--tag, the tag is set. A version never changes, so its number must be new (E091). If someone else published
meanwhile, that is E091, too. In GitHub Actions and GitLab CI no token is needed where the registry trusts the
workflow ('skc publisher'): the job's ID token gets one.

{SKILL}
{TO}
--id <id> :ids  The skill's ID in the registry. Default: its collection and name.
--version <version>  The version. Default: 'version' in the metadata of SKILL.md, else the next patch.
--tag <tag> :latest  The tag that points at this version. Default: latest.
--note <text>  What changed, for people.
--sign <key> :files  Sign it first with the key in this file, as 'skc sign' does.
--dry-run  Check the skill, say what would be sent, and send nothing.
--accept-blocks  Publish what the audit blocks. The registry may refuse it.
--yes  For scripts: changes nothing, because nothing is asked.

$ skc publish release-notes
$ skc publish ./refunds --to https://skills.example.com --id payments/refunds --note First
$ skc publish refunds --version 2.0.0-rc.1 --tag next
$ skc publish refunds --dry-run
""")


def run(arguments: Arguments) -> int:
    result = attended_workspace(arguments).publish(
        arguments.text("skill"),
        to=arguments.optional("to"),
        skill_id=arguments.optional("id"),
        version=arguments.text("version"),
        tag=arguments.text("tag"),
        note=arguments.text("note"),
        sign=arguments.text("sign"),
        dry_run=arguments.has("dry_run"),
        accept_blocks=arguments.has("accept_blocks"),
    )
    return show(arguments, result, result.lines())
