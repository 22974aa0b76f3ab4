"""The topics of `skc help <topic>`: what is true of many commands."""

from __future__ import annotations

from skillc.cli.wrap import wrap

TOPICS = {
    "names": (
        "How a skill is named",
        """
<skill> can be any of these. skc tries them in this order, and takes the first that exists:
1. a path to a folder, such as ./pdf or ~/skills/pdf
2. a name in .skillc/skills of this directory, or of one above it
3. a name in ~/.skillc/skills, the global store
4. the name of a skill that is deployed to an agent
5. the ID of a skill in a repository, such as billing/refunds; 'skc repo list' shows repositories
To see what a name leads to: skc outline <skill> --verbose
""",
    ),
    "files": (
        "Where things are",
        """
.skillc/skills        skills of a project; ~/.skillc/skills has those of all projects
.skillc/runtime       compiled skills, their indexes and logs
.skillc/skills.toml   repositories of skills; .skillc/config.toml has settings
skills-lock.json      what was added, from where, at which commit
.skilllint.toml       rules of skc lint
~/.skillc/trash       what skc replaced or removed; skc restore brings it back
~/.skillc/registry    the registry of skc serve
""",
    ),
    "environment": (
        "Variables",
        """
SKILLC_HOME            use .skillc in this directory as the global one
SKILLC_TOKENIZER       how words of skills are split: ascii, cjk
SKILLC_REGISTRY, SKILLC_TOKEN   a registry, and the token for it
SKILLC_STORE, SKILLC_BLOBS      where skc serve keeps a registry
SKILLC_PAGER, PAGER    the program that shows long output on a terminal
NO_COLOR, FORCE_COLOR, COLUMNS  as in other programs
SKC_RUN_ID             a name for one run of an agent, in the access log
""",
    ),
    "output": (
        "What commands print",
        """
Results are on stdout, diagnostics on stderr. The status is 0, or 1 after an error.
--format json prints the result as JSON; an error is {"error": {"code", "message", "hint"}} then.
A line such as error[E001]: ... has a code; docs/diagnostics.md explains each one.
On a terminal there are colours, a pager, and lines cut to its width; a pipe gets plain text.
""",
    ),
    "words": (
        "Words that skc uses",
        """
skill        a folder with a SKILL.md: instructions, references and scripts
store        a .skillc/skills folder
repository   a source of skills with a name in skills.toml; the library is all of them
ID           the name of a skill in the library, with its collections: billing/refunds
stub         the small SKILL.md that an agent sees of a compiled skill
deployment   what build put into an agent's folder: a link or a copy
tool, run    a command that a skill declares, one execution of it
lock         skills-lock.json: what was added, exactly
registry     a server with skills that a team shares, in versions
""",
    ),
}


def format_topic(name: str, width: int = 0) -> str:
    """Return the text of a topic; with a width, lines go on below where their text starts."""
    title, text = TOPICS[name]
    lines = [line for each in text.strip().splitlines() for line in _fold(each, width - 2)]
    return f"{title}\n\n" + "\n".join(f"  {line}" for line in lines)


def _fold(line: str, width: int) -> list[str]:
    if width < 0 or len(line) <= width:
        return [line]
    column = len(line) - len(line.rpartition("  ")[2]) if "  " in line else 3 * line[:1].isdigit()
    first, *others = wrap(line[column:], width - column)
    return [line[:column] + first, *(" " * column + other for other in others)]
