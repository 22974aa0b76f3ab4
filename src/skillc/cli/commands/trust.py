"""`skc trust`: what skills may run, and which variables projects may use: allowed, listed, forgotten."""

from __future__ import annotations

from skillc import tools
from skillc.cli import show, workspace
from skillc.cli.approval import confirm, terminal
from skillc.cli.output import table
from skillc.cli.syntax import FORMAT, Argument, Arguments, Command, Option, see
from skillc.cli.variables import trust_variable
from skillc.errors import ApprovalRequired, InvalidOption
from skillc.library import allowed_variables
from skillc.text import one_line

ACTIONS = ("show", "allow", "deny", "list", "prune")

COMMAND = Command(
    "trust",
    arguments=(
        Argument("action", f"{', '.join(ACTIONS[:-1])} or {ACTIONS[-1]}.", completes=" ".join(ACTIONS)),
        Argument(
            "skill",
            "A skill's name, its ID in a repository, or a folder.",
            required=False,
            completes="skills",
        ),
    ),
    options=(
        Option("--digest", "With allow: the digest of the files that you reviewed.", value="<digest>"),
        Option("--variable", "With allow or prune: a variable that the project uses.", value="<name>"),
        Option("--host", "With --variable: the host that gets it, as in 'https://host'.", value="<host>"),
        FORMAT,
    ),
    description=(
        "'allow' is valid until a file of the skill changes. It asks on the terminal; without a terminal it"
        " needs --digest, which 'show' prints. A denial stays, and --yes does not override it. 'prune'"
        " removes the decisions about the given skill, or about folders that no longer exist. --variable and"
        " --host let the skills.toml of the project here send a variable of your environment to a host."
    ),
    examples=(
        "skc trust show deploy",
        "skc trust allow deploy",
        "skc trust allow --variable GITHUB_TOKEN --host https://github.com",
        "skc trust list --format json",
    ),
)


def run(arguments: Arguments) -> int:
    action, name, digest = arguments.text("action"), arguments.optional("skill"), arguments.optional("digest")
    if action not in ACTIONS:
        raise InvalidOption(f'<action> takes {", ".join(ACTIONS)}, not "{action}"')
    if arguments.optional("variable") is not None or arguments.optional("host") is not None:
        return trust_variable(arguments)
    if name is None and action in ("show", "allow", "deny"):
        raise InvalidOption(f"<skill> is missing; {see(COMMAND)}")
    if name is not None and action == "list":
        raise InvalidOption("list takes no <skill>; 'skc trust show <skill>' shows one")
    if digest is not None and action != "allow":
        raise InvalidOption("--digest goes with allow")
    here = workspace()
    location = None if name is None else tools.find_skill(name, here.cwd)
    here.tell(location.diagnostics if location else ())
    store = tools.TrustStore()
    if action == "list":
        return _list(store, arguments)
    if location is None or action == "prune":
        return _prune(store, location, arguments)
    if action == "show":
        status = tools.trust_status(location, store)
        return show(arguments, status.as_json, lambda: [status.text()])
    entry = tools.deny(location, store) if action == "deny" else _allow(store, location, digest)
    skill = f"'{location.skill_id}' ({location.path})"
    text = f"Denied {skill}" if action == "deny" else f"Allowed {skill} until a file of it changes"
    return show(arguments, entry.as_json, lambda: [one_line(text)])


def _allow(store: tools.TrustStore, location: tools.SkillLocation, digest: str | None) -> tools.Entry:
    status = tools.trust_status(location, store)
    if digest is None:
        if not terminal():
            raise ApprovalRequired(location.argument, tools.approval_advice(location.argument))
        if not confirm(status.text(), "Allow all of its tools, until a file of it changes?"):
            raise ApprovalRequired(location.argument, "It was not allowed.")
    return tools.allow(status, store, digest)


def _list(store: tools.TrustStore, arguments: Arguments) -> int:
    decisions = tools.list_entries(store)
    rows = [
        (e.decision.skill, e.decision.decision, "yes" if e.current else "no", e.decision.path)
        for e in decisions
    ]
    uses = allowed_variables()
    value: dict[str, object] = {"entries": [entry.as_json() for entry in decisions]}
    header = ("SKILL", "DECISION", "CURRENT", "PATH")
    lines = table(header, rows) if rows or uses else ["Nothing was decided yet."]
    if uses:
        value["variables"] = [use.as_json() for use in uses]
        cells = [(use.variable, use.host, use.project) for use in uses]
        lines = [*lines, "", *table(("VARIABLE", "HOST", "PROJECT"), cells)]
    return show(arguments, lambda: value, lambda: lines)


def _prune(store: tools.TrustStore, location: tools.SkillLocation | None, arguments: Arguments) -> int:
    decisions = tools.prune(store, location)
    lines = [one_line(f"Forgot '{decision.skill}' ({decision.path})") for decision in decisions]
    value = {"pruned": [{"skill": one.skill, "path": one.path} for one in decisions]}
    return show(arguments, lambda: value, lambda: lines or ["Nothing to forget."])
