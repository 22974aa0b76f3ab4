"""`skc trust`: what skills may run and which variables projects may use: explained, decided, listed."""

from __future__ import annotations

from skillc import tools
from skillc.cli import show, workspace
from skillc.cli.approval import confirm
from skillc.cli.output import table
from skillc.cli.syntax import Arguments, Command
from skillc.cli.terminal import has_person
from skillc.cli.usage_errors import check_action
from skillc.errors import ApprovalRequired, InvalidOption
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
--digest <digest> @allow,adopt  With allow or adopt: the digest of what you reviewed.
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
    action = check_action(COMMAND, arguments)
    name, digest = arguments.optional("skill"), arguments.optional("digest")
    here = workspace()
    location = None if name is None else tools.find_skill(name, here.cwd)
    here.tell(location.diagnostics if location else ())
    store = tools.TrustStore()
    damage = store.damage()
    here.tell([damage] if damage else [])
    if action in ("", "list"):
        return _list(store, arguments, "" if action else ABOUT)
    if location is None or action == "prune":
        return _prune(store, location, arguments)
    if action == "show":
        status = tools.trust_status(location, store)
        return show(arguments, status.describe(), [status.text()])
    if action == "adopt":
        return _adopt(store, location, arguments)
    skill = f"'{location.skill_id}' ({location.path})"
    undo = f"'skc trust prune {location.argument}' undoes it"
    entry = tools.deny(location, store) if action == "deny" else _allow(store, location, digest)
    allowance = f"Allowed {skill} until a file of it changes (digest {entry.decision.digest}); {undo}"
    text = f"Denied {skill}; {undo}" if action == "deny" else allowance
    return show(arguments, entry.as_json(), text)


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


def _allow(store: tools.TrustStore, location: tools.SkillLocation, digest: str | None) -> tools.Entry:
    status = tools.trust_status(location, store)
    if digest is None:
        _confirm(status, "Allow all of its tools, and offer it to agents, until a file of it changes?")
    return tools.allow(status, store, digest)


def _adopt(store: tools.TrustStore, location: tools.SkillLocation, arguments: Arguments) -> int:
    status, digest = tools.trust_status(location, store), arguments.optional("digest")
    if digest is None:
        _confirm(status, "Make it one of your own skills?")
    tools.adopt(status, digest)
    value = {"skill": location.skill_id, "path": location.path, "level": "user"}
    text = f"'{location.skill_id}' ({location.path}) is one of your own skills now; its first run asks"
    return show(arguments, value, text)


def _confirm(status: tools.TrustStatus, question: str) -> None:
    """Ask about a skill on the terminal; raise ApprovalRequired without one, or if the answer is no."""
    name = status.location.argument
    if not has_person():
        raise ApprovalRequired(name, tools.approval_advice(name))
    if not confirm(status.text(), question):
        raise ApprovalRequired(name, "The answer was not yes; nothing was decided.")


def _list(store: tools.TrustStore, arguments: Arguments, about: str) -> int:
    decisions = tools.list_entries(store)
    rows = [
        (d.skill, d.decision, "yes" if e.current else "no", d.digest[:16] or "old", d.path)
        for e in decisions
        for d in [e.decision]
    ]
    uses = repositories.allowed_variables()
    value: dict[str, object] = {"entries": [entry.as_json() for entry in decisions]}
    header = ("SKILL", "DECISION", "CURRENT", "DIGEST", "PATH")
    lines = list(table(header, rows)) if rows or uses else ["Nothing was decided yet."]
    if uses:
        value["variables"] = uses
        cells = [(use.variable, use.host, use.project) for use in uses]
        lines += ["", *table(("VARIABLE", "HOST", "PROJECT"), cells)]
    return show(arguments, value, [about, *lines] if about else lines)


def _prune(store: tools.TrustStore, location: tools.SkillLocation | None, arguments: Arguments) -> int:
    decisions = tools.prune(store, location)
    lines = [one_line(f"Forgot '{decision.skill}' ({decision.path})") for decision in decisions]
    value = {"pruned": [{"skill": one.skill, "path": one.path} for one in decisions]}
    return show(arguments, value, lines or ["Nothing to forget."])
