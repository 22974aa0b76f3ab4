"""`skc hook`: what agents call by themselves. It answers on stdout, and never fails."""

from __future__ import annotations

from skillc.cli import show
from skillc.cli.syntax import Arguments, Command

COMMAND = Command("""
skc hook

Agents call this; 'skc setup' tells them to. They give JSON on stdin and take JSON on stdout.

'prompt' names at most three skills that fit the prompt, with the command to read each, or says nothing.
'permission' allows the agent to read skills that you installed by their names; about all else it says
nothing, and the agent asks as usual. 'update' renews what both know, and is started in the background where
that is out of date.

The status is always 0. What goes wrong is a line in ~/.skillc/hook.log. docs/setup.md says what is offered,
and docs/security-attacks.md what is kept of prompts.

<event> prompt|permission|update  prompt, permission or update.
--agent <agent> :clients  The agent that calls it, as 'skc setup' names it.
--cwd <path> :directories  With update: the directory to renew it for.
--first <path>... :directories  With update: skills to look at first. Can be repeated.

$ skc hook prompt --agent claude
$ skc hook update
""")


def run(arguments: Arguments) -> int:
    event, agent = arguments.text("event"), arguments.optional("agent") or "claude"
    if event == "prompt":
        from skillc.listing import answer_prompt

        answer_prompt(agent)
    elif event == "permission":
        from skillc.listing import answer_permission

        answer_permission(agent)
    else:
        import os

        from skillc.listing import update_offers

        cwd = arguments.optional("cwd") or os.getcwd()
        is_done = update_offers(cwd, agent, arguments.texts("first"))
        text = "Renewed what hooks know." if is_done else "Nothing was renewed; ~/.skillc/hook.log says more."
        return show(arguments, {"updated": is_done}, text)
    return 0
