"""`skc sign`: vouch for a skill with a key of one's own."""

from __future__ import annotations

from skillc.cli import show, workspace
from skillc.cli.syntax import SKILL, Arguments, Command

COMMAND = Command(f"""
skc sign

Writes skill.ssh.sig with an SSH key, or skill.oms.sig with the PEM of a P-256, P-384 or P-521 key, over every
file of the skill but these two. Of an SSH key in ssh-agent or on a hardware key, name the public half. Sign
again after each change. The signature before goes to the trash.

{SKILL}
--key <file>! :files  The key. It is read, and stays where it is.
--certificate <file> :files  The PEM file of an OMS key's certificate, and of those above it.

$ skc sign ./pdf --key ~/.ssh/id_ed25519
$ skc sign ./pdf --key signing-key.pem --certificate chain.pem
""")


def run(arguments: Arguments) -> int:
    result = workspace().sign(
        arguments.text("skill"), arguments.text("key"), certificate=arguments.optional("certificate") or ""
    )
    return show(arguments, result, result.lines())
