"""`skc trust`: what skills may run: shown, allowed, denied, listed, forgotten."""

from __future__ import annotations

from skillc.cli.syntax import FORMAT, Argument, Arguments, Command, Option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.tools import Entry, SkillLocation, TrustStore

ACTIONS = ("show", "allow", "deny", "list", "prune")

COMMAND = Command(
    "trust",
    "Allow or deny what skills run, and see what was decided.",
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
        Option("--digest", "With allow: the digest of the files you looked at.", value="<digest>"),
        FORMAT,
    ),
    description=(
        "What is allowed is allowed until a file of the skill changes; what is denied stays denied, --yes or"
        " not. 'allow' asks on the terminal; without one it needs --digest, which 'show' prints. 'prune'"
        " forgets decisions about folders that are gone, or about the skill that is named."
    ),
    examples=("skc trust show deploy", "skc trust allow deploy", "skc trust list --format json"),
)


def run(arguments: Arguments) -> int:
    from skillc.cli.output import warn
    from skillc.cli.syntax import see
    from skillc.errors import InvalidOption
    from skillc.paths import current_directory
    from skillc.tools import TrustStore, find_skill

    action, name, digest = arguments.text("action"), arguments.optional("skill"), arguments.optional("digest")
    if action not in ACTIONS:
        raise InvalidOption(f'<action> takes {", ".join(ACTIONS)}, not "{action}"')
    if name is None and action in ("show", "allow", "deny"):
        raise InvalidOption(f"<skill> is missing; {see(COMMAND)}")
    if name is not None and action == "list":
        raise InvalidOption("list takes no <skill>; 'skc trust show <skill>' shows one")
    if digest is not None and action != "allow":
        raise InvalidOption("--digest goes with allow")
    found = None if name is None else find_skill(name, current_directory())
    warn(found.diagnostics if found else ())
    json = arguments.text("format") == "json"
    store = TrustStore()
    if action == "list":
        _list(store, json)
    elif action == "prune":
        _prune(store, found, json)
    elif found is not None:
        _about(action, found, store, digest, json)
    return 0


def _about(action: str, found: SkillLocation, store: TrustStore, digest: str | None, json: bool) -> None:
    """What is done with one skill."""
    from skillc.cli.output import print_json
    from skillc.text import one_line
    from skillc.tools import deny

    if action == "show":
        _show(store, found, json)
        return
    entry = deny(found, store) if action == "deny" else _allow(store, found, digest)
    if json:
        print_json(entry.as_json())
    elif action == "deny":
        print(one_line(f"Denied '{found.skill_id}' ({found.path})"))
    else:
        print(one_line(f"Allowed '{found.skill_id}' ({found.path}) until a file of it changes"))


def _show(store: TrustStore, found: SkillLocation, json: bool) -> None:
    from skillc.cli.output import print_json
    from skillc.tools import trust_status

    now = trust_status(found, store)
    if json:
        print_json(now.as_json())
    else:
        print(now.text())


def _allow(store: TrustStore, found: SkillLocation, digest: str | None) -> Entry:
    from skillc.cli.approval import confirm, terminal
    from skillc.errors import ApprovalRequired
    from skillc.tools import allow, approval_advice, trust_status

    now = trust_status(found, store)
    if digest is None:
        if not terminal():
            raise ApprovalRequired(found.argument, approval_advice(found.argument))
        if not confirm(now.text(), "Allow all of its tools, until a file of it changes?"):
            raise ApprovalRequired(found.argument, "It was not allowed.")
    return allow(now, store, digest)


def _list(store: TrustStore, json: bool) -> None:
    from skillc.cli.output import print_json, print_table
    from skillc.tools import list_entries

    found = list_entries(store)
    if json:
        print_json({"entries": [entry.as_json() for entry in found]})
    elif not found:
        print("Nothing was decided yet.")
    else:
        rows = [
            (e.decision.skill, e.decision.decision, "yes" if e.current else "no", e.decision.path)
            for e in found
        ]
        print_table(("SKILL", "DECISION", "CURRENT", "PATH"), rows)


def _prune(store: TrustStore, found: SkillLocation | None, json: bool) -> None:
    from skillc.cli.output import print_json
    from skillc.text import one_line
    from skillc.tools import prune

    forgotten = prune(store, found)
    if json:
        print_json({"pruned": [{"skill": made.skill, "path": made.path} for made in forgotten]})
        return
    for made in forgotten:
        print(one_line(f"Forgot '{made.skill}' ({made.path})"))
    if not forgotten:
        print("Nothing to forget.")
