"""`skc yank`: take a version out of the choice for new installations, or undo that."""

from __future__ import annotations

from skillc import skills, versions
from skillc.cli import show
from skillc.cli.options import TO, registry_api
from skillc.cli.syntax import Arguments, Command
from skillc.errors import InvalidOption

COMMAND = Command(f"""
skc yank

A yanked version is not chosen for new installations. Where it is installed it keeps working, and by its
number it can still be had; 'skc install' and 'skc update' warn of it (W093). Needs the role maintainer.

<version> :versions  The skill's ID and the version: payments/refunds@1.2.0.
--reason <text>  Why; people who have it installed read this.
--undo  Let it be installed again.
{TO}

$ skc yank payments/refunds@1.2.0 --reason 'Refunds the wrong account'
$ skc yank payments/refunds@1.2.0 --undo
""")


def run(arguments: Arguments) -> int:
    text, reason, undo = arguments.text("version"), arguments.optional("reason"), arguments.has("undo")
    name, at, number = text.rpartition("@")
    if not at:
        raise InvalidOption(f"<version> is an ID and a version such as pdf@1.2.0, not '{text}'")
    if undo == (reason is not None):
        raise arguments.error(f"{'--undo takes no' if undo else 'give a'} --reason")
    skill_id, version = skills.SkillId(name), versions.parse_version(number)
    with registry_api(arguments) as api:
        if undo:
            api.unyank(skill_id, version)
        else:
            api.yank(skill_id, version, reason or "")
    value = {"id": str(skill_id), "version": version, "yanked": reason, "registry": api.registry}
    return show(
        arguments, value, f"{'Unyanked' if undo else 'Yanked'} {skill_id} {version} in {api.registry}"
    )
