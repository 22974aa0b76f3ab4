"""`skc digest`: the digest of a skill, which locks, approvals and signatures are bound to [D64]."""

from __future__ import annotations

from skillc.cli import show, workspace
from skillc.cli.syntax import Arguments, Command

COMMAND = Command("""
skc digest

Prints the SHA-256 over all files of a skill with their paths and modes, as the lock has it.
docs/origins.md says byte by byte how it is computed.

<skill> :skills  A skill's name, ID or folder.
--signed  Leave out skill.oms.sig and skill.ssh.sig: this is what 'skc sign' signs with an SSH key.

$ skc digest pdf
$ skc digest ./pdf --signed
""")


def run(arguments: Arguments) -> int:
    result = workspace().digest(arguments.text("skill"), signed=arguments.has("signed"))
    return show(arguments, result, result.digest)
