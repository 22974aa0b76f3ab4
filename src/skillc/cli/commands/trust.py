"""`skc trust`: what skills may run and which variables projects may use: explained, decided, listed."""

from __future__ import annotations

from skillc.cli import show
from skillc.cli.approval import attended_workspace
from skillc.cli.listings import show_decisions
from skillc.cli.syntax import Arguments, Command
from skillc.cli.usage_errors import check_action
from skillc.errors import InvalidOption
from skillc.library import repositories
from skillc.paths import current_directory
from skillc.text import one_line

ABOUT = """\
A skill can declare tools: commands that run here, as you. Where a skill comes from decides what it may do:
  bundled    comes with skc: read-only tools run without a question, in a sandbox
  user       in ~/.skillc/skills or a folder of your own skills.toml: the first run asks
  untrusted  everything else, imports too: every run asks, and none is without a sandbox
Agents are offered an untrusted skill of a project ('skc hook') only once you allowed it.
A decision is about the skill at one path and the digest of everything in its folder: when a file changes,
skc asks again. 'skc trust prune <skill>' takes a decision back; 'skc trust deny <skill>' forbids a skill.
"""

COMMAND = Command("""
skc trust
skc trust show <skill>
skc trust allow <skill>
skc trust deny <skill>
skc trust adopt <skill>
skc trust list
skc trust prune [skill]

Trust decides which tools of skills run, and which of them ask first. It depends on where a skill is, and on
your decisions, each of which is about the digest of everything in its folder.

'show' prints a skill's level, digest and commands, your decision, and what the next run does. 'allow' is
valid until a file of the skill changes. It asks on the terminal; without a terminal it needs --digest, which
'show' prints. A denial stays, and --yes does not override it. 'adopt' makes a skill that 'build' imported one
of your own; until then it is untrusted.

To take a decision back: 'prune' removes those about the given skill, or about folders that no longer exist.
They are in ~/.skillc/trust.json.

--variable and --host let the skills.toml of the project here send a variable of your environment to a host.

[action]  show, allow, deny, adopt, list or prune. Without one: what trust means, and your decisions.
[skill] :skills  A skill's name, its ID in a repository, or a folder.
--digest <digest> @allow,adopt  the digest of what you reviewed.
--variable <name> :variables  With allow or prune: a variable that the project uses.
--host <host> :hosts  With --variable: the host that gets it, as in 'https://host'.

$ skc trust show deploy
$ skc trust allow deploy
$ skc trust allow --variable GITHUB_TOKEN --host https://github.com
$ skc trust list --format json
""")


def run(arguments: Arguments) -> int:
    if arguments.optional("variable") is not None or arguments.optional("host") is not None:
        return _decide_on_variable(arguments)
    action = check_action(arguments)
    here, digest = attended_workspace(arguments), arguments.optional("digest")
    if action in ("", "list"):
        result = here.decisions()
        return show(arguments, result, (*([ABOUT] if not action else ()), *show_decisions(result)))
    if action == "prune":
        pruning = here.prune_decisions(arguments.optional("skill"))
        lines = [one_line(f"Forgot '{each.skill}' ({each.path})") for each in pruning.pruned]
        return show(arguments, pruning, lines or ["Nothing to forget."])
    name = arguments.text("skill")
    if action == "show":
        status = here.trust(name)
        return show(arguments, status.describe(), [status.text()])
    if action == "adopt":
        adoption = here.adopt(name, digest)
        text = f"'{adoption.skill}' ({adoption.path}) is one of your own skills now; its first run asks"
        return show(arguments, adoption, text)
    entry = here.deny(name) if action == "deny" else here.allow(name, digest)
    skill, undo = f"'{entry.skill}' ({entry.path})", f"'skc trust prune {entry.argument}' undoes it"
    allowance = f"Allowed {skill} until a file of it changes (digest {entry.digest}); {undo}"
    return show(arguments, entry, f"Denied {skill}; {undo}" if action == "deny" else allowance)


def _decide_on_variable(arguments: Arguments) -> int:
    """Allow a variable for a host in the project around the working directory, or take that back."""
    action, variable, host = (arguments.optional(name) for name in ("action", "variable", "host"))
    if action not in ("allow", "prune") or arguments.optional("skill") or not (variable and host):
        raise InvalidOption("usage: skc trust allow|prune --variable <name> --host <host>")
    change = repositories.allow_variable if action == "allow" else repositories.forget_variable
    matches = change(current_directory(), variable, host)
    verb = "Allowed" if action == "allow" else "Forgot"
    lines = [one_line(f"{verb} {use.variable} for {use.host} in {use.project}") for use in matches]
    return show(arguments, {"variables": matches}, lines or ["Nothing to forget."])
