"""`skc eval`: does a skill fire, does it help, and is that more than chance."""

from __future__ import annotations

from typing import Any

from skillc import evals
from skillc.cli import show
from skillc.cli.approval import attended_workspace, ends_as_interrupts
from skillc.cli.syntax import Arguments, Command
from skillc.cli.usage_errors import see
from skillc.errors import InvalidOption

NOT_MEASURED = 2
COMMAND = Command("""
skc eval

Runs the cases below a skill's evals/ with real agents, each in a home of its own, with the skill and without.
Says how often it fires, whether it helps, and how sure that is. The exit status is 1 below --threshold, and 2
where nothing could be measured. An agent needs its credentials in the environment, and costs what it costs;
--free needs no agent. 'skc eval init <skill>' writes the first cases. docs/evals.md explains all of it.

<skill>... :skills  Skills with cases, by name or folder; init and a skill writes cases for one.
--free  Rank the prompts among all skills here instead, without any agent.
--agent <agents> :claude,codex,gemini,opencode  Agents, with commas between them. Default: the first that is
    here.
--agent-command <command>  Another agent: a command with {prompt}, and {skills} for the folder of skills.
--fired <regex>  With --agent-command: a line of its output that shows that the skill fired. Without it, our
    log of reads does.
--arms <arms> :with,without,old  What is compared: with, without, old, with commas between them.
--old <version>  The old skill: a folder, a version, a tag or a commit. Default: what git has committed.
--runs <n> =3 ..100  Runs of each case in each arm.
--jobs <n> =2 ..64  Runs at the same time.
--timeout <n> =300 ..86400  Seconds that a run may take.
--max-cost <dollars>  Start no run once this much was spent.
--case <name>...  Only these cases. Can be repeated.
--only triggers|tasks  Only whether it fires, or only whether it helps.
--model <model>  The model that the agent is to use.
--judge-command <command>  What judges sentences, instead of the agent without tools.
--library none|installed =installed  The skills beside it: none, or those that the agent has here.
--raw  Give the agent the skill's folder as it is, not as skc deploys it.
--credentials <file>...  A file of the agent's own folder, such as auth.json, that each run gets a copy of.
--workspace <folder>  Where runs and results are kept (default: a folder of yours in /var/tmp).
--resume  Go on with the last evaluation.
--again  Run what was run before, too.
--threshold <percent>  Exit with 1 if a score is below this.
--format text|json|object|junit|markdown|html|sarif =text  Output format; sarif goes with --free.

$ skc eval init pdf
$ skc eval --free pdf
$ skc eval pdf --agent claude,codex --runs 5 --max-cost 5
$ skc eval pdf --arms with,old --old v1.2.0
$ skc eval pdf --only triggers --threshold 80 --format junit > evals.xml
""")


def run(arguments: Arguments) -> int:
    here, names, form = attended_workspace(arguments), arguments.texts("skill"), arguments.text("format")
    if names[0] == "init":
        if len(names) != 2:
            raise InvalidOption(f"'skc eval init' takes one skill; {see(COMMAND)}")
        draft = evals.draft_cases(here.locate(names[1], index=False), here.cwd)
        return show(arguments, draft, draft.lines())
    threshold, options = _number(arguments, "threshold", 100), _read_options(arguments)
    if arguments.has("free"):
        if form not in ("text", "json", "sarif"):
            raise InvalidOption(f"--free has no {form}; it prints text, json or sarif")
        report = evals.rank_named(here, names, options)
        show(arguments, report.as_sarif(here.cwd) if form == "sarif" else report, report.lines())
        return 0 if report.passes(threshold) else 1
    if form == "sarif":
        raise InvalidOption(
            "--format sarif goes with --free; a report of runs is text, json, junit, markdown or html"
        )
    with ends_as_interrupts():  # a run's copies of credentials are removed
        result = here.evaluate(names, options)
    if form in ("junit", "markdown", "html"):
        print({"junit": evals.junit, "markdown": evals.markdown, "html": evals.html}[form](result), end="")
    else:
        value = result if form == "object" else result.skills
        show(arguments, value, evals.text_lines(result))
    here.tell((), result.failures)
    if not result.is_measured:
        return NOT_MEASURED
    return 0 if result.passes(threshold) else 1


def _read_options(arguments: Arguments) -> evals.EvalOptions:
    texts = ("agent", "agent_command", "fired", "old", "only", "model", "judge_command", "workspace")
    given: dict[str, Any] = {name: arguments.optional(name) or "" for name in texts}
    given |= {name: arguments.count(name) for name in ("runs", "jobs", "timeout")}
    given |= {name: arguments.has(name) for name in ("raw", "resume", "again")}
    given |= {name: tuple(arguments.texts(name)) for name in ("case", "credentials")}
    arms = (arguments.optional("arms") or "").replace(" ", "").split(",")
    return evals.EvalOptions(
        arms=tuple(filter(None, arms)),
        max_cost=_number(arguments, "max_cost", 1_000_000),
        library=arguments.text("library") == "installed",
        **given,
    )


def _number(arguments: Arguments, name: str, limit: int) -> float | None:
    """Return the number of an option; raises InvalidOption for anything else."""
    text = arguments.optional(name)
    if text is None:
        return None
    try:
        number = float(text.strip("%$"))
    except ValueError:
        number = -1.0
    if not 0 <= number <= limit:
        raise InvalidOption(f"--{name.replace('_', '-')} takes a number from 0 to {limit:,}, not '{text}'")
    return number
