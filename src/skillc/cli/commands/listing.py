"""`skc listing`: what each agent shows its model of each skill."""

from __future__ import annotations

from skillc import listing
from skillc.cli import show, workspace
from skillc.cli.approval import attended_workspace
from skillc.cli.listings import show_listings
from skillc.cli.syntax import Arguments, Command
from skillc.cli.usage_errors import check_action
from skillc.settings import load_settings
from skillc.text import count_of, one_line

MAX_PATHS = 20
KEPT = "They are fitted again when skills come or go: 'fit = true' is in ~/.skillc/config.toml"
COMMAND = Command("""
skc listing show
skc listing fit
skc listing set <skill> <choice>
skc listing reset

An agent tells its model of each skill by a line with its name and description. Some have a budget for all
lines, and cut descriptions in silence when it is full; others pay for all of them in every conversation. This
says what each agent does with the skills that are here. docs/agents.md tells how it was measured.

'fit' chooses so that every description that is listed is whole: first what you want always, then what was
used, then the shortest. The rest is on demand: agents do not list it, and get to it by 'more-skills', which
is listed. 'set' has a skill listed always, has it on demand, or leaves it to 'fit' (auto). 'reset' lists
everything again. 'fit = true' below '[listing]' in ~/.skillc/config.toml keeps listings fitted when skills
come and go.

[action] :fit,set,reset  fit, set or reset; without one, what agents list is shown.
[skill] :stored  With set: a skill's name, or the path of its folder.
[choice] always|auto|demand  With set: always, auto or demand.
--agent <agents> :agents @show,fit,set  these agents, with commas between them. Default: those that are here.
--budget <n> ..100000000 @fit  tokens that a listing may take. It may be more than the agent gives
    it, where the agent has a setting for that.
--project @fit,reset  the project's folders, not the user's.
--dry-run @fit  say what would change, and change nothing.
--yes @fit  do not ask.
--window <n> ..100000000 @show  tokens of the model's window. Default: 200000.
--skills @show  name every skill, with what is shown of it.

$ skc listing
$ skc listing --agent claude --skills
$ skc listing --window 1000000 --format json
$ skc listing fit
$ skc listing fit --agent claude --budget 6000
$ skc listing set pdf always --agent claude
$ skc listing reset
""")


def run(arguments: Arguments) -> int:
    action = check_action(arguments)
    if action != "show":
        return {"fit": _fit, "set": _set, "reset": _reset}[action](arguments)
    here = workspace()
    result = here.listing(arguments.text("agent"), arguments.count("window"))
    here.tell(result.diagnostics)
    return show(arguments, result, show_listings(result, with_skills=arguments.has("skills")))


def _fit(arguments: Arguments) -> int:
    result = attended_workspace(arguments).fit_listing(
        arguments.text("agent"),
        budget=arguments.count("budget"),
        in_project=arguments.has("project"),
        dry_run=arguments.has("dry_run"),
        yes=arguments.has("yes"),
    )
    show(arguments, result, result.lines())
    return 1 if result.failures else 0


def _set(arguments: Arguments) -> int:
    choice = arguments.text("choice")
    result = workspace().choose_listing(arguments.text("skill"), choice, arguments.text("agent"))
    return _show_choice(arguments, result, f"'{result.id}': {choice}")


def _reset(arguments: Arguments) -> int:
    here = workspace()
    result = here.reset_listing(in_project=arguments.has("project"))
    start = f"{count_of(len(result.changed), 'skill')} listed again"
    is_kept = load_settings(here.cwd).fit and not arguments.has("project")
    return _show_choice(arguments, result, start, *([KEPT] if is_kept else []))


def _show_choice(arguments: Arguments, result: listing.ListingChoice, *start: str) -> int:
    show(arguments, result, map(one_line, (*start, *(f"  {path}" for path in result.changed[:MAX_PATHS]))))
    return 1 if result.failures else 0
